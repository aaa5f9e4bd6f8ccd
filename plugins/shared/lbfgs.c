/* L-BFGS (Liu and Nocedal 1989) on a risk (shared/risk.h): the two-loop recursion over the last few
 * pairs of steps and gradient changes.
 *
 * One sweep an iteration: the trial x + p is evaluated at once, and is taken as it is where it
 * meets the strong Wolfe conditions, as it nearly always does. Where not, the scores of x and of
 * the trial give the line x + t p for all t: the search looks at no features, and the gradient at
 * its end costs half a sweep. */
#include "shared/lbfgs.h"

scl_status lbfgs_open(lbfgs *l, const risk *r, scl_error *error) {
  const size_t size = r->size;
  *l = (lbfgs){.risk = r};
  l->x = r->problem->host->scratch(((7 + 2 * LBFGS_PAIRS) * size + 2 * r->scores + r->columns + 1) *
                                   sizeof *l->x);
  if (l->x == NULL)
    return r->problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                  "not enough memory for %d pairs of steps", LBFGS_PAIRS);
  l->trial = l->x + size;
  l->gradient = l->trial + size;
  l->trial_gradient = l->gradient + size;
  l->direction = l->trial_gradient + size;
  l->steps = l->direction + size;
  l->changes = l->steps + LBFGS_PAIRS * size;
  l->scores = l->changes + LBFGS_PAIRS * size;
  l->trial_scores = l->scores + r->scores;
  l->slope_sum = l->trial_scores + r->scores;
  memset(l->scores, 0, 2 * r->scores * sizeof *l->scores); /* of rows of other processes */
  l->metric = l->slope_sum + r->columns;
  l->best = l->metric + size;
  for (size_t i = 0; i < size; i++)
    l->metric[i] = risk_metric(r, i);
  memset(l->x, 0, size * sizeof *l->x);
  return SCL_STATUS_OK;
}

/* sum of metric_i x_i^2: the square of the norm of a gradient */
static double lbfgs_square(const lbfgs *l, const double *x) {
  double sum = 0;
  for (size_t i = 0; i < l->risk->size; i++)
    sum += l->metric[i] * x[i] * x[i];
  return sum;
}

double lbfgs_norm(const lbfgs *l, const double *gradient) {
  return sqrt(lbfgs_square(l, gradient));
}

/* direction = -H gradient, by the two-loop recursion: newest pair to oldest, scaling by the metric
 * and the last curvature, then oldest to newest. */
static void lbfgs_direct(lbfgs *l) {
  const size_t size = l->risk->size;
  double *p = l->direction, weight[LBFGS_PAIRS];
  for (size_t i = 0; i < size; i++)
    p[i] = -l->gradient[i];
  for (size_t k = 0; k < l->pairs; k++) {
    const size_t at = (l->next + LBFGS_PAIRS - 1 - k) % LBFGS_PAIRS;
    weight[at] = risk_dot(size, l->steps + at * size, p) / l->curvature[at];
    for (size_t i = 0; i < size; i++)
      p[i] -= weight[at] * l->changes[at * size + i];
  }
  if (l->pairs > 0) {
    const size_t last = (l->next + LBFGS_PAIRS - 1) % LBFGS_PAIRS;
    const double *change = l->changes + last * size,
                 scale = l->curvature[last] / lbfgs_square(l, change);
    for (size_t i = 0; i < size; i++)
      p[i] *= scale * l->metric[i];
  } else {
    for (size_t i = 0; i < size; i++)
      p[i] *= l->metric[i];
  }
  for (size_t k = l->pairs; k-- > 0;) {
    const size_t at = (l->next + LBFGS_PAIRS - 1 - k) % LBFGS_PAIRS;
    const double rest = weight[at] - risk_dot(size, l->changes + at * size, p) / l->curvature[at];
    for (size_t i = 0; i < size; i++)
      p[i] += rest * l->steps[at * size + i];
  }
}

/* Stores the pair (step, change of the gradient). A pair without positive curvature is due to
 * rounding and is dropped. */
static void lbfgs_remember(lbfgs *l) {
  const size_t size = l->risk->size;
  double *step = l->steps + l->next * size, *change = l->changes + l->next * size;
  for (size_t i = 0; i < size; i++) {
    step[i] = l->trial[i] - l->x[i];
    change[i] = l->trial_gradient[i] - l->gradient[i];
  }
  const double along = risk_dot(size, step, change);
  double square = 0; /* of the step, in the norm dual to that of gradients */
  for (size_t i = 0; i < size; i++)
    square += step[i] * step[i] / l->metric[i];
  if (!(along > 1e-14 * sqrt(square * lbfgs_square(l, change)))) return;
  l->curvature[l->next] = along;
  l->next = (l->next + 1) % LBFGS_PAIRS;
  if (l->pairs < LBFGS_PAIRS) l->pairs++;
}

static void lbfgs_swap(double **a, double **b) {
  double *kept = *a;
  *a = *b;
  *b = kept;
}

/* x + t p for the t of a search along the line, its scores and its gradient; *moved: false where
 * there is none better than x. */
static scl_status lbfgs_search(lbfgs *l, double first_step, double *value, bool *moved,
                               scl_error *error) {
  const risk *r = l->risk;
  for (size_t i = 0; i < r->scores; i++)
    l->trial_scores[i] = (l->trial_scores[i] - l->scores[i]) / first_step;
  const risk_line line = risk_line_of(r, l->x, l->direction, l->scores, l->trial_scores);
  double t;
  const scl_status status = risk_search(&line, 0.1, first_step, &t, error);
  *moved = status == SCL_STATUS_OK && t > 0;
  if (!*moved) return status;
  for (size_t i = 0; i < r->size; i++)
    l->trial[i] = l->x[i] + t * l->direction[i];
  for (size_t i = 0; i < r->scores; i++)
    l->trial_scores[i] = l->scores[i] + t * l->trial_scores[i];
  return risk_from_scores(r, l->trial, l->trial_scores, value, l->trial_gradient, l->slope_sum,
                          error);
}

