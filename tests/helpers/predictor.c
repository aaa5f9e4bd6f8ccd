/* The module scullery.predictor: saved models as other programs load them (scullery/scullery.h),
 * for tests that compare them with those of sc.load. It takes the functions of core/lua from what
 * loads it: tests/helpers/predictors.lua. */
#include "lua/handle.h"
#include "lua/matrix.h"
#include <math.h>
#include <scullery/scullery.h>

#define SCL_LUA_PREDICTOR "scullery.predictor"

static void release_predictor(void *predictor) { scl_predictor_close(predictor); }

/* predictor.load(path) -> predictor */
static int predictor_new(lua_State *L) {
  scl_error error = {0};
  scl_predictor *predictor;
  const char *path = scl_lua_check_path(L, 1);
  void **slot = scl_lua_new_handle(L, SCL_LUA_PREDICTOR, release_predictor);
  scl_lua_check(L, scl_predictor_load(path, &predictor, &error), &error);
  *slot = predictor;
  return 1;
}

static void set_labels(lua_State *L, const scl_predictor *p) {
  lua_newtable(L);
  for (size_t k = 0; k < scl_predictor_classes(p); k++) {
    const double number = scl_predictor_class_number(p, k);
    if (isnan(number))
      lua_pushstring(L, scl_predictor_class_label(p, k));
    else
      lua_pushnumber(L, number);
    lua_rawseti(L, -2, (lua_Integer)k + 1);
  }
  lua_setfield(L, -2, "labels");
}

static void set_names(lua_State *L, const scl_predictor *p) {
  if (scl_predictor_column_name(p, 0) == NULL) return;
  lua_newtable(L);
  for (size_t j = 0; j < scl_predictor_columns(p); j++) {
    lua_pushstring(L, scl_predictor_column_name(p, j));
    lua_rawseti(L, -2, (lua_Integer)j + 1);
  }
  lua_setfield(L, -2, "names");
}

static void set_fields(lua_State *L, const scl_predictor *p) {
  static const char *const kinds[] = {"number", "category", "date", "skipped"};
  lua_newtable(L);
  for (size_t i = 0; i < scl_predictor_fields(p); i++) {
    lua_newtable(L);
    scl_lua_set_text(L, "name", scl_predictor_field_name(p, i));
    scl_lua_set_text(L, "kind", kinds[scl_predictor_field_kind(p, i)]);
    SCL_LUA_INTEGERS(L, {"column", scl_predictor_field_column(p, i) + 1},
                     {"width", scl_predictor_field_width(p, i)});
    scl_lua_set_number(L, "fill", scl_predictor_field_fill(p, i));
    lua_newtable(L);
    for (size_t k = 0; scl_predictor_field_level(p, i, k) != NULL; k++) {
      lua_pushstring(L, scl_predictor_field_level(p, i, k));
      lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "levels");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_setfield(L, -2, "fields");
}

/* predictor.info(predictor) -> {columns, outputs, probabilities, labels, names (nil where there
 * are none), fields = list of {name, kind, column, width, fill, levels}} */
static int predictor_info(lua_State *L) {
  const scl_predictor *p = scl_lua_check_handle(L, 1, SCL_LUA_PREDICTOR);
  lua_newtable(L);
  SCL_LUA_INTEGERS(L, {"columns", scl_predictor_columns(p)}, {"outputs", scl_predictor_outputs(p)});
  scl_lua_set_boolean(L, "probabilities", scl_predictor_has_probabilities(p));
  set_labels(L, p);
  set_names(L, p);
  set_fields(L, p);
  return 1;
}

typedef scl_status (*predicting)(const scl_predictor *p, scl_dtype dtype, const void *rows,
                                 size_t count, size_t stride, void *out, size_t out_stride,
                                 scl_error *error);

/* predictor.run(predictor, "predict" | "scores" | "probabilities", X) -> matrix of X's dtype */
static int predictor_run(lua_State *L) {
  static const char *const names[] = {"predict", "scores", "probabilities", NULL};
  static const predicting calls[] = {scl_predictor_predict, scl_predictor_scores,
                                     scl_predictor_probabilities};
  const scl_predictor *p = scl_lua_check_handle(L, 1, SCL_LUA_PREDICTOR);
  const int what = luaL_checkoption(L, 2, NULL, names);
  const scl_matrix *x = scl_lua_hold_matrix(L, 3);
  const size_t classes = scl_predictor_classes(p), outputs = scl_predictor_outputs(p),
               cols = what == 1 || classes == 0 ? outputs
                      : what == 2               ? classes
                                                : 1;
  scl_error error = {0};
  if (!scl_matrix_is_rowwise(x) || x->row_stride < 0 || x->cols != scl_predictor_columns(p))
    return luaL_error(L, "the rows are not as the predictor takes them");
  scl_matrix *out = scl_lua_make_matrix(L, x->rows, cols, x->dtype);
  scl_lua_check(
      L, calls[what](p, x->dtype, x->data, x->rows, (size_t)x->row_stride, out->data, 0, &error),
      &error);
  return 1;
}

/* The texts and numbers of a list of lists; `false` stands for a missing value. */
static void read_values(lua_State *L, int place, size_t fields, size_t count, scl_field *out) {
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, place, (lua_Integer)i + 1);
    for (size_t j = 0; j < fields; j++) {
      lua_rawgeti(L, -1, (lua_Integer)j + 1);
      *out++ = lua_type(L, -1) == LUA_TSTRING ? (scl_field){lua_tostring(L, -1), 0}
                                              : (scl_field){NULL, luaL_optnumber(L, -1, NAN)};
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
}

/* predictor.encode(predictor, names or nil, rows, fields, float32) -> matrix, unknown: rows is a
 * list of lists of `fields` texts and numbers, nil for a missing one */
static int predictor_encode(lua_State *L) {
  const scl_predictor *p = scl_lua_check_handle(L, 1, SCL_LUA_PREDICTOR);
  const size_t count = (size_t)lua_rawlen(L, 3), fields = (size_t)luaL_checkinteger(L, 4);
  const scl_dtype dtype = lua_toboolean(L, 5) ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
  const char **names =
      lua_isnil(L, 2) ? NULL : lua_newuserdatauv(L, (fields + 1) * sizeof *names, 0);
  for (size_t j = 0; names != NULL && j < fields; j++) {
    lua_rawgeti(L, 2, (lua_Integer)j + 1);
    names[j] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  scl_field *values = lua_newuserdatauv(L, (count * fields + 1) * sizeof *values, 0);
  read_values(L, 3, fields, count, values);
  scl_error error = {0};
  size_t unknown = 0;
  scl_matrix *out = scl_lua_make_matrix(L, count, scl_predictor_columns(p), dtype);
  scl_lua_check(
      L,
      scl_predictor_encode(p, names, fields, values, count, dtype, out->data, 0, &unknown, &error),
      &error);
  lua_pushinteger(L, (lua_Integer)unknown);
  return 2;
}

int luaopen_scullery_predictor(lua_State *L);

__attribute__((visibility("default"))) int luaopen_scullery_predictor(lua_State *L) {
  lua_newtable(L);
  static SCL_LUA_CALLS(calls, {"load", predictor_new, 1}, {"info", predictor_info, 1},
                       {"run", predictor_run, 3}, {"encode", predictor_encode, 5});
  scl_lua_set_calls(L, calls);
  return 1;
}
