/* scullery.core: what a saved model is made of: files of arrays, fitted stages, the cells of a
 * map, the fingerprint of rows. lua/scullery/saving.lua composes them. */
#include "data/digest.h"
#include "data/safetensors.h"
#include "learn/map_probe.h"
#include "lua/arrays.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/matrix.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------ writing a file */

/* The matrix on top of the stack as an array of its rows; a copy where it is not packed takes its
 * place. */
static scl_array packed(lua_State *L) {
  const scl_matrix *a = scl_lua_hold_matrix(L, lua_gettop(L));
  const bool whole =
      (a->col_stride == 1 || a->cols <= 1) && (a->row_stride == (ptrdiff_t)a->cols || a->rows <= 1);
  if (!whole) {
    scl_matrix *copy = scl_lua_make_matrix(L, a->rows, a->cols, a->dtype);
    scl_matrix_assign(a, copy);
    a = copy;
    lua_remove(L, -2);
  }
  return (scl_array){
      .data = a->data, .dtype = a->dtype, .rank = 2, .sizes = {a->rows, a->cols, 0, 0}};
}

/* core.tensors_write(path, text, {name = matrix or array}) */
static int tensors_write(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1), *text = luaL_checkstring(L, 2);
  size_t count = 0, i = 0;
  scl_error error = {0};
  scl_lua_copy_table(L, 3, "arrays");
  for (lua_pushnil(L); lua_next(L, 3) != 0; lua_pop(L, 1))
    count++;
  scl_tensor *tensors = lua_newuserdatauv(L, (count + 1) * sizeof *tensors, 0);
  lua_newtable(L); /* keeps copies */
  const int copies = lua_gettop(L);
  for (lua_pushnil(L); i < count && lua_next(L, 3) != 0; i++) {
    if (lua_type(L, -2) != LUA_TSTRING) return luaL_error(L, "an array has no name");
    const char *name = lua_tostring(L, -2);
    if (strlen(name) > SCL_TENSOR_NAME)
      return luaL_error(L, "array \"%s\": its name is too long", name);
    (void)snprintf(tensors[i].name, sizeof tensors[i].name, "%s", name);
    tensors[i].array =
        scl_lua_test_matrix(L, -1) != NULL ? packed(L) : scl_lua_check_array(L, name);
    lua_rawseti(L, copies, (lua_Integer)i + 1);
  }
  scl_lua_check(L, scl_safetensors_write(path, text, tensors, i, &error), &error);
  return 0;
}

/* ------------------------------------------------------------ reading a file */

#define SCL_LUA_TENSORS "scullery.tensors"

static void release_file(void *file) {
  scl_tensor_file_release(file);
  scl_release(file);
}

/* core.tensors_read(path) -> text, tensors, {name = place} */
static int tensors_read(lua_State *L) {
  const char *path = scl_lua_check_path(L, 1);
  scl_error error = {0};
  void **slot = scl_lua_new_handle(L, SCL_LUA_TENSORS, release_file);
  const int made = lua_gettop(L);
  scl_tensor_file *file = scl_allocate_zero(sizeof *file);
  if (file == NULL) return luaL_error(L, "not enough memory for a model");
  *slot = file;
  scl_lua_check(L, scl_safetensors_read(path, file, &error), &error);
  lua_pushstring(L, file->text);
  lua_pushvalue(L, made);
  lua_createtable(L, 0, (int)file->count);
  for (size_t i = 0; i < file->count; i++) {
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_setfield(L, -2, file->tensors[i].name);
  }
  return 3;
}

static const scl_tensor *check_tensor(lua_State *L) {
  const scl_tensor_file *file = scl_lua_check_handle(L, 1, SCL_LUA_TENSORS);
  return &file->tensors[scl_lua_check_place(L, 2, file->count, "array")];
}

/* core.tensor_array(tensors, place) -> {dtype, shape, bytes} */
static int tensor_array(lua_State *L) {
  scl_lua_push_array(L, &check_tensor(L)->array);
  return 1;
}

/* core.tensor_matrix(tensors, place) -> matrix of a float64 or float32 array of two dimensions,
 * all of it finite */
static int tensor_matrix(lua_State *L) {
  const scl_tensor *tensor = check_tensor(L);
  const scl_array *array = &tensor->array;
  const bool real = array->dtype == SCL_DTYPE_FLOAT64 || array->dtype == SCL_DTYPE_FLOAT32;
  size_t row, col;
  if (!real || array->rank != 2)
    return luaL_error(L, "array \"%s\" is no matrix of float64 or float32", tensor->name);
  scl_matrix *out = scl_lua_make_matrix(L, array->sizes[0], array->sizes[1], array->dtype);
  const size_t count = array->sizes[0] * array->sizes[1];
  if (count > 0) memcpy(out->data, array->data, count * scl_dtype_size(array->dtype));
  if (scl_matrix_find_nonfinite(out, &row, &col))
    return luaL_error(L, "array \"%s\" has a number that is not finite", tensor->name);
  return 1;
}

