/* scullery.core: the parts of a saved model, for writing: files of arrays, fitted stages, the cells
 * of a map, the fingerprint of rows. lua/scullery/model/saving.lua composes them. */
#include "data/safetensors.h"
#include "learn/map_probe.h"
#include "lua/arrays.h"
#include "lua/handle.h"
#include "lua/list.h"
#include "lua/sparse.h"
#include "lua/texts.h"
#include "model/fingerprint.h"
#include "model/restore.h"

#include <stdio.h>
#include <string.h>

/* ------------ writing a file */

/* The matrix on top of the stack as an array of its rows; a copy where it is not packed takes its
 * place. */
static scl_array packed(lua_State *L) {
  const scl_matrix *a = scl_lua_hold_matrix(L, lua_gettop(L));
  /* a matrix of one row or one column is packed whatever its other stride is */
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

static int release_bytes(lua_State *L) {
  scl_release(*(unsigned char **)lua_touserdata(L, 1));
  return 0;
}

/* core.tensors_write(path, text, {name = matrix or array}); for path = nil it returns the bytes of
 * the file */
static int tensors_write(lua_State *L) {
  const char *path = scl_lua_opt_path(L, 1), *text = luaL_checkstring(L, 2);
  size_t count = 0, i = 0;
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
  if (path != NULL) {
    SCL_LUA_TRY(L, scl_safetensors_write(path, text, tensors, i, &error));
    return 0;
  }
  unsigned char **bytes = scl_lua_new_guarded(L, sizeof *bytes, release_bytes);
  size_t size = 0;
  SCL_LUA_TRY(L, scl_safetensors_bytes(text, tensors, i, bytes, &size, &error));
  lua_pushlstring(L, (const char *)*bytes, size);
  scl_release(*bytes);
  *bytes = NULL;
  return 1;
}

/* ------------ coefficients */

/* core.sparse_weights(W) -> the places (row by row, from 0, ascending) and the values of the numbers
 * of a matrix that are not 0, as arrays, and its sizes, if these are much smaller than the matrix;
 * else nothing */
static int sparse_weights(lua_State *L) {
  enum { SMALL = 4096, SHARE = 4 };
  const scl_matrix *a = scl_lua_hold_matrix(L, 1);
  const size_t all = a->rows * a->cols;
  size_t count = 0, k = 0;
  for (size_t i = 0; i < all; i++)
    count += scl_matrix_get(a, i / a->cols, i % a->cols) != 0;
  if (all < SMALL || count > all / SHARE) return 0;
  int64_t *places = lua_newuserdatauv(L, (count + 1) * sizeof *places, 0);
  double *values = lua_newuserdatauv(L, (count + 1) * sizeof *values, 0);
  for (size_t i = 0; i < all; i++) {
    const double value = scl_matrix_get(a, i / a->cols, i % a->cols);
    if (value == 0) continue;
    places[k] = (int64_t)i;
    values[k++] = value;
  }
  scl_lua_push_array(
      L, &(scl_array){.data = places, .dtype = SCL_DTYPE_INT64, .rank = 1, .sizes = {count}});
  scl_lua_push_array(
      L, &(scl_array){.data = values, .dtype = SCL_DTYPE_FLOAT64, .rank = 1, .sizes = {count}});
  const int64_t sizes[2] = {(int64_t)a->rows, (int64_t)a->cols};
  scl_lua_push_array(
      L, &(scl_array){.data = sizes, .dtype = SCL_DTYPE_INT64, .rank = 1, .sizes = {2}});
  return 3;
}

/* ------------ stages */

/* core.stage_save(stage) -> {kind, cols, constant, arrays = {name = matrix or array} where it
 * learnt some} */
static int stage_save(lua_State *L) {
  const scl_fitted_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  lua_newtable(L);
  scl_lua_set_text(L, "kind", scl_fitted_stage_name(stage));
  SCL_LUA_INTEGERS(L, {"cols", stage->cols_in}, {"constant", stage->constant});
  if (stage->state.count == 0) return 1;
  lua_newtable(L);
  for (size_t i = 0; i < stage->state.count; i++) {
    const scl_array *array = &stage->state.arrays[i];
    if (array->dtype == SCL_DTYPE_FLOAT64 && array->rank == 2) {
      const size_t count = array->sizes[0] * array->sizes[1];
      scl_matrix *out = scl_lua_make_matrix(L, array->sizes[0], array->sizes[1], array->dtype);
      if (count > 0) memcpy(out->data, array->data, count * sizeof(double));
    } else {
      scl_lua_push_array(L, array);
    }
    lua_setfield(L, -2, stage->state.names[i]);
  }
  lua_setfield(L, -2, "arrays");
  return 1;
}

/* ------------ cells */

/* core.map_cells(map) -> counts of cells for each grid, and words (a row for each cell), as
 * arrays */
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

/* ------------ maps made again */

/* core.map_probe(map) -> rows, numbers, "features" or "parameters": see learn/map_probe.h */
static int map_probe(lua_State *L) {
  const scl_map *map = scl_lua_check_handle(L, 1, SCL_LUA_MAP);
  scl_map_probe probe;
  scl_matrix *rows = scl_lua_new_matrix(L), *numbers = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L, scl_map_probe_make(map, &probe, &error));
  *rows = probe.rows;
  *numbers = probe.numbers;
  scl_lua_account(L, scl_matrix_bytes(rows) + scl_matrix_bytes(numbers));
  lua_pushstring(L, probe.parameters ? "parameters" : "features");
  return 3;
}

