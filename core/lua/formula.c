/* scullery.core: fitted parts as text of C, for files that predict without this library.
 * lua/scullery/model/export.lua composes them. */
#include "plugin/formula.h"
#include "data/number.h"
#include "lua/handle.h"
#include "lua/matrix.h"
#include "map/formula.h"

/* The text, which is released, or nil. */
static int give_formula(lua_State *L, char *text) {
  lua_pushstring(L, text); /* nil for NULL */
  scl_release(text);
  return 1;
}

/* A stage of the simple form, or relevance, as its arrays have it: (x - shift) * factor. */
static int give_affine(lua_State *L, const scl_fitted_stage *stage) {
  lua_pushfstring(L, "int j;\nfor (j = 0; j < cols; j++)\n  out[j] = (x[j] - %s[j]) * %s[j];",
                  stage->state.names[0], stage->state.names[1]);
  return 1;
}

/* core.formula(instance or fitted stage) -> its formula in C, or nil where it has none: of a
 * nonlinearity, a row stage, or the mean of a loss (see the slots `formula`) */
static int formula(lua_State *L) {
  char *text;
  const scl_fitted_stage *stage = scl_lua_test_handle(L, 1, SCL_LUA_STAGE);
  if (stage != NULL && (stage->instance == NULL || scl_stage_table(stage->instance)->column))
    return give_affine(L, stage);
  const scl_instance *instance =
      stage != NULL ? stage->instance : scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  SCL_LUA_TRY(L, scl_formula(instance, &text, &error));
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

void scl_lua_open_formula(lua_State *L) {
  SCL_LUA_CALLS(L, {"formula", formula, 1}, {"map_formula", map_formula, 1},
                {"c_numbers", c_numbers, 2});
}
