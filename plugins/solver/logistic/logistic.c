/* Logistic regression, of two classes or many, without forming any matrix of D x D:
 *
 *   min_{a,b} (1/n) sum_i l(phi_i a + b, y_i) + (lambda/2) ||a||^2
 *
 *   two classes, one column, y = +-1:  l(f, y) = log(1 + exp(-y f))
 *   k classes, a column a class:       l(f, y) = log sum_j exp f_j - f_y
 *
 * Phi n x D, a D x c, b c (0 without `intercept`, never penalised).
 *
 * lbfgs: Liu and Nocedal (1989), one sweep an iteration; on sparse rows Newton's method without a
 * matrix (shared/csr_newton.c).
 * sgd: minibatches, with steps falling as 1/sqrt t,
 *
 *   x <- x - eta_t (mean over the batch of the slope + lambda a),   eta_t = 1/(L sqrt(1 + t/E)),
 *
 * E the steps of an epoch. L is the expected smoothness of batches of m rows (Gower et al. 2019),
 * `bend` ((1 - 1/m) top + mean ||phi||^2 / m) + lambda, top the largest eigenvalue of mean phi
 * phi', both from the first batch. With an intercept the steps are those in phi - centre, the mean
 * of the first batch: the same objective, without the large curvature that features of one sign
 * have along their mean, which b takes on. The iterates of the last epoch are averaged (Polyak and
 * Juditsky 1992), which removes most of the noise. With rows held out, the average over each epoch
 * is judged on them.
 *
 * The norm of the gradient is stated, relative to that at a = 0. Without an intercept the objective
 * is lambda-strongly convex, so that ||gradient||^2/(2 lambda) bounds its distance from the
 * minimum: the stated gap. */
#include "shared/csr_newton.h"
#include "shared/early_stop.h"
#include "shared/lambda_order.h"
#include "shared/lbfgs.h"
#include "shared/losses.h"
#include "shared/minibatch.h"
#include "shared/row_total.h"
#include "shared/solver_options.h"

#include <stdio.h>

typedef struct logistic {
  risk_solver risk;
  double tolerance, epochs, holdout;
  int32_t method;
  size_t max_iterations, batch, patience;
  uint64_t seed;
} logistic;

enum { METHOD_LBFGS, METHOD_SGD };

static const scl_option options[] = {
    SOLVER_LAMBDA(risk_solver, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE),
    SCL_WORD(
        logistic, method, "lbfgs|sgd", "lbfgs",
        "lbfgs: to a tolerance, over all rows (sparse rows: Newton's method); sgd: minibatches"),
    SOLVER_TOLERANCE(logistic, "1e-5", "lbfgs: gradient norm relative to the one at a = 0"),
    SOLVER_MAX_ITERATIONS(logistic, "5000", "lbfgs: sweeps over the rows at most"),
    SCL_INTEGER(logistic, batch, "100", "sgd: number of rows in each step", SCL_WITHIN(1, 1e9)),
    SCL_NUMBER(logistic, epochs, "10", "sgd: rows drawn, as a multiple of the number of rows",
               SCL_ABOVE(0, 1e9)),
    SOLVER_SEED(logistic, "sgd: seed for the minibatches"),
    EARLY_STOP_OPTIONS(
        logistic, "epochs in a row without a smaller loss on the rows held out before it stops"),
    SCL_OPTION_INTERCEPT};

static scl_status logistic_create(void *instance, scl_error *error) {
  logistic *self = instance;
  self->risk.loss.loss = LOSS_LOGISTIC;
  if (self->holdout == 0 || self->method == METHOD_SGD) return SCL_STATUS_OK;
  return self->risk.loss.base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                         "holdout goes with method = \"sgd\"");
}

/* Copies x (D c coefficients, then c intercepts) to the solution. The gap is known only where the
 * objective is lambda-strongly convex in all of x. */
static void write_solution(const risk *r, const double *x, double gradient_norm,
                           scl_solution *out) {
  const size_t count = r->problem->features * r->columns;
  memcpy(out->coefficients, x, count * sizeof *x);
  if (r->intercept) memcpy(out->intercept, x + count, r->columns * sizeof *x);
  if (r->lambda > 0 && !r->intercept) out->gap = gradient_norm * gradient_norm / (2 * r->lambda);
}

