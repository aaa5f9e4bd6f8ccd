/* scullery.core: predictions of fitted pipelines, by the driver core/model/predict.h, which also
 * predicts for other programs: the bits are the same. */
#include "model/predict.h"

#include "lua/handle.h"
#include "lua/labels.h"
#include "lua/list.h"
#include "lua/matrix.h"
#include <string.h>

/* A field of the model, left on the stack; its place, 0 where it is absent. */
static int push_field(lua_State *L, const char *key) {
  return lua_getfield(L, 2, key) == LUA_TNIL ? 0 : lua_gettop(L);
}

/* The weights (D x c), intercept (1 x c) and pilot means of a linear model. */
static void read_coefficients(lua_State *L, size_t features, scl_fitted *out) {
  const int weights = push_field(L, "weights"), intercept = push_field(L, "intercept"),
            pilot = push_field(L, "pilot");
  if (weights == 0 || intercept == 0)
    luaL_error(L, "takes a fitted model, and got one without coefficients");
  out->weights = scl_lua_hold_matrix(L, weights);
  out->intercept = scl_lua_hold_matrix(L, intercept);
  if (pilot != 0) out->pilot = scl_matrix_row(scl_lua_check_pilot(L, pilot, features), 0);
}

/* The parts that make scores of the rows of a source, which it returns. */
static scl_source *read_parts(lua_State *L, scl_fitted *out) {
  const int stages = push_field(L, "stages"), map = push_field(L, "map"),
            block = push_field(L, "block"), dtype = push_field(L, "dtype");
  const scl_flow flow = scl_lua_flow(L, 1, stages, map);
  out->stages = flow.stages;
  out->n_stages = flow.n_stages;
  out->map = flow.map;
  out->doing = "predicting";
  if (dtype != 0) out->dtype = scl_lua_check_dtype(L, dtype);
  if (block != 0) out->block = scl_lua_check_size(L, block, 1, SCL_LUA_BLOCK, "block");
  out->learnt = scl_lua_field_handle(L, 2, "learnt", SCL_LUA_MODEL);
  if (out->learnt == NULL) read_coefficients(L, scl_flow_features(&flow), out);
  return flow.source;
}

/* One number a target of the list in the field `key` of the table at `place`, in a userdata left on
 * the stack. */
static double *read_numbers(lua_State *L, int place, const char *key, size_t count) {
  lua_getfield(L, place, key);
  if (lua_type(L, -1) != LUA_TTABLE) luaL_error(L, "the model's form has no '%s'", key);
  double *numbers = lua_newuserdatauv(L, (count + 1) * sizeof *numbers, 0);
  for (size_t j = 0; j < count; j++) {
    if (lua_rawgeti(L, -2, (lua_Integer)j + 1) != LUA_TNUMBER)
      luaL_error(L, "the model's form has no number %I in '%s'", (LUAI_UACINT)j + 1, key);
    numbers[j] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  return numbers;
}

/* How targets are transformed: the table {log, mean = {...}, scale = {...}} at `place`. */
static scl_target_form read_form(lua_State *L, int place) {
  scl_target_form form = {0};
  scl_lua_copy_table(L, place, "a form");
  lua_getfield(L, place, "mean");
  form.count = lua_type(L, -1) == LUA_TTABLE ? lua_rawlen(L, -1) : 0;
  form.log = scl_lua_field_flag(L, place, "log");
  form.mean = read_numbers(L, place, "mean", form.count);
  form.scale = read_numbers(L, place, "scale", form.count);
  return form;
}

/* core.predict(source, model, "scores" | "labels" | "probabilities"[, sigmoids, curves or solver])
 * -> a row for each row of the source. model: {stages, map, learnt or weights, intercept and pilot,
 * dtype, block, task, classes, form}. solver: also one whose loss turns the scores of a regression
 * into means, for "labels". In place of the source: scores that were predicted before. */
static int predict(lua_State *L) {
  static const char *const words[] = {"scores", "labels", "probabilities", NULL};
  const scl_prediction what = (scl_prediction)luaL_checkoption(L, 3, NULL, words);
  scl_fitted fitted = {.dtype = SCL_DTYPE_FLOAT64};
  const scl_matrix *scores = scl_lua_test_matrix(L, 1) == NULL ? NULL : scl_lua_check_scores(L, 1);
  scl_lua_copy_table(L, 2, "a model");
  scl_source *source = scores == NULL ? read_parts(L, &fitted) : NULL;
  const int classes = push_field(L, "classes");
  const char *task = lua_getfield(L, 2, "task") == LUA_TSTRING ? lua_tostring(L, -1) : "";
  const bool labels = strcmp(task, "classification") == 0;
  fitted.multilabel = strcmp(task, "multilabel") == 0;
  if (what == SCL_PREDICT_LABELS && classes != 0 && labels)
    fitted.classes = scl_lua_check_classes(L, classes, false);
  const int form = push_field(L, "form");
  if (what == SCL_PREDICT_LABELS && !labels && form != 0) fitted.form = read_form(L, form);
  if (what == SCL_PREDICT_LABELS && !labels && !lua_isnoneornil(L, 4))
    fitted.means = scl_lua_check_instance(L, 4, SCL_KIND_SOLVER);
  if (what == SCL_PREDICT_PROBABILITIES && lua_type(L, 4) != LUA_TTABLE) {
    fitted.by_loss = scl_lua_check_instance(L, 4, SCL_KIND_SOLVER);
  } else if (what == SCL_PREDICT_PROBABILITIES) { /* one for each score of a row */
    const size_t targets = scores != NULL          ? scores->cols
                           : fitted.learnt != NULL ? scl_model_targets(fitted.learnt)
                                                   : fitted.weights->cols;
    fitted.curves = scl_lua_test_curves(L, 4, targets);
    if (fitted.curves == NULL) fitted.sigmoids = scl_lua_check_sigmoids(L, 4, targets);
  }
  if (scores != NULL) {
    SCL_LUA_PUSH_MATRIX(L, scl_predict_from(&fitted, scores, what, out, &error));
    return 1;
  }
  SCL_LUA_PUSH_MATRIX(L, scl_predict(&fitted, source, what, out, &error));
  return 1;
}

/* core.formed_source(source, {log, mean, scale}) -> the source with transformed targets, as a model
 * of that form learns them */
static int formed_source(lua_State *L) {
  scl_source *from = scl_lua_check_source(L, 1);
  const scl_target_form form = read_form(L, 2);
  SCL_LUA_PUSH_HANDLE(L, scl_lua_new_source(L), scl_source,
                      scl_source_formed(from, &form, &made, &error));
  scl_lua_tie(L, -1, 1); /* it reads from that source */
  return 1;
}

SCL_LUA_CALLS(scl_lua_predict_calls, {"predict", predict, 4}, {"formed_source", formed_source, 2});
