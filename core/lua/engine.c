/* scullery.core: feature maps, expectations, stages. */
#include "algebra/ceiling.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include "learn/score.h"
#include "lua/handle.h"
#include "map/expectation.h"
#include "rows/pca.h"
#include "rows/widths.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- maps */

static void release_map(void *map) {
  scl_map_destroy(map);
}
static void release_stage(void *stage) {
  scl_stage_destroy(stage);
}

static size_t field_size(lua_State *L, int place, const char *key, size_t low, size_t high,
                         size_t absent) {
  size_t value = absent;
  if (lua_getfield(L, place, key) != LUA_TNIL)
    value = scl_lua_check_size(L, lua_gettop(L), low, high, key);
  lua_pop(L, 1);
  return value;
}

static scl_map_spec check_spec(lua_State *L, int place) {
  scl_map_spec spec = {0};
  luaL_checktype(L, place, LUA_TTABLE);
  spec.sampler = scl_lua_field_handle(L, place, "sampler", SCL_LUA_INSTANCE);
  spec.phi = scl_lua_field_handle(L, place, "phi", SCL_LUA_INSTANCE);
  spec.kernel = scl_lua_field_handle(L, place, "kernel", SCL_LUA_INSTANCE);
  if (spec.sampler == NULL || spec.phi == NULL)
    luaL_error(L, "a map needs a sampler and a nonlinearity");
  spec.dim = field_size(L, place, "dim", 0, INT32_MAX, 0);
  spec.count = field_size(L, place, "T", 0, (size_t)1 << 53, 0);
  spec.samples = field_size(L, place, "samples", 1, (size_t)1 << 40, 0);
  lua_getfield(L, place, "seed");
  spec.seed = (uint64_t)luaL_optinteger(L, -1, 0);
  lua_getfield(L, place, "dtype");
  spec.dtype = scl_lua_check_dtype(L, lua_gettop(L));
  lua_getfield(L, place, "parameters");
  if (!lua_isnil(L, -1)) spec.parameters = scl_lua_check_matrix(L, lua_gettop(L));
  lua_getfield(L, place, "method");
  const char *method = luaL_optstring(L, -1, "");
  spec.quadrature = strcmp(method, "quadrature") == 0;
  spec.monte_carlo = strcmp(method, "monte-carlo") == 0;
  if (*method != 0 && !spec.quadrature && !spec.monte_carlo && strcmp(method, "exact") != 0)
    luaL_error(L, "option 'method' got '%s'; it takes exact, quadrature or monte-carlo", method);
  lua_pop(L, 4);
  return spec;
}

/* core.map{sampler=, phi=, kernel=, dim=, T=, seed=, dtype=, parameters=, method=, samples=} */
static int map_new(lua_State *L) {
  scl_error error = {0};
  scl_map *map;
  const scl_map_spec spec = check_spec(L, 1);
  void **slot = scl_lua_new_handle(L, SCL_LUA_MAP, release_map, 0);
  scl_lua_check(L, scl_map_create(&spec, &map, &error), &error);
  *slot = map;
  scl_lua_account(L, scl_map_bytes(map));
  return 1;
}

static const scl_map *check_map(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_MAP);
}

static void set_integer(lua_State *L, const char *key, size_t value) {
  lua_pushinteger(L, (lua_Integer)value);
  lua_setfield(L, -2, key);
}

static void set_number(lua_State *L, const char *key, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, -2, key);
}

static void set_text(lua_State *L, const char *key, const char *value) {
  lua_pushstring(L, value);
  lua_setfield(L, -2, key);
}

static int map_info(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  char kernel[120];
  scl_map_describe_kernel(map, kernel, sizeof kernel);
  lua_newtable(L);
  set_integer(L, "features", scl_map_features(map));
  set_integer(L, "T", scl_map_count(map));
  set_integer(L, "dim", scl_map_dim(map));
  set_integer(L, "samples", scl_map_samples(map));
  set_integer(L, "slots", scl_map_slots(map));
  set_integer(L, "fan_in", scl_map_fan_in(map));
  set_text(L, "dtype", scl_dtype_name(scl_map_dtype(map)));
  set_text(L, "method", scl_method_name(scl_map_method(map)));
  set_text(L, "kernel", kernel);
  set_number(L, "log_scale", scl_map_log_scale(map));
  return 1;
}