/* ------------------------------------------------------------ stages */

static const char *const kinds[] = {"standardize", "minmax", "normalize", "add_bias", "pca", NULL};

static void set_numbers(lua_State *L, const char *key, const double *numbers, size_t rows,
                        size_t cols) {
  scl_matrix *out = scl_lua_make_matrix(L, rows, cols, SCL_DTYPE_FLOAT64);
  memcpy(out->data, numbers, rows * cols * sizeof *numbers);
  lua_setfield(L, -2, key);
}

/* core.stage_save(stage) -> {kind, cols_in, constant, shift and factor where it learnt them} */
static int stage_save(lua_State *L) {
  const scl_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  lua_newtable(L);
  scl_lua_set_text(L, "kind", kinds[stage->kind]);
  SCL_LUA_INTEGERS(L, {"cols_in", stage->cols_in}, {"constant", stage->constant});
  if (stage->shift == NULL) return 1;
  set_numbers(L, "shift", stage->shift, 1, stage->cols_in);
  set_numbers(L, "factor", stage->factor, stage->kind == SCL_PROJECT ? stage->cols_out : 1,
              stage->cols_in);
  return 1;
}

static const double *field_row(lua_State *L, const char *key, size_t cols) {
  lua_getfield(L, 1, key);
  const scl_matrix *row = scl_lua_hold_matrix(L, lua_gettop(L));
  if (row->dtype != SCL_DTYPE_FLOAT64 || row->rows != 1 || row->cols != cols ||
      !scl_matrix_is_rowwise(row))
    luaL_error(L, "a stage has %s of another shape than 1 x %I", key, (LUAI_UACINT)cols);
  return scl_matrix_row(row, 0);
}

/* core.stage_load(what stage_save gave) -> stage; "pca" is core.projection_stage */
static int stage_load(lua_State *L) {
  scl_error error = {0};
  scl_stage *stage;
  scl_lua_copy_table(L, 1, "a saved stage");
  lua_getfield(L, 1, "kind");
  lua_getfield(L, 1, "cols_in");
  lua_getfield(L, 1, "constant");
  const int last = lua_gettop(L);
  const scl_stage_kind kind = (scl_stage_kind)luaL_checkoption(L, last - 2, NULL, kinds);
  const size_t cols = scl_lua_check_size(L, last - 1, 0, INT32_MAX, "cols_in"),
               constant = scl_lua_check_size(L, last, 0, cols, "constant");
  if (kind == SCL_PROJECT) return luaL_error(L, "a projection is made by projection_stage");
  const bool learnt = scl_stage_needs_moments(kind);
  const double *shift = learnt ? field_row(L, "shift", cols) : NULL,
               *factor = learnt ? field_row(L, "factor", cols) : NULL;
  void **slot = scl_lua_new_stage(L);
  scl_lua_check(L, scl_stage_restore(kind, cols, shift, factor, constant, &stage, &error), &error);
  *slot = stage;
  return 1;
}

/* ------------------------------------------------------------ cells */

/* core.map_cells(map) -> counts (one a grid), words (one row a cell), as arrays */
static int map_cells(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  const scl_cells *cells = scl_map_cells(map);
  if (cells == NULL) return luaL_error(L, "these features have no cells");
  const size_t grids = scl_map_entries(map), count = scl_cells_count(cells),
               words = scl_cells_words(cells);
  int64_t *counts = lua_newuserdatauv(L, (grids + 1) * sizeof *counts, 0);
  int32_t *keys = lua_newuserdatauv(L, (count * words + 1) * sizeof *keys, 0);
  scl_cells_export(cells, counts, keys);
  scl_lua_push_array(
      L, &(scl_array){.data = counts, .dtype = SCL_DTYPE_INT64, .rank = 1, .sizes = {grids}});
  scl_lua_push_array(
      L, &(scl_array){.data = keys, .dtype = SCL_DTYPE_INT32, .rank = 2, .sizes = {count, words}});
  return 2;
}

