/* Ridge regression with Huber's loss, each target by itself:
 *
 *   min_{a,b} (1/N) sum_i w_i h(phi_i a + b - y_i) + (lambda/2) ||a||^2,   N = sum w
 *   h(r) = r^2/2 where |r| <= delta, else delta |r| - delta^2/2   (Huber 1964)
 *
 * Phi n x D, y n x c. The objective is a parabola wherever no residual crosses delta. Newton's
 * method, with V the weights of the rows inside,
 *
 *   (Phi'V Phi + N lambda I) p = -N gradient,
 *
 * and an exact search along p, in which no features are looked at, ends in finitely many steps. It
 * begins at the ridge solution. While fewer than half of the rows are inside, every other step
 * gives the rows outside the weight w delta/|r| (iteratively reweighted least squares: slower, but
 * never singular by lack of rows). With more features than rows the same steps are taken by n x n
 * systems (dual.c). scale = "mad": delta is in units of 1.4826 median |r - median r|
 * of the robust fit, found in rounds until it changes by less than 1%. */
#include "huber.h"
#include "shared/losses.h"
#include "shared/refined_solve.h"
#include "shared/robust.h"
#include "shared/row_total.h"
#include "shared/solver_options.h"

#include <stdio.h>

typedef struct huber {
  loss_choice loss;
  double lambda, tolerance;
  int32_t scale;
  size_t max_iterations;
} huber;

enum { SCALE_MAD, SCALE_NONE };

static const scl_option options[] = {
    SOLVER_LAMBDA(huber, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE),
    {.name = "delta",
     .help = "where the loss turns from square to absolute, in units of scale",
     .fallback = "1.345",
     .forms = SCL_FORM_NUMBER,
     SCL_AT(huber, loss.delta),
     SCL_POSITIVE},
    SCL_WORD(huber, scale, "mad|none", "mad",
             "mad: 1.4826 times the median absolute deviation of the residuals; none: delta is in "
             "units of the target"),
    SOLVER_TOLERANCE(huber, "1e-6", "gradient norm relative to the one at a = 0"),
    SOLVER_MAX_ITERATIONS(huber, "100", "Newton steps at most, for each target"),
    SCL_OPTION_INTERCEPT};

static scl_status huber_create(void *self, scl_error *error) {
  (void)error;
  ((huber *)self)->loss.loss = LOSS_HUBER;
  return SCL_STATUS_OK;
}

/* A target at a time: x is a and b (D + 1; in the dual a is written at the end), the rest n numbers
 * each. */
typedef struct robust {
  const huber *self;
  risk risk;                       /* of one column */
  loss_choice loss;                /* with the delta of this target */
  double scale, unit, value, norm; /* norm: of the gradient */
  double *x, *direction, *gradient;
  double *scores, *change, *residuals;
  ranked *order;
  huber_dual *dual;      /* NULL: in the primal, */
  refined_system system; /* for the current matrix */
  size_t steps;
  double residual;
} robust;

/* Lays out the arrays for one target at a time; t->risk refers to them in place of the arrays of
 * all targets. */