/* A fresh matrix: filled by `make`, which may fail. */
#define PUSH_MATRIX(L, call)                                                                       \
  do {                                                                                             \
    scl_error error = {0};                                                                         \
    scl_matrix *out = scl_lua_new_matrix(L);                                                       \
    scl_lua_check(L, call, &error);                                                                \
    scl_lua_account(L, scl_matrix_bytes(out));                                                     \
  } while (0)

/* core.learn(source, stages, map): let a map of one-hot features learn its cells */
static int learn(lua_State *L) {
  scl_error error = {0};
  lua_settop(L, 3);
  scl_map *map = scl_lua_check_handle(L, 3, SCL_LUA_MAP);
  scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  flow.doing = "learning cells";
  scl_lua_check(L, scl_flow_learn(&flow, map, &error), &error);
  if (scl_map_slots(map) > 0) scl_lua_account(L, scl_map_bytes(map));
  return 0;
}

/* Codes as numbers, for Lua. */
static scl_status codes_matrix(const scl_map *map, const scl_matrix *x, scl_matrix *out,
                               scl_error *error) {
  const size_t rows = x->rows, count = scl_map_count(map);
  scl_matrix copy;
  int32_t *codes = scl_allocate_array(rows * count + 1, sizeof *codes);
  if (codes == NULL) return scl_fail_memory(error, rows * count * sizeof *codes, "codes");
  scl_status status = scl_matrix_copy(x, scl_map_dtype(map), &copy, error);
  if (status == SCL_STATUS_OK) {
    status = scl_map_codes(map, copy.data, copy.row_stride, rows, codes, error);
    if (status == SCL_STATUS_OK)
      status = scl_matrix_create_raw(rows, count, SCL_DTYPE_FLOAT64, out, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < rows; i++)
      for (size_t j = 0; j < count; j++)
        scl_matrix_row(out, i)[j] = codes[i * count + j];
    scl_matrix_release(&copy);
  }
  scl_release(codes);
  return status;
}

/* core.map_codes(map, X) -> n x T matrix of codes from 0, levels */
static int map_codes(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *x = scl_lua_check_matrix(L, 2);
  size_t levels;
  scl_error failure = {0};
  if (x->cols != scl_map_dim(map))
    return luaL_error(L, "codes: the rows have %d columns where %d are taken", (int)x->cols,
                      (int)scl_map_dim(map));
  scl_lua_check(L, scl_map_levels(map, &levels, &failure), &failure);
  PUSH_MATRIX(L, codes_matrix(map, x, out, &error));
  lua_pushinteger(L, (lua_Integer)levels);
  return 2;
}

/* core.space(sampler[, dim]) -> the parameter space that it draws from, or nil where it cannot say
 * for that dim */
static int sampler_space(lua_State *L) {
  static const char *const names[SCL_SPACE_COUNT] = {"dense", "sparse", "threshold", "grid",
                                                     "structured"};
  const scl_instance *sampler = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const size_t dim = lua_isnoneornil(L, 2) ? 1 : scl_lua_check_size(L, 2, 1, INT32_MAX, "d");
  scl_layout layout;
  lua_pushstring(L, scl_parameters_layout(sampler, dim, &layout, NULL) == SCL_STATUS_OK
                        ? names[layout.space]
                        : NULL);
  return 1;
}

static int map_parameters(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  PUSH_MATRIX(L, scl_map_parameters(map, out, &error));
  return 1;
}

/* core.map_gram(map) -> G, D x D, in the true scale */
static int map_gram(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  scl_error error = {0};
  scl_symmetric *gram;
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L,
                scl_matrix_create_raw(scl_map_features(map), scl_map_features(map),
                                      SCL_DTYPE_FLOAT64, out, &error),
                &error);
  scl_lua_check(L, scl_map_gram(map, &gram, &error), &error);
  scl_service_symmetric.dense(gram, out->data, out->row_stride);
  scl_symmetric_destroy(gram);
  const double factor = exp(2 * scl_map_log_scale(map));
  for (size_t i = 0; i < out->rows * out->cols; i++)
    ((double *)out->data)[i] *= factor;
  scl_lua_account(L, scl_matrix_bytes(out));
  return 1;
}

/* core.map_norm(map, weights) -> sqrt of the sum over targets of a'Ga, weights in the features' own
 * scale */