/* ------------ lbfgs */

/* Whether a row with these scores and targets (c each) is on the right side of every boundary. */
static bool right_side(size_t c, const double *f, const double *y) {
  const size_t truth = c == 1 ? 0 : loss_truth(c, y);
  if (c == 1) return f[0] * y[0] > 0;
  for (size_t j = 0; j < c; j++)
    if (j != truth && !(f[truth] > f[j])) return false;
  return true;
}

/* Whether these scores (n x c) separate the classes: longer weights would then lower every loss.
 * The losses of rows are overwritten. */
static scl_status separated(const risk *r, const double *scores, bool *all, scl_error *error) {
  const size_t n = r->problem->rows, c = r->columns;
  double wrong;
  for (size_t i = 0; i < n; i++)
    r->losses[i] = r->weights[i] != 0 && !right_side(c, scores + i * c, r->targets + i * c);
  const scl_status status = row_total(r->problem, r->losses, n, 1, &wrong, error);
  *all = status == SCL_STATUS_OK && wrong == 0;
  return status;
}

/* The note that says why the iteration did not converge. */
static void note_limit(const logistic *self, scl_solution *out) {
  (void)snprintf(out->note, sizeof out->note,
                 out->iterations < self->max_iterations
                     ? "rounding leaves no lower value: the gradient is %.1e of the one at 0, %.1e "
                       "was wanted"
                     : "the gradient is %.1e of the one at 0, %.1e was wanted: give more "
                       "max_iterations, or a larger lambda",
                 out->residual, self->tolerance);
}

/* apart: the classes are separable, and there is no penalty. */
static void note_outcome(const logistic *self, bool apart, scl_solution *out) {
  if (apart) {
    out->outcome = SCL_OUTCOME_LIMIT;
    (void)snprintf(out->note, sizeof out->note,
                   "the classes are separable, so that without lambda longer weights always "
                   "lower the loss: give lambda more than 0");
  } else if (out->outcome == SCL_OUTCOME_LIMIT) {
    note_limit(self, out);
  }
}

/* Solves by L-BFGS. Without a penalty and with separable classes the loss has no minimum, and
 * the outcome is never "converged". */
static scl_status by_lbfgs(const logistic *self, const risk *r, scl_solution *out,
                           scl_error *error) {
  lbfgs l;
  bool apart = false;
  scl_status status = lbfgs_open(&l, r, error);
  if (status == SCL_STATUS_OK)
    status = lbfgs_minimise(&l, r->problem->warm ? out->coefficients : NULL,
                            r->problem->features * r->columns, 0, self->tolerance,
                            self->max_iterations, out, error);
  if (status == SCL_STATUS_OK && r->lambda == 0) status = separated(r, l.scores, &apart, error);
  if (status != SCL_STATUS_OK) return status;
  write_solution(r, l.x, sqrt(risk_dot(r->size, l.gradient, l.gradient)), out);
  note_outcome(self, apart, out);
  return SCL_STATUS_OK;
}

/* ------------ sparse rows */

/* Newton's method, for each of `count` lambdas. Where these are only compared, to a quarter of
 * csr_path_tolerance: errors of several classes at small lambdas would move by more than one
 * standard error, and the choice with them. */
static scl_status by_newton(const logistic *self, risk *r, const double *values, size_t count,
                            scl_solution *const *out, scl_error *error) {
  const scl_problem *problem = r->problem;
  const double compared = csr_path_tolerance(problem, self->tolerance, count) / 4;
  const csr_newton_task task = {.risk = r,
                                .joint = r->columns > 1,
                                .tolerance = fmax(self->tolerance, compared),
                                .most = self->max_iterations};
  double *lambdas, *scores = problem->host->scratch((r->scores + 1) * sizeof *scores);
  scl_solution **sorted;
  if (scores == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for scores");
  scl_status status = lambda_order(problem->host, values, count, out, &lambdas, &sorted, error);
  if (status == SCL_STATUS_OK) status = csr_newton_path(&task, lambdas, count, sorted, error);
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    bool apart = false;
    r->lambda = values[k];
    if (values[k] == 0) {
      status = csr_scores_of(problem, out[k], scores, error);
      if (status == SCL_STATUS_OK) status = separated(r, scores, &apart, error);
    }
    note_outcome(self, apart, out[k]);
  }
  return status;
}

