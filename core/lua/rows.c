/* scullery.core: passes over the rows of a source: stages and what is learnt before fitting,
 * features, samples. Most functions take (source, stages, map), from which scl_lua_flow makes a
 * flow. */
#include "algebra/quartiles.h"
#include "learn/score.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/sparse.h"
#include "rows/chosen.h"
#include "rows/distinct.h"
#include "rows/fitting.h"
#include "rows/relevance.h"
#include "rows/widths.h"
#include <string.h>

static void release_stage(void *stage) { scl_fitted_stage_destroy(stage); }

void **scl_lua_new_stage(lua_State *L) {
  return scl_lua_new_handle(L, SCL_LUA_STAGE, release_stage);
}

/* ------------ stages */

static void release_arrays(void *arrays) {
  scl_stage_arrays_release(arrays);
  scl_release(arrays);
}

/* core.fit_stage(instance, source, stages, map or nil, weights or nil[, block rows]) -> stage, of
 * the features where there is a map; second: what it reports, {name = matrix} */
static int fit_stage(lua_State *L) {
  scl_instance *instance = scl_lua_check_instance(L, 1, SCL_KIND_STAGE);
  scl_flow flow = scl_lua_flow(L, 2, 3, 4);
  flow.weights = scl_lua_opt_weights(L, 5, flow.source->rows);
  flow.block_rows = scl_lua_opt_size(L, 6, 1, SCL_LUA_BLOCK, "block", 0);
  if (flow.map != NULL || !scl_stage_learns(instance)) flow.doing = scl_instance_name(instance);
  scl_stage_arrays *reports =
      scl_lua_new_owned(L, SCL_LUA_STAGE_ARRAYS, release_arrays, sizeof *reports);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_stage(L), scl_fitted_stage,
                      scl_flow_fit_stage(&flow, instance, &made, reports, &error));
  if (instance->script) scl_lua_mark_script(L, lua_gettop(L));
  lua_newtable(L);
  for (size_t i = 0; i < reports->count; i++) {
    const scl_array *from = &reports->arrays[i];
    scl_matrix *to = scl_lua_make_matrix(L, from->sizes[0], from->sizes[1], SCL_DTYPE_FLOAT64);
    if (from->sizes[0] * from->sizes[1] > 0)
      memcpy(to->data, from->data, from->sizes[0] * from->sizes[1] * sizeof(double));
    lua_setfield(L, -2, reports->names[i]);
  }
  return 2;
}

/* core.stage_facts(instance) -> {targets = it learns from them, follows = it may follow features} */
static int stage_facts(lua_State *L) {
  const scl_instance *stage = scl_lua_check_instance(L, 1, SCL_KIND_STAGE);
  lua_newtable(L);
  SCL_LUA_BOOLEANS(L, {"targets", scl_stage_has(stage, SCL_STAGE_TARGETS)},
                   {"follows", scl_stage_has(stage, SCL_STAGE_SCALE_FREE | SCL_STAGE_HOMOGENEOUS)});
  return 1;
}

/* core.stage_keeps_zeros(instance) -> whether it keeps sparse rows sparse, once it is fitted */
static int stage_keeps_zeros(lua_State *L) {
  const scl_instance *stage = scl_lua_check_instance(L, 1, SCL_KIND_STAGE);
  bool keeps = scl_stage_takes_csr(stage);
  if (scl_stage_table(stage)->column != NULL) { /* of a column as good as any */
    const scl_stage_column column = {.weight = 10, .mean = 1, .square = 5, .low = -1, .high = 3};
    double shift, factor;
    SCL_LUA_TRY(L, scl_stage_columns(stage, &column, 1, &shift, &factor, &error));
    keeps = shift == 0;
  }
  return scl_lua_give_boolean(L, keeps);
}

/* core.fit_relevance(source, stages, seed, weights or nil) -> stage; second: the relevance of each
 * column (1 x d) */
static int fit_relevance(lua_State *L) {
  scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  flow.doing = "relevance";
  const uint64_t seed = (uint64_t)luaL_checkinteger(L, 3);
  flow.weights = scl_lua_opt_weights(L, 4, flow.source->rows);
  scl_matrix *relevance = scl_lua_new_matrix(L);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_stage(L), scl_fitted_stage,
                      scl_flow_fit_relevance(&flow, seed, &made, relevance, &error));
  scl_lua_account(L, scl_matrix_bytes(relevance));
  lua_insert(L, -2); /* the stage first */
  return 2;
}

/* core.stage_info(stage) -> {cols_in, cols_out, constant = how many columns it learnt to be
 * constant, keeps = whether its columns are those that arrive, changed} */
