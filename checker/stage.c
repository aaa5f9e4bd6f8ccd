/* scullery.checker: fitted row stages on blocks in guarded memory, and made again from arrays, for
 * checks of plugins. */
#include "map/stage.h"
#include "checker/blocks.h"
#include "checker/checker.h"
#include "lua/arrays.h"

/* checker.stage_apply(fitted, in, out): the slot `apply` on blocks of any strides */
static int stage_apply(lua_State *L) {
  const scl_fitted_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  const scl_const_block in = scl_lua_check_const_block(L, 2);
  const scl_block out = scl_lua_check_block(L, 3);
  scl_error error = {0};
  luaL_argcheck(L, stage->instance != NULL, 1, "a stage of a plugin expected");
  luaL_argcheck(L,
                in.cols == stage->cols_in && out.cols == stage->cols_out && in.rows == out.rows &&
                    in.dtype == SCL_DTYPE_FLOAT64 && out.dtype == SCL_DTYPE_FLOAT64,
                3, "a block of another shape or type");
  scl_lua_check(L,
                scl_stage_apply(stage->instance, &stage->fitted, in.data, in.row_stride, in.rows,
                                out.data, out.row_stride, &error),
                &error);
  return 0;
}

/* Rows first .. first+count-1 of `rows` by the slot `apply_csr`, dense to *to. The memory of the
 * result has exactly the size that the slot is promised. */
static scl_status apply_sparse(const scl_fitted_stage *stage, const scl_csr *rows, size_t first,
                               size_t count, scl_matrix *to, scl_error *error) {
  scl_csr made = {0};
  const scl_csr some = {.starts = rows->starts + first, .rows = count};
  const scl_const_csr in = scl_csr_const(rows, first, count);
  SCL_TRY(scl_csr_create(count, stage->cols_out, scl_csr_entries(&some), SCL_DTYPE_FLOAT64, &made,
                         error));
  const scl_csr_block out = {made.starts, made.columns, made.values, count, stage->cols_out};
  scl_status status = scl_fitted_stage_apply_csr(stage, &in, &out, error);
  if (status == SCL_STATUS_OK) status = scl_csr_check(&made, scl_csr_entries(&some), error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create_raw(count, stage->cols_out, SCL_DTYPE_FLOAT64, to, error);
  if (status == SCL_STATUS_OK)
    scl_csr_fill(&made, 0, count, SCL_DTYPE_FLOAT64, to->data, to->row_stride);
  scl_csr_release(&made);
  return status;
}

/* checker.stage_apply_csr(fitted, X, first, count, dtype) -> the rows first .. first+count-1 (from
 * 0) of X, made sparse, by the slot `apply_csr`, as a matrix; nothing where the stage keeps no
 * zeros */
static int stage_apply_csr(lua_State *L) {
  const scl_fitted_stage *stage = scl_lua_check_handle(L, 1, SCL_LUA_STAGE);
  const scl_matrix *x = scl_lua_hold_matrix(L, 2);
  const size_t first = scl_lua_check_size(L, 3, 0, x->rows, "first"),
               count = scl_lua_check_size(L, 4, 0, x->rows - first, "count");
  const scl_dtype dtype = scl_lua_check_dtype(L, 5);
  scl_csr wide, rows;
  scl_error error = {0};
  luaL_argcheck(L, stage->instance != NULL && x->cols == stage->cols_in, 2,
                "rows of a stage of a plugin expected");
  if (!stage->keeps_zeros) return 0;
  scl_matrix *out = scl_lua_new_matrix(L);
  scl_lua_check(L, scl_csr_of_matrix(x, &wide, &error), &error);
  scl_status status = scl_csr_convert(&wide, dtype, &rows, &error);
  scl_csr_release(&wide);
  if (status == SCL_STATUS_OK) status = apply_sparse(stage, &rows, first, count, out, &error);
  scl_csr_release(&rows);
  scl_lua_check(L, status, &error);
  return 1;
}

/* checker.stage_restore(instance, columns, {name = matrix}) -> the fitted stage with these arrays,
 * as from a saved model */
static int stage_restore(lua_State *L) {
  scl_instance *instance = scl_lua_check_instance(L, 1, SCL_KIND_STAGE);
  const size_t cols = scl_lua_check_size(L, 2, 0, 1 << 20, "columns");
  scl_error error = {0};
  luaL_checktype(L, 3, LUA_TTABLE);
  void **slot = scl_lua_new_stage(L);
  scl_fitted_stage *stage = NULL;
  scl_lua_check(L, scl_fitted_stage_create(instance, cols, &stage, &error), &error);
  *slot = stage;
  for (size_t i = 0; i < stage->state.count; i++) {
    const char *name = stage->state.names[i];
    if (lua_getfield(L, 3, name) == LUA_TNIL) return luaL_error(L, "there is no array '%s'", name);
    const scl_matrix *matrix = scl_lua_test_matrix(L, -1);
    scl_array array = {0};
    if (matrix == NULL)
      array = scl_lua_check_array(L, name);
    else
      array = scl_matrix_array(matrix->data, matrix->rows, matrix->cols);
    scl_lua_check(L, scl_stage_arrays_put(&stage->state, false, name, &array, &error), &error);
    lua_pop(L, 1);
  }
  scl_lua_check(L, scl_fitted_stage_settle(stage, &error), &error);
  return 1;
}

/* checker.stage_flags(instance) -> {simple, fits, targets, scale_free, homogeneous, by_column} */
static int stage_flags(lua_State *L) {
  const scl_instance *stage = scl_lua_check_instance(L, 1, SCL_KIND_STAGE);
  const bool simple = scl_stage_table(stage)->column != NULL;
  lua_newtable(L);
  SCL_LUA_BOOLEANS(L, {"simple", simple}, {"fits", scl_stage_table(stage)->fit != NULL},
                   {"targets", scl_stage_has(stage, SCL_STAGE_TARGETS)},
                   {"scale_free", scl_stage_has(stage, SCL_STAGE_SCALE_FREE)},
                   {"homogeneous", scl_stage_has(stage, SCL_STAGE_HOMOGENEOUS)},
                   {"by_column", simple || scl_stage_has(stage, SCL_STAGE_BY_COLUMN)});
  return 1;
}

SCL_LUA_CALLS(scl_checker_stage_calls, {"stage_apply", stage_apply, 3},
              {"stage_apply_csr", stage_apply_csr, 5}, {"stage_restore", stage_restore, 3},
              {"stage_flags", stage_flags, 1});