static int map_norm(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *a = scl_lua_check_matrix(L, 2);
  scl_error error = {0};
  scl_symmetric *gram;
  const size_t d = scl_map_features(map);
  if (a->rows != d || a->dtype != SCL_DTYPE_FLOAT64)
    return luaL_error(L, "the model has %d features and these are %d weights", (int)d,
                      (int)a->rows);
  scl_matrix *packed = scl_lua_new_matrix(L), *product = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_matrix_copy(a, SCL_DTYPE_FLOAT64, packed, &error), &error);
  scl_lua_check(L, scl_matrix_create(d, a->cols, SCL_DTYPE_FLOAT64, product, &error), &error);
  scl_lua_check(L, scl_map_gram(map, &gram, &error), &error);
  scl_service_symmetric.multiply(gram, packed->data, a->cols, product->data);
  scl_symmetric_destroy(gram);
  double sum = 0;
  for (size_t i = 0; i < d * a->cols; i++)
    sum += ((double *)packed->data)[i] * ((double *)product->data)[i];
  lua_pushnumber(L, sqrt(fmax(sum, 0)));
  return 1;
}

static int map_constants(lua_State *L) {
  scl_constants constants;
  scl_error error = {0};
  const double radius = luaL_optnumber(L, 2, INFINITY);
  scl_lua_check(L, scl_map_constants(check_map(L, 1), radius, &constants, &error), &error);
  lua_newtable(L);
  set_number(L, "kappa", constants.kappa);
  set_number(L, "theta", constants.theta);
  set_number(L, "theta_paper", constants.theta_paper);
  lua_pushboolean(L, constants.kappa_exact);
  lua_setfield(L, -2, "kappa_exact");
  lua_pushboolean(L, constants.theta_exact);
  lua_setfield(L, -2, "theta_exact");
  return 1;
}

static int map_induced(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *x = scl_lua_check_matrix(L, 2), *y = scl_lua_check_matrix(L, 3);
  if (x->cols != scl_map_dim(map) || y->cols != scl_map_dim(map))
    return luaL_error(L, "kernel: the rows have %d and %d columns where %d are taken", (int)x->cols,
                      (int)y->cols, (int)scl_map_dim(map));
  PUSH_MATRIX(L, scl_map_induced(map, x, y, out, &error));
  return 1;
}

static int map_collision(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *x = scl_lua_check_matrix(L, 2), *y = scl_lua_check_matrix(L, 3);
  if (x->cols != scl_map_dim(map) || y->cols != scl_map_dim(map))
    return luaL_error(L, "collision: the rows have %d and %d columns where %d are taken",
                      (int)x->cols, (int)y->cols, (int)scl_map_dim(map));
  PUSH_MATRIX(L, scl_map_collision(map, x, y, out, &error));
  return 1;
}

static int map_between(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *u = scl_lua_check_matrix(L, 2), *v = scl_lua_check_matrix(L, 3);
  PUSH_MATRIX(L, scl_map_kernel_between(map, u, v, out, &error));
  return 1;
}

/* core.expectation(spec, X, tolerance, most) -> values, {method, stderr, samples} */
static int expectation(lua_State *L) {
  const scl_map_spec spec = check_spec(L, 1);
  const scl_matrix *x = scl_lua_check_matrix(L, 2);
  const double tolerance = luaL_optnumber(L, 3, 1e-3);
  const size_t most = lua_isnoneornil(L, 4)
                          ? (size_t)1 << 20
                          : scl_lua_check_size(L, 4, 2048, (size_t)1 << 40, "samples");
  scl_expectation result;
  scl_error error = {0};
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_expect(&spec, x, tolerance, most, &result, &error), &error);
  *out = result.values;
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_newtable(L);
  set_text(L, "method", scl_method_name(result.method));
  set_number(L, "stderr", result.standard_error);
  set_integer(L, "samples", result.samples);
  return 2;
}

/* ---------------------------------------------------------------- stages and walks */

/* core.fit_stage(kind, source, stages) -> stage */
static int fit_stage(lua_State *L) {
  static const char *const kinds[] = {"standardize", "minmax", "normalize", "add_bias", NULL};
  const scl_stage_kind kind = (scl_stage_kind)luaL_checkoption(L, 1, NULL, kinds);
  scl_error error = {0};
  scl_stage *stage;
  void **slot = scl_lua_new_handle(L, SCL_LUA_STAGE, release_stage, 0);
  const int made = lua_gettop(L);
  const scl_flow flow = scl_lua_flow(L, 2, 3, 0);
  scl_lua_check(L, scl_flow_fit_stage(&flow, kind, &stage, &error), &error);
  *slot = stage;
  lua_pushvalue(L, made);
  return 1;
}

