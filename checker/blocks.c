/* scullery.checker: guarded memory, and blocks in it, for checks of plugins. */
#include "checker/blocks.h"
#include "checker/checker.h"
#include <math.h>
#include <string.h>

#define SCL_LUA_GUARDED "scullery.guarded"

typedef struct guarded {
  scl_guarded memory;
  scl_dtype dtype;
} guarded;

/* Bytes of one number. */
static size_t width(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 || dtype == SCL_DTYPE_INT64 ? 8 : 4;
}

static void release_guarded(void *object) {
  guarded *g = object;
  scl_guarded_destroy(&g->memory);
  scl_release(g);
}

/* Memory for that many numbers, on the stack. */
static guarded *push_guarded(lua_State *L, size_t count, scl_dtype dtype, bool at_start) {
  scl_error error = {0};
  void **slot = scl_lua_new_handle(L, SCL_LUA_GUARDED, release_guarded);
  guarded *g = scl_allocate_zero(sizeof *g);
  if (g == NULL) luaL_error(L, "not enough memory");
  *slot = g;
  g->dtype = dtype;
  scl_lua_check(L, scl_guarded_create(count * width(dtype), at_start, &g->memory, &error), &error);
  return g;
}

/* checker.guarded(count, "float64" | "float32" | "int32"[, at_start]) -> memory for that many
 * numbers, initially NaN (or -1), between two inaccessible pages: it ends at the page after it
 * or, with at_start, begins at the page before it */
static int guarded_new(lua_State *L) {
  static const char *const names[] = {"float64", "float32", "int32", NULL};
  static const scl_dtype dtypes[] = {SCL_DTYPE_FLOAT64, SCL_DTYPE_FLOAT32, SCL_DTYPE_INT32};
  const size_t count = scl_lua_check_size(L, 1, 0, (size_t)1 << 28, "count");
  (void)push_guarded(L, count, dtypes[luaL_checkoption(L, 2, "float64", names)],
                     lua_toboolean(L, 3));
  return 1;
}

/* checker.guarded_lock(memory): from now on a write to it ends the process */
static int guarded_lock(lua_State *L) {
  guarded *g = scl_lua_check_handle(L, 1, SCL_LUA_GUARDED);
  scl_guarded_lock(&g->memory);
  return 0;
}

/* checker.guarded_copy(memory) -> the same bytes, in memory of its own */
static int guarded_copy(lua_State *L) {
  const guarded *from = scl_lua_check_handle(L, 1, SCL_LUA_GUARDED);
  const guarded *made = push_guarded(L, from->memory.size / width(from->dtype), from->dtype, false);
  memcpy(made->memory.bytes, from->memory.bytes, from->memory.size);
  return 1;
}

void *scl_lua_opt_guarded(lua_State *L, int place, scl_dtype dtype, size_t count) {
  if (lua_isnoneornil(L, place)) return NULL;
  const guarded *g = scl_lua_check_handle(L, place, SCL_LUA_GUARDED);
  if (g->dtype != dtype || g->memory.size / width(dtype) < count)
    luaL_error(L, "guarded memory of another type, or too short for %I numbers",
               (lua_Integer)count);
  return g->memory.bytes;
}

/* ------------ blocks */

/* A whole number in the field `key` of the table at `place`; `absent` where there is no such
 * field. */
static size_t field(lua_State *L, int place, const char *key, size_t absent) {
  lua_getfield(L, place, key);
  const size_t value =
      lua_isnil(L, -1) ? absent : scl_lua_check_size(L, -1, 0, (size_t)1 << 28, key);
  lua_pop(L, 1);
  return value;
}

scl_block scl_lua_check_block(lua_State *L, int place) {
  luaL_checktype(L, place, LUA_TTABLE);
  const guarded *g = scl_lua_field_handle(L, place, "memory", SCL_LUA_GUARDED);
  if (g == NULL) luaL_error(L, "a block without memory");
  scl_block b = {.dtype = g->dtype};
  b.rows = field(L, place, "rows", 0);
  b.cols = field(L, place, "cols", 0);
  b.planes = field(L, place, "planes", 1);
  b.row_stride = (ptrdiff_t)field(L, place, "row_stride", b.cols);
  b.plane_stride = (ptrdiff_t)field(L, place, "plane_stride", b.rows * (size_t)b.row_stride);
  const size_t offset = field(L, place, "offset", 0), count = g->memory.size / width(g->dtype);
  const bool empty = b.rows == 0 || b.cols == 0 || b.planes == 0;
  const size_t end = empty ? offset
                           : offset + (b.rows - 1) * (size_t)b.row_stride +
                                 (b.planes - 1) * (size_t)b.plane_stride + b.cols;
  if (end > count) luaL_error(L, "a block that does not lie in its memory");
  b.data = g->memory.bytes + offset * width(g->dtype);
  return b;
}

