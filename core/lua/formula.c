/* scullery.core: fitted parts as text of C, for files that predict without this library.
 * lua/scullery/model/export composes them. */
#include "plugin/formula.h"
#include "data/number.h"
#include "lua/handle.h"
#include "lua/matrix.h"
#include "map/formula.h"

#include <string.h>

/* The text, which is released, or nil. */
static int give_formula(lua_State *L, char *text) {
  lua_pushstring(L, text); /* nil for NULL */
  scl_release(text);
  return 1;
}

/* A stage of the simple form, or relevance, is (x - shift) * factor, by its two arrays. */
static bool is_affine(const scl_fitted_stage *stage) {
  return stage->instance == NULL || scl_stage_table(stage->instance)->column;
}

static int give_affine(lua_State *L, const scl_fitted_stage *stage, const char *format) {
  lua_pushfstring(L, format, stage->state.names[0], stage->state.names[1]);
  return 1;
}

/* core.formula(instance or fitted stage) -> its formula in C, or nil where it has none: of a
 * nonlinearity, a row stage, or the mean of a loss (see the slots `formula`) */
static int formula(lua_State *L) {
  char *text;
  const scl_fitted_stage *stage = scl_lua_test_handle(L, 1, SCL_LUA_STAGE);
  if (stage != NULL && is_affine(stage))
    return give_affine(L, stage,
                       "int j;\nfor (j = 0; j < cols; j++)\n  out[j] = (x[j] - %s[j]) * %s[j];");
  const scl_instance *instance =
      stage != NULL ? stage->instance : scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  SCL_LUA_TRY(L, scl_formula(instance, &text, &error));
  return give_formula(L, text);
}

/* core.stage_operators(fitted stage) -> its operators (see the slot `operators`), or nil */
static int stage_operators(lua_State *L) {
  char *text;
  const scl_fitted_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  if (is_affine(stage)) return give_affine(L, stage, "out = (x - %s) * %s;");
  SCL_LUA_TRY(L, scl_stage_operators(stage->instance, &text, &error));
  return give_formula(L, text);
}

/* core.map_formula(map) -> {phi, simple, has_bias, fan_in, fan_out, space, float32, scales (1 x T)}:
 * see map/formula.h */
static int map_formula(lua_State *L) {
  const scl_map *map = scl_map_base(scl_lua_check_handle(L, 1, SCL_LUA_MAP));
  const size_t count = scl_map_count(map);
  scl_map_formula formula;
  SCL_LUA_TRY(L, scl_map_formula_of(map, &formula, &error));
  (void)give_formula(L, formula.phi);
  lua_newtable(L);
  lua_insert(L, -2);
  lua_setfield(L, -2, "phi");
  SCL_LUA_INTEGERS(L, {"fan_in", formula.fan_in}, {"fan_out", formula.fan_out});
  SCL_LUA_BOOLEANS(L, {"simple", formula.simple}, {"has_bias", formula.has_bias},
                   {"float32", scl_map_dtype(map) == SCL_DTYPE_FLOAT32});
  scl_lua_set_text(L, "space", scl_space_name(formula.space));
  scl_matrix *scales = scl_lua_make_matrix(L, 1, count, SCL_DTYPE_FLOAT64);
  for (size_t t = 0; t < count; t++)
    scl_matrix_row(scales, 0)[t] = scl_map_feature_scale(map, t);
  lua_setfield(L, -2, "scales");
  return 1;
}

/* core.map_rounding(map) -> how its features are rounded, {most, unit (1 x features), base}: feature j
 * is base_j + unit_j v_j with a whole number v_j of at most `most`; nil where they are not */
static int map_rounding(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  const size_t d = scl_map_features(map);
  const double *unit, *base;
  scl_map_units(map, &unit, &base);
  if (unit == NULL || scl_map_whole(map) == SCL_WHOLE_NONE) return 0;
  lua_newtable(L);
  lua_pushnumber(L, scl_whole_most(scl_map_whole(map)));
  lua_setfield(L, -2, "most");
  scl_matrix *to = scl_lua_make_matrix(L, 1, d, SCL_DTYPE_FLOAT64);
  memcpy(scl_matrix_row(to, 0), unit, d * sizeof *unit);
  lua_setfield(L, -2, "unit");
  to = scl_lua_make_matrix(L, 1, d, SCL_DTYPE_FLOAT64);
  for (size_t j = 0; j < d; j++)
    scl_matrix_row(to, 0)[j] = base == NULL ? 0 : base[j];
  lua_setfield(L, -2, "base");
  return 1;
}

/* core.c_numbers(matrix[, float32]) -> its numbers row by row as a list of C, with the shortest
 * decimals that read back to the bit (float32: after they were rounded) */
static int c_numbers(lua_State *L) {
  enum { WIDTH = 90 };
  const scl_matrix *a = scl_lua_hold_matrix(L, 1);
  const bool narrow = lua_toboolean(L, 2);
  size_t line = 0;
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++) {
      char *to = luaL_prepbuffsize(&text, 40);
      const double value = scl_matrix_get(a, i, j);
      size_t length = scl_format_number(narrow ? (double)(float)value : value, narrow, to);
      line += length + 2;
      to[length++] = ',';
      to[length++] = line > WIDTH ? '\n' : ' ';
      if (line > WIDTH) line = 0;
      luaL_addsize(&text, length);
    }
  luaL_pushresult(&text);
  return 1;
}

/* core.number_bytes(matrix[, type]) -> its numbers row by row as the bytes of a little-endian
 * machine: "float64" by default, "float32" or "int64" */
static int number_bytes(lua_State *L) {
  static const char *const types[] = {"float64", "float32", "int64", NULL};
  const scl_matrix *a = scl_lua_hold_matrix(L, 1);
  const int type = luaL_checkoption(L, 2, "float64", types);
  const size_t size = type == 1 ? sizeof(float) : sizeof(double);
  luaL_Buffer bytes;
  char *to = luaL_buffinitsize(L, &bytes, a->rows * a->cols * size);
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++, to += size) {
      const double value = scl_matrix_get(a, i, j);
      const float narrow = (float)value;
      const int64_t whole = type == 2 ? (int64_t)value : 0;
      memcpy(to,
             type == 0   ? (const void *)&value
             : type == 1 ? (const void *)&narrow
                         : &whole,
             size);
    }
  luaL_pushresultsize(&bytes, a->rows * a->cols * size);
  return 1;
}

SCL_LUA_CALLS(scl_lua_formula_calls, {"formula", formula, 1},
              {"stage_operators", stage_operators, 1}, {"map_formula", map_formula, 1},
              {"map_rounding", map_rounding, 1}, {"c_numbers", c_numbers, 2},
              {"number_bytes", number_bytes, 2});