/* core.pca(source, stages, map, k) -> {vectors = k x D, mean = 1 x D, variances = k x 1, total =}
 * of the features (of the staged rows without a map) */
static int pca(lua_State *L) {
  scl_components c;
  scl_error error = {0};
  const size_t k = scl_lua_check_size(L, 4, 1, (size_t)1 << 40, "k");
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  flow.doing = "components";
  lua_createtable(L, 0, 4);
  scl_matrix *vectors = scl_lua_new_matrix(L);
  lua_setfield(L, -2, "vectors");
  scl_matrix *mean = scl_lua_new_matrix(L);
  lua_setfield(L, -2, "mean");
  scl_matrix *variances = scl_lua_new_matrix(L);
  lua_setfield(L, -2, "variances");
  scl_lua_check(L, scl_pca(&flow, k, &c, &error), &error);
  *vectors = c.vectors;
  *mean = c.mean;
  *variances = c.variances;
  scl_lua_account(L,
                  scl_matrix_bytes(vectors) + scl_matrix_bytes(mean) + scl_matrix_bytes(variances));
  set_number(L, "total", c.total);
  return 1;
}

/* core.projection_stage(vectors, mean) -> stage: x to vectors (x - mean) */
static int projection_stage(lua_State *L) {
  const scl_matrix *vectors = scl_lua_check_matrix(L, 1), *mean = scl_lua_check_matrix(L, 2);
  scl_error error = {0};
  scl_stage *stage;
  if (vectors->dtype != SCL_DTYPE_FLOAT64 || mean->dtype != SCL_DTYPE_FLOAT64 || mean->rows != 1 ||
      mean->cols != vectors->cols)
    return luaL_error(L, "a projection takes k x d vectors and a 1 x d mean, in float64");
  void **slot = scl_lua_new_handle(L, SCL_LUA_STAGE, release_stage, 0);
  scl_lua_check(L, scl_stage_create_projection(vectors, scl_matrix_row(mean, 0), &stage, &error),
                &error);
  *slot = stage;
  return 1;
}

static int stage_info(lua_State *L) {
  const scl_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  lua_newtable(L);
  set_integer(L, "cols_in", stage->cols_in);
  set_integer(L, "cols_out", stage->cols_out);
  set_integer(L, "constant", stage->constant);
  return 1;
}

/* core.widths(source, stages) -> gamma by scale, gamma by median, columns */
static int widths(lua_State *L) {
  double scale, median;
  scl_error error = {0};
  const scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  scl_lua_check(L, scl_flow_widths(&flow, &scale, &median, &error), &error);
  lua_pushnumber(L, scale);
  lua_pushnumber(L, median);
  lua_pushinteger(L, (lua_Integer)scl_flow_cols(&flow));
  return 3;
}

/* core.transform(source, stages, map[, block rows]) -> features (n x D), in the true scale unless
 * that underflows; second result: the log of a factor left out */
static int transform(lua_State *L) {
  lua_settop(L, 4);
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  if (!lua_isnoneornil(L, 4))
    flow.block_rows = scl_lua_check_size(L, 4, 1, (size_t)1 << 40, "block");
  const double log_scale = flow.map == NULL ? 0 : scl_map_log_scale(flow.map),
               limit = flow.dtype == SCL_DTYPE_FLOAT64 ? -300 : -30;
  const double left_out = log_scale < limit ? log_scale : 0;
  PUSH_MATRIX(L, scl_features(&flow, exp(log_scale - left_out), out, &error));
  lua_pushnumber(L, left_out);
  return 2;
}

static scl_status look_away(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  *(size_t *)context += block->count;
  return SCL_STATUS_OK;
}

/* core.walk(source, stages, map) -> rows: make all features, block by block, and keep none (what a
 * map costs) */
static int walk(lua_State *L) {
  scl_error error = {0};
  size_t rows = 0;
  lua_settop(L, 3);
  const scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  scl_lua_check(L, scl_flow_walk(&flow, true, look_away, &rows, &error), &error);
  lua_pushinteger(L, (lua_Integer)rows);
  return 1;
}

