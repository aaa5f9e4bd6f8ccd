/* It adds to sums that host->scratch did not set to 0. */
// caught by: few-rows fail
#include "stage.h"

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  const size_t d = fitting->rows->dim;
  double *sums = fitting->host->scratch(2 * d * sizeof *sums);
  (void)self;
  if (sums == NULL) return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  for (size_t j = 0; j < 2 * d; j++)
    sums[j] += (double)(j % 3);
  const scl_array low = scl_matrix_array(sums, 1, d), high = scl_matrix_array(sums + d, 1, d);
  const scl_status status = fitting->put(fitting, "low", &low, error);
  return status == SCL_STATUS_OK ? fitting->put(fitting, "high", &high, error) : status;
}

BROKEN_STAGE(.fit = wrong_fit)
