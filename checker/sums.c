/* scullery.checker: sums over blocks of random numbers, for tests of laws. */
#include "checker/blocks.h"
#include "checker/checker.h"
#include <math.h>

/* mean and scale of column j: lists at two places. */
typedef struct scaling {
  double *mean, *scale;
} scaling;

static scaling read_scaling(lua_State *L, int means, int scales, size_t cols) {
  luaL_checktype(L, means, LUA_TTABLE);
  luaL_checktype(L, scales, LUA_TTABLE);
  double *room = lua_newuserdatauv(L, (2 * cols + 1) * sizeof *room, 0);
  for (size_t j = 0; j < 2 * cols; j++) {
    lua_rawgeti(L, j < cols ? means : scales, (lua_Integer)(j % cols) + 1);
    room[j] = luaL_checknumber(L, -1);
    lua_pop(L, 1);
  }
  return (scaling){.mean = room, .scale = room + cols};
}

static double at(const scl_block *b, size_t i, size_t j) {
  return ((const double *)b->data)[(ptrdiff_t)i * b->row_stride + (ptrdiff_t)j];
}

/* checker.powers(block, means, scales, first, count) -> sums of e^1 .. e^8 over columns first ..
 * first+count-1 (from 0), e = (number - mean)/scale, a list; and how many are not finite */
static int powers(lua_State *L) {
  enum { POWERS = 8 };
  const scl_block b = scl_lua_check_block(L, 1);
  const scaling s = read_scaling(L, 2, 3, b.cols);
  const size_t first = scl_lua_check_size(L, 4, 0, b.cols, "first"),
               count = scl_lua_check_size(L, 5, 0, b.cols - first, "count");
  double sums[POWERS] = {0};
  size_t odd = 0;
  for (size_t i = 0; i < b.rows; i++)
    for (size_t j = first; j < first + count; j++) {
      const double e = (at(&b, i, j) - s.mean[j]) / s.scale[j];
      double power = 1;
      if (!isfinite(e)) odd++;
      for (int k = 0; isfinite(e) && k < POWERS; k++)
        sums[k] += power *= e;
    }
  lua_createtable(L, POWERS, 0);
  for (int k = 0; k < POWERS; k++) {
    lua_pushnumber(L, sums[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_pushinteger(L, (lua_Integer)odd);
  return 2;
}

/* checker.signs(block, means, rows, columns) -> the sum of the signs of (a - mean)(b - mean) over
 * all pairs that are so many rows and columns apart, and their number */
static int signs(lua_State *L) {
  const scl_block b = scl_lua_check_block(L, 1);
  const scaling s = read_scaling(L, 2, 2, b.cols);
  const size_t rows = scl_lua_check_size(L, 3, 0, (size_t)1 << 40, "rows"),
               cols = scl_lua_check_size(L, 4, 0, (size_t)1 << 40, "columns");
  double sum = 0;
  size_t count = 0;
  for (size_t i = 0; i + rows < b.rows; i++)
    for (size_t j = 0; j + cols < b.cols; j++) {
      const double product =
          (at(&b, i, j) - s.mean[j]) * (at(&b, i + rows, j + cols) - s.mean[j + cols]);
      sum += product > 0 ? 1 : product < 0 ? -1 : 0;
      count++;
    }
  lua_pushnumber(L, sum);
  lua_pushinteger(L, (lua_Integer)count);
  return 2;
}

/* checker.equal_share(a, b, column) -> the share of rows in which two blocks have the same number
 * there, and that of those with the other sign */
static int equal_share(lua_State *L) {
  const scl_block a = scl_lua_check_block(L, 1), b = scl_lua_check_block(L, 2);
  const size_t column = scl_lua_check_size(L, 3, 0, a.cols - 1, "column");
  size_t same = 0, turned = 0;
  if (a.rows != b.rows || a.cols != b.cols) return luaL_error(L, "blocks of two shapes");
  for (size_t i = 0; i < a.rows; i++) {
    const double x = at(&a, i, column), y = at(&b, i, column);
    same += x == y;
    turned += x == -y;
  }
  lua_pushnumber(L, (double)same / fmax(1, (double)a.rows));
  lua_pushnumber(L, (double)turned / fmax(1, (double)a.rows));
  return 2;
}

SCL_LUA_CALLS(scl_checker_sums_calls, {"powers", powers, 5}, {"signs", signs, 4},
              {"equal_share", equal_share, 3});
