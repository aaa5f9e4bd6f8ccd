/* Metrics of a script's functions (sc.metric.define): row (of the prediction and the truth of one
 * row), finish (of their mean), or measure (of all rows). Classes are counted from 1 in scripts. */
#include "define/define.h"

#include <math.h>

typedef struct rows_call {
  const scl_judged *judged;
  double *out;
} rows_call;

/* Push a row of numbers: one as a number, several as a list; a class is counted from 1. */
static void push_row(lua_State *L, const double *row, size_t count, bool is_class) {
  if (is_class)
    lua_pushinteger(L, (lua_Integer)row[0] + 1);
  else if (count == 1)
    lua_pushnumber(L, row[0]);
  else
    scl_lua_push_numbers(L, row, count);
}

/* out[i] = row(prediction, truth, options). */
static int run_rows(lua_State *L) {
  const rows_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_judged *judged = c->judged;
  const bool classes = judged->classes > 0,
             labels = scl_lua_field_flag(L, SCL_DEFINED_FIELDS, "by_labels");
  for (size_t i = 0; i < judged->rows; i++) {
    const int top = lua_gettop(L);
    lua_pushvalue(L, SCL_DEFINED_FUNCTION);
    push_row(L, judged->predicted + (ptrdiff_t)i * judged->predicted_stride, judged->columns,
             labels);
    push_row(L, judged->truth + (ptrdiff_t)i * judged->truth_stride, classes ? 1 : judged->columns,
             classes);
    lua_pushvalue(L, SCL_DEFINED_OPTIONS);
    scl_defined_invoke(L, 3, 1);
    c->out[i] = scl_defined_result(L, top + 1, "a number");
    lua_settop(L, top);
  }
  return 0;
}

static void metric_row(const void *self, const scl_judged *judged, double *out) {
  rows_call c = {judged, out};
  scl_error error = {0};
  if (scl_defined_call(self, "row", run_rows, &c, &error) != SCL_STATUS_OK)
    ((const scl_defined *)self)->base.host->fail_call(error.status, "%s", error.message);
}

typedef struct finish_call {
  double mean, value, slope;
} finish_call;

/* value, slope = finish(mean, options); the slope may be nil, which is NaN. */
static int run_finish(lua_State *L) {
  finish_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  lua_pushnumber(L, c->mean);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, 2, 2);
  c->value = scl_defined_result(L, -2, "a number");
  c->slope = lua_isnil(L, -1) ? NAN : scl_defined_result(L, -1, "its slope, a number or nil");
  return 0;
}

static double metric_finish(const void *self, double mean, double *slope) {
  finish_call c = {.mean = mean};
  scl_error error = {0};
  if (scl_defined_call(self, "finish", run_finish, &c, &error) != SCL_STATUS_OK)
    ((const scl_defined *)self)->base.host->fail_call(error.status, "%s", error.message);
  *slope = c.slope;
  return c.value;
}

/* ------------ the general form */

typedef struct measure_call {
  const scl_judged *judged;
  double value, standard_error;
} measure_call;

/* Add 1 to the entries of the column matrix on top of the stack: classes as scripts count them. */
static void push_classes(lua_State *L, const double *numbers, ptrdiff_t stride, size_t rows) {
  lua_createtable(L, (int)scl_min(rows, INT_MAX), 0);
  for (size_t i = 0; i < rows; i++) {
    lua_pushinteger(L, (lua_Integer)numbers[(ptrdiff_t)i * stride] + 1);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* value[, standard error] = measure(predictions, truth, weights, options): matrices, and lists of
 * classes. */
static int run_measure(lua_State *L) {
  measure_call *c = lua_touserdata(L, SCL_DEFINED_CONTEXT);
  const scl_judged *judged = c->judged;
  lua_pushvalue(L, SCL_DEFINED_FUNCTION);
  if (scl_lua_field_flag(L, SCL_DEFINED_FIELDS, "by_labels"))
    push_classes(L, judged->predicted, judged->predicted_stride, judged->rows);
  else
    scl_defined_push_matrix(L, judged->predicted, judged->predicted_stride, judged->rows,
                            judged->columns);
  if (judged->classes > 0)
    push_classes(L, judged->truth, judged->truth_stride, judged->rows);
  else
    scl_defined_push_matrix(L, judged->truth, judged->truth_stride, judged->rows, judged->columns);
  scl_defined_push_matrix(L, judged->weights, 1, judged->rows, 1);
  lua_pushvalue(L, SCL_DEFINED_OPTIONS);
  scl_defined_invoke(L, 4, 2);
  c->value = scl_defined_result(L, -2, "a number");
  c->standard_error =
      lua_isnil(L, -1) ? NAN : scl_defined_result(L, -1, "its standard error, a number or nil");
  return 0;
}

static scl_status metric_measure(const void *self, const scl_judged *judged, double *value,
                                 double *standard_error, scl_error *error) {
  measure_call c = {.judged = judged};
  SCL_TRY(scl_defined_call(self, "measure", run_measure, &c, error));
  *value = c.value;
  *standard_error = c.standard_error;
  return SCL_STATUS_OK;
}

/* ------------ the kind */

static void describe_metric(lua_State *L, int fields, scl_definition *d) {
  static const char *const needs[] = {"values", "labels", "scores", "probabilities", NULL};
  static const char *const better[] = {"smaller", "larger", NULL};
  scl_metric *table = &d->table.metric;
  *table =
      (scl_metric){SCL_TABLE(scl_metric, SCL_KIND_METRIC),
                   .needs = scl_lua_field_word(L, fields, "needs", needs, SCL_NEEDS_VALUES),
                   .better = scl_lua_field_word(L, fields, "better", better, 0),
                   .most_classes = (uint32_t)scl_lua_field_number(L, fields, "most_classes", 0),
                   .low = scl_lua_field_number(L, fields, "low", -INFINITY),
                   .high = scl_lua_field_number(L, fields, "high", INFINITY)};
  if (scl_define_has(L, fields, "row")) table->row = metric_row;
  if (scl_define_has(L, fields, "finish")) table->finish = metric_finish;
  if (scl_define_has(L, fields, "measure")) table->measure = metric_measure;
}

const scl_define_kind scl_define_metric = {sizeof(scl_defined), describe_metric, NULL, NULL};
