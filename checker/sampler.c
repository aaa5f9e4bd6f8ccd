/* scullery.checker: slots of samplers, on blocks in guarded memory, for checks of plugins. A
 * draw is a table
 *
 *   { sampler =, dim =, total =, seed = 0, stream = 0, plane = 0, planes = 1,
 *     state = the matrix that the sampler learnt, or nil }
 *
 * Parameters are tables as scl_lua_check_parameters says. */
#include "base/random.h"
#include "checker/checker.h"
#include "checker/parameters.h"
#include "map/parameters.h"
#include "plugin/prepare.h"
#include <string.h>

/* ------------ tables */

size_t scl_lua_size_field(lua_State *L, int place, const char *key, size_t absent) {
  lua_getfield(L, place, key);
  const size_t value =
      lua_isnil(L, -1) ? absent : scl_lua_check_size(L, -1, 0, (size_t)1 << 52, key);
  lua_pop(L, 1);
  return value;
}

/* The space of that name. Any other name gives the first number that is not a space. */
static scl_space check_space(lua_State *L, int place) {
  scl_space space = 0;
  lua_getfield(L, place, "space");
  const char *name = luaL_checkstring(L, -1);
  while (scl_space_name(space) != NULL && strcmp(scl_space_name(space), name) != 0)
    space++;
  lua_pop(L, 1);
  return space;
}

scl_parameters scl_lua_check_parameters(lua_State *L, int place) {
  scl_parameters p = {.head = SCL_HEAD(scl_parameters)};
  luaL_checktype(L, place, LUA_TTABLE);
  p.space = check_space(L, place);
  p.dim = scl_lua_size_field(L, place, "dim", 0);
  p.first = scl_lua_size_field(L, place, "first", 0);
  p.count = scl_lua_size_field(L, place, "count", 0);
  lua_getfield(L, place, "weights");
  const scl_block weights = scl_lua_check_block(L, lua_gettop(L));
  p.reals = weights.cols;
  p.weights = weights.data;
  p.stride = weights.row_stride;
  lua_getfield(L, place, "bias");
  p.bias = scl_lua_opt_guarded(L, lua_gettop(L), SCL_DTYPE_FLOAT64, p.count);
  lua_getfield(L, place, "support");
  if (!lua_isnil(L, -1)) {
    const scl_block support = scl_lua_check_block(L, lua_gettop(L));
    p.integers = support.cols;
    p.support = support.data;
    p.support_stride = support.row_stride;
    if (support.rows != p.count || support.dtype != SCL_DTYPE_INT32)
      luaL_error(L, "support is not an int32 block of %I rows", (lua_Integer)p.count);
  }
  if (weights.rows != p.count || weights.dtype != SCL_DTYPE_FLOAT64)
    luaL_error(L, "weights are not a float64 block of %I rows", (lua_Integer)p.count);
  lua_pop(L, 3); /* the memory belongs to the table */
  return p;
}

static scl_const_parameters check_const_parameters(lua_State *L, int place) {
  const scl_parameters p = scl_lua_check_parameters(L, place);
  return scl_parameters_view(&p);
}

/* A field with all 64 bits, as seeds and streams have; 0 where it is absent. */
static uint64_t integer_field(lua_State *L, int place, const char *key) {
  lua_getfield(L, place, key);
  const lua_Integer value = luaL_optinteger(L, -1, 0);
  lua_pop(L, 1);
  return (uint64_t)value;
}

scl_draw scl_lua_check_draw(lua_State *L, int place, scl_origin *origin) {
  luaL_checktype(L, place, LUA_TTABLE);
  lua_getfield(L, place, "sampler");
  scl_instance *sampler = scl_lua_check_instance(L, lua_gettop(L), SCL_KIND_SAMPLER);
  lua_getfield(L, place, "state");
  const scl_matrix *state = lua_isnil(L, -1) ? NULL : scl_lua_hold_matrix(L, lua_gettop(L));
  *origin = scl_origin_of(sampler, scl_lua_size_field(L, place, "dim", 0),
                          scl_lua_size_field(L, place, "total", 0), integer_field(L, place, "seed"),
                          SCL_STREAM_PARAMETERS + integer_field(L, place, "stream"), state);
  return scl_origin_draw(origin, scl_lua_size_field(L, place, "plane", 0),
                         scl_lua_size_field(L, place, "planes", 1));
}

/* ------------ drawing */

/* checker.sampler_draw(draw, parameters): fill them */
static int draw_parameters(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const scl_parameters out = scl_lua_check_parameters(L, 2);
  scl_lua_check(L, scl_sampler_draw(origin.sampler, &draw, &out, &error), &error);
  return 0;
}

/* checker.sampler_make(sampler, numbers, out): the simple form on memory of numbers -> true;
 * nothing where the sampler has another form. Each of `out` takes normals of them, or one. */