/* The array at `place`, of that type and rank, its numbers where they are aligned. */
static const void *check_numbers(lua_State *L, int place, const char *name, scl_dtype dtype,
                                 uint32_t rank, size_t sizes[2]) {
  lua_pushvalue(L, place);
  const scl_array array = scl_lua_check_array(L, name);
  lua_pop(L, 1);
  if (array.dtype != dtype || array.rank != rank)
    luaL_error(L, "array \"%s\" of the saved model has another type or shape than cells have",
               name);
  sizes[0] = array.sizes[0];
  sizes[1] = rank > 1 ? array.sizes[1] : 1;
  const size_t bytes = sizes[0] * sizes[1] * (dtype == SCL_DTYPE_INT64 ? 8 : 4);
  void *copy = lua_newuserdatauv(L, bytes + 8, 0);
  if (bytes > 0) memcpy(copy, array.data, bytes);
  return copy;
}

/* core.map_restore_cells(map, counts, words): the map with the cells that another learnt */
static int map_restore_cells(lua_State *L) {
  scl_error error = {0};
  size_t grids[2], keys[2];
  scl_map *map = scl_lua_take_handle(L, 1, SCL_LUA_MAP);
  const int64_t *counts = check_numbers(L, 2, "cells.counts", SCL_DTYPE_INT64, 1, grids);
  const int32_t *words = check_numbers(L, 3, "cells.words", SCL_DTYPE_INT32, 2, keys);
  const scl_cells *cells = scl_map_cells(map);
  if (cells == NULL || grids[0] != scl_map_entries(map) || keys[1] != scl_cells_words(cells))
    return luaL_error(L, "the saved cells are of other grids than these features have");
  if (scl_map_features(map) > 0) return luaL_error(L, "this map has learnt its cells already");
  scl_lua_check(L, scl_map_restore_cells(map, counts, words, keys[0], &error), &error);
  scl_lua_account(L, scl_map_bytes(map));
  return 0;
}

/* ------------------------------------------------------------ maps made again */

/* core.map_probe(map) -> rows, numbers, "features" or "parameters": see learn/map_probe.h */
static int map_probe(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  scl_error error = {0};
  scl_map_probe probe;
  scl_matrix *rows = scl_lua_new_matrix(L), *numbers = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_map_probe_make(map, &probe, &error), &error);
  *rows = probe.rows;
  *numbers = probe.numbers;
  scl_lua_account(L, scl_matrix_bytes(rows) + scl_matrix_bytes(numbers));
  lua_pushstring(L, probe.parameters ? "parameters" : "features");
  return 3;
}

/* core.probes_agree(a, b) -> whether two matrices are the same but for rounding */
static int probes_agree(lua_State *L) {
  const scl_matrix *a = scl_lua_hold_matrix(L, 1), *b = scl_lua_hold_matrix(L, 2);
  lua_pushboolean(L, scl_probes_agree(a, b));
  return 1;
}

/* ------------------------------------------------------------ fingerprint */

/* core.fingerprint(matrix, ...) -> SHA-256 of their sizes and of up to 1024 rows each, spread
 * evenly, as little-endian float64 */
static int fingerprint(lua_State *L) {
  enum { MOST_ROWS = 1024 };
  char text[SCL_DIGEST_TEXT + 1];
  scl_digest digest;
  scl_digest_open(&digest);
  const int count = lua_gettop(L);
  for (int place = 1; place <= count; place++) {
    const scl_matrix *a = scl_lua_check_matrix(L, place);
    char sizes[64];
    const int length = snprintf(sizes, sizeof sizes, "%zu x %zu;", a->rows, a->cols);
    scl_digest_add(&digest, sizes, (size_t)length);
    const size_t rows = scl_min(a->rows, MOST_ROWS);
    for (size_t i = 0; i < rows; i++)
      for (size_t j = 0; j < a->cols; j++) {
        const double number = scl_matrix_get(a, i * a->rows / rows, j);
        scl_digest_add(&digest, &number, sizeof number);
      }
  }
  scl_digest_text(&digest, text);
  lua_pushstring(L, text);
  return 1;
}

void scl_lua_open_saving(lua_State *L) {
  SCL_LUA_CALLS(L, {"tensors_write", tensors_write, 3}, {"tensors_read", tensors_read, 1},
                {"tensor_array", tensor_array, 2}, {"tensor_matrix", tensor_matrix, 2},
                {"stage_save", stage_save, 1}, {"stage_load", stage_load, 1},
                {"map_cells", map_cells, 1}, {"map_restore_cells", map_restore_cells, 3},
                {"map_probe", map_probe, 1}, {"probes_agree", probes_agree, 2});
  SCL_LUA_FUNCTIONS(L, {"fingerprint", fingerprint});
}
