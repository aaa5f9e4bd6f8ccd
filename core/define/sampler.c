/* Samplers of a script's functions (sc.sampler.define): make (independent coordinates) or draw
 * (a whole parameter), their law, and what they learn from rows. */
#include "define/define.h"
#include "lua/list.h"
#include "lua/matrix.h"

#include <math.h>
#include <string.h>

enum { MOST_NORMALS = 8 };

/* The stream of draws in `learn`, counted from that of the parameters; the bias has 1. */
enum { LEARN_STREAM = 2 };

typedef struct defined_sampler {
  scl_defined base;
  /* The simple form draws each coordinate by itself: w_j = mean + scale e_j. */
  double mean, scale;
  scl_family family; /* of e */
  size_t normals;    /* normal numbers that make(...) gets for one e; 0: one uniform number */
  bool simple, dependent, fits_degree;
} defined_sampler;

static const defined_sampler *sampler_of(const void *self) { return self; }

/* ------------ make */

/* One call of the slot `draw`: parameters out->first to out->first + out->count - 1. */
typedef struct draw_call {
  const defined_sampler *self;
  const scl_draw *draw;
  const scl_parameters *out;
} draw_call;

/* w_j = mean + scale e_j, e from the numbers that the host gives to C's `make`. */
static void make_row(lua_State *L, const draw_call *c, size_t i, double *row) {
  const defined_sampler *self = c->self;
  const scl_random *random = self->base.base.host->random;
  const scl_address *at = &c->draw->address;
  const size_t each = scl_max(self->normals, 1);
  const int top = lua_gettop(L);
  double numbers[MOST_NORMALS];
  for (size_t j = 0; j < c->out->dim; j++) {
    (self->normals == 0 ? random->uniform : random->normal)(at->seed, at->stream, i, j * each, each,
                                                            numbers);
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    for (size_t k = 0; k < each; k++)
      lua_pushnumber(L, numbers[k]);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    scl_defined_invoke(L, (int)each + 1, 1);
    row[j] = self->mean + self->scale * scl_defined_result(L, top + 1, "a number");
    lua_settop(L, top);
  }
}

/* Parameters first to first + count - 1, each coordinate by itself. */
static int run_make(lua_State *L) {
  const draw_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  for (size_t i = 0; i < c->out->count; i++)
    make_row(L, c, c->out->first + i, c->out->weights + (ptrdiff_t)i * c->out->stride);
  return 0;
}

/* ------------ draw */

/* Columns from 1, ascending, and their weights, from two lists; the rest is empty. */
static void read_support(lua_State *L, int top, const scl_parameters *out, double *weights,
                         int32_t *support) {
  if (!lua_istable(L, top + 1) || !lua_istable(L, top + 2))
    scl_defined_refuse(L, top + 1, "a list of columns, and one of as many weights,");
  const size_t count = scl_lua_list_length(L, top + 1, "its list of columns");
  if (count > out->integers)
    luaL_error(L, "it drew %d columns, where 'degree' says %d at most", (int)count,
               (int)out->integers);
  scl_defined_read_numbers(L, top + 2, count, 1, "its list of weights", weights);
  for (size_t k = 0; k < out->integers; k++) {
    support[k] = -1;
    if (k >= count) {
      weights[k] = 0;
      continue;
    }
    lua_rawgeti(L, top + 1, (lua_Integer)k + 1);
    support[k] = (int32_t)scl_lua_check_size(L, lua_gettop(L), 1, out->dim, "column") - 1;
    if (k > 0 && support[k] <= support[k - 1])
      luaL_error(L, "the columns that it drew are not ascending");
    lua_pop(L, 1);
  }
}

/* What draw returned, from place top + 1 on, as parameter i: d weights (dense), a column and its
 * threshold, or a list of columns and one of weights (sparse). */