/* ------------ sgd */

typedef struct descent {
  const risk *risk;
  size_t batch, steps, epoch; /* epoch: steps in one */
  double bend;                /* the largest curvature of the loss in a score */
  double eta, curvature, loss;
  double *x, *average;    /* as the risk's */
  double *slopes;         /* batch x c */
  double mean_row_weight; /* of all rows: a batch is drawn evenly, and heavy rows count more */
  double *centre;         /* D; 0 without an intercept, and for batches too small to tell it */
  double *shift, *sum;    /* c each: centre'a, and the slopes of a batch summed */
  double *power;          /* D + batch, for the largest eigenvalue */
} descent;

enum { CENTRED_ROWS = 10, POWER_STEPS = 30 };

/* centre = the mean of the batch; 0 without an intercept or where the batch is too small for it. */
static void find_centre(descent *d, const scl_rows *rows) {
  const size_t features = d->risk->problem->features;
  const double *phi = rows->features.data;
  memset(d->centre, 0, features * sizeof *d->centre);
  if (!d->risk->intercept || rows->count < CENTRED_ROWS) return;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < features; j++)
      d->centre[j] +=
          phi[(ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j] / (double)rows->count;
}

/* mean ||phi - centre||^2 over a batch */
static double mean_square(const descent *d, const scl_rows *rows) {
  const size_t features = d->risk->problem->features;
  const double *phi = rows->features.data;
  double square = 0;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < features; j++) {
      const double x = phi[(ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j] - d->centre[j];
      square += x * x;
    }
  return square / (double)rows->count;
}

/* The largest eigenvalue of mean (phi - centre)(phi - centre)', by the power method from fixed
 * weights of the rows. */
static double top_eigenvalue(const descent *d, const scl_rows *rows) {
  const scl_dense_algebra *dense = d->risk->problem->host->dense;
  const size_t features = d->risk->problem->features, count = rows->count;
  const ptrdiff_t stride = rows->features.row_stride;
  const double *phi = rows->features.data;
  double *v = d->power, *u = v + features, top = 0;
  for (size_t i = 0; i < count; i++)
    u[i] = sin((double)i + 1); /* no symmetry of the rows */
  for (int step = 0; step <= POWER_STEPS; step++) {
    double sum = 0, along = 0;
    for (size_t i = 0; i < count; i++)
      sum += u[i];
    dense->gemm(1, 0, features, 1, count, 1, phi, stride, u, 1, 0, v, 1);
    for (size_t j = 0; j < features; j++)
      v[j] -= sum * d->centre[j];
    const double length = sqrt(risk_dot(features, v, v));
    if (!(length > 0)) return top;
    for (size_t j = 0; j < features; j++) {
      v[j] /= length;
      along += v[j] * d->centre[j];
    }
    dense->gemm(0, 0, count, 1, features, 1, phi, stride, v, 1, 0, u, 1);
    for (size_t i = 0; i < count; i++)
      u[i] -= along;
    top = risk_dot(count, u, u) / (double)count;
  }
  return top;
}

/* L: the expected smoothness of batches of this size (the formula at the top). With an intercept a
 * column of ones adds 1. */
static double curvature_of(const descent *d, const scl_rows *rows) {
  const double share = 1 / (double)rows->count,
               square = (1 - share) * top_eigenvalue(d, rows) + share * mean_square(d, rows);
  return d->bend * (square + d->risk->intercept) + d->risk->lambda;
}

/* Turns the step for the rows into that for the centred rows: b absorbs the change of centre'a,
 * so that x refers to the features as they are. */
