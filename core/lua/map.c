/* scullery.core: feature maps, expectations over parameters, kernels between rows. compose and
 * model of the library make maps from instances; the functions here read the specification of a map
 * and return matrices. A map that was made does not change, except that cells are learnt once
 * (core.learn). */
#include "base/profile.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/sparse.h"
#include "map/expectation.h"
#include "rows/ways.h"
#include <math.h>
#include <string.h>

static const scl_map *check_map(lua_State *L, int place) {
  return scl_lua_check_handle(L, place, SCL_LUA_MAP);
}

/* ------------ what a map is made from */

/* The matrix in the field `key`, NULL where there is none. The running call holds it. */
static const scl_matrix *field_matrix(lua_State *L, int place, const char *key) {
  const scl_matrix *matrix = NULL;
  if (lua_getfield(L, place, key) != LUA_TNIL) matrix = scl_lua_hold_matrix(L, lua_gettop(L));
  lua_pop(L, 1); /* the call holds it */
  return matrix;
}

/* "int8" and "int16": whole numbers, which are rounded from float32. */
static scl_whole whole_of(lua_State *L, int place) {
  const char *name = lua_type(L, place) == LUA_TSTRING ? lua_tostring(L, place) : "";
  return strcmp(name, "int8") == 0    ? SCL_WHOLE_INT8
         : strcmp(name, "int16") == 0 ? SCL_WHOLE_INT16
                                      : SCL_WHOLE_NONE;
}

/* The specification of a map, a table:
 *
 *   sampler, phi, kernel  instances; without a kernel the parameters are independent
 *   dim, T, seed          columns of a row, parameters, seed of the parameters
 *   dtype                 of the features: "int8" and "int16" are whole numbers
 *   parameters, state     matrices in place of drawn parameters, and of what the sampler learns
 *   method, samples       how an expectation is computed, and how many draws of a simulated one
 *   whiten, bare, staged  see map/map.h
 *
 * The instances and matrices are held by the running call; the map copies or retains them. */
static scl_map_spec check_spec(lua_State *L, int place) {
  static const char *const methods[] = {"exact", "quadrature", "monte-carlo", NULL};
  scl_map_spec spec = {0};
  scl_lua_copy_table(L, place, "a map");
  spec.sampler = scl_lua_field_handle(L, place, "sampler", SCL_LUA_INSTANCE);
  spec.phi = scl_lua_field_handle(L, place, "phi", SCL_LUA_INSTANCE);
  spec.kernel = scl_lua_field_handle(L, place, "kernel", SCL_LUA_INSTANCE);
  if (spec.sampler == NULL || spec.phi == NULL)
    luaL_error(L, "a map needs a sampler and a nonlinearity");
  spec.dim = scl_lua_field_size(L, place, "dim", 0, INT32_MAX, 0);
  spec.count = scl_lua_field_size(L, place, "T", 0, (size_t)1 << 53, 0);
  spec.samples = scl_lua_field_size(L, place, "samples", 1, (size_t)1 << 40, 0);
  spec.parameters = field_matrix(L, place, "parameters");
  spec.state = field_matrix(L, place, "state");
  spec.whiten = scl_lua_field_flag(L, place, "whiten");
  spec.bare = scl_lua_field_flag(L, place, "bare");
  const int method = scl_lua_field_word(L, place, "method", methods, 0);
  spec.quadrature = method == 1;
  spec.monte_carlo = method == 2;
  lua_getfield(L, place, "seed");
  spec.seed = (uint64_t)luaL_optinteger(L, -1, 0);
  spec.staged = scl_lua_field_flag(L, place, "staged");
  spec.together = scl_lua_field_flag(L, place, "together");
  lua_getfield(L, place, "dtype");
  spec.whole = whole_of(L, lua_gettop(L));
  spec.dtype =
      spec.whole != SCL_WHOLE_NONE ? SCL_DTYPE_FLOAT32 : scl_lua_check_dtype(L, lua_gettop(L));
  lua_pop(L, 2);
  return spec;
}

/* The fresh map on top of the stack is the result. */
static int account(lua_State *L) {
  scl_lua_account(L, scl_map_bytes(check_map(L, -1)));
  return 1;
}

/* core.map(spec) -> map */
static int map_new(lua_State *L) {
  scl_error error = {0};
  scl_map *map;
  const scl_map_spec spec = check_spec(L, 1);
  void **slot = scl_lua_new_map(L);
  const size_t mark = scl_profile_enter("parameters");
  const scl_status status = scl_map_create(&spec, &map, &error);
  scl_profile_leave(mark, 0, 0);
  scl_lua_check(L, status, &error);
  *slot = map;
  return account(L);
}