static void read_parameter(lua_State *L, int top, const scl_parameters *out, size_t i) {
  double *weights = out->weights + (ptrdiff_t)i * out->stride;
  int32_t *support =
      out->support == NULL ? NULL : out->support + (ptrdiff_t)i * out->support_stride;
  if (out->space == SCL_SPACE_DENSE) {
    scl_defined_read_numbers(L, top + 1, 1, out->dim, "a parameter", weights);
  } else if (out->space == SCL_SPACE_THRESHOLD) {
    support[0] = (int32_t)scl_lua_check_size(L, top + 1, 1, out->dim, "column") - 1;
    weights[0] = scl_defined_result(L, top + 2, "a column and a number");
  } else {
    read_support(L, top, out, weights, support);
  }
}

/* draw(t, d, random, o, state), t from 1 */
static int run_draw(lua_State *L) {
  const draw_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_state *state = c->draw->state;
  scl_defined_draws *random = scl_defined_push_draws(L, &c->draw->address);
  if (state == NULL)
    lua_pushnil(L);
  else
    scl_defined_push_matrix(L, state->numbers, (ptrdiff_t)state->cols, state->rows, state->cols);
  const int top = lua_gettop(L);
  for (size_t i = 0; i < c->out->count; i++) {
    random->index = c->out->first + i;
    random->offset = 0;
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    lua_pushinteger(L, (lua_Integer)random->index + 1);
    lua_pushinteger(L, (lua_Integer)c->out->dim);
    lua_pushvalue(L, top - 1);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    lua_pushvalue(L, top);
    scl_defined_invoke(L, 5, c->out->space == SCL_SPACE_DENSE ? 1 : 2);
    read_parameter(L, top, c->out, i);
    lua_settop(L, top);
  }
  return 0;
}

/* The slot `draw`, for both forms. */
static scl_status sampler_draw(const void *self, const scl_draw *asked, const scl_parameters *out,
                               scl_error *error) {
  draw_call c = {self, asked, out};
  return sampler_of(self)->simple ? scl_defined_call(self, "make", run_make, &c, error)
                                  : scl_defined_call(self, "draw", run_draw, &c, error);
}

/* ------------ layout */

typedef struct layout_call {
  size_t dim;
  scl_layout *out;
} layout_call;

/* degree: a number, or a function of d and the options */
static int run_degree(lua_State *L) {
  const layout_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  if (lua_isfunction(L, -1)) {
    lua_pushinteger(L, (lua_Integer)c->dim);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    scl_defined_invoke(L, 2, 1);
  }
  const double degree = scl_defined_result(L, lua_gettop(L), "a number ('degree')");
  if (!(degree >= 1) || degree != floor(degree))
    luaL_error(L, "'degree' is %f, where a whole number from 1 on belongs", degree);
  c->out->reals = c->out->integers = (size_t)fmin(degree, (double)c->dim);
  return 0;
}

/* The storage of a parameter for rows of `dim` columns; only a sparse one depends on the script. */
static scl_status sampler_layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  layout_call c = {dim, out};
  if (sampler_of(self)->dependent) out->flags |= SCL_LAYOUT_DEPENDENT;
  if (out->space != SCL_SPACE_SPARSE) return SCL_STATUS_OK;
  return scl_defined_call(self, "degree", run_degree, &c, error);
}

/* ------------ law */

/* In the order of scl_family. */
static const char *const families[] = {"other",   "gaussian", "uniform", "rademacher",
                                       "laplace", "cauchy",   NULL};

/* A field of the law on top of the stack: one number for all columns, or a list. */
static void read_law_numbers(lua_State *L, const char *name, double absent, size_t dim,
                             double *out) {
  lua_getfield(L, -1, name);
  const int place = lua_gettop(L);
  if (lua_isnil(L, place) || lua_type(L, place) == LUA_TNUMBER) {
    const double value = luaL_optnumber(L, place, absent);
    for (size_t j = 0; j < dim; j++)
      out[j] = value;
  } else {
    scl_defined_read_numbers(L, place, dim, 1, name, out);
  }
  lua_pop(L, 1);
}

