#include "session/tables.h"

#include "lua/matrix.h"
#include "lua/sparse.h"

/* The sparse rows that lie in the three arrays. */
static void push_sparse(lua_State *L, const scl_table *table) {
  const scl_csr as_given = {.starts = (int64_t *)(uintptr_t)table->starts,
                            .columns = (int32_t *)(uintptr_t)table->places,
                            .values = (void *)(uintptr_t)table->values,
                            .rows = table->rows,
                            .cols = table->columns,
                            .dtype = table->dtype};
  const int64_t last = table->starts[table->rows];
  if (table->starts[0] != 0 || last < 0)
    luaL_error(L, "the starts of sparse rows go from %I to %I; they begin with 0 and ascend",
               (LUAI_UACINT)table->starts[0], (LUAI_UACINT)last);
  if (last > 0 && (table->places == NULL || table->values == NULL))
    luaL_error(L, "sparse rows have starts, and no columns or values");
  if (table->columns > SCL_LUA_SPARSE_COLS)
    luaL_error(L, "sparse rows have %I columns, and may have %I", (LUAI_UACINT)table->columns,
               (LUAI_UACINT)SCL_LUA_SPARSE_COLS);
  SCL_LUA_TRY(L, scl_csr_check(&as_given, (size_t)last, &error));
  scl_csr *csr = scl_lua_new_csr(L);
  SCL_LUA_TRY(L, scl_csr_borrow(table->rows, table->columns, table->starts, table->places,
                                table->values, table->dtype, csr, &error));
}

static void push_dense(lua_State *L, const void *values, size_t rows, size_t columns, size_t stride,
                       scl_dtype dtype, const char *what) {
  if (stride == 0) stride = columns;
  if (values == NULL && rows > 0 && columns > 0) luaL_error(L, "%s has no numbers", what);
  if (rows > SCL_LUA_MATRIX_SIDE || columns > SCL_LUA_MATRIX_SIDE || stride < columns ||
      stride > PTRDIFF_MAX / 8)
    luaL_error(L, "%s has %I rows of %I numbers, %I apart, which do not fit", what,
               (LUAI_UACINT)rows, (LUAI_UACINT)columns, (LUAI_UACINT)stride);
  scl_matrix *matrix = scl_lua_new_matrix(L);
  SCL_LUA_TRY(L,
              scl_matrix_borrow(values, rows, columns, (ptrdiff_t)stride, dtype, matrix, &error));
}

/* The fields y, task and weights of the table on top of the stack. */
static void set_targets(lua_State *L, const scl_targets *targets, size_t rows) {
  const int32_t kind = targets->kind;
  if (kind < SCL_TARGETS_NONE || kind > SCL_TARGETS_INDICATORS)
    luaL_error(L, "there is no kind %d of targets", (int)kind);
  if (kind == SCL_TARGETS_TEXTS) {
    if (targets->texts == NULL && rows > 0) luaL_error(L, "there are no texts of the targets");
    lua_createtable(L, (int)scl_min(rows, INT32_MAX), 0);
    for (size_t i = 0; i < rows; i++) {
      if (targets->texts[i] == NULL)
        luaL_error(L, "row %I of the targets has no text", (LUAI_UACINT)i + 1);
      lua_pushstring(L, targets->texts[i]);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "y");
  } else if (kind != SCL_TARGETS_NONE) {
    push_dense(L, targets->values, rows, kind == SCL_TARGETS_LABELS ? 1 : targets->columns, 0,
               SCL_DTYPE_FLOAT64, "the array of targets");
    lua_setfield(L, -2, "y");
  }
  if (kind != SCL_TARGETS_NONE)
    scl_lua_set_text(L, "task",
                     kind == SCL_TARGETS_VALUES       ? "regression"
                     : kind == SCL_TARGETS_INDICATORS ? "multilabel"
                                                      : "classification");
  if (targets->weights == NULL) return;
  push_dense(L, targets->weights, rows, 1, 0, SCL_DTYPE_FLOAT64, "the array of weights");
  lua_setfield(L, -2, "weights");
}

void scl_push_rows(lua_State *L, const scl_table *table, const scl_targets *targets) {
  if (table == NULL) luaL_error(L, "there is no table of rows");
  if (table->dtype != SCL_DTYPE_FLOAT64 && table->dtype != SCL_DTYPE_FLOAT32)
    luaL_error(L, "the numbers of a table are float64 or float32");
  luaL_checkstack(L, 8, "rows");
  lua_newtable(L);
  if (table->starts != NULL)
    push_sparse(L, table);
  else
    push_dense(L, table->values, table->rows, table->columns, table->stride, table->dtype,
               "the table");
  lua_setfield(L, -2, "X");
  for (size_t j = 0; table->names != NULL && j < table->columns; j++)
    if (table->names[j] == NULL) luaL_error(L, "column %I has no name", (LUAI_UACINT)j + 1);
  if (table->names != NULL) {
    scl_lua_push_texts(L, table->names, table->columns);
    lua_setfield(L, -2, "names");
  }
  if (targets != NULL) set_targets(L, targets, table->rows);
}

void *scl_take_numbers(lua_State *L, size_t *rows, size_t *columns, scl_dtype *dtype) {
  scl_matrix *a = scl_lua_check_matrix(L, -1);
  *rows = a->rows;
  *columns = a->cols;
  *dtype = a->dtype;
  void *numbers = scl_matrix_surrender(a);
  if (numbers == NULL) {
    (void)scl_lua_copy_matrix(L, a, a->dtype);
    numbers = scl_matrix_surrender(scl_lua_check_matrix(L, -1));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return numbers;
}