/* core.map_whitened(map, whiten, exact) -> scl_map_create_whitened */
static int map_whitened(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const bool whiten = lua_toboolean(L, 2), exact = lua_toboolean(L, 3);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_map(L), scl_map,
                      scl_map_create_whitened(map, whiten, exact, &made, &error));
  return account(L);
}

/* core.map_staged(map, stages) -> its features, changed by row stages */
static int map_staged(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  size_t count;
  scl_fitted_stage **stages = scl_lua_check_stages(L, 2, &count);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_map(L), scl_map,
                      scl_map_create_staged(map, stages, count, &made, &error));
  const int made = lua_gettop(L);
  scl_lua_tie(L, made, 1);
  scl_lua_tie_list(L, made, 2, count);
  return account(L);
}

/* Part i of a union from element i of the list in place 1: { map =, columns =, scale = }, the columns
 * from 1, ascending. The list of columns belongs to a userdata, which is left on the stack. */
static scl_map_part check_union_part(lua_State *L, size_t i, size_t dim) {
  scl_map_part part = {.scale = 1};
  lua_rawgeti(L, 1, (lua_Integer)i + 1);
  const int table = lua_gettop(L);
  scl_lua_copy_table(L, table, "a part of a union");
  part.map = scl_lua_field_handle(L, table, "map", SCL_LUA_MAP);
  if (part.map == NULL) luaL_error(L, "a part of a union needs a map");
  if (lua_getfield(L, table, "scale") != LUA_TNIL) part.scale = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  if (lua_getfield(L, table, "columns") == LUA_TNIL) return part;
  part.n_columns = scl_lua_copy_list(L, lua_gettop(L), dim, "columns");
  part.columns = scl_lua_list_places(L, lua_gettop(L), part.n_columns, 1, dim, "columns");
  return part;
}

/* core.map_union(list of parts, dim) -> their features side by side */
static int map_union(lua_State *L) {
  enum { MOST_PARTS = 1000 };
  const size_t count = scl_lua_copy_list(L, 1, MOST_PARTS, "parts of a union"),
               dim = scl_lua_check_size(L, 2, 1, INT32_MAX, "dim");
  scl_map_part *parts = lua_newuserdatauv(L, (count + 1) * sizeof *parts, 0);
  luaL_checkstack(L, (int)count * 4 + 20, "too many parts");
  for (size_t i = 0; i < count; i++)
    parts[i] = check_union_part(L, i, dim);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_map(L), scl_map,
                      scl_map_create_union(parts, count, dim, &made, &error));
  return 1; /* its bytes are those of its parts */
}

/* core.map_parts(map) -> of a union the list of { map, columns, scale }; of other maps nil */
static int map_parts(lua_State *L) {
  const scl_map *map = scl_map_base(check_map(L, 1));
  const size_t count = scl_map_part_count(map);
  if (count == 0) return 0;
  lua_createtable(L, (int)count, 0);
  for (size_t i = 0; i < count; i++) {
    const scl_map_part part = scl_map_part_at(map, i);
    lua_createtable(L, 0, 3);
    void **slot = scl_lua_new_map(L);
    *slot = scl_map_share(part.map);
    lua_setfield(L, -2, "map");
    scl_lua_set_number(L, "scale", part.scale);
    if (part.columns != NULL) {
      scl_lua_push_sizes(L, part.columns, part.n_columns, 1);
      lua_setfield(L, -2, "columns");
    }
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  return 1;
}

/* core.map_select(map, parameters) -> the map with these parameters (from 1, ascending) alone */
static int map_select(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const size_t count = scl_lua_copy_list(L, 2, scl_map_count(map), "parameters"),
               *keep = scl_lua_list_places(L, 2, count, 1, scl_map_count(map), "parameters");
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_map(L), scl_map,
                      scl_map_select(map, keep, count, &made, &error));
  return account(L);
}

/* ------------ what a map says of itself */

/* T; of a union that of all parts. */
static size_t parameters_of(const scl_map *map) {
  size_t count = 0;
  for (size_t i = 0; i < scl_map_part_count(map); i++)
    count += scl_map_count(scl_map_part_at(map, i).map);
  return count == 0 ? scl_map_count(map) : count;
}

/* The largest value over the parts of a union, or that of the map. */
static double largest_of(const scl_map *map, double (*value)(const scl_map *)) {
  double most = value(map);
  for (size_t i = 0; i < scl_map_part_count(map); i++)
    most = fmax(most, value(scl_map_part_at(map, i).map));
  return most;
}