/* One iteration. *moved: false where no step lowers the value. Before the first pair the length of
 * a step is not known. */
static scl_status lbfgs_step(lbfgs *l, bool *moved, scl_error *error) {
  const size_t size = l->risk->size;
  double value = 0;
  lbfgs_direct(l);
  const double slope = risk_dot(size, l->gradient, l->direction);
  const double first = l->pairs == 0 ? 1 / fmax(sqrt(-slope), 1e-300) : 1;
  for (size_t i = 0; i < size; i++)
    l->trial[i] = l->x[i] + first * l->direction[i];
  scl_status status = risk_evaluate(l->risk, l->trial, &value, l->trial_gradient, l->trial_scores,
                                    l->slope_sum, error);
  if (status != SCL_STATUS_OK) return status;
  const bool good = value <= l->value + 1e-4 * first * slope + risk_noise(l->risk, value) &&
                    fabs(risk_dot(size, l->trial_gradient, l->direction)) <= -0.9 * slope;
  *moved = true;
  if (!good || l->pairs == 0) status = lbfgs_search(l, first, &value, moved, error);
  if (status != SCL_STATUS_OK || !*moved) return status;
  lbfgs_remember(l);
  lbfgs_swap(&l->x, &l->trial);
  lbfgs_swap(&l->gradient, &l->trial_gradient);
  lbfgs_swap(&l->scores, &l->trial_scores);
  l->value = value;
  return SCL_STATUS_OK;
}

/* The norm of the gradient, relative to `unit`, that at 0. */
static double lbfgs_residual(const lbfgs *l, double unit) {
  const double norm = lbfgs_norm(l, l->gradient);
  return unit > 0 ? norm / unit : norm;
}

/* Value, gradient and scores at 0 and then at `start` (NULL: 0). unit: the norm of the gradient at
 * 0. */
static scl_status lbfgs_start(lbfgs *l, const double *start, size_t numbers, double *unit,
                              scl_error *error) {
  const risk *r = l->risk;
  scl_status status = SCL_STATUS_OK;
  if (start == NULL || !(*unit > 0)) {
    status = risk_evaluate(r, l->x, &l->value, l->gradient, l->scores, l->slope_sum, error);
    if (status != SCL_STATUS_OK) return status;
    if (!(*unit > 0)) *unit = lbfgs_norm(l, l->gradient);
  }
  if (start == NULL) return SCL_STATUS_OK;
  memcpy(l->x, start, numbers * sizeof *l->x);
  return risk_evaluate(r, l->x, &l->value, l->gradient, l->scores, l->slope_sum, error);
}

/* Of float32 features: whether x is better than the point kept. Far from the minimum the lower value
 * is, as gradients grow there; close to it the smaller gradient, because steps may raise the value by
 * its rounding, so that those at the end may lead away. */
static bool lbfgs_is_better(const lbfgs *l, double residual) {
  static const double CLOSE = 1e-3;
  if (residual < l->least) return true;
  return l->least > CLOSE && l->value < l->least_value - 1000 * risk_noise(l->risk, l->value);
}

/* Keeps x if it is better. False: none was for long. */
static bool lbfgs_keep(lbfgs *l, double residual) {
  enum { PATIENCE = 200 };
  if (risk_noise(l->risk, 1) == 0) return true;
  l->idle++;
  if (!lbfgs_is_better(l, residual)) return l->idle < PATIENCE;
  l->least = residual;
  l->least_value = l->value;
  l->idle = 0;
  memcpy(l->best, l->x, l->risk->size * sizeof *l->x);
  return true;
}

/* Goes back to the point kept, if x is not better. */
static scl_status lbfgs_restore(lbfgs *l, double unit, scl_error *error) {
  const double residual = lbfgs_residual(l, unit);
  if (!(residual > l->least) || lbfgs_is_better(l, residual)) return SCL_STATUS_OK;
  memcpy(l->x, l->best, l->risk->size * sizeof *l->x);
  return risk_evaluate(l->risk, l->x, &l->value, l->gradient, l->scores, l->slope_sum, error);
}

scl_status lbfgs_minimise(lbfgs *l, const double *start, size_t numbers, double unit,
                          double tolerance, size_t most, scl_solution *out, scl_error *error) {
  const scl_problem *problem = l->risk->problem;
  bool moved = true;
  scl_status status = lbfgs_start(l, start, numbers, &unit, error);
  out->tolerance = tolerance;
  out->iterations = 0;
  l->least = l->least_value = INFINITY;
  l->idle = 0;
  while (status == SCL_STATUS_OK && lbfgs_residual(l, unit) > tolerance && moved &&
         out->iterations < most && lbfgs_keep(l, lbfgs_residual(l, unit))) {
    status = problem->progress(problem, "solving", (double)out->iterations / (double)most,
                               l->value - risk_penalty(l->risk, l->x), error);
    if (status == SCL_STATUS_OK) status = lbfgs_step(l, &moved, error);
    out->iterations++;
    if (status == SCL_STATUS_OK && !moved && l->pairs > 0) {
      l->pairs = l->next = 0;
      moved = true;
    }
  }
  if (status == SCL_STATUS_OK) status = lbfgs_restore(l, unit, error);
  if (status != SCL_STATUS_OK) return status;
  out->residual = lbfgs_residual(l, unit);
  out->outcome = out->residual <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  return SCL_STATUS_OK;
}
