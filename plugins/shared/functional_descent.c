/* The common part of sfgd and optimal_stepsize: checks, minibatches, and the norm of alpha. */
#include "shared/functional_descent.h"
#include "shared/minibatch.h"

scl_penalty functional_penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_RKHS;
}

/* Step t makes t features of a batch, and multiplies them by the coefficients. */
void functional_cost(const void *self, const scl_problem *problem, const double *values,
                     size_t count, int32_t weighted, scl_cost *out) {
  const functional *own = self;
  const double t = (double)(own->iterations == 0 ? problem->features : own->iterations),
               c = (double)problem->targets, batch = (double)own->batch;
  (void)values, (void)count, (void)weighted;
  out->gram = problem->has_kernel != 0;
  out->minibatch = batch * t * t / 2;
  out->steps = (batch * c / 4 + 1) * t * t / 2;
  out->bytes = (3 * t * c + batch * (t + 3 * c)) * sizeof(double);
}

/* ------------ one descent */

/* Refuses nonlinearities of several outputs, and more steps than parameters. */
static scl_status functional_check(const functional *self, const scl_problem *problem,
                                   scl_error *error) {
  const scl_host *host = problem->host;
  if (problem->parameters == 0)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "a step takes a random parameter, and these rows have none: put sc.features "
                      "or the features of an instantiation before the solver");
  if (problem->features != problem->parameters)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "it takes one feature for each parameter, and here %zu parameters make %zu "
                      "features: choose a nonlinearity with one output",
                      problem->parameters, problem->features);
  if (self->iterations > problem->parameters)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "iterations = %zu is more than the T = %zu parameters, and each step takes a new one",
        self->iterations, problem->parameters);
  const scl_status status = loss_check(&self->loss, problem, error);
  return status == SCL_STATUS_OK ? batch_check(problem, self->batch, error) : status;
}

/* The mean weight of the rows that minibatches draw from: rows held out have weight 0. */
static scl_status functional_mean_weight(functional_descent *d, scl_error *error) {
  const size_t n = d->problem->rows;
  double *weights = d->host->allocate((n + 1) * sizeof *weights), sum = 0;
  if (weights == NULL)
    return d->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu row weights", n);
  const scl_status status = d->problem->responses(d->problem, NULL, weights, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    sum += weights[i];
  d->mean_row_weight = sum / (double)(n - d->early.rows);
  d->host->release(weights);
  if (status == SCL_STATUS_OK && !(sum > 0))
    return d->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  return status;
}

scl_status functional_open(functional_descent *d, const functional *self,
                           const scl_problem *problem, double *a, scl_error *error) {
  const size_t T = problem->parameters, c = problem->targets, batch = self->batch;
  *d = (functional_descent){
      .self = self, .host = problem->host, .problem = problem, .loss = NAN, .a = a, .columns = c};
  scl_status status = functional_check(self, problem, error);
  if (status != SCL_STATUS_OK) return status;
  d->steps = self->iterations == 0 ? T : self->iterations;
  d->between = d->host->scratch((T + c + batch * (2 * c + 2)) * sizeof *d->between);
  if (d->between == NULL)
    return d->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for batches of %zu rows",
                         batch);
  d->at = d->between + T;
  d->scores = d->at + c;
  d->targets = d->scores + batch * c;
  d->shares = d->targets + batch * c;
  d->newest = d->shares + batch;
  status = early_stop_open(&d->early, problem, &self->loss, self->holdout, self->patience,
                           self->seed, error);
  if (status == SCL_STATUS_OK && problem->has_kernel)
    status = problem->gram(problem, &d->gram, error);
  return status == SCL_STATUS_OK ? functional_mean_weight(d, error) : status;
}

state functional_state(functional_descent *d, size_t *t) {
  state s = {0};
  STATE_ADD(&s, *t);
  state_add(&s, d->a, d->problem->parameters * d->columns * sizeof *d->a);
  STATE_ADD(&s, d->square);
  STATE_ADD(&s, d->loss);
  STATE_ADD(&s, d->known);
  STATE_ADD(&s, d->done);
  STATE_ADD(&s, d->stop);
  early_stop_state(&d->early, &s);
  return s;
}

/* ------------ a step's minibatch */

/* Reads the targets, weights and the newest feature of the minibatch's rows, and computes their
 * scores from the features that have coefficients. */
static scl_status functional_rows(void *context, const scl_rows *rows, scl_error *error) {
  functional_descent *d = context;
  const size_t c = d->columns, last = rows->features.cols - 1;
  const double *phi = rows->features.data;
  const ptrdiff_t stride = rows->features.row_stride;
  (void)error;
  memcpy(d->targets, rows->targets, rows->count * c * sizeof *d->targets);
  for (size_t i = 0; i < rows->count; i++) {
    d->shares[i] = rows_weight(rows, i) / (d->mean_row_weight * (double)rows->count);
    d->newest[i] = phi[(ptrdiff_t)i * stride + (ptrdiff_t)last];
  }
  if (d->known == 0)
    memset(d->scores, 0, rows->count * c * sizeof *d->scores);
  else
    d->host->dense->gemm(0, 0, rows->count, c, d->known, 1, phi, stride, d->a, (ptrdiff_t)c, 0,
                         d->scores, (ptrdiff_t)c);
  return SCL_STATUS_OK;
}

scl_status functional_step(functional_descent *d, size_t t, size_t count, scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t c = d->columns;
  scl_status status =
      problem->progress(problem, "descending", (double)t / (double)d->steps, d->loss, error);
  if (status == SCL_STATUS_OK)
    status = problem->minibatch(problem, d->self->seed, t, d->self->batch, 0, count, 0,
                                functional_rows, d, error);
  if (status != SCL_STATUS_OK) return status;
  if (d->gram != NULL)
    d->host->symmetric->column(d->gram, t, d->between);
  else
    memset(d->between, 0, problem->parameters * sizeof *d->between);
  if (d->gram == NULL) d->between[t] = 1;
  memset(d->at, 0, c * sizeof *d->at);
  for (size_t k = 0; k < t; k++)
    for (size_t j = 0; j < c; j++)
      d->at[j] += d->a[k * c + j] * d->between[k];
  return SCL_STATUS_OK;
}

/* |s alpha + a_t K(w_t, .)||^2 = s^2 ||alpha||^2 + 2 s <a_t, alpha(w_t)> + K(w_t, w_t) |a_t|^2. */
void functional_move(functional_descent *d, size_t t, double shrink) {
  const size_t c = d->columns;
  const double *added = d->a + t * c;
  double along = 0, own = 0;
  for (size_t j = 0; j < c; j++) {
    along += added[j] * d->at[j];
    own += added[j] * added[j];
  }
  d->square = fmax(0, shrink * (shrink * d->square + 2 * along) + d->between[t] * own);
  for (size_t i = 0; i < t * c; i++)
    d->a[i] *= shrink;
  d->known = t + 1;
}

/* Evaluates every time about as many rows were drawn as are held out, so that this at most doubles
 * the work, and at the last step. */
scl_status functional_judge(functional_descent *d, size_t t, const double *x, double factor,
                            scl_error *error) {
  const size_t every = d->early.rows / d->self->batch < 2 ? 1 : d->early.rows / d->self->batch;
  d->done = t + 1;
  if ((t + 1) % every != 0 && t + 1 < d->steps) return SCL_STATUS_OK;
  return early_stop_judge(&d->early, x, NULL, factor, d->known, t + 1, &d->stop, error);
}