static int make_numbers(lua_State *L) {
  const scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  const size_t normals = scl_sampler_makes(sampler);
  if (normals == SIZE_MAX) return 0;
  const size_t count = scl_lua_check_size(L, 2, 0, 1 << 20, "count"), each = scl_max(normals, 1);
  const double *numbers = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, count * each);
  double *out = scl_lua_opt_guarded(L, 4, SCL_DTYPE_FLOAT64, count);
  scl_error error = {0};
  if (numbers != NULL && out != NULL)
    scl_lua_check(L, scl_sampler_make(sampler, count, numbers, out, &error), &error);
  lua_pushinteger(L, (lua_Integer)normals);
  return 1;
}

/* checker.sampler_scales(draw, parameters, memory) */
static int scales(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const scl_const_parameters parameters = check_const_parameters(L, 2);
  double *out = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, parameters.count);
  luaL_argcheck(L, out != NULL, 3, "memory expected");
  scl_lua_check(L, scl_sampler_scales(origin.sampler, &draw, &parameters, out, &error), &error);
  return 0;
}

/* checker.sampler_pool(draw, first, count, fan_in, memory of int32) */
static int pool(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const size_t first = scl_lua_check_size(L, 2, 0, INT32_MAX, "first"),
               count = scl_lua_check_size(L, 3, 0, INT32_MAX, "count"),
               fan_in = scl_lua_check_size(L, 4, 1, INT32_MAX, "fan_in");
  int32_t *out = scl_lua_opt_guarded(L, 5, SCL_DTYPE_INT32, count * fan_in);
  luaL_argcheck(L, out != NULL, 5, "memory expected");
  scl_lua_check(L, scl_sampler_pool(origin.sampler, &draw, first, count, fan_in, out, &error),
                &error);
  return 0;
}

/* checker.sampler_pool_rows(sampler, count, fan_in) -> R */
static int pool_rows(lua_State *L) {
  const scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  const size_t count = scl_lua_check_size(L, 2, 0, INT32_MAX, "count"),
               fan_in = scl_lua_check_size(L, 3, 1, INT32_MAX, "fan_in");
  size_t rows;
  scl_error error = {0};
  scl_lua_check(L, scl_sampler_pool_rows(sampler, count, fan_in, &rows, &error), &error);
  lua_pushinteger(L, (lua_Integer)rows);
  return 1;
}

/* ------------ structured rows */

/* checker.sampler_has_rows(sampler) -> whether structured parameters stand for dense rows */
static int has_rows(lua_State *L) {
  lua_pushboolean(L, scl_sampler_has_rows(scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER)));
  return 1;
}

/* checker.sampler_rows(draw, parameters, block): the dense rows */
static int dense_rows(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const scl_const_parameters parameters = check_const_parameters(L, 2);
  const scl_block out = scl_lua_check_block(L, 3);
  luaL_argcheck(
      L, out.rows == parameters.count && out.cols == draw.dim && out.dtype == SCL_DTYPE_FLOAT64, 3,
      "a block of another shape");
  scl_lua_check(
      L, scl_sampler_rows(origin.sampler, &draw, &parameters, out.data, out.row_stride, &error),
      &error);
  return 0;
}

/* checker.sampler_apply(draw, parameters, x, z[, all]): z (rows x count) from x, blocks of one
 * dtype; with `all`, of which the parameters are some, after slot `prepare` on all -> whether it
 * prepared anything */
static int apply(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  scl_prepared_work work = {0};
  scl_const_parameters all;
  scl_status status = SCL_STATUS_OK;
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  scl_const_parameters parameters = check_const_parameters(L, 2);
  const scl_const_block x = scl_lua_check_const_block(L, 3);
  const scl_block z = scl_lua_check_block(L, 4);
  luaL_argcheck(L, x.cols == draw.dim && x.planes == 1, 3, "a block of another shape");
  luaL_argcheck(
      L, z.rows == x.rows && z.cols == parameters.count && z.planes == 1 && z.dtype == x.dtype, 4,
      "a block of another shape or type");
  if (!lua_isnil(L, 5)) {
    all = check_const_parameters(L, 5);
    status = scl_prepare(origin.sampler, &draw, &all, x.dtype, &work, &error);
  }
  const bool prepared = work.work != NULL;
  parameters.prepared = work.work;
  if (status == SCL_STATUS_OK)
    status = scl_sampler_apply(origin.sampler, &draw, &parameters, &x, &z, &error);
  scl_prepared_release(&work);
  scl_lua_check(L, status, &error);
  lua_pushboolean(L, prepared);
  return 1;
}

/* ------------ columns */

/* checker.sampler_column(draw, column, first, count, memory) -> whether the sampler draws by
 * columns; then memory (count numbers) = weight `column` (from 0) of parameters first ..
 * first+count-1 */