/* core.map_info(map) -> a table of sizes, method, kernel and numerical facts of the map */
static int map_info(lua_State *L) {
  const scl_map *map = check_map(L, 1), *base = scl_map_base(map);
  char kernel[120];
  scl_map_describe_kernel(base, kernel, sizeof kernel);
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"features", scl_map_features(map)}, {"T", parameters_of(base)},
                   {"parts", scl_map_part_count(base)}, {"dim", scl_map_dim(map)},
                   {"samples", scl_map_samples(base)}, {"entries", scl_map_entries(map)},
                   {"fan_in", scl_map_fan_in(base)});
  const char *whole = scl_whole_name(scl_map_wanted_whole(map));
  size_t rounded, clipped;
  scl_map_clipped(map, &rounded, &clipped);
  SCL_LUA_TEXTS(L, {"dtype", whole != NULL ? whole : scl_dtype_name(scl_map_dtype(map))},
                {"method", scl_method_name(scl_map_method(base))}, {"kernel", kernel});
  SCL_LUA_BOOLEANS(L, {"has_kernel", scl_map_has_kernel(map)}, {"section", scl_map_is_section(map)},
                   {"whitened", scl_map_is_whitened(map)});
  SCL_LUA_NUMBERS(L, {"jitter", largest_of(base, scl_map_jitter)},
                  {"log_scale", scl_map_log_scale(map)}, {"left_out", scl_map_left_out(map)},
                  {"rounded", (double)rounded}, {"clipped", (double)clipped});
  return 1;
}

/* core.quadrature_gap(map) -> how far quadrature has missed its tolerance so far, 0 where it has
 * not */
static int quadrature_gap(lua_State *L) {
  return scl_lua_give_number(L, largest_of(scl_map_base(check_map(L, 1)), scl_map_quadrature_gap));
}

/* core.space(sampler[, dim]) -> the parameter space that it draws from, or nil where it cannot say
 * for that dim */
static int sampler_space(lua_State *L) {
  const scl_instance *sampler = scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER);
  const size_t dim = scl_lua_opt_size(L, 2, 1, INT32_MAX, "d", 1);
  scl_layout layout;
  const bool known = scl_parameters_layout(sampler, dim, 0, &layout, NULL) == SCL_STATUS_OK;
  return scl_lua_give_text(L, known ? scl_space_name(layout.space) : NULL);
}

/* core.map_codes(map, X) -> n x T matrix of codes from 0, levels */
static int map_codes(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  const scl_csr *csr = scl_lua_test_csr(L, 2) == NULL ? NULL : scl_lua_hold_csr(L, 2);
  const scl_matrix *x = csr != NULL ? NULL : scl_lua_hold_matrix(L, 2);
  size_t levels;
  SCL_LUA_TRY(L, scl_map_levels(map, &levels, &error));
  SCL_LUA_PUSH_MATRIX(L, scl_map_code_matrix(map, x, csr, out, &error));
  lua_pushinteger(L, (lua_Integer)levels);
  return 2;
}

/* core.map_parameters(map) -> the parameters, a row for each */
static int map_parameters(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  SCL_LUA_PUSH_MATRIX(L, scl_map_parameters(map, out, &error));
  return 1;
}

/* core.map_grid(map) -> what whole-number features learnt; nil where they learnt nothing */
static int map_grid(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  scl_matrix *grid = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_map_grid(map, grid, &error));
  if (grid->storage == NULL) lua_pushnil(L);
  return 1;
}

/* core.map_exact(map[, row weights]) -> "rows", "blocks", or nil and why */
static int map_exact(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  scl_source rows = {.rows = lua_isnoneornil(L, 2) ? 0 : scl_lua_hold_matrix(L, 2)->rows};
  scl_flow flow = {.map = map, .dtype = scl_map_dtype(map), .groups = 1, .source = &rows};
  flow.weights = scl_lua_opt_weights(L, 2, rows.rows);
  if (scl_flow_is_exact(&flow)) return scl_lua_give_text(L, "rows");
  const scl_sums_way *way = scl_sums_way_of(&flow);
  if (way->blocks) return scl_lua_give_text(L, "blocks");
  lua_pushnil(L);
  lua_pushfstring(L, "these features are summed by the way \"%s\", in the order of the rows",
                  way->name);
  return 2;
}

/* core.map_gram(map) -> G, D x D, in the true scale */
static int map_gram(lua_State *L) {
  const scl_map *map = check_map(L, 1);
  SCL_LUA_PUSH_MATRIX(L, scl_map_gram_matrix(map, out, &error));
  return 1;
}

