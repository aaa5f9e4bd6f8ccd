/* scullery.core: one step of pruning, min over b of (1/2T)||Ua - Ub||^2 + the solver's penalty, G =
 * U'U (Dube and Marchand 2023, equation 60). */
#include "learn/quadratic.h"
#include "lua/handle.h"

#include <math.h>
#include <string.h>

/* All that a step holds, so that an error frees it. */
typedef struct step {
  scl_symmetric *gram; /* G + shift I */
  double shift;
  double *product; /* G a, then differences and their product: 3 D c */
  scl_fit fit;
} step;

static void release_step(void *pointer) {
  step *s = pointer;
  scl_symmetric_destroy(s->gram);
  scl_release(s->product);
  scl_fit_release(&s->fit);
  scl_release(s);
}

/* G with 1e-8 of its mean diagonal added, so that it is positive definite (their footnote 1). */
static scl_status make_gram(const scl_map *map, step *s, scl_error *error) {
  SCL_TRY(scl_map_gram(map, &s->gram, error));
  const size_t d = scl_symmetric_order(s->gram);
  double sum = 0;
  for (size_t i = 0; i < d; i++)
    sum += scl_symmetric_get(s->gram, i, i);
  s->shift = 1e-8 * sum / (double)d;
  scl_service_symmetric.shift(s->shift, s->gram);
  return SCL_STATUS_OK;
}

/* a'Ga, without what was added to G */
static double squared_norm(const step *s, const double *a, size_t numbers, size_t c,
                           double *product) {
  double sum = 0;
  scl_service_symmetric.multiply(s->gram, a, c, product);
  for (size_t i = 0; i < numbers; i++)
    sum += a[i] * (product[i] - s->shift * a[i]);
  return fmax(sum, 0);
}

static scl_status take_step(step *s, const scl_map *map, const scl_instance *solver,
                            const scl_matrix *a, double *distance, double *norm, scl_error *error) {
  const size_t c = a->cols, numbers = a->rows * c;
  SCL_TRY(make_gram(map, s, error));
  s->product = scl_allocate_array(3 * numbers + c + 1, sizeof *s->product);
  if (s->product == NULL)
    return scl_fail_memory(error, 3 * numbers * sizeof *s->product, "a step of pruning");
  double *right = s->product, *gap = right + numbers, *work = gap + numbers,
         *square = work + numbers;
  const double *from = a->data;
  scl_service_symmetric.multiply(s->gram, from, c, right);
  memset(square, 0, c * sizeof *square);
  for (size_t i = 0; i < numbers; i++)
    square[i % c] += from[i] * right[i];
  const scl_quadratic form = {s->gram, right, square, (double)scl_map_count(map), c, from};
  SCL_TRY(scl_quadratic_solve(&form, solver, &s->fit, error));
  for (size_t i = 0; i < numbers; i++)
    gap[i] = s->fit.solution.coefficients[i] - from[i];
  *distance = sqrt(squared_norm(s, gap, numbers, c, work));
  *norm = sqrt(squared_norm(s, s->fit.solution.coefficients, numbers, c, work));
  return SCL_STATUS_OK;
}

/* core.prune_step(map, weights, solver) -> weights b, ||alpha - beta||, ||beta|| */
static int prune_step(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  const scl_matrix *a = scl_lua_check_matrix(L, 2);
  const scl_instance *solver = scl_lua_check_handle(L, 3, SCL_LUA_INSTANCE);
  double distance = 0, norm = 0;
  scl_error error = {0};
  if (a->rows != scl_map_features(map) || a->dtype != SCL_DTYPE_FLOAT64)
    return luaL_error(L, "the model has %d features and these are %d weights",
                      (int)scl_map_features(map), (int)a->rows);
  scl_matrix *packed = scl_lua_new_matrix(L), *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_copy(a, SCL_DTYPE_FLOAT64, packed, &error), &error);
  void **slot = scl_lua_new_handle(L, "scullery.step", release_step, 0);
  step *s = scl_allocate_zero(sizeof *s);
  if (s == NULL) return luaL_error(L, "not enough memory for a step of pruning");
  *slot = s;
  scl_lua_check(L, take_step(s, map, solver, packed, &distance, &norm, &error), &error);
  *out = s->fit.coefficients;
  memset(&s->fit.coefficients, 0, sizeof s->fit.coefficients);
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_pushvalue(L, lua_gettop(L) - 1);
  lua_pushnumber(L, distance);
  lua_pushnumber(L, norm);
  return 3;
}

static void release_map(void *map) {
  scl_map_destroy(map);
}

/* core.map_select(map, parameters) -> the map with these parameters (from 1, ascending) alone */
static int map_select(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  luaL_checktype(L, 2, LUA_TTABLE);
  const size_t count = (size_t)luaL_len(L, 2);
  size_t *keep = lua_newuserdatauv(L, (count + 1) * sizeof *keep, 0);
  scl_map *out;
  scl_error error = {0};
  for (size_t i = 0; i < count; i++) {
    lua_geti(L, 2, (lua_Integer)i + 1);
    keep[i] = scl_lua_check_size(L, lua_gettop(L), 1, scl_map_count(map), "a parameter") - 1;
    lua_pop(L, 1);
  }
  void **slot = scl_lua_new_handle(L, SCL_LUA_MAP, release_map, 0);
  scl_lua_check(L, scl_map_select(map, keep, count, &out, &error), &error);
  *slot = out;
  return 1;
}

void scl_lua_open_prune(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"prune_step", prune_step}, {"map_select", map_select}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
