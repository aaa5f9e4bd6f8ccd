/* (Phi'W Phi + weight I) x = right, for row weights W that change from one solve to the next, as in
 * robust fits. The matrix is the problem's. Where the system is singular to working precision,
 * `jitter` goes on its diagonal: 1e-13 of its mean, ten times more each time until it factors. */
#ifndef SCULLERY_SHARED_WEIGHTED_RIDGE_H
#define SCULLERY_SHARED_WEIGHTED_RIDGE_H

#include "shared/mean_diagonal.h"

typedef struct weighted_ridge {
  const scl_host *host;
  scl_symmetric *factor;
  double jitter; /* the largest that was needed, absolute */
} weighted_ridge;

static inline scl_status weighted_open(weighted_ridge *w, const scl_problem *problem,
                                       scl_error *error) {
  *w = (weighted_ridge){.host = problem->host};
  return w->host->symmetric->create(problem->features, &w->factor, error);
}

static inline void weighted_close(weighted_ridge *w) { w->host->symmetric->destroy(w->factor); }

/* x (order x k) holds the right-hand side, and then the solution. */
static inline scl_status weighted_solve(weighted_ridge *w, const scl_symmetric *moment,
                                        double weight, double *x, size_t k, scl_error *error) {
  const scl_symmetric_algebra *algebra = w->host->symmetric;
  double unit = 0;
  scl_status status = mean_diagonal(w->host, moment, &unit, error);
  if (status != SCL_STATUS_OK) return status;
  unit += weight;
  for (double jitter = 0; jitter < 1e-3 * unit; jitter = jitter == 0 ? 1e-13 * unit : 10 * jitter) {
    size_t pivot = 0;
    algebra->copy(moment, w->factor);
    algebra->shift(weight + jitter, w->factor);
    status = algebra->factor(w->factor, &pivot, error);
    if (status == SCL_STATUS_NUMERIC) continue;
    if (status != SCL_STATUS_OK) return status;
    w->jitter = fmax(w->jitter, jitter);
    return algebra->solve(w->factor, x, k, error);
  }
  return w->host->fail(error, SCL_STATUS_NUMERIC,
                       "the system of order %zu stays singular: give a larger lambda",
                       algebra->order(moment));
}

#endif
