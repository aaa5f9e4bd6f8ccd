/* scullery.checker: slots of metrics, on rows in guarded memory, for checks of plugins. */
#include "plugin/metric.h"
#include "base/pool.h"
#include "checker/blocks.h"
#include "checker/checker.h"
#include <math.h>

/* The arguments predicted and truth (blocks), weights (memory) and classes, from `place` on. */
static scl_judged check_judged(lua_State *L, int place) {
  const scl_block p = scl_lua_check_block(L, place), y = scl_lua_check_block(L, place + 1);
  luaL_argcheck(L, p.rows == y.rows, place + 1, "another number of rows");
  const double *weights = scl_lua_opt_guarded(L, place + 2, SCL_DTYPE_FLOAT64, p.rows);
  luaL_argcheck(L, weights != NULL, place + 2, "memory expected");
  return (scl_judged){.head = SCL_HEAD(scl_judged),
                      .rows = p.rows,
                      .columns = p.cols,
                      .classes = scl_lua_check_size(L, place + 3, 0, 1 << 20, "classes"),
                      .predicted = p.data,
                      .truth = y.data,
                      .predicted_stride = p.row_stride,
                      .truth_stride = y.row_stride,
                      .weights = weights};
}

static int push_value(lua_State *L, double value, double more) {
  lua_pushnumber(L, value);
  if (isnan(more)) return 1;
  lua_pushnumber(L, more);
  return 2;
}

/* checker.metric_measure(metric, predicted, truth, weights, classes) -> value[, standard error] */
static int measure(lua_State *L) {
  const scl_instance *metric = scl_lua_check_instance(L, 1, SCL_KIND_METRIC);
  const scl_judged judged = check_judged(L, 2);
  double value, standard_error;
  SCL_LUA_TRY(L, scl_metric_measure(metric, &judged, &value, &standard_error, &error));
  return push_value(L, value, standard_error);
}

/* checker.metric_row(metric, predicted, truth, weights, classes, memory) */
static int row(lua_State *L) {
  const scl_instance *metric = scl_lua_check_instance(L, 1, SCL_KIND_METRIC);
  const scl_judged judged = check_judged(L, 2);
  double *out = scl_lua_opt_guarded(L, 6, SCL_DTYPE_FLOAT64, judged.rows);
  luaL_argcheck(L, out != NULL, 6, "memory expected");
  SCL_LUA_TRY(L, scl_metric_row(metric, &judged, out, &error));
  return 0;
}

/* checker.metric_finish(metric, mean) -> value[, slope]; nothing where it has no such slot */
static int finish(lua_State *L) {
  const scl_instance *metric = scl_lua_check_instance(L, 1, SCL_KIND_METRIC);
  double value, slope;
  if (((const scl_metric *)scl_instance_vtable(metric))->finish == NULL) return 0;
  SCL_LUA_TRY(L, scl_metric_finish(metric, luaL_checknumber(L, 2), &value, &slope, &error));
  return push_value(L, value, slope);
}

/* ------------ at once */

enum { PARTS = 64, ROUNDS = 64 };

typedef struct parts {
  const scl_instance *metric;
  const scl_judged *all;
  double values[PARTS];
} parts;

/* The value of all rows but the first few, as many as the number of the part. */
static scl_status measure_part(void *context, size_t index, scl_error *error) {
  parts *p = context;
  scl_judged some = *p->all;
  double standard_error;
  some.rows -= index;
  some.predicted += (ptrdiff_t)index * some.predicted_stride;
  some.truth += (ptrdiff_t)index * some.truth_stride;
  some.weights += index;
  return scl_metric_measure(p->metric, &some, &p->values[index], &standard_error, error);
}

/* checker.metric_at_once(metric, predicted, truth, weights, classes) -> nothing where the metric of
 * parts of the rows is the same one after another and on all threads at once; else both values of
 * the first part that differs. It takes more than 64 rows. */
static int at_once(lua_State *L) {
  const scl_judged judged = check_judged(L, 2);
  parts apart = {.metric = scl_lua_check_instance(L, 1, SCL_KIND_METRIC), .all = &judged};
  parts together = apart;
  luaL_argcheck(L, judged.rows > PARTS, 2, "more rows expected");
  for (size_t i = 0; i < PARTS; i++)
    SCL_LUA_TRY(L, measure_part(&apart, i, &error));
  for (size_t round = 0; round < ROUNDS; round++) {
    SCL_LUA_TRY(L, scl_pool_try(PARTS, measure_part, &together, &error));
    for (size_t i = 0; i < PARTS; i++)
      if (apart.values[i] != together.values[i])
        return push_value(L, apart.values[i], together.values[i]);
  }
  return 0;
}

SCL_LUA_CALLS(scl_checker_metric_calls, {"metric_measure", measure, 5}, {"metric_row", row, 6},
              {"metric_finish", finish, 2}, {"metric_at_once", at_once, 5});
