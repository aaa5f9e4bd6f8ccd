/* The values of a path in the order in which solvers with warm starts take them: the largest
 * lambda first. */
#ifndef SCULLERY_SHARED_LAMBDA_ORDER_H
#define SCULLERY_SHARED_LAMBDA_ORDER_H

#include <scullery/plugin.h>

/* lambdas[k] = the values, descending, and sorted[k] = the solution that belongs to each; both
 * scratch memory. */
scl_status lambda_order(const scl_host *host, const double *values, size_t count,
                        scl_solution *const *out, double **lambdas, scl_solution ***sorted,
                        scl_error *error);

#endif