static scl_status robust_open(robust *t, const huber *self, const risk *all, huber_dual *dual,
                              scl_error *error) {
  const scl_problem *problem = all->problem;
  const scl_host *host = problem->host;
  const size_t n = problem->rows, d = problem->features;
  *t = (robust){.self = self,
                .risk = *all,
                .loss = self->loss,
                .value = NAN,
                .dual = huber_dual_fits(dual) ? dual : NULL,
                .system = {.host = host, .order = d, .columns = 1}};
  t->x = host->scratch((3 * (d + 1) + 6 * n) * sizeof *t->x);
  t->order = host->scratch(n * sizeof *t->order);
  if (t->x == NULL || t->order == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the residuals of %zu rows", n);
  t->direction = t->x + d + 1;
  t->gradient = t->direction + d + 1;
  t->scores = t->gradient + d + 1;
  t->change = t->scores + n;
  t->residuals = t->change + n;
  t->risk.targets = t->residuals + n;
  t->risk.slopes = t->risk.targets + n;
  t->risk.losses = t->risk.slopes + n;
  t->risk.columns = 1;
  t->risk.size = d + (size_t)all->intercept;
  t->risk.scores = n;
  t->risk.choice = &t->loss;
  return t->dual == NULL ? refined_open(&t->system, error) : SCL_STATUS_OK;
}

/* Value and gradient at x, whose scores are known. */
static scl_status huber_differentiate(robust *t, scl_error *error) {
  double slope_sum;
  if (t->dual != NULL)
    return huber_dual_differentiate(t->dual, &t->risk, t->x[t->risk.problem->features], t->scores,
                                    &t->value, &t->norm, error);
  const scl_status status =
      risk_from_scores(&t->risk, t->x, t->scores, &t->value, t->gradient, &slope_sum, error);
  t->norm = sqrt(risk_dot(t->risk.size, t->gradient, t->gradient));
  return status;
}

/* The minimiser b for this a, by a line search along the constant. */
static scl_status best_constant(robust *t, scl_error *error) {
  double length;
  if (!t->risk.intercept) return SCL_STATUS_OK;
  const scl_status status = risk_best_constant(
      &t->risk, t->scores, t->change, isinf(t->loss.delta) ? 1 : t->loss.delta, &length, error);
  if (status != SCL_STATUS_OK) return status;
  t->x[t->risk.problem->features] += length;
  for (size_t i = 0; i < t->risk.problem->rows; i++)
    t->scores[i] += length;
  return SCL_STATUS_OK;
}

/* Computes V: the weights of the rows inside and, at every other step while most rows are
 * outside, also those of the rows outside. */
static void choose_weights(const robust *t, double *weights) {
  const size_t n = t->risk.problem->rows;
  const double delta = t->loss.delta;
  size_t inside = 0;
  for (size_t i = 0; i < n; i++)
    inside += fabs(t->scores[i] - t->risk.targets[i]) <= delta && t->risk.weights[i] > 0;
  const bool reweigh = inside == 0 || (2 * inside < n && t->steps % 2 == 1);
  for (size_t i = 0; i < n; i++) {
    const double r = fabs(t->scores[i] - t->risk.targets[i]), outside = reweigh ? delta / r : 0;
    weights[i] = t->risk.weights[i] * (r <= delta ? 1 : outside);
  }
}

/* The Newton direction and what it does to the scores; with an intercept the constant moves to its
 * minimum under V. Jitter in the system makes it another direction, not another solution. */
static scl_status choose_direction(robust *t, scl_error *error) {
  const scl_problem *problem = t->risk.problem;
  const size_t n = problem->rows, d = problem->features;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  refined_account account = {0};
  double *weights = t->residuals, sum = 0;
  choose_weights(t, weights);
  if (t->dual != NULL)
    return huber_dual_direct(t->dual, &t->risk, weights, &t->direction[d], t->change, error);
  scl_status status = problem->reweighted(problem, weights, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < d; i++)
    t->gradient[i] *= -t->risk.total;
  t->system.base = normal.moment;
  t->system.weight = t->risk.total * t->self->lambda;
  status = refined_solve(&t->system, t->gradient, t->direction, &account, error);
  if (status == SCL_STATUS_OK)
    status = problem->product(problem, t->direction, 1, t->change, error);
  for (size_t i = 0; i < n; i++)
    weights[i] *= t->change[i];
  if (status == SCL_STATUS_OK && t->risk.intercept)
    status = row_total(problem, weights, n, 1, &sum, error);
  if (status != SCL_STATUS_OK) return status;
  t->direction[d] = t->risk.intercept ? -sum / normal.total : 0;
  for (size_t i = 0; i < n; i++)
    t->change[i] += t->direction[d];
  return SCL_STATUS_OK;
}

/* One Newton step; *moved = false where rounding leaves no descent. */
static scl_status newton_step(robust *t, bool *moved, scl_error *error) {
  const size_t d = t->risk.problem->features, n = t->risk.problem->rows;
  double length;
  scl_status status = choose_direction(t, error);
  if (status != SCL_STATUS_OK) return status;
  risk_line line = risk_line_of(&t->risk, t->x, t->direction, t->scores, t->change);
  if (t->dual != NULL)
    status = huber_dual_line(t->dual, &t->risk, t->x[d], t->direction[d], t->scores, t->change,
                             &line, error);
  if (status == SCL_STATUS_OK) status = risk_search(&line, 0.01, 1, &length, error);
  if (status != SCL_STATUS_OK) return status;
  *moved = length > 0;
  for (size_t i = t->dual != NULL ? d : 0; i < t->risk.size; i++)
    t->x[i] += length * t->direction[i];
  for (size_t i = 0; t->dual != NULL && i < n; i++)
    t->dual->u[i] += length * t->dual->direction[i];
  for (size_t i = 0; i < n; i++)
    t->scores[i] += length * t->change[i];
  status = best_constant(t, error);
  return status == SCL_STATUS_OK ? huber_differentiate(t, error) : status;
}

/* The norm of the gradient at a = 0 and b = 0, which the tolerance is relative to. */
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

/* Iterates to a stationary point for this delta. */
static scl_status huber_minimise(robust *t, scl_error *error) {
  const scl_problem *problem = t->risk.problem;
  const size_t most = t->self->max_iterations;
  bool moved = true;
  scl_status status = best_constant(t, error);
  if (status == SCL_STATUS_OK) status = measure_unit(t, error);
  if (status == SCL_STATUS_OK) status = huber_differentiate(t, error);
  while (status == SCL_STATUS_OK && moved) {
    t->residual = t->norm / t->unit;
    if (t->residual <= t->self->tolerance || t->steps >= most) break;
    status = problem->progress(problem, "Newton steps", (double)t->steps++ / (double)most,
                               t->value - risk_penalty(&t->risk, t->x), error);
    if (status == SCL_STATUS_OK) status = newton_step(t, &moved, error);
  }
  return status;
}

/* ------------ the scale */

/* The weighted median; the mean of two values where both qualify. Integer weights count a row as
 * often. */
static double median_of(const ranked *sorted, size_t count, const double *weights, double total) {
  double below = 0;
  for (size_t k = 0; k < count; k++) {
    below += weights[sorted[k].row];
    if (below < total / 2) continue;
    size_t next = k;
    while (below == total / 2 && next + 1 < count && (next == k || weights[sorted[next].row] == 0))
      next++;
    return (sorted[k].value + sorted[next].value) / 2;
  }
  return count == 0 ? 0 : sorted[count - 1].value;
}

/* 1.4826 median |r - median r|: it estimates the standard deviation of normal residuals, and
 * almost half of the residuals may be arbitrarily large without moving it far. */
static double huber_scale_of(robust *t) {
  const size_t n = t->risk.problem->rows;
  const double *weights = t->risk.weights;
  for (size_t i = 0; i < n; i++) {
    t->residuals[i] = t->scores[i] - t->risk.targets[i];
    t->order[i] = (ranked){.value = t->residuals[i], .row = i};
  }
  ranked_sort(t->order, n);
  const double middle = median_of(t->order, n, weights, t->risk.total);
  for (size_t i = 0; i < n; i++)
    t->order[i] = (ranked){.value = fabs(t->residuals[i] - middle), .row = i};
  ranked_sort(t->order, n);
  return 1.4826 * median_of(t->order, n, weights, t->risk.total);
}

/* ------------ one target */

/* Starting point: ridge regression, which is one Newton step with all rows inside. */
static scl_status huber_start(robust *t, scl_error *error) {
  bool moved;
  t->loss.delta = INFINITY;
  memset(t->x, 0, (t->risk.problem->features + 1) * sizeof *t->x);
  memset(t->scores, 0, t->risk.problem->rows * sizeof *t->scores);
  if (t->dual != NULL) huber_dual_reset(t->dual);
  scl_status status = best_constant(t, error);
  if (status == SCL_STATUS_OK) status = huber_differentiate(t, error);
  if (status == SCL_STATUS_OK) status = newton_step(t, &moved, error);
  return status;
}

/* Fits one target: minimises for the current scale and estimates the scale from the residuals,
 * in at most ROUNDS rounds, until the scale changes by at most 1%. */
static scl_status huber_fit_column(robust *t, scl_error *error) {
  enum { ROUNDS = 8 };
  scl_status status = huber_start(t, error);
  const bool mad = t->self->scale == SCALE_MAD;
  double largest = 0;
  for (size_t i = 0; i < t->risk.problem->rows; i++)
    largest = fmax(largest, fabs(t->risk.targets[i]));
  const double least = 1e-10 * largest + 1e-300; /* the residuals of an exact fit have no scale */
  for (int round = 0; status == SCL_STATUS_OK && round < ROUNDS; round++) {
    const double scale = mad ? fmax(huber_scale_of(t), least) : 1;
    if (round > 0 && fabs(scale - t->scale) <= 0.01 * t->scale) break;
    t->scale = scale;
    t->loss.delta = t->self->loss.delta * scale;
    status = huber_minimise(t, error);
    if (!mad) break;
  }
  return status;
}

/* *mean = the mean of the n numbers of x; 0 without an intercept. */
static scl_status mean_of(const robust *t, const double *x, double *mean, scl_error *error) {
  const size_t n = t->risk.problem->rows;
  *mean = 0;
  if (!t->risk.intercept) return SCL_STATUS_OK;
  const scl_status status = row_total(t->risk.problem, x, n, 1, mean, error);
  *mean /= (double)n;
  return status;
}

/* a and b from the dual, and scores of them. *apart: how far the dual's are from these, relative to
 * the largest. */
static scl_status huber_recover(robust *t, double *apart, scl_error *error) {
  const scl_problem *problem = t->risk.problem;
  const size_t n = problem->rows, d = problem->features;
  double mean = 0, largest = 0, most = 0;
  scl_status status = huber_dual_take(t->dual, t->x, t->direction, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, t->x, 1, t->change, error);
  for (size_t i = 0; i < n; i++)
    t->residuals[i] = t->scores[i] - t->change[i];
  if (status == SCL_STATUS_OK) status = mean_of(t, t->residuals, &mean, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fmax(fabs(t->change[i]), fabs(t->change[i] + mean)));
    most = fmax(most, fabs(t->change[i] + mean - t->scores[i]));
    t->scores[i] = t->change[i] + mean;
  }
  t->x[d] = mean;
  *apart = largest > 0 ? most / largest : 0;
  return SCL_STATUS_OK;
}

