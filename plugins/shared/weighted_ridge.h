/* (Phi'W Phi + weight I) x = right for row weights W that change from one solve to the next: what
 * robust fits are made of. The matrix comes from the problem; where it is singular to working
 * precision, `jitter` goes on its diagonal, relative to its mean, ten times more each time until it
 * factors. */
#ifndef SCULLERY_SHARED_WEIGHTED_RIDGE_H
#define SCULLERY_SHARED_WEIGHTED_RIDGE_H

#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct weighted_ridge {
  const scl_host *host;
  const scl_symmetric_algebra *algebra;
  scl_symmetric *factor;
  double jitter; /* the largest that was needed, absolute */
} weighted_ridge;

static inline scl_status weighted_open(weighted_ridge *w, const scl_problem *problem,
                                       scl_error *error) {
  *w = (weighted_ridge){problem->host, problem->host->service(SCL_SERVICE_SYMMETRIC), NULL, 0};
  return w->algebra->create(problem->features, &w->factor, error);
}

static inline void weighted_close(weighted_ridge *w) {
  if (w->algebra != NULL) w->algebra->destroy(w->factor);
}

static inline double weighted_mean_diagonal(const weighted_ridge *w, const scl_symmetric *gram,
                                            double *diagonal) {
  const size_t order = w->algebra->order(gram);
  double sum = 0;
  w->algebra->diagonal(gram, diagonal);
  for (size_t i = 0; i < order; i++)
    sum += diagonal[i];
  return sum > 0 ? sum / (double)order : 1;
}

/* x (order x k) holds the right-hand side, and then the solution; it is scratch on the way. */
static inline scl_status weighted_solve(weighted_ridge *w, const scl_symmetric *gram, double weight,
                                        double *x, size_t k, scl_error *error) {
  const size_t order = w->algebra->order(gram);
  double *diagonal = w->host->allocate((order + 1) * sizeof *diagonal);
  if (diagonal == NULL)
    return w->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                         order);
  const double unit = weighted_mean_diagonal(w, gram, diagonal) + weight;
  w->host->release(diagonal);
  for (double jitter = 0; jitter < 1e-3 * unit; jitter = jitter == 0 ? 1e-13 * unit : 10 * jitter) {
    size_t pivot = 0;
    w->algebra->copy(gram, w->factor);
    w->algebra->shift(weight + jitter, w->factor);
    const scl_status status = w->algebra->factor(w->factor, &pivot, error);
    if (status == SCL_STATUS_NUMERIC) continue;
    if (status != SCL_STATUS_OK) return status;
    w->jitter = fmax(w->jitter, jitter);
    w->algebra->solve(w->factor, x, k);
    return SCL_STATUS_OK;
  }
  return w->host->fail(error, SCL_STATUS_NUMERIC,
                       "the system of order %zu stays singular: give a larger lambda", order);
}

#endif