scl_const_block scl_lua_check_const_block(lua_State *L, int place) {
  const scl_block b = scl_lua_check_block(L, place);
  return (scl_const_block){.data = b.data,
                           .dtype = b.dtype,
                           .rows = b.rows,
                           .cols = b.cols,
                           .planes = b.planes,
                           .row_stride = b.row_stride,
                           .plane_stride = b.plane_stride};
}

/* Number `at` of the block's memory, counted from the block's beginning. */
static double read_at(const scl_block *b, size_t at) {
  if (b->dtype == SCL_DTYPE_FLOAT64) return ((const double *)b->data)[at];
  if (b->dtype == SCL_DTYPE_FLOAT32) return (double)((const float *)b->data)[at];
  return ((const int32_t *)b->data)[at];
}

static void write_at(const scl_block *b, size_t at, double value) {
  if (b->dtype == SCL_DTYPE_FLOAT64) ((double *)b->data)[at] = value;
  if (b->dtype == SCL_DTYPE_FLOAT32) ((float *)b->data)[at] = (float)value;
  if (b->dtype == SCL_DTYPE_INT32) ((int32_t *)b->data)[at] = (int32_t)value;
}

/* The address of number j of row i of the block seen as a matrix, its planes side by side. */
static size_t place_of(const scl_block *b, size_t i, size_t j) {
  return i * (size_t)b->row_stride + j / b->cols * (size_t)b->plane_stride + j % b->cols;
}

/* checker.block_put(block, matrix): planes side by side in the matrix */
static int block_put(lua_State *L) {
  const scl_block b = scl_lua_check_block(L, 1);
  const scl_matrix *from = scl_lua_check_matrix(L, 2);
  if (from->rows != b.rows || from->cols != b.cols * b.planes)
    return luaL_error(L, "a matrix of another shape than the block");
  for (size_t i = 0; i < b.rows; i++)
    for (size_t j = 0; j < from->cols; j++)
      write_at(&b, place_of(&b, i, j), scl_matrix_get(from, i, j));
  return 0;
}

/* checker.block_get(block) -> a float64 matrix, planes side by side */
static int block_get(lua_State *L) {
  const scl_block b = scl_lua_check_block(L, 1);
  SCL_LUA_PUSH_MATRIX(L,
                      scl_matrix_create(b.rows, b.cols * b.planes, SCL_DTYPE_FLOAT64, out, &error));
  scl_matrix *made = scl_lua_check_matrix(L, -1);
  for (size_t i = 0; i < b.rows; i++)
    for (size_t j = 0; j < made->cols; j++)
      scl_matrix_set(made, i, j, read_at(&b, place_of(&b, i, j)));
  return 1;
}

/* checker.block_gaps(block) -> the number of bytes in the block's memory, but outside of the
 * block, that have changed from their initial value */
static int block_gaps(lua_State *L) {
  const scl_block b = scl_lua_check_block(L, 1);
  const guarded *g = scl_lua_field_handle(L, 1, "memory", SCL_LUA_GUARDED);
  const size_t bytes = width(g->dtype);
  const unsigned char *data = b.data;
  bool *inside = lua_newuserdatauv(L, g->memory.size + 1, 0);
  memset(inside, 0, g->memory.size);
  for (size_t i = 0; i < b.rows; i++)
    for (size_t j = 0; j < b.cols * b.planes; j++)
      memset(inside + (data - g->memory.bytes) + place_of(&b, i, j) * bytes, true, bytes);
  lua_Integer changed = 0;
  for (size_t at = 0; at < g->memory.size; at++)
    changed += !inside[at] && g->memory.bytes[at] != SCL_GUARDED_FILL;
  lua_pushinteger(L, changed);
  return 1;
}

/* The bits of a number. All NaN have the same. */
static uint64_t bits_of(double value) {
  uint64_t bits = UINT64_MAX;
  if (!isnan(value)) memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* checker.first_difference(a, b) -> row and column of the first numbers that are not the same, bit
 * for bit; nil where all are. All NaN are the same. */
static int first_difference(lua_State *L) {
  const scl_matrix *a = scl_lua_check_matrix(L, 1), *b = scl_lua_check_matrix(L, 2);
  if (a->rows != b->rows || a->cols != b->cols)
    return luaL_error(L, "matrices of different shapes cannot be compared");
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      if (bits_of(scl_matrix_get(a, i, j)) != bits_of(scl_matrix_get(b, i, j))) {
        lua_pushinteger(L, (lua_Integer)i + 1);
        lua_pushinteger(L, (lua_Integer)j + 1);
        return 2;
      }
  return 0;
}

SCL_LUA_CALLS(scl_checker_blocks_calls, {"guarded", guarded_new, 3},
              {"guarded_lock", guarded_lock, 1}, {"guarded_copy", guarded_copy, 1},
              {"block_put", block_put, 2}, {"block_get", block_get, 1},
              {"block_gaps", block_gaps, 1}, {"first_difference", first_difference, 2});