static int draw_column(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  scl_column_law law;
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const size_t column = scl_lua_check_size(L, 2, 0, draw.dim - 1, "column"),
               first = scl_lua_check_size(L, 3, 0, draw.total, "first"),
               count = scl_lua_check_size(L, 4, 0, draw.total - first, "count");
  double *out = scl_lua_opt_guarded(L, 5, SCL_DTYPE_FLOAT64, count);
  luaL_argcheck(L, out != NULL, 5, "memory is missing");
  scl_layout layout;
  scl_lua_check(L, scl_sampler_layout(origin.sampler, draw.dim, draw.total, &layout, &error),
                &error);
  const bool draws = scl_sampler_draws_columns(origin.sampler, layout.has_bias);
  if (draws) {
    scl_status status = scl_sampler_column_law(origin.sampler, &draw, &law, &error);
    if (status == SCL_STATUS_OK)
      status =
          scl_sampler_draw_column(origin.sampler, &draw, &law, column, first, count, out, &error);
    scl_sampler_release_column_law(&law);
    scl_lua_check(L, status, &error);
  }
  lua_pushboolean(L, draws);
  return 1;
}

/* ------------ functions of the law */

/* A function of differences x - y of rows: out[i] for row i of delta (rows x dim). */
typedef scl_status (*by_gap)(const scl_instance *sampler, const scl_draw *draw, size_t rows,
                             const double *delta, ptrdiff_t stride, double *out, scl_error *error);

/* Call such a function. Arguments: a draw, a float64 block of differences, memory for the
 * results. */
static int at_gaps(lua_State *L, by_gap function) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const scl_const_block delta = scl_lua_check_const_block(L, 2);
  double *out = scl_lua_opt_guarded(L, 3, SCL_DTYPE_FLOAT64, delta.rows);
  luaL_argcheck(L, delta.cols == draw.dim && delta.dtype == SCL_DTYPE_FLOAT64 && out != NULL, 2,
                "a block of another shape or type");
  scl_lua_check(
      L, function(origin.sampler, &draw, delta.rows, delta.data, delta.row_stride, out, &error),
      &error);
  return 0;
}

/* checker.sampler_characteristic(draw, block, memory), checker.sampler_collision(draw, block,
 * memory): at the rows x - y of the block */
static int characteristic(lua_State *L) { return at_gaps(L, scl_sampler_characteristic); }
static int collision(lua_State *L) { return at_gaps(L, scl_sampler_collision); }

/* checker.sampler_distribution(draw, column, x) -> P(t <= x) of the thresholds of that column (from
 * 1) */
static int distribution(lua_State *L) {
  scl_origin origin;
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const size_t column = scl_lua_check_size(L, 2, 1, draw.dim, "column");
  scl_error error = {0};
  lua_pushnumber(L, scl_sampler_distribution(origin.sampler, &draw, column - 1,
                                             luaL_checknumber(L, 3), &error));
  scl_lua_check(L, error.status, &error);
  return 1;
}

/* checker.sampler_tells(sampler) -> { law, characteristic, distribution, collision, pool =
 * whether the sampler offers it, by an ability or a slot } */
static int tells(lua_State *L) {
  const scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  lua_newtable(L);
  scl_lua_set_boolean(L, "law", scl_sampler_has_law(sampler));
  scl_lua_set_boolean(L, "characteristic", scl_sampler_has_characteristic(sampler));
  scl_lua_set_boolean(L, "distribution", scl_instance_has(sampler, SCL_ABILITY_DISTRIBUTION));
  scl_lua_set_boolean(L, "collision", scl_instance_has(sampler, SCL_ABILITY_COLLISION));
  scl_lua_set_boolean(L, "pool", scl_instance_has(sampler, SCL_ABILITY_POOL));
  return 1;
}

/* checker.random_bits(seed, stream, index, offset) -> 64 bits as an integer */
static int random_bits(lua_State *L) {
  uint64_t at[4], bits;
  for (int i = 0; i < 4; i++)
    at[i] = (uint64_t)luaL_checkinteger(L, i + 1);
  scl_random_bits(at[0], at[1], at[2], at[3], 1, &bits);
  lua_pushinteger(L, (lua_Integer)bits);
  return 1;
}

SCL_LUA_CALLS(scl_checker_sampler_calls, {"random_bits", random_bits, 4},
              {"sampler_draw", draw_parameters, 2}, {"sampler_make", make_numbers, 4},
              {"sampler_column", draw_column, 5}, {"sampler_scales", scales, 3},
              {"sampler_pool", pool, 5}, {"sampler_pool_rows", pool_rows, 3},
              {"sampler_has_rows", has_rows, 1}, {"sampler_rows", dense_rows, 3},
              {"sampler_apply", apply, 5}, {"sampler_characteristic", characteristic, 3},
              {"sampler_collision", collision, 3}, {"sampler_distribution", distribution, 3},
              {"sampler_tells", tells, 1});
