/* A visited block of rows in packed float64: what stochastic and row by row methods compute on. */
#ifndef SCULLERY_SHARED_MINIBATCH_H
#define SCULLERY_SHARED_MINIBATCH_H

#include <scullery/plugin.h>
#include <string.h>

/* out (count x features.cols) = rows from .. from+count-1 of a block of dense rows */
static inline void rows_widen(const scl_rows *rows, size_t from, size_t count, double *out) {
  const size_t cols = rows->features.cols;
  for (size_t i = 0; i < count; i++) {
    const ptrdiff_t start = (ptrdiff_t)(from + i) * rows->features.row_stride;
    double *to = out + i * cols;
    if (rows->features.dtype == SCL_DTYPE_FLOAT64) {
      memcpy(to, (const double *)rows->features.data + start, cols * sizeof *to);
      continue;
    }
    const float *narrow = (const float *)rows->features.data + start;
    for (size_t j = 0; j < cols; j++)
      to[j] = (double)narrow[j];
  }
}

static inline double rows_weight(const scl_rows *rows, size_t i) {
  return rows->weights == NULL ? 1 : rows->weights[i];
}

/* More rows a step than there are says that another method was meant. */
static inline scl_status batch_check(const scl_problem *problem, size_t batch, scl_error *error) {
  if (batch <= problem->rows) return SCL_STATUS_OK;
  return problem->host->fail(
      error, SCL_STATUS_BAD_OPTION,
      "batch = %zu is more than the %zu rows that there are: give at most that many", batch,
      problem->rows);
}

#endif
