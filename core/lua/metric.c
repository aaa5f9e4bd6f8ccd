/* scullery.core: metrics that are plugins. */
#include "plugin/metric.h"
#include "lua/call.h"
#include "lua/handle.h"
#include <math.h>

/* The numbers of the matrix at `place`, row-major and float64, a copy where it is not, and their
 * stride. */
static const double *numbers_of(lua_State *L, int place, size_t rows, ptrdiff_t *stride) {
  const scl_matrix *m = scl_lua_hold_matrix(L, place);
  luaL_argcheck(L, m->rows == rows, place, "another number of rows");
  if (m->dtype != SCL_DTYPE_FLOAT64 || !scl_matrix_is_rowwise(m)) {
    scl_matrix *copy = scl_lua_new_matrix(L);
    SCL_LUA_TRY(L, scl_matrix_copy(m, SCL_DTYPE_FLOAT64, copy, &error));
    m = copy;
  }
  *stride = m->row_stride;
  return m->data;
}

/* core.metric(metric, predicted, truth, weights, classes) -> value[, its standard error, where the
 * metric says it]. predicted, truth, weights: n rows each; classes are counted from 0;
 * classes = 0: values. */
static int metric(lua_State *L) {
  const scl_instance *instance = scl_lua_check_instance(L, 1, SCL_KIND_METRIC);
  const scl_matrix *predicted = scl_lua_hold_matrix(L, 2), *truth = scl_lua_hold_matrix(L, 3);
  ptrdiff_t weight_stride;
  scl_judged judged = {.head = SCL_HEAD(scl_judged),
                       .rows = predicted->rows,
                       .columns = predicted->cols,
                       .classes = scl_lua_check_size(L, 5, 0, 1 << 20, "classes")};
  judged.predicted = numbers_of(L, 2, judged.rows, &judged.predicted_stride);
  judged.truth = numbers_of(L, 3, judged.rows, &judged.truth_stride);
  judged.weights = numbers_of(L, 4, judged.rows, &weight_stride);
  luaL_argcheck(L, weight_stride == 1, 4, "weights without gaps expected");
  luaL_argcheck(L, truth->cols == (judged.classes == 0 ? judged.columns : 1), 3,
                "another number of columns");
  double value, standard_error;
  SCL_LUA_TRY(L, scl_metric_measure(instance, &judged, &value, &standard_error, &error));
  lua_pushnumber(L, value);
  if (isnan(standard_error)) return 1;
  lua_pushnumber(L, standard_error);
  return 2;
}

SCL_LUA_CALLS(scl_lua_metric_calls, {"metric", metric, 5});
