/* Row stages that map x to A (x - mean), by the arrays mean (1 x d) and A (k x d). */
#ifndef SCULLERY_SHARED_PROJECTION_H
#define SCULLERY_SHARED_PROJECTION_H

#include <scullery/plugin.h>

/* Fixes the sign of an eigenvector: its largest entry becomes positive. */
static inline void projection_point_up(double *vector, size_t d) {
  size_t largest = 0;
  for (size_t j = 1; j < d; j++)
    if (fabs(vector[j]) > fabs(vector[largest])) largest = j;
  const double sign = vector[largest] < 0 ? -1 : 1;
  for (size_t j = 0; j < d; j++)
    vector[j] *= sign;
}

/* Reports the variances of k directions, and that of all directions together. */
static inline scl_status projection_report(const scl_fitting *fitting, const double *variances,
                                           size_t k, double total, scl_error *error) {
  const scl_array list = scl_matrix_array(variances, k, 1), sum = scl_matrix_array(&total, 1, 1);
  const scl_status status = fitting->report(fitting, "variances", &list, error);
  return status == SCL_STATUS_OK ? fitting->report(fitting, "total", &sum, error) : status;
}

/* The slot `shape`: the last array is k x cols, arrays before it are 1 x cols. */
static inline scl_status projection_shape(const void *instance, scl_stage_state *fitted,
                                          scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  for (size_t i = 0; i < fitted->count; i++) {
    const scl_array *a = &fitted->arrays[i];
    if (a->dtype != SCL_DTYPE_FLOAT64 || a->rank != 2 || a->sizes[1] != fitted->cols ||
        (i + 1 < fitted->count && a->sizes[0] != 1))
      return host->fail(error, SCL_STATUS_BAD_DATA,
                        "array %zu of the stage has not the columns that arrive, %zu", i + 1,
                        fitted->cols);
  }
  fitted->width = fitted->arrays[fitted->count - 1].sizes[0];
  return SCL_STATUS_OK;
}

/* out = A (x - mean), by one matrix product; mean NULL: zeros. */
static inline scl_status projection_apply(const scl_host *host, const double *mean, const double *a,
                                          const scl_stage_state *fitted, const scl_const_block *in,
                                          const scl_block *out, scl_error *error) {
  const size_t d = fitted->cols;
  const double *rows = in->data;
  ptrdiff_t stride = in->row_stride;
  if (mean != NULL) {
    double *centred = host->scratch(in->rows * d * sizeof *centred);
    if (centred == NULL)
      return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", in->rows);
    for (size_t i = 0; i < in->rows; i++)
      for (size_t j = 0; j < d; j++)
        centred[i * d + j] = scl_stage_row(in, i)[j] - mean[j];
    rows = centred;
    stride = (ptrdiff_t)d;
  }
  host->dense->gemm(0, 1, in->rows, fitted->width, d, 1, rows, stride, a, (ptrdiff_t)d, 0,
                    (double *)out->data, out->row_stride);
  return SCL_STATUS_OK;
}

/* projection_apply as C, for the slot `formula`: `matrix` is the name of A. */
#define PROJECTION_FORMULA(matrix, centred) \
  "int i, j;\n" \
  "for (i = 0; i < width; i++) {\n" \
  "  double sum = 0;\n" \
  "  for (j = 0; j < cols; j++)\n" \
  "    sum += " matrix "[i * cols + j] * " centred ";\n" \
  "  out[i] = sum;\n" \
  "}"

#endif