/* law(d, o) -> { family =, mean =, scale = } */
static int run_law(lua_State *L) {
  scl_law *out = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_pushinteger(L, (lua_Integer)out->dim);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, 2, 1);
  if (!lua_istable(L, -1))
    scl_defined_refuse(L, lua_gettop(L), "a table { family =, mean =, scale = }");
  out->family = scl_lua_field_word(L, lua_gettop(L), "family", families, SCL_FAMILY_OTHER);
  read_law_numbers(L, "mean", 0, out->dim, out->mean);
  read_law_numbers(L, "scale", 1, out->dim, out->scale);
  return 0;
}

/* The law of each coordinate. In the simple form it is the same for all: mean + scale e, e of the
 * declared family. Otherwise the script's function returns it. */
static scl_status sampler_law(const void *self, const scl_draw *asked, scl_law *out,
                              scl_error *error) {
  const defined_sampler *sampler = self;
  (void)asked;
  if (!sampler->simple) return scl_defined_call(self, "law", run_law, out, error);
  out->family = sampler->family;
  for (size_t j = 0; j < out->dim; j++) {
    out->mean[j] = sampler->mean;
    out->scale[j] = sampler->scale;
  }
  return SCL_STATUS_OK;
}

static const scl_ability_law law_ability = {SCL_HEAD(scl_ability_law), .law = sampler_law};

/* ------------ characteristic function */

/* One call of the ability: out[i] for the rows of delta (rows x dim). */
typedef struct characteristic_call {
  const defined_sampler *self;
  size_t rows, dim;
  const double *delta;
  ptrdiff_t stride; /* between rows of delta, in numbers */
  double *out;
} characteristic_call;

/* The product of factor(scale delta_j, o), times cos <mean, delta>. */
static int run_factor(lua_State *L) {
  const characteristic_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const int top = lua_gettop(L);
  for (size_t i = 0; i < c->rows; i++) {
    const double *delta = c->delta + (ptrdiff_t)i * c->stride;
    double product = 1, turn = 0;
    for (size_t j = 0; j < c->dim; j++) {
      lua_pushvalue(L, SCL_DEFINED_FUNCTION);
      lua_pushnumber(L, c->self->scale * delta[j]);
      lua_pushvalue(L, SCL_DEFINED_OPTIONS);
      scl_defined_invoke(L, 2, 1);
      product *= scl_defined_result(L, top + 1, "a number");
      turn += c->self->mean * delta[j];
      lua_settop(L, top);
    }
    c->out[i] = product == 0 ? 0 : product * cos(turn);
  }
  return 0;
}

/* out[i] = E cos<w, delta_i>: the real part of the characteristic function of the weights. */
static scl_status sampler_characteristic(const void *self, const scl_draw *asked, size_t rows,
                                         const double *delta, ptrdiff_t stride, double *out,
                                         scl_error *error) {
  characteristic_call c = {self, rows, asked->dim, delta, stride, out};
  return sampler_of(self)->simple ? scl_defined_call(self, "factor", run_factor, &c, error)
                                  : scl_defined_each(self, "characteristic", error, rows, out, "ro",
                                                     asked->dim, delta, stride);
}

static const scl_ability_characteristic characteristic_ability = {
    SCL_HEAD(scl_ability_characteristic), .characteristic = sampler_characteristic};

/* ------------ distribution of thresholds */

/* P(threshold <= x) of a column, counted from 0 here and from 1 in the script. */
static double sampler_distribution(const void *self, const scl_draw *asked, size_t column,
                                   double x) {
  double result;
  (void)asked;
  scl_defined_fill(self, "distribution", 1, &result, "ino", column + 1, x);
  return result;
}

static const scl_ability_distribution distribution_ability = {SCL_HEAD(scl_ability_distribution),
                                                              .distribution = sampler_distribution};

/* ------------ learning from rows */

#define ROWS "scullery.rows"

static const scl_learning *check_rows(lua_State *L) { return scl_defined_check_view(L, 1, ROWS); }

/* rows:walk(f): f(block) for each block of rows, in one pass */
static int rows_walk(lua_State *L) {
  const scl_learning *rows = check_rows(L);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  scl_defined_visit visit = {L, 2, rows->targets};
  SCL_LUA_TRY(L, rows->walk(rows, scl_defined_visit_rows, &visit, &error));
  return 0;
}