/* The largest `apart` at once, and after more steps from the scores of a. */
static const double EXACT = 1e-11, ROUNDING = 1e-6;

/* The solution of the dual, whose gradient holds for the scores of a as far as these are the same
 * but for rounding. Where they are not, as with sums of float32 features, steps go on from the
 * scores of a. */
static scl_status huber_settle(robust *t, scl_error *error) {
  enum { ROUNDS = 5 };
  const size_t d = t->risk.problem->features;
  for (int round = 0;; round++) {
    double apart = 0;
    scl_status status = huber_recover(t, &apart, error);
    if (status != SCL_STATUS_OK || apart <= (round == 0 ? EXACT : ROUNDING)) return status;
    if (round == ROUNDS) break;
    status = mean_of(t, t->scores, &t->x[d], error);
    if (status == SCL_STATUS_OK) status = huber_minimise(t, error);
    if (status != SCL_STATUS_OK) return status;
  }
  huber_dual *dual = t->dual;
  t->dual = NULL;
  const scl_status status = huber_differentiate(t, error);
  t->dual = dual;
  t->residual = t->norm / t->unit;
  return status;
}

/* Records a target that did not reach the tolerance. */
static void note_limit(const robust *t, scl_solution *out) {
  (void)snprintf(out->note, sizeof out->note,
                 "the gradient is %.1e of the one at 0, %.1e was wanted: %s", t->residual,
                 t->self->tolerance,
                 t->steps < t->self->max_iterations
                     ? "rounding allows no smaller one: give a larger lambda or tolerance"
                     : "give more max_iterations or a larger lambda");
}

