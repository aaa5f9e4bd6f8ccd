/* Interior point for a convex loss on the box |a_j| <= bound, D coefficients:
 *
 *   grad loss(a) + upper - lower = 0,   upper (bound - a) = lower (bound + a) = mu,   mu -> 0    (Wright 1997, Primal-Dual Interior-Point
 * Methods)
 *
 * Newton's step is (H + diag(upper/(bound - a) + lower/(bound + a))) da = -grad - mu/(bound - a) + mu/(bound + a): a Cholesky factorisation
 * each, some twenty whatever the condition of H. This is the part that the losses share: the point, the system, the step. */
#ifndef SCULLERY_INTERIOR_BOX_H
#define SCULLERY_INTERIOR_BOX_H

#include <float.h>
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct interior_box {
  const scl_host *host;
  const scl_symmetric_algebra *algebra;
  size_t order;
  double bound;
  scl_symmetric *matrix;                   /* its factor */
  double *a, *upper, *lower, *step, *work; /* order numbers each */
} interior_box;

static inline void interior_box_close(interior_box *b) {
  if (b->host == NULL) return;
  b->algebra->destroy(b->matrix);
  b->host->release(b->a);
  memset(b, 0, sizeof *b);
}

static inline scl_status interior_box_open(interior_box *b, const scl_host *host, size_t order, double bound, scl_error *error) {
  *b = (interior_box){.host = host, .algebra = host->service(SCL_SERVICE_SYMMETRIC), .order = order, .bound = bound};
  scl_status status = b->algebra->create(order, &b->matrix, error);
  if (status == SCL_OK) b->a = host->allocate(5 * order * sizeof *b->a);
  if (status == SCL_OK && b->a == NULL) status = host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu coefficients", order);
  if (status != SCL_OK) {
    interior_box_close(b);
    return status;
  }
  b->upper = b->a + order;
  b->lower = b->upper + order;
  b->step = b->lower + order;
  b->work = b->step + order;
  return SCL_OK;
}

/* The middle of the box, all products mu. */
static inline void interior_box_start(interior_box *b, double mu) {
  for (size_t j = 0; j < b->order; j++) {
    b->a[j] = 0;
    b->upper[j] = b->lower[j] = mu / b->bound;
  }
}

/* Sum of the 2 D products. */
static inline double interior_box_products(const interior_box *b) {
  double sum = 0;
  for (size_t j = 0; j < b->order; j++)
    sum += b->upper[j] * (b->bound - b->a[j]) + b->lower[j] * (b->bound + b->a[j]);
  return sum;
}

/* Factor H + diag(...), with a little more where that is singular to working precision. */
static inline scl_status interior_box_factor(interior_box *b, const scl_symmetric *hessian, scl_error *error) {
  double largest = DBL_MIN;
  scl_status status = SCL_NUMERIC;
  b->algebra->diagonal(hessian, b->work);
  for (size_t j = 0; j < b->order; j++) {
    b->work[j] += b->upper[j] / (b->bound - b->a[j]) + b->lower[j] / (b->bound + b->a[j]);
    largest = fmax(largest, fmin(b->work[j], DBL_MAX));
  }
  for (double jitter = 0; status == SCL_NUMERIC && jitter <= 1; jitter = jitter == 0 ? 1e-15 : 10 * jitter) {
    size_t pivot;
    b->algebra->copy(hessian, b->matrix);
    for (size_t j = 0; j < b->order; j++) {
      const double entry = b->work[j] + jitter * largest;
      b->algebra->set(b->matrix, j, 1, j, 1, &entry, 1);
    }
    status = b->algebra->factor(b->matrix, &pivot, error);
  }
  return status;
}

/* What the barrier adds to the descent -grad of coefficient j. */
static inline double interior_box_pull(const interior_box *b, size_t j, double mu) {
  return mu / (b->bound + b->a[j]) - mu / (b->bound - b->a[j]);
}

static inline double interior_box_upper_step(const interior_box *b, size_t j, double mu) {
  return (mu + b->upper[j] * b->step[j]) / (b->bound - b->a[j]) - b->upper[j];
}

static inline double interior_box_lower_step(const interior_box *b, size_t j, double mu) {
  return (mu - b->lower[j] * b->step[j]) / (b->bound + b->a[j]) - b->lower[j];
}

/* length = the most that keeps from + length by > 0, with a little distance */
static inline void interior_limit(double from, double by, double *length) {
  if (by < 0) *length = fmin(*length, -0.995 * from / by);
}

static inline void interior_box_limit(const interior_box *b, double mu, double *primal, double *dual) {
  for (size_t j = 0; j < b->order; j++) {
    interior_limit(b->bound - b->a[j], -b->step[j], primal);
    interior_limit(b->bound + b->a[j], b->step[j], primal);
    interior_limit(b->upper[j], interior_box_upper_step(b, j, mu), dual);
    interior_limit(b->lower[j], interior_box_lower_step(b, j, mu), dual);
  }
}

static inline void interior_box_move(interior_box *b, double mu, double primal, double dual) {
  for (size_t j = 0; j < b->order; j++) {
    const double up = interior_box_upper_step(b, j, mu), low = interior_box_lower_step(b, j, mu);
    b->upper[j] += dual * up;
    b->lower[j] += dual * low;
    b->a[j] += primal * b->step[j];
  }
}

/* The next mu, as a share of the mean product: small after long steps, careful after short ones. */
static inline double interior_share(double length) {
  return length > 0.95 ? 0.03 : length > 0.7 ? 0.15 : length > 0.3 ? 0.4 : 0.8;
}

#endif
