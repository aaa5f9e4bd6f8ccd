#include "shared/mean_diagonal.h"

scl_status mean_diagonal(const scl_host *host, const scl_symmetric *a, double *mean,
                         scl_error *error) {
  const size_t order = host->symmetric->order(a);
  double sum = 0, *diagonal = host->allocate((order + 1) * sizeof *diagonal);
  if (diagonal == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", order);
  host->symmetric->diagonal(a, diagonal);
  for (size_t i = 0; i < order; i++)
    sum += diagonal[i];
  host->release(diagonal);
  *mean = sum > 0 ? sum / (double)order : 1;
  return SCL_STATUS_OK;
}