/* The rows at `count` ascending places (from 0), a count x d matrix. */
static int push_selected(lua_State *L, const scl_learning *rows, const size_t *places,
                         size_t count) {
  double *numbers = lua_newuserdatauv(L, (count * rows->dim + 1) * sizeof *numbers, 0);
  SCL_LUA_TRY(L, rows->select(rows, places, count, numbers, &error));
  scl_defined_push_matrix(L, numbers, (ptrdiff_t)rows->dim, count, rows->dim);
  return 1;
}

/* rows:select(places): from 1, ascending */
static int rows_select(lua_State *L) {
  const scl_learning *rows = check_rows(L);
  const size_t count = scl_lua_copy_list(L, 2, rows->rows, "select"),
               *places = scl_lua_list_places(L, 2, count, 1, rows->rows, "places");
  for (size_t i = 1; i < count; i++)
    if (places[i] <= places[i - 1])
      return luaL_error(L, "select takes places that are ascending and all different");
  return push_selected(L, rows, places, count);
}

/* rows:all() -> all rows as one matrix; raises where memory is short */
static int rows_all(lua_State *L) {
  const scl_learning *rows = check_rows(L);
  scl_lua_check_room(L, 16 * (double)rows->rows * (double)rows->dim, "all rows");
  size_t *places = lua_newuserdatauv(L, (rows->rows + 1) * sizeof *places, 0);
  for (size_t i = 0; i < rows->rows; i++)
    places[i] = i;
  return push_selected(L, rows, places, rows->rows);
}

/* rows:progress(doing, share): report how much of the work is done; raises at Ctrl-C */
static int rows_progress(lua_State *L) {
  const scl_learning *rows = check_rows(L);
  const char *doing = luaL_checkstring(L, 2);
  SCL_LUA_TRY(L, rows->progress(rows, doing, luaL_checknumber(L, 3), &error));
  return 0;
}

static const luaL_Reg rows_methods[] = {{"walk", rows_walk},
                                        {"select", rows_select},
                                        {"all", rows_all},
                                        {"progress", rows_progress},
                                        {NULL, NULL}};

/* __index of rows: the fields rows, columns and targets, or a method (the table of methods is
 * upvalue 1). */
static int rows_index(lua_State *L) {
  const scl_learning *rows = check_rows(L);
  lua_settop(L, 2);
  lua_createtable(L, 0, 3);
  SCL_LUA_INTEGERS(L, {"rows", rows->rows}, {"columns", rows->dim}, {"targets", rows->targets});
  lua_pushvalue(L, 2);
  if (lua_rawget(L, 3) != LUA_TNIL) return 1;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return 1;
  return luaL_error(L, "the rows have no %s", scl_lua_shown(L, 2));
}

typedef struct learn_call {
  const scl_learning *rows;
  scl_state *out;
} learn_call;

/* Copy what `learn` returned, a matrix or a list of numbers (one row), to memory of the host, which
 * owns it. */
static void read_state(lua_State *L, int place, scl_state *out) {
  const scl_matrix *state = scl_lua_test_matrix(L, place);
  if (state == NULL && !lua_istable(L, place))
    scl_defined_refuse(L, place, "a matrix or a list of numbers");
  out->rows = state == NULL ? 1 : state->rows;
  out->cols = state == NULL ? scl_lua_list_length(L, place, "the state") : state->cols;
  out->numbers = scl_allocate_array(out->rows * out->cols + 1, sizeof *out->numbers);
  if (out->numbers == NULL) luaL_error(L, "not enough memory for the state");
  scl_defined_read_numbers(L, place, out->rows, out->cols, "the state", out->numbers);
}

/* learn(rows, T, random, o) -> state[, count]. T is nil if the sampler chooses the number of
 * parameters, and `count` is its choice. The rows can be used only until the function returns. */
