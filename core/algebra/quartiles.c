/* Quartiles by sorting, a column for each task. Called by the Lua interface. */
#include "algebra/quartiles.h"

#include "base/memory.h"
#include "base/pool.h"
#include <math.h>
#include <stdlib.h>

typedef struct quartiles {
  const scl_matrix *a;
  scl_matrix *out;
} quartiles;

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The quantile `share` of sorted numbers, by linear interpolation; NaN without numbers. */
static double at_share(const double *sorted, size_t count, double share) {
  if (count == 0) return NAN;
  const double place = share * (double)(count - 1);
  const size_t below = (size_t)place;
  const double left = place - (double)below;
  if (left == 0) return sorted[below];
  return sorted[below] * (1 - left) + sorted[below + 1] * left;
}

/* Job: the quartiles of a column. */
static scl_status one_column(void *context, size_t j, scl_error *error) {
  const quartiles *job = context;
  size_t count = 0;
  double *sorted = scl_allocate_array(job->a->rows + 1, sizeof *sorted);
  if (sorted == NULL) return scl_fail_memory(error, job->a->rows * sizeof *sorted, "quartiles");
  for (size_t i = 0; i < job->a->rows; i++) {
    const double value = scl_matrix_get(job->a, i, j);
    if (!isnan(value)) sorted[count++] = value;
  }
  qsort(sorted, count, sizeof *sorted, by_value);
  for (size_t k = 0; k < 3; k++)
    scl_matrix_set(job->out, k, j, at_share(sorted, count, 0.25 * (double)(k + 1)));
  scl_release(sorted);
  return SCL_STATUS_OK;
}

scl_status scl_matrix_quartiles(const scl_matrix *a, scl_matrix *out, scl_error *error) {
  quartiles job = {a, out};
  SCL_TRY(scl_matrix_create(3, a->cols, SCL_DTYPE_FLOAT64, out, error));
  const scl_status status = scl_pool_try(a->cols, one_column, &job, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}
