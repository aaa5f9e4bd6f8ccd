/* Ridge regression with Huber's loss, each target by itself:
 *
 *   min_{a,b} (1/N) sum_i w_i h(phi_i a + b - y_i) + (lambda/2) ||a||^2,   N = sum w
 *   h(r) = r^2/2 where |r| <= delta, else delta |r| - delta^2/2   (Huber 1964)
 *
 * Newton's method on a function that is a parabola wherever no residual crosses delta: with V the
 * weights of the rows inside,
 *   (Phi'V Phi + N lambda I) p = -N gradient
 * and an exact search along p, in which no features are looked at. It ends in finitely many steps.
 * While fewer than half of the rows are inside, every other step has w delta/|r| outside
 * (iteratively reweighted least squares: slower, never singular by lack of rows). Begins at ridge.
 * scale = "mad": delta is in units of 1.4826 median |r - median r|, made anew from the robust fit
 * until it changes by less than 1%. */
#include "shared/risk.h"
#include "shared/robust.h"
#include "shared/weighted_ridge.h"
#include <stdio.h>

enum { LAMBDA, DELTA, SCALE, TOLERANCE, MAX_ITERATIONS, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss"},
    {"delta", SCL_FORM_NUMBER, NULL, "1.345", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "where the loss turns from square to absolute, in units of scale"},
    {"scale", SCL_FORM_WORD, "mad|none", "mad", 0, 0, 0, SCL_WIDTH_NONE,
     "mad: 1.4826 times the median absolute deviation of the residuals; none: delta is in the "
     "target's own units"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-6", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "gradient norm relative to the one at a = 0"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "100", 1, 1e9, 0, SCL_WIDTH_NONE,
     "Newton steps at most, for each target"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

enum { SCALE_ROUNDS = 8 };

typedef struct huber {
  const scl_host *host;
  double lambda, delta, tolerance;
  size_t max_iterations;
  int mad;
} huber;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  huber *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (huber){host,
                  values[LAMBDA].number,
                  values[DELTA].number,
                  values[TOLERANCE].number,
                  (size_t)values[MAX_ITERATIONS].number,
                  strcmp(values[SCALE].word, "mad") == 0};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  huber *self = instance;
  self->host->release(self);
}

/* One target: x is a and b (D + 1), the rest n numbers each. */
typedef struct robust {
  const huber *self;
  risk risk; /* of one column */
  double delta, scale, unit;
  double *x, *direction, *gradient;
  double *scores, *change, *residuals;
  ranked *order;
  weighted_ridge ridge;
  size_t steps;
  double residual;
} robust;

static void close_robust(robust *t) {
  t->self->host->release(t->x);
  t->self->host->release(t->order);
  weighted_close(&t->ridge);
}

static scl_status open_robust(robust *t, const huber *self, const risk *all, scl_error *error) {
  const scl_problem *problem = all->problem;
  const size_t n = problem->rows, d = problem->features;
  *t = (robust){.self = self, .risk = *all};
  scl_status status = weighted_open(&t->ridge, problem, error);
  t->x = self->host->allocate((3 * (d + 1) + 5 * n) * sizeof *t->x);
  t->order = self->host->allocate(n * sizeof *t->order);
  if (status == SCL_STATUS_OK && (t->x == NULL || t->order == NULL))
    status = self->host->fail(error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for the residuals of %zu rows", n);
  if (status != SCL_STATUS_OK) {
    close_robust(t);
    return status;
  }
  t->direction = t->x + d + 1;
  t->gradient = t->direction + d + 1;
  t->scores = t->gradient + d + 1;
  t->change = t->scores + n;
  t->residuals = t->change + n;
  t->risk.targets = t->residuals + n;
  t->risk.slopes = t->risk.targets + n;
  t->risk.columns = 1;
  t->risk.size = d + (size_t)all->intercept;
  t->risk.scores = n;
  t->risk.context = &t->delta;
  return SCL_STATUS_OK;
}

/* The gradient at x, whose scores are known. */
static scl_status differentiate(robust *t, scl_error *error) {
  double value, slope_sum;
  return risk_from_scores(&t->risk, t->x, t->scores, &value, t->gradient, &slope_sum, error);
}

/* The best b for this a: a search along the constant. */
static void best_constant(robust *t) {
  const size_t n = t->risk.problem->rows;
  double slope;
  if (!t->risk.intercept) return;
  for (size_t i = 0; i < n; i++)
    t->change[i] = 1;
  risk_line line = {&t->risk, t->scores, t->change, 0, 0, 0};
  (void)risk_at(&line, 0, &slope);
  const double sign = slope > 0 ? -1 : 1;
  for (size_t i = 0; i < n; i++)
    t->change[i] = sign;
  const double by = sign * risk_search(&line, 1e-9, isinf(t->delta) ? 1 : t->delta);
  t->x[t->risk.problem->features] += by;
  for (size_t i = 0; i < n; i++)
    t->scores[i] += by;
}

/* V: the weights of the rows inside, and, at every other step while they are the most, of those
 * outside. */
static void choose_weights(const robust *t, double *weights) {
  const size_t n = t->risk.problem->rows;
  size_t inside = 0;
  for (size_t i = 0; i < n; i++)
    inside += fabs(t->scores[i] - t->risk.targets[i]) <= t->delta && t->risk.weights[i] > 0;
  const int reweigh = inside == 0 || (2 * inside < n && t->steps % 2 == 1);
  for (size_t i = 0; i < n; i++) {
    const double r = fabs(t->scores[i] - t->risk.targets[i]), outside = reweigh ? t->delta / r : 0;
    weights[i] = t->risk.weights[i] * (r <= t->delta ? 1 : outside);
  }
}

/* The Newton direction and what it does to the scores; with an intercept the constant follows along
 * it as V would have it. */
static scl_status choose_direction(robust *t, scl_error *error) {
  const scl_problem *problem = t->risk.problem;
  const size_t n = problem->rows, d = problem->features;
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  double *weights = t->residuals, sum = 0;
  choose_weights(t, weights);
  scl_status status = problem->reweighted(problem, weights, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < d; i++)
    t->direction[i] = -t->risk.total * t->gradient[i];
  status = weighted_solve(&t->ridge, normal.gram, t->risk.total * t->self->lambda, t->direction, 1,
                          error);
  if (status == SCL_STATUS_OK)
    status = problem->product(problem, t->direction, 1, t->change, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++)
    sum += weights[i] * t->change[i];
  t->direction[d] = t->risk.intercept ? -sum / normal.total : 0;
  for (size_t i = 0; i < n; i++)
    t->change[i] += t->direction[d];
  return SCL_STATUS_OK;
}

/* One step; *moved: 0 where rounding leaves none. */
static scl_status newton_step(robust *t, int *moved, scl_error *error) {
  const scl_status status = choose_direction(t, error);
  if (status != SCL_STATUS_OK) return status;
  const risk_line line = risk_line_of(&t->risk, t->x, t->direction, t->scores, t->change);
  const double length = risk_search(&line, 0.01, 1);
  *moved = length > 0;
  for (size_t i = 0; i < t->risk.size; i++)
    t->x[i] += length * t->direction[i];
  for (size_t i = 0; i < t->risk.problem->rows; i++)
    t->scores[i] += length * t->change[i];
  best_constant(t);
  return differentiate(t, error);
}

/* The norm of the gradient at a = 0 and b = 0, of which the tolerance is a part. */
static scl_status measure_unit(robust *t, scl_error *error) {
  double value, slope_sum;
  memset(t->direction, 0, (t->risk.problem->features + 1) * sizeof *t->direction);
  memset(t->change, 0, t->risk.problem->rows * sizeof *t->change);
  const scl_status status =
      risk_from_scores(&t->risk, t->direction, t->change, &value, t->gradient, &slope_sum, error);
  t->unit = sqrt(risk_dot(t->risk.size, t->gradient, t->gradient));
  if (!(t->unit > 0)) t->unit = 1;
  return status;
}

/* To a stationary point at this delta. */
static scl_status minimise(robust *t, scl_error *error) {
  const scl_problem *problem = t->risk.problem;
  int moved = 1;
  best_constant(t);
  scl_status status = measure_unit(t, error);
  if (status == SCL_STATUS_OK) status = differentiate(t, error);
  while (status == SCL_STATUS_OK && moved) {
    t->residual = sqrt(risk_dot(t->risk.size, t->gradient, t->gradient)) / t->unit;
    if (t->residual <= t->self->tolerance || t->steps >= t->self->max_iterations) break;
    status = problem->progress(problem, (double)t->steps++ / (double)t->self->max_iterations,
                               "Newton steps", error);
    if (status == SCL_STATUS_OK) status = newton_step(t, &moved, error);
  }
  return status;
}

static double scale_of(robust *t) {
  for (size_t i = 0; i < t->risk.problem->rows; i++)
    t->residuals[i] = t->scores[i] - t->risk.targets[i];
  return robust_scale(t->risk.problem->rows, t->residuals, t->risk.weights, t->order);
}

/* Ridge as the point to start from: one Newton step where all rows are inside. */
static scl_status start(robust *t, scl_error *error) {
  int moved;
  t->delta = INFINITY;
  memset(t->x, 0, (t->risk.problem->features + 1) * sizeof *t->x);
  memset(t->scores, 0, t->risk.problem->rows * sizeof *t->scores);
  best_constant(t);
  scl_status status = differentiate(t, error);
  if (status == SCL_STATUS_OK) status = newton_step(t, &moved, error);
  return status;
}

static double reach_of_targets(const robust *t) {
  double most = 0;
  for (size_t i = 0; i < t->risk.problem->rows; i++)
    most = fmax(most, fabs(t->risk.targets[i]));
  return most;
}

static scl_status fit(robust *t, scl_error *error) {
  scl_status status = start(t, error);
  const double least = 1e-10 * reach_of_targets(t) + 1e-300; /* an exact fit has no scale */
  for (int round = 0; status == SCL_STATUS_OK && round < SCALE_ROUNDS; round++) {
    const double scale = t->self->mad ? fmax(scale_of(t), least) : 1;
    if (round > 0 && fabs(scale - t->scale) <= 0.01 * t->scale) break;
    t->scale = scale;
    t->delta = t->self->delta * scale;
    status = minimise(t, error);
    if (!t->self->mad) break;
  }
  return status;
}

/* A target that did not reach the tolerance. */
static void note_limit(const robust *t, scl_solution *out) {
  (void)snprintf(out->note, sizeof out->note,
                 "the gradient is %.1e of the one at 0, %.1e was wanted: give %s", t->residual,
                 t->self->tolerance,
                 t->steps < t->self->max_iterations
                     ? "a larger lambda or tolerance, rounding leaves no smaller one"
                     : "more max_iterations or a larger lambda");
}

static scl_status solve_column(const huber *self, const risk *all, size_t j, scl_solution *out,
                               double *delta, scl_error *error) {
  const size_t n = all->problem->rows, d = all->problem->features, c = all->problem->targets;
  robust t;
  scl_status status = open_robust(&t, self, all, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++)
    t.risk.targets[i] = all->targets[i * c + j];
  status = fit(&t, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < d; i++)
    out->coefficients[i * c + j] = t.x[i];
  if (status == SCL_STATUS_OK && all->intercept) out->intercept[j] = t.x[d];
  if (t.residual > self->tolerance) note_limit(&t, out);
  out->iterations += t.steps;
  out->residual = fmax(out->residual, t.residual);
  out->jitter = fmax(out->jitter, t.ridge.jitter);
  *delta = t.delta;
  close_robust(&t);
  return status;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const huber *self = instance;
  risk all;
  double delta = 0;
  scl_status status = risk_open(&all, problem, loss_huber, NULL, self->lambda, error);
  if (status != SCL_STATUS_OK) return status;
  out->residual = 0;
  out->iterations = 0;
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->targets; j++)
    status = solve_column(self, &all, j, out, &delta, error);
  risk_close(&all);
  out->tolerance = self->tolerance;
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_CONVERGED && self->mad)
    (void)snprintf(out->note, sizeof out->note, "delta = %.9g in the target's units%s", delta,
                   problem->targets > 1 ? " (the last target's)" : "");
  return status;
}

