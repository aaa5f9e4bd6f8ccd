/* Stochastic gradient descent on a risk (risk.h) by minibatches:
 *
 *   x <- x - eta_t (mean over the batch of the slope + lambda a),   eta_t = 1/(L sqrt(1 + t/E))
 *
 * L is the curvature that the loss can have on the first batch, `bend` mean ||phi||^2 + lambda, and
 * E the steps of an epoch: long steps at first, then as 1/sqrt t. The iterates of the last epoch
 * are averaged (Polyak and Juditsky 1992), which takes the noise out. */
#ifndef SCULLERY_SHARED_DESCENT_H
#define SCULLERY_SHARED_DESCENT_H

#include "shared/minibatch.h"
#include "shared/risk.h"

typedef struct descent {
  const risk *risk;
  const scl_dense_algebra *algebra;
  size_t batch, steps, epoch; /* epoch: steps in one */
  uint64_t seed;
  double bend, eta, curvature;
  double *x, *average;  /* as the risk's */
  double *phi, *slopes; /* batch x D, batch x c */
  double
      mean_row_weight; /* of all rows, so that heavy rows count as heavy in a batch drawn evenly */
} descent;

static inline double descent_curvature(const descent *d, size_t count) {
  const size_t features = d->risk->problem->features;
  const double square = risk_dot(count * features, d->phi, d->phi) / (double)count;
  return d->bend * (square + d->risk->intercept) + d->risk->lambda;
}

static inline scl_status descent_visit(void *context, const scl_rows *rows, scl_error *error) {
  descent *d = context;
  const risk *r = d->risk;
  const size_t features = r->problem->features, c = r->columns;
  const ptrdiff_t width = (ptrdiff_t)features, columns = (ptrdiff_t)c;
  double *b = d->x + features * c;
  (void)error;
  rows_widen(rows, 0, rows->count, d->phi);
  if (d->curvature == 0) d->curvature = fmax(descent_curvature(d, rows->count), 1e-300);
  d->algebra->gemm(0, 0, rows->count, c, features, 1, d->phi, width, d->x, columns, 0, d->slopes,
                   columns);
  const double eta = d->eta / d->curvature, step = eta / (double)d->batch;
  for (size_t i = 0; i < rows->count; i++) {
    double *f = d->slopes + i * c;
    for (size_t j = 0; r->intercept && j < c; j++)
      f[j] += b[j];
    (void)r->loss(r->context, c, f, rows->targets + i * c, f);
    for (size_t j = 0; j < c; j++)
      f[j] *= rows_weight(rows, i) / d->mean_row_weight;
  }
  for (size_t i = 0; r->intercept && i < rows->count * c; i++)
    b[i % c] -= step * d->slopes[i];
  d->algebra->gemm(1, 0, features, c, rows->count, -step, d->phi, width, d->slopes, columns,
                   1 - eta * r->lambda, d->x, columns);
  return SCL_STATUS_OK;
}

static inline scl_status descent_run(descent *d, scl_error *error) {
  const risk *r = d->risk;
  const scl_problem *problem = r->problem;
  const size_t from = d->steps > d->epoch ? d->steps - d->epoch : 0;
  memset(d->average, 0, r->size * sizeof *d->average);
  for (size_t t = 0; t < d->steps; t++) {
    d->eta = 1 / sqrt(1 + (double)t / (double)d->epoch);
    scl_status status =
        problem->progress(problem, (double)t / (double)d->steps, "descending", error);
    if (status == SCL_STATUS_OK)
      status = problem->minibatch(problem, d->seed, t, d->batch, 0, problem->features, 0,
                                  descent_visit, d, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; t >= from && i < r->size; i++)
      d->average[i] += (d->x[i] - d->average[i]) / (double)(t - from + 1);
  }
  return SCL_STATUS_OK;
}

static inline scl_status descent_open(descent *d, const risk *r, size_t batch, double epochs,
                                      uint64_t seed, double bend, scl_error *error) {
  const scl_host *host = r->problem->host;
  const size_t n = r->problem->rows;
  *d = (descent){.risk = r,
                 .algebra = host->service(SCL_SERVICE_DENSE_ALGEBRA),
                 .batch = batch,
                 .seed = seed,
                 .bend = bend};
  d->epoch = (n + batch - 1) / batch;
  d->steps = (size_t)ceil(epochs * (double)d->epoch);
  d->mean_row_weight = r->total / (double)n;
  d->x = host->allocate((2 * r->size + batch * (r->problem->features + r->columns) + 1) *
                        sizeof *d->x);
  if (d->x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for batches of %zu rows",
                      batch);
  d->average = d->x + r->size;
  d->phi = d->average + r->size;
  d->slopes = d->phi + batch * r->problem->features;
  memset(d->x, 0, r->size * sizeof *d->x);
  return SCL_STATUS_OK;
}

static inline void descent_close(descent *d) {
  if (d->x != NULL) d->risk->problem->host->release(d->x);
}

#endif