/* Solves target j from a = 0, and adds its result to `out`. */
static scl_status solve_column(robust *t, const risk *all, size_t j, scl_solution *out,
                               scl_error *error) {
  const size_t n = all->problem->rows, d = all->problem->features, c = all->problem->targets;
  t->loss = t->self->loss;
  t->value = NAN;
  t->scale = t->residual = 0;
  t->steps = 0;
  for (size_t i = 0; i < n; i++)
    t->risk.targets[i] = all->targets[i * c + j];
  scl_status status = huber_fit_column(t, error);
  if (status == SCL_STATUS_OK && t->dual != NULL) status = huber_settle(t, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < d; i++)
    out->coefficients[i * c + j] = t->x[i];
  if (all->intercept) out->intercept[j] = t->x[d];
  if (t->residual > t->self->tolerance) note_limit(t, out);
  out->iterations += t->steps;
  out->residual = fmax(out->residual, t->residual);
  return SCL_STATUS_OK;
}

static scl_status huber_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  const huber *self = instance;
  risk all;
  huber_dual dual;
  robust t;
  scl_status status = risk_open(&all, problem, &self->loss, self->lambda, error);
  if (status != SCL_STATUS_OK) return status;
  status = huber_dual_open(&dual, problem, error);
  const bool opened = status == SCL_STATUS_OK;
  if (opened) status = robust_open(&t, self, &all, &dual, error);
  out->residual = 0;
  out->iterations = 0;
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->targets; j++)
    status = solve_column(&t, &all, j, out, error);
  if (opened) refined_close(&t.system);
  weighted_dual_close(&dual.system);
  if (status != SCL_STATUS_OK) return status;
  out->tolerance = self->tolerance;
  out->outcome = out->residual <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_CONVERGED && self->scale == SCALE_MAD)
    (void)snprintf(out->note, sizeof out->note, "delta = %.9g in the target's units%s",
                   t.loss.delta, problem->targets > 1 ? " (the last target's)" : "");
  return SCL_STATUS_OK;
}

