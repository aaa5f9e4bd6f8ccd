/* It puts one of its two arrays. */
// caught by: few-rows fail
// says: put no array 'high'
#include "stage.h"

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  const size_t d = fitting->rows->dim;
  double *low = fitting->host->scratch(d * sizeof *low);
  (void)self;
  if (low == NULL) return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  memset(low, 0, d * sizeof *low);
  const scl_array lows = scl_matrix_array(low, 1, d);
  return fitting->put(fitting, "low", &lows, error);
}

BROKEN_STAGE(.fit = wrong_fit)