static void recentre(descent *d, double step) {
  const size_t features = d->risk->problem->features, c = d->risk->columns;
  double *b = d->x + features * c;
  for (size_t j = 0; j < c; j++)
    b[j] += d->shift[j];
  memset(d->shift, 0, c * sizeof *d->shift);
  for (size_t k = 0; k < features; k++)
    for (size_t j = 0; j < c; j++) {
      d->x[k * c + j] += step * d->centre[k] * d->sum[j];
      d->shift[j] += d->centre[k] * d->x[k * c + j];
    }
  for (size_t j = 0; j < c; j++)
    b[j] -= d->shift[j];
}

/* Replaces the scores of a batch by weighted slopes. */
static void sgd_slopes(descent *d, const scl_rows *rows) {
  const risk *r = d->risk;
  const size_t c = r->columns;
  const double *b = d->x + r->problem->features * c;
  d->loss = 0;
  for (size_t i = 0; i < rows->count; i++) {
    double *f = d->slopes + i * c;
    const double weight = rows_weight(rows, i) / d->mean_row_weight;
    for (size_t j = 0; r->intercept && j < c; j++)
      f[j] += b[j];
    d->loss += weight * loss_row(r->choice, c, f, rows->targets + i * c, f) / (double)rows->count;
    for (size_t j = 0; j < c; j++)
      f[j] *= weight;
  }
}

/* One step on a minibatch. The step size is derived from the first batch. */
static scl_status descend_batch(void *context, const scl_rows *rows, scl_error *error) {
  descent *d = context;
  const risk *r = d->risk;
  const scl_dense_algebra *dense = r->problem->host->dense;
  const size_t features = r->problem->features, c = r->columns;
  const ptrdiff_t stride = rows->features.row_stride, columns = (ptrdiff_t)c;
  const double *phi = rows->features.data;
  double *b = d->x + features * c;
  (void)error;
  if (d->curvature == 0) {
    find_centre(d, rows);
    d->curvature = fmax(curvature_of(d, rows), 1e-300);
  }
  dense->gemm(0, 0, rows->count, c, features, 1, phi, stride, d->x, columns, 0, d->slopes, columns);
  sgd_slopes(d, rows);
  const double eta = d->eta / d->curvature, step = eta / (double)d->batch;
  memset(d->sum, 0, c * sizeof *d->sum);
  for (size_t i = 0; i < rows->count * c; i++)
    d->sum[i % c] += d->slopes[i];
  for (size_t j = 0; r->intercept && j < c; j++)
    b[j] -= step * d->sum[j];
  dense->gemm(1, 0, features, c, rows->count, -step, phi, stride, d->slopes, columns,
              1 - eta * r->lambda, d->x, columns);
  if (r->intercept) recentre(d, step);
  return SCL_STATUS_OK;
}

/* Ends an epoch: evaluates its average on the rows held out, if there are any. */
static scl_status sgd_judge(const descent *d, early_stop *early, size_t t, bool *stop,
                            scl_error *error) {
  const risk *r = d->risk;
  const size_t features = r->problem->features;
  if ((t + 1) % d->epoch != 0 && t + 1 < d->steps) return SCL_STATUS_OK;
  return early_stop_judge(early, d->average,
                          r->intercept ? d->average + features * r->columns : NULL, 1, features,
                          t + 1, stop, error);
}

/* Runs the epochs. d->average is the mean of the iterates of the last epoch; with rows held out,
 * of each epoch, which is evaluated at its end. */