static int run_learn(lua_State *L) {
  const learn_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_learning *rows = c->rows;
  scl_address address = rows->draw->address;
  address.stream += LEARN_STREAM;
  void **view = scl_defined_push_view(L, ROWS, rows_methods, rows_index);
  const int top = lua_gettop(L);
  *view = (void *)(uintptr_t)rows;
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_pushvalue(L, top);
  if (rows->draw->total == 0)
    lua_pushnil(L);
  else
    lua_pushinteger(L, (lua_Integer)rows->draw->total);
  (void)scl_defined_push_draws(L, &address);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  const int status = lua_pcall(L, 4, 2, 0);
  *view = NULL;
  if (status != LUA_OK) return lua_error(L);
  read_state(L, top + 1, c->out);
  if (!lua_isnil(L, top + 2))
    c->out->count = scl_lua_check_size(L, top + 2, 1, (size_t)1 << 52, "T");
  return 0;
}

/* What the sampler learns from the staged rows before parameters are drawn. */
static scl_status sampler_learn(const void *self, const scl_learning *rows, scl_state *out,
                                scl_error *error) {
  learn_call c = {rows, out};
  return scl_defined_call(self, "learn", run_learn, &c, error);
}

static const scl_ability_learn learn_ability = {SCL_HEAD(scl_ability_learn),
                                                .learn = sampler_learn};

/* ------------ the kind */

/* moments: { mean, scale }, or a function of the options that returns both */
static void read_moments(lua_State *L, defined_sampler *self) {
  const int top = lua_gettop(L), place = scl_defined_field(L, "moments", 2);
  self->mean = 0;
  self->scale = 1;
  if (lua_istable(L, place)) {
    double numbers[2];
    scl_defined_read_numbers(L, place, 1, 2, "'moments'", numbers);
    self->mean = numbers[0];
    self->scale = numbers[1];
  } else if (!lua_isnil(L, place)) {
    self->mean = scl_defined_result(L, place, "mean and scale, two numbers,");
    self->scale = scl_defined_result(L, place + 1, "mean and scale, two numbers,");
  }
  lua_settop(L, top);
}

/* Read what depends on the options of this instance. Without `make` the sampler has the general
 * form. */
static int complete_sampler(lua_State *L) {
  defined_sampler *self = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  self->simple = scl_define_has(L, SCL_DEFINED_FIELDS, "make");
  self->dependent = scl_lua_field_flag(L, SCL_DEFINED_FIELDS, "dependent");
  self->family = scl_lua_field_word(L, SCL_DEFINED_FIELDS, "family", families, SCL_FAMILY_OTHER);
  self->normals = (size_t)scl_lua_field_number(L, SCL_DEFINED_FIELDS, "normals", 0);
  read_moments(L, self);
  return 0;
}

/* The abilities follow from the functions that the script gives. The simple form has a law, because
 * its coordinates are independent and mean + scale e. */
static void describe_sampler(lua_State *L, int fields, scl_definition *d) {
  static const char *const spaces[] = {"dense", "sparse", "threshold", NULL};
  const bool simple = scl_define_has(L, fields, "make");
  d->table.sampler =
      (scl_sampler){SCL_TABLE(scl_sampler, SCL_KIND_SAMPLER),
                    .space = scl_lua_field_word(L, fields, "space", spaces, SCL_SPACE_DENSE),
                    .draw = sampler_draw, .layout = sampler_layout};
  if (simple || scl_define_has(L, fields, "law"))
    scl_define_offer(d, SCL_ABILITY_LAW, &law_ability);
  if (scl_define_has(L, fields, simple ? "factor" : "characteristic"))
    scl_define_offer(d, SCL_ABILITY_CHARACTERISTIC, &characteristic_ability);
  if (scl_define_has(L, fields, "distribution"))
    scl_define_offer(d, SCL_ABILITY_DISTRIBUTION, &distribution_ability);
  if (scl_define_has(L, fields, "learn")) scl_define_offer(d, SCL_ABILITY_LEARN, &learn_ability);
}

const scl_define_kind scl_define_sampler = {sizeof(defined_sampler), describe_sampler,
                                            complete_sampler, NULL};