static int stage_info(lua_State *L) {
  const scl_fitted_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"cols_in", stage->cols_in}, {"cols_out", stage->cols_out},
                   {"constant", stage->constant});
  const scl_stage *table = stage->instance == NULL ? NULL : scl_stage_table(stage->instance);
  scl_lua_set_boolean(L, "keeps",
                      table == NULL || table->shape == NULL ||
                          (table->flags & SCL_STAGE_BY_COLUMN) != 0);
  return 1;
}

/* ------------ learnt before fitting */

/* core.learn(source, stages, map): let a map of one-hot features learn its cells */
static int learn(lua_State *L) {
  scl_map *map = scl_lua_take_handle(L, 3, SCL_LUA_MAP);
  if (scl_map_entries(map) > 0 && scl_map_features(map) > 0)
    return luaL_error(L, "this map has learnt its cells already");
  scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  flow.doing = "learning cells";
  SCL_LUA_TRY(L, scl_flow_learn_cells(&flow, map, &error));
  SCL_LUA_TRY(L, scl_flow_learn_grid(&flow, map, &error));
  if (scl_map_entries(map) > 0) scl_lua_account(L, scl_map_bytes(map));
  return 0;
}

/* core.learn_state(source, stages, sampler, kernel or nil, T or nil, seed[, block rows]) -> state,
 * T: what a sampler learns from the staged rows; nothing where it learns nothing */
static int learn_state(lua_State *L) {
  scl_lesson lesson = {.sampler = scl_lua_check_instance(L, 3, SCL_KIND_SAMPLER)};
  if (!lua_isnil(L, 4)) lesson.kernel = scl_lua_check_instance(L, 4, SCL_KIND_KERNEL);
  if (!lua_isnil(L, 5)) lesson.count = scl_lua_check_size(L, 5, 1, (size_t)1 << 53, "T");
  lesson.seed = (uint64_t)luaL_optinteger(L, 6, 0);
  if (!scl_instance_has(lesson.sampler, SCL_ABILITY_LEARN)) return 0;
  scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  flow.doing = "learning parameters";
  flow.block_rows = scl_lua_opt_size(L, 7, 1, SCL_LUA_BLOCK, "block", 0);
  size_t count = 0;
  SCL_LUA_PUSH_MATRIX(L, scl_flow_learn_state(&flow, &lesson, out, &count, &error));
  lua_pushinteger(L, (lua_Integer)count);
  return 2;
}

/* core.learns(sampler) -> whether it learns from rows */
static int learns(lua_State *L) {
  return scl_lua_give_boolean(
      L, scl_instance_has(scl_lua_check_instance(L, 1, SCL_KIND_SAMPLER), SCL_ABILITY_LEARN));
}

/* core.widths(source, stages) -> gamma by scale, gamma by median, columns: for the options
 * gamma = "scale", which is 1 / (d var X), and gamma = "median", which is 1 / (median squared
 * distance), of the staged rows */
static int widths(lua_State *L) {
  double scale, median;
  const scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  SCL_LUA_TRY(L, scl_flow_widths(&flow, &scale, &median, &error));
  lua_pushnumber(L, scale);
  lua_pushnumber(L, median);
  lua_pushinteger(L, (lua_Integer)scl_flow_cols(&flow));
  return 3;
}

/* core.sample(source, stages, count, seed) -> staged rows, at most `count` */
static int sample(lua_State *L) {
  const scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  const size_t count = scl_lua_check_size(L, 3, 1, (size_t)1 << 40, "count");
  const uint64_t seed = (uint64_t)luaL_checkinteger(L, 4);
  SCL_LUA_PUSH_MATRIX(L, scl_flow_sample(&flow, count, seed, out, &error));
  return 1;
}

/* The field `name` of the table on top of the stack becomes a new matrix, to be filled. */
static scl_matrix *new_field(lua_State *L, const char *name) {
  scl_matrix *matrix = scl_lua_new_matrix(L);
  lua_setfield(L, -2, name);
  return matrix;
}

/* core.distinct_rows(source, stages, most, weights or nil) -> {X =, y =, weights =, of =, rows = a
 * list}: at most `most` distinct rows, by their contents (rows/distinct.h); y where the source has
 * targets. All that may raise is made before or after the rows are held. */
