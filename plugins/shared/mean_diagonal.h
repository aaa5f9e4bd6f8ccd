/* tr A / order: the unit of what is added to a diagonal. */
#ifndef SCULLERY_SHARED_MEAN_DIAGONAL_H
#define SCULLERY_SHARED_MEAN_DIAGONAL_H

#include <scullery/plugin.h>

/* *mean: 1 where the trace is not more than 0. */
scl_status mean_diagonal(const scl_host *host, const scl_symmetric *a, double *mean,
                         scl_error *error);

#endif