/* ------------ fingerprint */

static int give_digest(lua_State *L, scl_digest *digest) {
  char text[SCL_DIGEST_TEXT + 1];
  scl_digest_text(digest, text);
  return scl_lua_give_text(L, text);
}

/* core.fingerprint(matrix, ...) -> SHA-256 of their sizes and of some rows (model/fingerprint.h) */
static int fingerprint(lua_State *L) {
  scl_digest digest;
  scl_digest_open(&digest);
  const int count = lua_gettop(L);
  for (int place = 1; place <= count; place++)
    if (scl_lua_test_csr(L, place) != NULL)
      scl_digest_csr(&digest, scl_lua_check_csr(L, place));
    else if (scl_lua_test_packed_texts(L, place) != NULL)
      scl_digest_texts(&digest, scl_lua_check_packed_texts(L, place), SCL_FINGERPRINT_ROWS);
    else
      scl_digest_matrix(&digest, scl_lua_check_matrix(L, place));
  return give_digest(L, &digest);
}

/* core.checksum(matrix) -> 16 hexadecimal digits that depend on its shape and on all of its
 * numbers, by row and column, or on all texts */
static int checksum(lua_State *L) {
  char text[SCL_DIGEST_TEXT + 1];
  uint64_t sum;
  if (scl_lua_test_packed_texts(L, 1) != NULL) {
    scl_digest digest;
    scl_digest_open(&digest);
    scl_digest_texts(&digest, scl_lua_check_packed_texts(L, 1), SIZE_MAX);
    scl_digest_text(&digest, text);
    lua_pushlstring(L, text, 16);
    return 1;
  }
  if (scl_lua_test_csr(L, 1) != NULL)
    SCL_LUA_TRY(L, scl_checksum_csr(scl_lua_check_csr(L, 1), &sum, &error));
  else
    SCL_LUA_TRY(L, scl_checksum_matrix(scl_lua_check_matrix(L, 1), &sum, &error));
  (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)sum);
  return scl_lua_give_text(L, text);
}

/* core.digest(text) -> its SHA-256 */
static int digest_of(lua_State *L) {
  size_t size;
  const char *bytes = luaL_checklstring(L, 1, &size);
  scl_digest digest;
  scl_digest_open(&digest);
  scl_digest_add(&digest, bytes, size);
  return give_digest(L, &digest);
}

SCL_LUA_CALLS(scl_lua_saving_calls, {"tensors_write", tensors_write, 3},
              {"sparse_weights", sparse_weights, 1}, {"stage_save", stage_save, 1},
              {"map_cells", map_cells, 1}, {"map_probe", map_probe, 1},
              {"fingerprint", fingerprint, -1}, {"checksum", checksum, -1},
              {"digest", digest_of, -1});