static int distinct_rows(lua_State *L) {
  scl_flow flow = scl_lua_flow(L, 1, 2, 0);
  const size_t most = scl_lua_check_size(L, 3, 1, (size_t)1 << 40, "most"),
               room = scl_min(most, flow.source->rows);
  flow.weights = scl_lua_opt_weights(L, 4, flow.source->rows);
  scl_distinct_rows found;
  size_t *places = lua_newuserdatauv(L, (room + 1) * sizeof *places, 0);
  flow.csr = true;
  const bool sparse = scl_flow_has_csr(&flow);
  lua_createtable(L, 0, 5);
  scl_csr *csr = sparse ? scl_lua_new_csr(L) : NULL;
  if (sparse) lua_setfield(L, -2, "X");
  scl_matrix *x = sparse ? NULL : new_field(L, "X"), *y = NULL;
  if (flow.source->targets > 0) y = new_field(L, "y");
  scl_matrix *weight = new_field(L, "weights"), *of = new_field(L, "of");
  SCL_LUA_TRY(L, scl_flow_distinct(&flow, most, &found, &error));
  const size_t count = found.weight.rows;
  memcpy(places, found.place, count * sizeof *places);
  if (sparse)
    *csr = found.csr;
  else
    *x = found.x;
  if (y != NULL) *y = found.y;
  *weight = found.weight;
  *of = found.of;
  scl_release(found.place);
  scl_lua_account(L, (sparse ? scl_csr_bytes(csr) : scl_matrix_bytes(x)) +
                         scl_matrix_bytes(weight) + scl_matrix_bytes(of) +
                         (y == NULL ? 0 : scl_matrix_bytes(y)));
  scl_lua_push_sizes(L, places, count, 1);
  lua_setfield(L, -2, "rows");
  return 1;
}

/* ------------ walks */

/* core.transform(source, stages, map[, block rows]) -> features (n x D), in the true scale unless
 * that underflows */
static int transform(lua_State *L) {
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  flow.block_rows = scl_lua_opt_size(L, 4, 1, SCL_LUA_BLOCK, "block", 0);
  SCL_LUA_PUSH_MATRIX(L, scl_features(&flow, out, &error));
  return 1;
}

/* A visit of a pass that counts the rows and drops the features. */
static scl_status look_away(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  *(size_t *)context += block->count;
  return SCL_STATUS_OK;
}

/* core.walk(source, stages, map) -> rows: make all features, block by block, and keep none (what a
 * map costs) */
static int walk(lua_State *L) {
  size_t rows = 0;
  const scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  SCL_LUA_TRY(L, scl_flow_walk(&flow, true, look_away, &rows, &error));
  return scl_lua_give_size(L, rows);
}

const scl_matrix *scl_lua_check_pilot(lua_State *L, int place, size_t features) {
  const scl_matrix *pilot = scl_lua_hold_matrix(L, place);
  if (pilot->dtype != SCL_DTYPE_FLOAT64 || pilot->rows != 1 || pilot->cols != features ||
      pilot->col_stride != 1)
    luaL_error(L, "pilot means are a 1 x %I matrix in float64", (LUAI_UACINT)features);
  return pilot;
}

/* core.block_rows(source, stages, map[, dtype]) -> rows of the blocks in which rows like these are
 * walked; dtype where there is no map */
static int block_rows(lua_State *L) {
  scl_flow flow = scl_lua_flow(L, 1, 2, 3);
  if (flow.map == NULL) flow.dtype = scl_lua_check_dtype(L, 4);
  return scl_lua_give_size(L, scl_flow_block_rows(&flow));
}

/* core.find_nonfinite(X) -> row, column of the first NaN or infinity, or nothing */
static int find_nonfinite(lua_State *L) {
  size_t row, col;
  if (scl_lua_test_csr(L, 1) != NULL) return 0; /* it is made of finite numbers alone */
  if (!scl_matrix_find_nonfinite(scl_lua_hold_matrix(L, 1), &row, &col)) return 0;
  return SCL_LUA_GIVE_SIZES(L, row + 1, col + 1);
}

/* core.quartiles(X) -> 3 x columns: lower quartile, median and upper quartile of each column */
static int quartiles(lua_State *L) {
  const scl_matrix *a = scl_lua_hold_matrix(L, 1);
  SCL_LUA_PUSH_MATRIX(L, scl_matrix_quartiles(a, out, &error));
  return 1;
}

SCL_LUA_CALLS(scl_lua_rows_calls, {"fit_stage", fit_stage, 6}, {"fit_relevance", fit_relevance, 4},
              {"stage_facts", stage_facts, 1}, {"stage_keeps_zeros", stage_keeps_zeros, 1},
              {"stage_info", stage_info, 1}, {"learn", learn, 3}, {"learn_state", learn_state, 7},
              {"learns", learns, 1}, {"widths", widths, 2}, {"sample", sample, 4},
              {"distinct_rows", distinct_rows, 4}, {"transform", transform, 4}, {"walk", walk, 3},
              {"block_rows", block_rows, 4}, {"find_nonfinite", find_nonfinite, 1},
              {"quartiles", quartiles, 1});
