/* Kernels of a script's functions (sc.kernel.define): finish (of a number of each pair of rows) or
 * eval (of two rows). */
#include "define/define.h"

typedef struct defined_kernel {
  scl_defined base;
  double scale;
} defined_kernel;

/* ------------ simple form */

/* numbers[j] = finish(pair number j, options[, |u|, |v_j|]), in place; the lengths come with cosine
 * and angle only. */
static void kernel_finish(const void *self, const scl_pair_row *row, double *numbers) {
  if (row->lengths_v == NULL)
    scl_defined_fill(self, "finish", row->count, numbers, "vo", numbers);
  else
    scl_defined_fill(self, "finish", row->count, numbers, "vonv", numbers, row->length_u,
                     row->lengths_v);
}

/* K = scale x finish(...), so that the engine can take the factor out of sums. */
static double kernel_scale(const void *self) { return ((const defined_kernel *)self)->scale; }

/* coordinates[i] = move(coordinate, options), in place: the map of inputs before the pair
 * numbers. */
static void kernel_move(const void *self, size_t count, double *coordinates) {
  scl_defined_fill(self, "move", count, coordinates, "vo", coordinates);
}

/* ------------ general form */

typedef struct gram_call {
  const scl_const_parameters *u, *v;
  double *out;
  ptrdiff_t stride;
} gram_call;

/* out[i][j] = eval(u_i, v_j, options). The lists of the rows of v are made once for all u_i. */
static int run_gram(lua_State *L) {
  const gram_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  lua_createtable(L, (int)c->v->count, 0);
  const int list = lua_gettop(L);
  for (size_t j = 0; j < c->v->count; j++) {
    scl_lua_push_numbers(L, c->v->weights + (ptrdiff_t)j * c->v->stride, c->v->dim);
    lua_rawseti(L, list, (lua_Integer)j + 1);
  }
  for (size_t i = 0; i < c->u->count; i++) {
    scl_lua_push_numbers(L, c->u->weights + (ptrdiff_t)i * c->u->stride, c->u->dim);
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

/* out[i][j] = K(u_i, v_j) of the general form. */
static scl_status kernel_gram(const void *self, const scl_const_parameters *u,
                              const scl_const_parameters *v, double *out, ptrdiff_t stride,
                              scl_error *error) {
  gram_call c = {u, v, out, stride};
  return scl_defined_call(self, "eval", run_gram, &c, error);
}

/* ------------ the kind */

/* Read the factor of all values of the kernel, 1 if the script gives none. */
static int complete_kernel(lua_State *L) {
  defined_kernel *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  self->scale = scl_defined_number(L, "scale", 1);
  return 0;
}

/* The general form (eval: K of two dense rows) or the simple form (finish: K of a number of the
 * pair, such as u'v). Cosine and angle are defined for dense rows only. */
static void describe_kernel(lua_State *L, int fields, scl_definition *d) {
  static const char *const pairs[] = {
      "none", "dot", "squared_distance", "absolute_distance", "cosine", "angle", NULL};
  const uint32_t dense = SCL_BIT(SCL_SPACE_DENSE);
  scl_kernel *table = &d->table.kernel;
  *table = (scl_kernel){SCL_TABLE(scl_kernel, SCL_KIND_KERNEL),
                        .pair = scl_lua_field_word(L, fields, "pair", pairs, SCL_PAIR_NONE)};
  if (scl_define_has(L, fields, "eval")) {
    table->gram = kernel_gram;
    table->spaces = dense;
    return;
  }
  const bool turns = table->pair == SCL_PAIR_COSINE || table->pair == SCL_PAIR_ANGLE;
  table->spaces = scl_define_spaces(L, fields, turns ? dense : SCL_SPACES_KERNEL);
  if (scl_define_has(L, fields, "finish")) table->finish = kernel_finish;
  if (scl_define_has(L, fields, "scale")) table->scale = kernel_scale;
  if (scl_define_has(L, fields, "move")) table->move = kernel_move;
}

const scl_define_kind scl_define_kernel = {sizeof(defined_kernel), describe_kernel, complete_kernel,
                                           NULL};