/* ---------------------------------------------------------------- the loss, where delta is known
 * beforehand */

static double value(const void *instance, size_t c, const double *f, const double *y) {
  const double delta = ((const huber *)instance)->delta;
  double sum = 0;
  for (size_t j = 0; j < c; j++) {
    double slope;
    sum += loss_huber(&delta, 1, f + j, y + j, &slope);
  }
  return sum;
}

static void slope(const void *instance, size_t c, const double *f, const double *y, double *out) {
  const double delta = ((const huber *)instance)->delta;
  for (size_t j = 0; j < c; j++)
    (void)loss_huber(&delta, 1, f + j, y + j, out + j);
}

static double bound(const void *instance, double reach) {
  const double f = reach, y = -1;
  return value(instance, 1, &f, &y);
}

static double lipschitz(const void *instance, double reach) {
  return fmin(((const huber *)instance)->delta, reach + 1);
}

static int probabilities(const void *instance, size_t c, const double *f, double *out) {
  (void)instance;
  (void)c;
  (void)f;
  (void)out;
  return 0;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_loss loss_table = {
      SCL_HEAD(scl_ability_loss), value, slope, bound, lipschitz, probabilities};
  return strcmp(id, SCL_ABILITY_LOSS) == 0 && !((const huber *)instance)->mad ? &loss_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "huber",
    "1.0",
    "The Scullery authors",
    "Robust regression: Huber's loss with a ridge penalty",
    "min_{a,b} (1/n) sum_i h(phi_i a + b - y_i) + (lambda/2) ||a||^2, h(r) = r^2/2 for |r| <= "
    "delta, else delta |r| - delta^2/2,\n"
    "each target by itself, by Newton's method with an exact line search from the ridge solution. "
    "scale = \"mad\" takes delta in units of\n"
    "the residuals' robust scale (1.345: 95% of least squares' efficiency on normal noise), found "
    "together with the fit; info().note "
    "tells\n"
    "delta in the target's units. It ends when the gradient's norm is `tolerance` of that at a = "
    "0.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
