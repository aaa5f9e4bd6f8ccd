/* Stochastic functional gradient descent (Dube and Marchand 2023, algorithm 1) on
 *
 *   mean l(f(x), y) + (lambda/2) ||alpha||^2  over  ||alpha|| <= B,
 *       f(x) = E_{w~p} alpha(w) phi(w, x)
 *
 * Step t = 1 .. T takes parameter w_t and a minibatch, eta_t = 1/(lambda t), b_t = mean l'(f(x), y)
 * phi(w_t, x):
 *
 *   alpha <- (1 - eta_t lambda) alpha - eta_t b_t K(w_t, .),
 *       then alpha <- min(1, B/||alpha||) alpha
 *
 * and the result is the mean of alpha^(0) .. alpha^(T) (their theorem 11). phi(w_t, x) is the base
 * predictor itself, of which the features are expectations. */
#include "shared/functional_descent.h"
#include <stdio.h>

enum { LAMBDA, B, SHARED, OPTIONS = SHARED + FUNCTIONAL_OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-2", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "regularisation of the mean loss; steps are 1/(lambda t)"},
    {"B", SCL_FORM_NUMBER, NULL, "1000", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "largest norm of alpha"},
    FUNCTIONAL_ROWS,
};

typedef struct sfgd {
  functional shared;
  double lambda, bound;
} sfgd;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  sfgd *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (sfgd){functional_read(host, values + SHARED), values[LAMBDA].number, values[B].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  sfgd *self = instance;
  self->shared.host->release(self);
}

/* The slopes of the loss are in d->scores: row t of a = -eta b_t, b_t = mean slope phi(w_t, x). */
static scl_status gradient(void *context, const scl_rows *rows, scl_error *error) {
  functional_descent *d = context;
  const size_t c = d->columns;
  double *a = d->a + d->known * c;
  (void)error;
  rows_widen(rows, 0, rows->count, d->phi);
  memset(a, 0, c * sizeof *a);
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < c; j++)
      a[j] += d->shares[i] * d->scores[i * c + j] * d->phi[i];
  return SCL_STATUS_OK;
}

static scl_status step(functional_descent *d, const sfgd *self, size_t t, scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t c = d->columns;
  const double eta = 1 / (self->lambda * (double)(t + 1));
  scl_status status = functional_step(d, t, t == 0 ? 1 : t, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < self->shared.batch; i++)
    (void)self->shared.loss.of_row(d->delta, c, d->scores + i * c, d->targets + i * c,
                                   d->scores + i * c);
  if (status == SCL_STATUS_OK)
    status = problem->minibatch(problem, self->shared.seed, t, self->shared.batch, t, 1, 1,
                                gradient, d, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++)
    d->a[t * c + j] *= -eta * exp(problem->log_scale);
  functional_move(d, t, (double)t / (double)(t + 1));
  const double norm = sqrt(d->square);
  if (norm > self->bound) functional_scale(d, self->bound / norm);
  return SCL_STATUS_OK;
}

/* The norm of the mean from G itself, and the last digits of the bound. */
static scl_status settle(const functional_descent *d, const sfgd *self, double *mean, double *norm,
                         scl_error *error) {
  const size_t count = d->problem->features * d->columns;
  double *image = self->shared.host->allocate((count + 1) * sizeof *image), square = 0;
  if (image == NULL)
    return self->shared.host->fail(error, SCL_STATUS_NO_MEMORY,
                                   "not enough memory for %zu coefficients", count);
  d->symmetric->multiply(d->gram, mean, d->columns, image);
  for (size_t i = 0; i < count; i++)
    square += mean[i] * image[i];
  self->shared.host->release(image);
  *norm = sqrt(fmax(square, 0));
  for (size_t i = 0; *norm > self->bound && i < count; i++)
    mean[i] *= self->bound / *norm;
  *norm = fmin(*norm, self->bound);
  return SCL_STATUS_OK;
}

static scl_status descend(functional_descent *d, const sfgd *self, scl_solution *out,
                          scl_error *error) {
  const size_t c = d->columns;
  size_t projected = 0;
  for (size_t t = 0; t < d->steps; t++) {
    const scl_status status = step(d, self, t, error);
    if (status != SCL_STATUS_OK) return status;
    projected += sqrt(d->square) >= self->bound * (1 - 1e-12);
    for (size_t i = 0; i < (t + 1) * c; i++)
      out->coefficients[i] += d->a[i];
  }
  for (size_t i = 0; i < d->steps * c; i++)
    out->coefficients[i] /= (double)(d->steps + 1);
  double norm = 0;
  const scl_status status = settle(d, self, out->coefficients, &norm, error);
  if (status == SCL_STATUS_OK)
    (void)snprintf(out->note, sizeof out->note,
                   "||alpha|| = %.6g of at most B = %g; %zu of %zu steps ended on that bound", norm,
                   self->bound, projected, d->steps);
  out->outcome = SCL_OUTCOME_STOPPED;
  out->iterations = d->steps;
  return status;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const sfgd *self = instance;
  const size_t count = problem->features * problem->targets;
  functional_descent d;
  double *a = self->shared.host->allocate((count + 1) * sizeof *a);
  if (a == NULL)
    return self->shared.host->fail(error, SCL_STATUS_NO_MEMORY,
                                   "not enough memory for %zu coefficients", count);
  memset(a, 0, count * sizeof *a);
  memset(out->coefficients, 0, count * sizeof *a);
  scl_status status = functional_open(&d, &self->shared, problem, a, error);
  if (status == SCL_STATUS_OK) {
    status = descend(&d, self, out, error);
    functional_close(&d);
  }
  self->shared.host->release(a);
  return status;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "sfgd",
    "1.0",
    "The Scullery authors",
    "Stochastic functional gradient descent of a weight function, norm at most B",
    "min mean l(f, y) + (lambda/2) ||alpha||^2 over ||alpha|| <= B, f(x) = E alpha(w) phi(w, x), "
    "by algorithm 1 of Dube and Marchand\n"
    "(2023): step t takes parameter w_t and a minibatch, alpha <- (1 - 1/t) alpha - b_t/(lambda t) "
    "K(w_t, .) with b_t the mean of\n"
    "l'(f, y) phi(w_t, x), then alpha shrinks to norm B where it is larger. The model is the mean "
    "of all iterates. A step costs O(t) a\n"
    "row. For features with K and one output a parameter; `iterations` is at most T. Several "
    "targets: B bounds them together.\n"
    "It does the steps that it was asked for and states no optimality; p:bound{theorem = "
    "\"rkhsw11\"} says how far it can be off.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    functional_ability};
