/* Sums over rows that a solver makes itself: by the verb `total` of the problem, so that they do
 * not depend on the order of the rows; one by one where the host does not have it. */
#ifndef SCULLERY_SHARED_ROW_TOTAL_H
#define SCULLERY_SHARED_ROW_TOTAL_H

#include <scullery/plugin.h>

/* sums[j] = the sum of column j of `values` (count x k) */
static inline scl_status row_total(const scl_problem *problem, const double *values, size_t count,
                                   size_t k, double *sums, scl_error *error) {
  if (SCL_HAS(problem, total) && problem->total != NULL)
    return problem->total(problem, values, count, k, sums, error);
  memset(sums, 0, k * sizeof *sums);
  for (size_t i = 0; i < count * k; i++)
    sums[i % k] += values[i];
  return SCL_STATUS_OK;
}

#endif
