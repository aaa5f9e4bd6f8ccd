/* Kernels of a script's functions: finish (with a pair's number) or eval. */
#include "lua/define.h"
#include <math.h>

typedef struct defined_kernel {
  scl_defined base;
  double scale;
} defined_kernel;

/* ------------------------------------------------------------ simple form */

typedef struct finish_call {
  const scl_pair_row *row;
  double *numbers;
  scl_pair pair;
} finish_call;

/* finish(number, o), of cosines and angles finish(number, o, ||u||, ||v||) */
static int run_finish(lua_State *L) {
  const finish_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const bool lengths = c->row->lengths_v != NULL;
  const int top = lua_gettop(L);
  for (size_t j = 0; j < c->row->count; j++) {
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    lua_pushnumber(L, c->numbers[j]);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    if (lengths) lua_pushnumber(L, c->row->length_u);
    if (lengths) lua_pushnumber(L, c->row->lengths_v[j]);
    scl_defined_invoke(L, lengths ? 4 : 2, 1);
    c->numbers[j] = scl_defined_result(L, top + 1, "a number");
    lua_settop(L, top);
  }
  return 0;
}

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  finish_call c = {.row = row, .numbers = numbers};
  (void)scl_defined_try(self, "finish", run_finish, &c);
}

static double scale(const void *self) { return ((const defined_kernel *)self)->scale; }

typedef struct move_call {
  size_t count;
  double *coordinates;
} move_call;

static int run_move(lua_State *L) {
  const move_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const int top = lua_gettop(L);
  for (size_t j = 0; j < c->count; j++) {
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    lua_pushnumber(L, c->coordinates[j]);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    scl_defined_invoke(L, 2, 1);
    c->coordinates[j] = scl_defined_result(L, top + 1, "a number");
    lua_settop(L, top);
  }
  return 0;
}

static void move(const void *self, size_t count, double *coordinates) {
  move_call c = {count, coordinates};
  (void)scl_defined_try(self, "move", run_move, &c);
}

/* ------------------------------------------------------------ general form */

typedef struct gram_call {
  const scl_const_parameters *u, *v;
  double *out;
  ptrdiff_t stride;
} gram_call;

static void push_row(lua_State *L, const scl_const_parameters *rows, size_t i) {
  const double *row = rows->weights + (ptrdiff_t)i * rows->stride;
  lua_createtable(L, (int)rows->dim, 0);
  for (size_t j = 0; j < rows->dim; j++) {
    lua_pushnumber(L, row[j]);
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
}

/* The rows of v are made once. */
static int run_gram(lua_State *L) {
  const gram_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  lua_createtable(L, (int)c->v->count, 0);
  const int list = lua_gettop(L);
  for (size_t j = 0; j < c->v->count; j++) {
    push_row(L, c->v, j);
    lua_rawseti(L, list, (lua_Integer)j + 1);
  }
  for (size_t i = 0; i < c->u->count; i++) {
    push_row(L, c->u, i);
    for (size_t j = 0; j < c->v->count; j++) {
      lua_pushvalue(L, SCL_DEFINED_FUNCTION);
      lua_pushvalue(L, list + 1);
      lua_rawgeti(L, list, (lua_Integer)j + 1);
      lua_pushvalue(L, SCL_DEFINED_OPTIONS);
      scl_defined_invoke(L, 3, 1);
      c->out[(ptrdiff_t)i * c->stride + (ptrdiff_t)j] = scl_defined_result(L, list + 2, "a number");
      lua_settop(L, list + 1);
    }
    lua_settop(L, list);
  }
  return 0;
}

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  gram_call c = {u, v, out, stride};
  return scl_defined_call(self, "eval", run_gram, &c, error);
}

/* ------------------------------------------------------------ the kind */

static int complete(lua_State *L) {
  defined_kernel *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  self->scale = scl_defined_number(L, "scale", 1);
  return 0;
}

static void describe(lua_State *L, int fields, scl_definition *d) {
  static const char *const pairs[] = {
      "none", "dot", "squared_distance", "absolute_distance", "cosine", "angle", NULL};
  const uint32_t dense = SCL_BIT(SCL_SPACE_DENSE);
  scl_kernel *table = &d->table.kernel;
  *table = (scl_kernel){SCL_TABLE(scl_kernel, SCL_KIND_KERNEL),
                        .pair = scl_define_word(L, fields, "pair", pairs, SCL_PAIR_NONE)};
  if (scl_define_has(L, fields, "eval")) {
    table->gram = gram;
    table->spaces = dense;
    return;
  }
  const bool turns = table->pair == SCL_PAIR_COSINE || table->pair == SCL_PAIR_ANGLE;
  table->spaces = scl_define_spaces(L, fields, turns ? dense : SCL_SPACES_KERNEL);
  if (scl_define_has(L, fields, "finish")) table->finish = finish;
  if (scl_define_has(L, fields, "scale")) table->scale = scale;
  if (scl_define_has(L, fields, "move")) table->move = move;
}

const scl_define_kind scl_define_kernel = {sizeof(defined_kernel), describe, complete, NULL};