/* core.decisions(source, stages, map, weights, intercept[, block rows]) -> n x c */
static int decisions(lua_State *L) {
  lua_settop(L, 6);
  const scl_matrix *weights = scl_lua_check_matrix(L, 4), *intercept = scl_lua_check_matrix(L, 5);
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  if (!lua_isnoneornil(L, 6))
    flow.block_rows = scl_lua_check_size(L, 6, 1, (size_t)1 << 40, "block");
  flow.doing = "predicting";
  PUSH_MATRIX(L, scl_decisions(&flow, weights, intercept, out, &error));
  return 1;
}

/* core.find_nonfinite(X) -> row, column of the first NaN or infinity, or nothing */
static int find_nonfinite(lua_State *L) {
  size_t row, col;
  if (!scl_matrix_find_nonfinite(scl_lua_check_matrix(L, 1), &row, &col)) return 0;
  lua_pushinteger(L, (lua_Integer)row + 1);
  lua_pushinteger(L, (lua_Integer)col + 1);
  return 2;
}

/* ---------------------------------------------------------------- the machine */

static int threads(lua_State *L) {
  if (!lua_isnoneornil(L, 1))
    scl_pool_set_threads(scl_lua_check_size(L, 1, 1, SCL_POOL_MAX, "threads"));
  lua_pushinteger(L, (lua_Integer)scl_pool_threads());
  return 1;
}

/* core.ceiling("gemm" | "syrk", dtype, n) -> GFLOP/s */
static int ceiling(lua_State *L) {
  static const char *const kinds[] = {"gemm", "syrk", NULL};
  double gflops;
  scl_error error = {0};
  const bool syrk = luaL_checkoption(L, 1, NULL, kinds) == 1;
  scl_lua_check(L,
                scl_ceiling(syrk, scl_lua_check_dtype(L, 2),
                            scl_lua_check_size(L, 3, 1, 20000, "n"), &gflops, &error),
                &error);
  lua_pushnumber(L, gflops);
  return 1;
}

/* core.ceiling_features(dtype, blocks, rows, d, features, "none" | "copy" | "cos") -> seconds */
static int ceiling_features(lua_State *L) {
  double seconds;
  size_t size[4];
  scl_error error = {0};
  for (int i = 0; i < 4; i++)
    size[i] = scl_lua_check_size(L, i + 2, 1, 1 << 24, "a size");
  scl_lua_check(L,
                scl_ceiling_features(scl_lua_check_dtype(L, 1), size[0], size[1], size[2], size[3],
                                     luaL_optstring(L, 6, "none"), &seconds, &error),
                &error);
  lua_pushnumber(L, seconds);
  return 1;
}

static int memory(lua_State *L) {
  if (lua_toboolean(L, 1)) scl_allocated_peak_reset();
  lua_pushinteger(L, (lua_Integer)scl_allocated());
  lua_pushinteger(L, (lua_Integer)scl_allocated_peak());
  return 2;
}

static int instruction_set(lua_State *L) {
  lua_pushstring(L, scl_loops_get()->name);
  return 1;
}

/* core.fail_allocation_after(count): tests only; -1 turns it off */
static int fail_allocation_after(lua_State *L) {
  scl_allocate_fail_after((long)luaL_checkinteger(L, 1));
  return 0;
}

static int interrupt(lua_State *L) {
  (void)L;
  scl_interrupt();
  return 0;
}

void scl_lua_open_engine(lua_State *L) {
  static const luaL_Reg functions[] = {{"map", map_new},
                                       {"map_info", map_info},
                                       {"space", sampler_space},
                                       {"map_parameters", map_parameters},
                                       {"map_gram", map_gram},
                                       {"map_norm", map_norm},
                                       {"map_constants", map_constants},
                                       {"map_induced", map_induced},
                                       {"map_collision", map_collision},
                                       {"map_codes", map_codes},
                                       {"learn", learn},
                                       {"map_between", map_between},
                                       {"expectation", expectation},
                                       {"fit_stage", fit_stage},
                                       {"pca", pca},
                                       {"projection_stage", projection_stage},
                                       {"stage_info", stage_info},
                                       {"widths", widths},
                                       {"transform", transform},
                                       {"walk", walk},
                                       {"decisions", decisions},
                                       {"find_nonfinite", find_nonfinite},
                                       {"threads", threads},
                                       {"memory", memory},
                                       {"ceiling", ceiling},
                                       {"ceiling_features", ceiling_features},
                                       {"instruction_set", instruction_set},
                                       {"fail_allocation_after", fail_allocation_after},
                                       {"interrupt", interrupt},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