static scl_status sgd_descend(descent *d, early_stop *early, uint64_t seed, size_t *steps,
                              scl_error *error) {
  const risk *r = d->risk;
  const scl_problem *problem = r->problem;
  const size_t features = problem->features;
  bool stop = false;
  size_t from = early->rows == 0 && d->steps > d->epoch ? d->steps - d->epoch : 0, t = 0;
  memset(d->average, 0, r->size * sizeof *d->average);
  state kept = {0};
  STATE_ADD(&kept, t);
  STATE_ADD(&kept, from);
  STATE_ADD(&kept, stop);
  STATE_ADD(&kept, *steps);
  STATE_ADD(&kept, d->curvature);
  state_add(&kept, d->x, r->size * sizeof *d->x);
  state_add(&kept, d->average, r->size * sizeof *d->average);
  state_add(&kept, d->shift, r->columns * sizeof *d->shift);
  state_add(&kept, d->centre, features * sizeof *d->centre);
  early_stop_state(early, &kept);
  for (; t < d->steps && !stop; t++) {
    const scl_status restored = state_keep(problem, &kept, error);
    if (restored != SCL_STATUS_OK) return restored;
    if (early->rows > 0 && t % d->epoch == 0) from = t;
    d->eta = 1 / sqrt(1 + (double)t / (double)d->epoch);
    scl_status status =
        problem->progress(problem, "descending", (double)t / (double)d->steps, d->loss, error);
    if (status == SCL_STATUS_OK)
      status =
          problem->minibatch(problem, seed, t, d->batch, 0, features, 0, descend_batch, d, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; t >= from && i < r->size; i++)
      d->average[i] += (d->x[i] - d->average[i]) / (double)(t - from + 1);
    status = sgd_judge(d, early, t, &stop, error);
    if (status != SCL_STATUS_OK) return status;
    *steps = t + 1;
  }
  return SCL_STATUS_OK;
}

/* held: rows held out */
static scl_status open_descent(descent *d, const logistic *self, const risk *r, size_t held,
                               scl_error *error) {
  const scl_host *host = r->problem->host;
  const size_t n = r->problem->rows - held, batch = self->batch;
  *d = (descent){.risk = r, .batch = batch, .loss = NAN, .bend = r->columns == 1 ? 0.25 : 0.5};
  scl_status status = batch_check(r->problem, batch, error);
  if (status != SCL_STATUS_OK) return status;
  d->epoch = (n + batch - 1) / batch;
  d->steps = (size_t)ceil(self->epochs * (double)d->epoch);
  d->mean_row_weight = r->total / (double)n;
  const size_t features = r->problem->features, c = r->columns,
               numbers = 2 * r->size + batch * c + 2 * features + 2 * c + batch + 1;
  d->x = host->scratch(numbers * sizeof *d->x);
  if (d->x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for batches of %zu rows",
                      batch);
  d->average = d->x + r->size;
  d->slopes = d->average + r->size;
  d->shift = d->slopes + batch * c;
  d->sum = d->shift + c;
  d->centre = d->sum + c;
  d->power = d->centre + features;
  memset(d->x, 0, r->size * sizeof *d->x);
  memset(d->shift, 0, c * sizeof *d->shift);
  return SCL_STATUS_OK;
}