/* The loss, where delta does not depend on the rows. */
static const void *huber_ability(const void *self, const char *id) {
  const bool known = ((const huber *)self)->scale == SCALE_NONE;
  return known && strcmp(id, SCL_ABILITY_LOSS) == 0 ? &loss_ability : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "huber",
    .summary = "Robust regression: Huber's loss with a ridge penalty",
    .definition =
        "h(r) = when(abs(r) <= delta, r^2/2, delta*abs(r) - delta^2/2)\n"
        "objective(rows, a) = scale == \"none\" and\n"
        "  average(rows, function(r) return h(r.f - r.y) end) + lambda/2*dot(a, a)\n"
        /* With scale "mad" as follows. The middle of values with the weights of the rows: the mean of two
         * values where both are. */
        "median(rows, list) = (function(order, below)\n"
        "  local half = sum(rows, function(r) return r.w end)/2\n"
        "  for k = 1, #order do\n"
        "    for i = 1, order[k] ~= order[k - 1] and #rows or 0 do\n"
        "      below = below + (list[i] == order[k] and rows[i].w or 0)\n"
        "    end\n"
        "    if below > half then return order[k] end\n"
        "    if below == half then return (order[k] + order[k + 1])/2 end\n"
        "  end\n"
        "end)(sorted(list), 0)\n"
        /* Ridge regression on rows of weights u, whose penalty does not depend on these. */
        "ridge(rows, u) = (function(mean)\n"
        "  local y, m = mean(function(r) return r.y end), map(rows[1].x, function(_, j)\n"
        "    return mean(function(r) return r.x[j] end)\n"
        "  end)\n"
        "  local function moment(i, f)\n"
        "    return sum(rows, function(r, k) return u[k]*(r.x[i] - m[i])*f(r) end)\n"
        "  end\n"
        "  local N = sum(rows, function(r) return r.w end)\n"
        "  local a = solve(map(m, function(_, i) return map(m, function(_, j)\n"
        "    return moment(i, function(r) return r.x[j] - m[j] end) + (i == j and lambda*N or 0) "
        "end) end),\n"
        "    map(m, function(_, i) return moment(i, function(r) return r.y - y end) end))\n"
        "  return function(x) return y + sum(a, function(v, j) return v*(x[j] - m[j]) end) end\n"
        "end)(function(f)\n"
        "  return intercept and sum(rows, function(r, i) return u[i]*f(r) end)/sum(u) or 0\n"
        "end)\n"
        /* The least point of the objective for a delta of d, by reweighted least squares from f; nil where
         * these do not settle. */
        "robust(rows, d, f) = (function()\n"
        "  for _ = 1, 400 do\n"
        "    local before = map(rows, function(r) return f(r.x) end)\n"
        "    f = ridge(rows, map(rows, function(r, i) return r.w*min(1, d/abs(before[i] - r.y)) "
        "end))\n"
        "    local moved = largest(rows, function(r, i) return abs(f(r.x) - before[i]) end)\n"
        "    if moved < 1e-10*d then return f end\n"
        "  end\n"
        "end)()\n"
        /* 1.4826 times the median distance of the residuals from their median. */
        "spread(rows, f) = (function(off)\n"
        "  local middle = median(rows, off)\n"
        "  return 1.4826*median(rows, map(off, function(r) return abs(r - middle) end))\n"
        "end)(map(rows, function(r) return f(r.x) - r.y end))\n"
        /* Rounds of scale and fit, from ridge, until the scale changes by 1%. */
        "score(rows) = scale == \"mad\" and type(rows[1].y) == \"number\" and (function(f)\n"
        "  local s\n"
        "  for _ = 1, 8 do\n"
        "    local now = spread(rows, f)\n"
        "    if s and abs(now - s) <= 0.01*s then break end\n"
        "    s, f = now, robust(rows, delta*now, f)\n"
        "    if not f or now == 0 then return nil end\n"
        "  end\n"
        "  return f\n"
        "end)(ridge(rows, map(rows, function(r) return r.w end)))",
    .doc =
        "min_{a,b} (1/n) sum_i h(phi_i a + b - y_i) + (lambda/2) ||a||^2,\n"
        "h(r) = r^2/2 for |r| <= delta, else delta |r| - delta^2/2, each target by itself,\n"
        "by Newton's method with an exact line search from the ridge solution; with more features\n"
        "than rows, all of one weight, by n x n systems. scale = \"mad\"\n"
        "takes delta in units of the residuals' robust scale (1.345: 95% of least squares'\n"
        "efficiency on normal noise), found together with the fit; info().note reports delta in "
        "the\n"
        "target's units. It ends when the gradient's norm is `tolerance` of that at a = 0.",
    SCL_SOLVER(.solve = huber_solve),
    SCL_INSTANCE(huber, options),
    SCL_ABILITIES(SCL_OFFER_BARE(SCL_ABILITY_ORDERED_ROWS, scl_ability_ordered_rows)),
    .create = huber_create,
    .ability = huber_ability};