/* core.map_constants(map[, radius of the inputs]) -> bounds of a feature (kappa) and of the
 * expectation (theta), and whether each is exact */
static int map_constants(lua_State *L) {
  scl_constants constants;
  const double radius = luaL_optnumber(L, 2, INFINITY);
  SCL_LUA_TRY(L, scl_map_constants(check_map(L, 1), radius, &constants, &error));
  lua_newtable(L);
  SCL_LUA_NUMBERS(L, {"kappa", constants.kappa}, {"theta", constants.theta},
                  {"theta_paper", constants.theta_paper});
  SCL_LUA_BOOLEANS(L, {"kappa_exact", constants.kappa_exact},
                   {"theta_exact", constants.theta_exact});
  return 1;
}

/* ------------ kernels */

/* What a map says of two matrices, each row of the one with each of the other. */
static int between(lua_State *L,
                   scl_status (*call)(const scl_map *, const scl_matrix *, const scl_matrix *,
                                      scl_matrix *, scl_error *)) {
  const scl_map *map = check_map(L, 1);
  const scl_matrix *x = scl_lua_hold_matrix(L, 2), *y = scl_lua_hold_matrix(L, 3);
  SCL_LUA_PUSH_MATRIX(L, call(map, x, y, out, &error));
  return 1;
}

/* core.map_induced(map, X, Y) -> the kernel that the features estimate, in closed form
 * core.map_collision(map, X, Y) -> P(codes agree)
 * core.map_between(map, U, V) -> K between parameters given as matrices */
static int map_induced(lua_State *L) { return between(L, scl_map_induced); }
static int map_collision(lua_State *L) { return between(L, scl_map_collision); }
static int map_between(lua_State *L) { return between(L, scl_map_kernel_between); }

/* core.gram(kernel, X[, Y]) -> matrix of K(x_i, y_j); without Y, X against itself. Both are dense, or
 * both sparse */
static int kernel_gram(lua_State *L) {
  const scl_instance *kernel = scl_lua_check_instance(L, 1, SCL_KIND_KERNEL);
  if (scl_lua_test_csr(L, 2) != NULL) {
    const scl_csr *rows = scl_lua_hold_csr(L, 2),
                  *others = lua_isnil(L, 3) ? rows : scl_lua_hold_csr(L, 3);
    SCL_LUA_PUSH_MATRIX(L, scl_kernel_matrix_csr(kernel, rows, others, out, &error));
    return 1;
  }
  const scl_matrix *x = scl_lua_hold_matrix(L, 2),
                   *y = lua_isnil(L, 3) ? x : scl_lua_hold_matrix(L, 3);
  SCL_LUA_PUSH_MATRIX(L, scl_kernel_matrix(kernel, x, y, out, &error));
  return 1;
}

/* core.expectation(spec, X, tolerance, most) -> values, {method, stderr, samples} */
static int expectation(lua_State *L) {
  const scl_map_spec spec = check_spec(L, 1);
  const scl_matrix *x = scl_lua_hold_matrix(L, 2);
  const double tolerance = luaL_optnumber(L, 3, 1e-3);
  const size_t most = scl_lua_opt_size(L, 4, 2048, (size_t)1 << 40, "samples", (size_t)1 << 20);
  scl_expectation result;
  scl_matrix *out = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_expect(&spec, x, tolerance, most, &result, &error));
  *out = result.values;
  scl_lua_account(L, scl_matrix_bytes(out));
  lua_newtable(L);
  scl_lua_set_text(L, "method", scl_method_name(result.method));
  scl_lua_set_number(L, "stderr", result.standard_error);
  scl_lua_set_integer(L, "samples", result.samples);
  scl_lua_set_number(L, "gap", result.gap);
  return 2;
}

SCL_LUA_CALLS(scl_lua_map_calls, {"map", map_new, 1}, {"map_whitened", map_whitened, 3},
              {"map_staged", map_staged, 2}, {"map_union", map_union, 2},
              {"map_parts", map_parts, 1}, {"map_select", map_select, 2}, {"map_info", map_info, 1},
              {"quadrature_gap", quadrature_gap, 1}, {"space", sampler_space, 2},
              {"map_parameters", map_parameters, 1}, {"map_gram", map_gram, 1},
              {"map_grid", map_grid, 1}, {"map_exact", map_exact, 2},
              {"map_constants", map_constants, 2}, {"map_induced", map_induced, 3},
              {"map_collision", map_collision, 3}, {"map_codes", map_codes, 2},
              {"map_between", map_between, 3}, {"gram", kernel_gram, 3},
              {"expectation", expectation, 4});