/* Measures the final point on all rows: the relative gradient and its norm. */
static scl_status gradient_of_average(const risk *r, const double *x, double *residual,
                                      double *norm, scl_error *error) {
  const scl_host *host = r->problem->host;
  double value = 0,
         *gradient = host->scratch((2 * r->size + r->scores + r->columns) * sizeof *gradient);
  if (gradient == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a gradient");
  double *zero = gradient + r->size, *scores = zero + r->size, *slope_sum = scores + r->scores;
  memset(zero, 0, r->size * sizeof *zero);
  scl_status status = risk_evaluate(r, zero, &value, gradient, scores, slope_sum, error);
  const double unit = sqrt(risk_dot(r->size, gradient, gradient));
  if (status == SCL_STATUS_OK)
    status = risk_evaluate(r, x, &value, gradient, scores, slope_sum, error);
  *norm = sqrt(risk_dot(r->size, gradient, gradient));
  *residual = unit > 0 ? *norm / unit : *norm;
  return status;
}

/* Solves by minibatches. The outcome is never "converged": the number of steps was given. */
static scl_status by_sgd(const logistic *self, const risk *r, early_stop *early, scl_solution *out,
                         scl_error *error) {
  descent d;
  double norm = 0;
  scl_status status = open_descent(&d, self, r, early->rows, error);
  if (status == SCL_STATUS_OK) status = sgd_descend(&d, early, self->seed, &out->iterations, error);
  if (status == SCL_STATUS_OK)
    status = early_stop_settle(early, d.average, out->iterations, d.steps, out, error);
  if (status == SCL_STATUS_OK)
    status = gradient_of_average(r, d.average, &out->residual, &norm, error);
  if (status == SCL_STATUS_OK) write_solution(r, d.average, norm, out);
  out->outcome = SCL_OUTCOME_STOPPED;
  return status;
}

/* ------------ the plugin */

static scl_status logistic_solve(const void *instance, const scl_problem *problem,
                                 scl_solution *out, scl_error *error) {
  const logistic *self = instance;
  early_stop early = {.problem = NULL};
  risk r = {.problem = NULL};
  scl_status status = loss_check(&self->risk.loss, problem, error);
  if (status == SCL_STATUS_OK)
    status = early_stop_open(&early, problem, &self->risk.loss, self->holdout, self->patience,
                             self->seed, error);
  if (status == SCL_STATUS_OK)
    status = risk_open(&r, problem, &self->risk.loss, self->risk.lambda, error);
  if (status != SCL_STATUS_OK) return status;
  if (self->method == METHOD_SGD) return by_sgd(self, &r, &early, out, error);
  return csr_is(problem) ? by_newton(self, &r, &self->risk.lambda, 1, &out, error)
                         : by_lbfgs(self, &r, out, error);
}

/* On sparse rows the solutions of a path have warm starts. */
static scl_status logistic_path(const void *instance, const scl_problem *problem,
                                const double *values, size_t count, scl_solution *const *out,
                                scl_error *error) {
  logistic self = *(const logistic *)instance;
  risk r;
  scl_status status = SCL_STATUS_OK;
  if (csr_is(problem) && self.method == METHOD_LBFGS) {
    status = loss_check(&self.risk.loss, problem, error);
    if (status == SCL_STATUS_OK)
      status = risk_open(&r, problem, &self.risk.loss, self.risk.lambda, error);
    return status == SCL_STATUS_OK ? by_newton(&self, &r, values, count, out, error) : status;
  }
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    self.risk.lambda = values[k];
    status = logistic_solve(&self, problem, out[k], error);
  }
  return status;
}

/* A sweep an iteration; by minibatches, the epochs, and two sweeps at the end. */
static void logistic_cost(const void *instance, const scl_problem *problem, const double *values,
                          size_t count, int32_t weighted, scl_cost *out) {
  const logistic *self = instance;
  enum { TYPICAL_SWEEPS = 100 };
  const bool descends = self->method == METHOD_SGD;
  const double n = (double)problem->rows, d = (double)problem->features + 1,
               c = (double)problem->targets;
  const double sweeps = descends ? 2 : fmin((double)self->max_iterations, TYPICAL_SWEEPS) + 1;
  (void)values, (void)count, (void)weighted;
  out->passes = sweeps;
  out->columns = c;
  out->minibatch = descends ? self->epochs * n * d : 0;
  out->products = descends ? 4 * self->epochs * n * d * c : 0;
  out->steps = sweeps * n * c * 10;
  out->bytes = ((7 + 2 * LBFGS_PAIRS) * d * c + 3 * n * c + n) * sizeof(double);
  if (!descends)
    (void)snprintf(out->note, sizeof out->note, "%g sweeps over the rows, %s", sweeps - 1,
                   sweeps > TYPICAL_SWEEPS ? "a typical number" : "the limit max_iterations");
}

