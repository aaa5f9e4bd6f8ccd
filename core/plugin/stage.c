/* Calls of row stages. The simple form is computed here: (x - shift) * factor. */
#include "plugin/stage.h"

#include "base/loops.h"
#include "plugin/call.h"
#include <stdio.h>
#include <string.h>

const char *scl_stage_arrays_of(const scl_stage *table) {
  return table->arrays == NULL && table->column != NULL ? "shift|factor" : table->arrays;
}

bool scl_stage_array_name(const char *names, size_t i, char name[SCL_STAGE_NAME + 1]) {
  for (; names != NULL && i > 0; i--) {
    names = strchr(names, '|');
    if (names != NULL) names++;
  }
  if (names == NULL) return false;
  (void)snprintf(name, SCL_STAGE_NAME + 1, "%.*s", (int)strcspn(names, "|"), names);
  return true;
}

scl_status scl_stage_fit(const scl_instance *stage, const scl_fitting *fitting, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, stage->component, "fit", error);
  return scl_call_leave(&call, scl_stage_table(stage)->fit(stage->self, fitting, error));
}

scl_status scl_stage_columns(const scl_instance *stage, const scl_stage_column *columns,
                             size_t cols, double *shift, double *factor, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, stage->component, "column", error);
  for (size_t j = 0; j < cols; j++)
    scl_stage_table(stage)->column(stage->self, &columns[j], &shift[j], &factor[j]);
  return scl_call_leave(&call, SCL_STATUS_OK);
}

scl_status scl_stage_check_rows(const char *names, const scl_stage_state *fitted,
                                scl_error *error) {
  for (size_t i = 0; i < fitted->count; i++) {
    const scl_array *array = &fitted->arrays[i];
    char name[SCL_STAGE_NAME + 1] = "";
    (void)scl_stage_array_name(names, i, name);
    if (array->dtype != SCL_DTYPE_FLOAT64 || array->rank != 2 || array->sizes[0] != 1 ||
        array->sizes[1] != fitted->cols)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "the array '%s' is not 1 x %zu numbers in float64", name, fitted->cols);
  }
  return SCL_STATUS_OK;
}

scl_status scl_stage_shape(const scl_instance *stage, scl_stage_state *fitted, scl_error *error) {
  const scl_stage *table = scl_stage_table(stage);
  scl_call call;
  scl_call_enter(&call, stage->component, "shape", error);
  return scl_call_leave(&call,
                        table->shape != NULL
                            ? table->shape(stage->self, fitted, error)
                            : scl_stage_check_rows(scl_stage_arrays_of(table), fitted, error));
}

scl_status scl_stage_apply(const scl_instance *stage, const scl_stage_state *fitted,
                           const double *in, ptrdiff_t in_stride, size_t rows, double *out,
                           ptrdiff_t out_stride, scl_error *error) {
  const scl_stage *table = scl_stage_table(stage);
  if (table->column != NULL) {
    for (size_t i = 0; i < rows; i++)
      (void)scl_loops_get()->affine_f64(fitted->cols, in + (ptrdiff_t)i * in_stride,
                                        scl_stage_numbers(fitted, 0), scl_stage_numbers(fitted, 1),
                                        out + (ptrdiff_t)i * out_stride);
    return SCL_STATUS_OK;
  }
  const scl_const_block from = {.data = in,
                                .dtype = SCL_DTYPE_FLOAT64,
                                .rows = rows,
                                .cols = fitted->cols,
                                .planes = 1,
                                .row_stride = in_stride};
  const scl_block to = {.data = out,
                        .dtype = SCL_DTYPE_FLOAT64,
                        .rows = rows,
                        .cols = fitted->width,
                        .planes = 1,
                        .row_stride = out_stride};
  scl_call call;
  scl_call_enter(&call, stage->component, "apply", error);
  return scl_call_leave(&call, table->apply(stage->self, fitted, &from, &to, error));
}

scl_status scl_stage_apply_csr(const scl_instance *stage, const scl_stage_state *fitted,
                               const scl_const_csr *in, const scl_csr_block *out,
                               scl_error *error) {
  scl_call call;
  scl_call_enter(&call, stage->component, "apply_csr", error);
  return scl_call_leave(&call,
                        scl_stage_table(stage)->apply_csr(stage->self, fitted, in, out, error));
}

void scl_stage_scale_csr(const scl_const_csr *in, const double *factor, const scl_csr_block *out) {
  const int64_t first = in->starts[0];
  for (size_t i = 0; i <= in->rows; i++)
    out->starts[i] = in->starts[i] - first;
  for (int64_t k = 0; k < out->starts[in->rows]; k++) {
    out->columns[k] = in->columns[first + k];
    out->values[k] = scl_csr_number(in, first + k) * factor[out->columns[k]];
  }
}