/* Sweeps read sparse rows, and work on the rows of a process; minibatches do not. */
static const void *logistic_ability(const void *self, const char *id) {
  static const scl_ability_sparse_rows sparse = {SCL_HEAD(scl_ability_sparse_rows)};
  static const scl_ability_rows_apart apart = {SCL_HEAD(scl_ability_rows_apart)};
  static const scl_ability_csr_rows csr = {SCL_HEAD(scl_ability_csr_rows)};
  if (((const logistic *)self)->method != METHOD_LBFGS) return NULL;
  if (strcmp(id, SCL_ABILITY_CSR_ROWS) == 0) return &csr;
  if (strcmp(id, SCL_ABILITY_ROWS_APART) == 0) return &apart;
  return strcmp(id, SCL_ABILITY_SPARSE_ROWS) == 0 ? &sparse : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "logistic",
    .summary = "Logistic regression of two classes or many, by L-BFGS or minibatches",
    .definition =
        "l(z) = max(-z, 0) + log1p(exp(-abs(z)))\n"
        "objective(rows, a) = average(rows, function(r) return l(r.y*r.f) end) + "
        "lambda/2*dot(a, a)\n"
        /* Of two classes. */
        "slope(r, j) = -r.y*r.x[j]/(1 + exp(r.y*r.f))\n"
        "gap(rows, a, b) = not b and sum(a, function(x, j) return (lambda*x + average("
        "rows, function(r) return slope(r, j) end))^2 end)/(2*lambda)\n"
        /* method = "sgd", of rows z (and 1) that are all alike. */
        "slopes(f, y) = type(y) == \"number\" and { -y/(1 + exp(y*f[1])) } or\n"
        "  map(f, function(v, j) return exp(v)/sum(f, exp) - (y[j] > 0 and 1 or 0) end)\n"
        /* E steps an epoch, of sizes below 1/L; the mean of the last. */
        "sgd(z, y, E, L, now, mean) = (function(first)\n"
        "  for t = 0, first + E - 1 do\n"
        "    local s = slopes(map(now, function(a) return dot(a, z) end), y)\n"
        "    local eta = 1/(L*sqrt(1 + t/E))\n"
        "    now = map(now, function(a, j) return map(a, function(v, k)\n"
        "      return v - eta*((k < #z and lambda*v or 0) + s[j]*z[k]) end) end)\n"
        "    mean = t < first and mean or map(mean, function(a, j) return map(a, function(v, k)\n"
        "      return v + (now[j][k] - v)/(t - first + 1) end) end)\n"
        "  end\n"
        "  return mean end)(ceil(epochs*E) - E)\n"
        /* With a constant, rows are centred: it alone moves. */
        "fit(r, n, b) = epochs >= 1 and (function(z, zero)\n"
        "  return sgd(z, r.y, ceil(n/batch), (type(r.y) == \"number\" and 1/4 or 1/2)*dot(z, z)\n"
        "    + lambda, zero, zero)\n"
        "end)(join(map(r.x, function(v) return b and 0 or v end), { b and 1 or 0 }),\n"
        "  map(type(r.y) == \"number\" and { 0 } or r.y, function()\n"
        "    return map(join(r.x, { 0 }), function() return 0 end) end))\n"
        /* Batches of fewer rows are not centred. */
        "score(rows) = method == \"sgd\" and (batch >= 10 or not rows.constant)\n"
        "  and (function(A) return A and function(x)\n"
        "    return map(A, function(a) return dot(a, join(x, { 1 })) end)\n"
        "  end end)(fit(rows[1], #rows, rows.constant))",
    .doc =
        "min (1/n) sum_i l(phi_i a + b, y_i) + (lambda/2) ||a||^2; two classes:\n"
        "l = log(1 + exp(-y f)); k classes, a column for each: l = log sum_j exp f_j - f_y.\n"
        "method = \"lbfgs\" takes one sweep over the rows per iteration and ends when the\n"
        "gradient's norm is `tolerance` times that at a = 0; without an intercept info().gap\n"
        "bounds how far the objective is from its least. On sparse rows Newton's method without\n"
        "a matrix takes its place (Lin, Weng and Keerthi 2008). method = \"sgd\" draws `batch` "
        "rows a\n"
        "step, with steps falling as 1/sqrt t, and returns the average over the last epoch; "
        "with an\n"
        "intercept the steps are those of features less their mean over the first batch; with\n"
        "`holdout`, that over the epoch with the least loss on the rows held out, and it stops\n"
        "after `patience` epochs without a smaller one.\n"
        "Its probabilities are the logistic function of f, or the softmax.",
    SCL_SOLVER(.solve = logistic_solve),
    SCL_INSTANCE(logistic, options),
    SCL_ABILITIES(
        {SCL_ABILITY_LOSS, &loss_ability},
        SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = logistic_path,
                  .sparse_only = 1),
        SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = risk_objective),
        SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = logistic_cost)),
    .create = logistic_create,
    .ability = logistic_ability};
