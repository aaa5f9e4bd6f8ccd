/* Learning in a box (Rahimi and Recht 2008, equation 4):
 *
 *   min_a (1/n) sum_i l(f(x_i), y_i)   s.t. ||a||_inf <= C/T,
 *         f = Phi a (+ b), a column of y at a time
 *
 * Phi n x D, T parameters (T = D where the features come from no map); l any loss of
 * shared/losses.h. The square loss is solved on the accumulated normal equations by the primal-dual
 * interior point method of interior.c. The other losses are solved by Newton's method (newton.c);
 * each step updates the Hessian by the rows whose curvature has changed, and makes three passes
 * over the features. Where it makes no progress (some degenerate problems), and for the hinge of
 * few rows, the interior point method is used, on normal equations whose row weights change in each
 * step (rows.c). With more than two features per row all losses use that method, on n x n systems
 * (wide.c). Both methods stop on the duality gap between a and the dual point v of the loss, as a
 * share of the objective at a = 0:
 *
 *   square   sum_j ( C/T |v_j| - v_j a_j ),   v = Phi'(y - Phi a)
 *   others   sum_i p_i (l(f_i) + l*(-v_i/p_i)) + C/T ||Phi'v||_1,   l* the conjugate of l */
#include "box.h"
#include "shared/cost.h"
#include "shared/mean_loss.h"
#include "shared/separable.h"
#include "shared/solver_options.h"

#include <stdio.h>

typedef struct box {
  loss_choice loss;
  double C, tolerance;
  size_t max_iterations;
} box;

static const scl_option options[] = {
    SCL_NUMBER(box, C, "1", "|a_t| <= C/T for each of T parameters", SCL_POSITIVE,
               .role = SCL_ROLE_CAPACITY),
    LOSS_OPTIONS,
    SOLVER_TOLERANCE(box, "1e-6", "duality gap to stop at, as a share of the objective at a = 0"),
    SOLVER_MAX_ITERATIONS(box, "200", "steps for each target"), SOLVER_INTERCEPT};

static scl_status box_create(void *self, scl_error *error) {
  (void)error;
  ((box *)self)->loss.apart = true;
  return SCL_STATUS_OK;
}

/* C/T, the bound on every coefficient. */
static double largest_weight(const box *self, const scl_problem *problem) {
  return self->C / (double)(problem->parameters > 0 ? problem->parameters : problem->features);
}

/* Writes the best point of one target to the solution and updates its outcome: gap is the worst
 * over targets so far. unit: the objective at a = 0. */
static void box_keep(const box *self, const scl_problem *problem, size_t target,
                     const interior_box *b, double unit, size_t steps, scl_solution *out) {
  const double relative = unit > 0 ? b->best_gap / unit : b->best_gap;
  for (size_t j = 0; j < problem->features; j++)
    out->coefficients[j * problem->targets + target] = b->best[j];
  out->iterations += steps;
  out->tolerance = self->tolerance;
  if (target == 0 || relative > out->gap) out->gap = relative;
  out->outcome = out->gap <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    separable_note(out,
                   steps < self->max_iterations
                       ? "rounding allows no smaller one: give a smaller C or a larger tolerance"
                       : "give more max_iterations");
}

/* ------------ square: on sums over rows */

/* Solves one target with the square loss on the normal equations. Where the targets do not vary
 * (unit 0) the solution is a = 0 with gap 0. */
static scl_status solve_square(const box *self, const scl_problem *problem, size_t target,
                               interior_box *b, scl_solution *out, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  size_t steps = 0;
  scl_status status = problem->normal(problem, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  const interior_quadratic q = {.box = b,
                                .problem = problem,
                                .matrix = normal.moment,
                                .right = normal.right + target,
                                .stride = problem->targets,
                                .most = self->max_iterations};
  const double unit = normal.square[target] / 2;
  b->best_gap = INFINITY;
  if (unit <= 0) {
    interior_box_start(b, 0);
    (void)interior_box_note(b, 0);
  } else {
    status = interior_quadratic_follow(&q, self->tolerance * unit, &steps, error);
    if (status == SCL_STATUS_OK) status = interior_quadratic_settle(&q, error);
  }
  if (status == SCL_STATUS_OK) box_keep(self, problem, target, b, unit, steps, out);
  return status;
}

/* ------------ other losses: new weights a step */

typedef struct weighted {
  interior_box *box;
  box_wide *wide; /* NULL: by D x D systems */
  box_rows rows;
  double *pulled; /* D x ROWS_COLUMNS: Phi' columns */
  double length;  /* length of the last step */
  double
      least; /* the least mu: a smaller one would cost digits while the loss still falls slowly */
} weighted;

/* Factors Newton's system for the row weights in `columns`. */
static scl_status weighted_factor(const scl_problem *problem, weighted *m, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  if (m->wide != NULL) return box_wide_factor(m->wide, m->box, m->rows.weight, error);
  const scl_status status = problem->reweighted(problem, m->rows.weight, &normal, error);
  return status == SCL_STATUS_OK ? interior_box_factor(m->box, normal.moment, error) : status;
}

/* Computes Newton's step for the current goals in box->step, and the change of the scores in
 * rows.df. Centring the features by their weighted mean eliminates the intercept, which moves by
 * *by. */
static scl_status weighted_direct(const scl_problem *problem, weighted *m, double *by,
                                  scl_error *error) {
  interior_box *b = m->box;
  double descent = 0, total = 0;
  for (size_t i = 0; i < m->rows.count; i++) {
    descent += m->rows.columns[i * ROWS_COLUMNS + ROWS_DESCENT];
    total += m->rows.weight[i];
  }
  const double shift = problem->intercept && m->wide == NULL ? descent / total : 0;
  for (size_t j = 0; j < b->order; j++)
    b->descent[j] = m->pulled[j * ROWS_COLUMNS + ROWS_DESCENT] -
                    shift * m->pulled[j * ROWS_COLUMNS + ROWS_WEIGHT];
  if (m->wide != NULL) {
    interior_box_side(b);
    return box_wide_direct(m->wide, b, descent, by, m->rows.df, error);
  }
  scl_status status = interior_box_direct(b, error);
  *by = shift;
  for (size_t j = 0; problem->intercept && j < b->order; j++)
    *by -= m->pulled[j * ROWS_COLUMNS + ROWS_WEIGHT] / total * b->step[j];
  if (status == SCL_STATUS_OK) status = problem->product(problem, b->step, 1, m->rows.df, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->rows.count; i++)
    m->rows.df[i] += *by;
  return status;
}

/* Lengths of the primal and dual steps. Where the loss has curvature (bend > 0) the multipliers
 * depend on the scores, so both take the shorter length. */
static void weighted_limit(const weighted *m, double *primal, double *dual) {
  *primal = *dual = 1;
  interior_box_limit(m->box, primal, dual);
  box_rows_limit(&m->rows, primal, dual);
  if (!m->rows.smooth && m->rows.bend > 0) *primal = *dual = fmin(*primal, *dual);
}

/* Sum of the complementarity products of rows and coefficients after steps of these lengths. */
static double weighted_products(const weighted *m, double primal, double dual) {
  return box_rows_products(&m->rows, primal, dual) + interior_box_products(m->box, primal, dual);
}

/* Number of those products; their sum over this number is the mean product. */
static double weighted_number(const weighted *m) {
  return (double)(box_rows_number(&m->rows) + 2 * m->box->order);
}

static void weighted_aim(weighted *m, double mu) {
  interior_box_aim(m->box, mu);
  box_rows_aim(&m->rows, mu);
}

/* pulled = Phi' columns, for the current goals. */
static scl_status weighted_pull(const scl_problem *problem, weighted *m, scl_error *error) {
  box_rows_prepare(&m->rows);
  return problem->adjoint(problem, m->rows.columns, ROWS_COLUMNS, m->pulled, error);
}

/* loss - mu sum log(bound^2 - a^2) after a step of this length */
static double barrier_value(const weighted *m, double mu, double length) {
  const interior_box *b = m->box;
  double barrier = 0;
  for (size_t j = 0; j < b->order; j++) {
    const double a = b->a[j] + length * b->step[j];
    barrier += log((b->bound - a) / b->bound) + log((b->bound + a) / b->bound);
  }
  return box_rows_loss(&m->rows, length) - mu * barrier;
}

/* Halve the step until the barrier function falls. */
static double shorten(const weighted *m, double mu, double length) {
  const double now = barrier_value(m, mu, 0);
  for (int tries = 0; tries < 30 && !(barrier_value(m, mu, length) <= now + 1e-14 * fabs(now));
       tries++)
    length /= 2;
  return length;
}

/* Step for losses with constraints (Mehrotra): a predictor step towards mu = 0 sets the goals of
 * the step that is taken. */
static scl_status constrained_step(const scl_problem *problem, weighted *m, double *by,
                                   double *primal, double *dual, scl_error *error) {
  scl_status status = weighted_direct(problem, m, by, error);
  if (status != SCL_STATUS_OK) return status;
  weighted_limit(m, primal, dual);
  const double mu =
      fmax(m->least, interior_goal(weighted_products(m, 0, 0), weighted_products(m, *primal, *dual),
                                   weighted_number(m)));
  interior_box_correct(m->box, mu);
  box_rows_correct(&m->rows, mu);
  status = weighted_pull(problem, m, error);
  if (status == SCL_STATUS_OK) status = weighted_direct(problem, m, by, error);
  if (status == SCL_STATUS_OK) weighted_limit(m, primal, dual);
  return status;
}

/* Step for smooth losses, without a predictor: mu is chosen from the length of the last step. */
static scl_status smooth_step(const scl_problem *problem, weighted *m, double *by, double *primal,
                              double *dual, scl_error *error) {
  const double mu =
      fmax(m->least, interior_share(m->length) * weighted_products(m, 0, 0) / weighted_number(m));
  weighted_aim(m, mu);
  const scl_status status = weighted_direct(problem, m, by, error);
  if (status != SCL_STATUS_OK) return status;
  weighted_limit(m, primal, dual);
  *primal = shorten(m, mu, *primal);
  m->length = fmin(*primal, *dual);
  return SCL_STATUS_OK;
}

/* One step of the interior point method: factors the system, finds the step, and takes it. */
static scl_status weighted_step(const scl_problem *problem, weighted *m, scl_error *error) {
  double by = 0, primal = 1, dual = 1;
  scl_status status = weighted_factor(problem, m, error);
  if (status == SCL_STATUS_OK)
    status =
        (m->rows.smooth ? smooth_step : constrained_step)(problem, m, &by, &primal, &dual, error);
  if (status != SCL_STATUS_OK) return status;
  interior_box_move(m->box, primal, dual);
  box_rows_move(&m->rows, primal, dual);
  m->box->constant += primal * by;
  return SCL_STATUS_OK;
}

/* Copies one column of targets, and row weights scaled to sum 1. With the square loss and an
 * intercept the targets are centred; *mean receives their mean. */
static scl_status box_read_rows(const scl_problem *problem, size_t target, weighted *m,
                                double *mean, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double total = 0, *all = problem->host->allocate(n * c * sizeof *all);
  if (all == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets",
                               n * c);
  const scl_status status = problem->responses(problem, all, m->rows.p, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++) {
    m->rows.y[i] = all[i * c + target];
    total += m->rows.p[i];
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < n; i++)
    m->rows.p[i] /= total;
  *mean = 0;
  if (status == SCL_STATUS_OK && problem->intercept && m->rows.choice->loss == LOSS_SQUARE)
    for (size_t i = 0; i < n; i++)
      *mean += m->rows.p[i] * m->rows.y[i];
  for (size_t i = 0; *mean != 0 && i < n; i++)
    m->rows.y[i] -= *mean;
  problem->host->release(all);
  return status;
}

/* Iterates until the gap is small enough. If the system does not factor, rounding has ended the
 * progress: the best point so far stands, and its gap says how good it is. */
static scl_status weighted_follow(const box *self, const scl_problem *problem, weighted *m,
                                  double goal, size_t *steps, scl_error *error) {
  box_rows_start(&m->rows);
  m->least = 0.05 * goal / weighted_number(m);
  interior_box_start(m->box, goal / self->tolerance /
                                 (double)(m->rows.smooth ? 2 * m->box->order : m->rows.count));
  for (;; ++*steps) {
    scl_status status =
        problem->progress(problem, "solving", (double)*steps / (double)self->max_iterations,
                          box_rows_loss(&m->rows, 0), error);
    weighted_aim(m, 0);
    if (status == SCL_STATUS_OK) status = weighted_pull(problem, m, error);
    if (status != SCL_STATUS_OK) return status;
    const double gap =
        box_rows_gap(&m->rows, m->pulled, m->box->order, m->box->bound, problem->intercept != 0);
    if (!interior_box_note(m->box, gap) || gap <= goal || *steps >= self->max_iterations)
      return SCL_STATUS_OK;
    status = weighted_step(problem, m, error);
    if (status == SCL_STATUS_NUMERIC) return SCL_STATUS_OK;
    if (status != SCL_STATUS_OK) return status;
  }
}

/* With more rows Newton's method runs first also for a hinge loss, whose minimisers are often a whole
 * face; the interior point method ends in its middle, and is cheap for few rows. */
enum { HINGE_ROWS = 1024 };

/* Runs Newton's method on one target. The best point is left in the box; after the hinge, which has
 * delta > 0, its constant moves to the middle of the minimisers. */
static scl_status solve_newton(const box *self, const scl_problem *problem, weighted *m,
                               double goal, size_t *steps, scl_error *error) {
  box_newton newton;
  scl_status status = box_newton_open(&newton, problem, m->box, &m->rows, m->pulled, error);
  if (status != SCL_STATUS_OK) return status;
  status = box_newton_follow(&newton, goal, self->max_iterations, steps, error);
  if (status == SCL_STATUS_OK && newton.delta > 0 && problem->intercept)
    status = box_newton_centre(&newton, error);
  box_newton_close(&newton);
  return status;
}

/* Solves one target with a loss other than the square one, or any loss on wide systems (wide: NULL
 * for D x D systems). Newton's method comes first where it applies; the interior point method
 * continues where its gap is too large and steps are left. */
static scl_status solve_weighted(const box *self, const scl_problem *problem, size_t target,
                                 interior_box *b, box_wide *wide, scl_solution *out,
                                 scl_error *error) {
  const scl_host *host = problem->host;
  const size_t n = problem->rows, d = problem->features;
  double *memory = host->allocate((box_rows_numbers(n) + d * ROWS_COLUMNS) * sizeof *memory);
  if (memory == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  weighted m = {.box = b,
                .wide = wide,
                .rows = box_rows_in(memory, n, &self->loss),
                .pulled = memory + box_rows_numbers(n),
                .length = 0.5};
  double unit = 0, mean = 0;
  size_t steps = 0;
  scl_status status = box_read_rows(problem, target, &m, &mean, error);
  if (status == SCL_STATUS_OK) {
    for (size_t i = 0; i < n; i++)
      m.rows.f[i] = m.rows.df[i] = 0;
    unit = box_rows_loss(&m.rows, 0);
    b->best_gap = INFINITY;
    if (unit <= 0) { /* targets that are their mean */
      interior_box_start(b, 0);
      (void)interior_box_note(b, 0);
    } else if (wide == NULL && (m.rows.smooth || m.rows.bend > 0 || m.rows.count > HINGE_ROWS))
      status = solve_newton(self, problem, &m, self->tolerance * unit, &steps, error);
  }
  if (status == SCL_STATUS_OK && b->best_gap > self->tolerance * unit &&
      steps < self->max_iterations)
    status = weighted_follow(self, problem, &m, self->tolerance * unit, &steps, error);
  if (status == SCL_STATUS_OK) box_keep(self, problem, target, b, unit, steps, out);
  if (status == SCL_STATUS_OK && out->intercept != NULL)
    out->intercept[target] = mean + b->best_constant;
  host->release(memory);
  return status;
}

/* ------------ the plugin */

/* Solves each target separately; the memory of the methods is shared by all targets. */
static scl_status box_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                            scl_error *error) {
  const box *self = instance;
  const bool is_wide = box_wide_fits(problem);
  interior_box b;
  box_wide wide = {.problem = NULL};
  scl_status status = loss_check(&self->loss, problem, error);
  if (status == SCL_STATUS_OK)
    status = interior_box_open(&b, problem->host, problem->features, largest_weight(self, problem),
                               !is_wide, error);
  if (status != SCL_STATUS_OK) return status;
  if (is_wide) status = box_wide_open(&wide, problem, WIDE_BYTES, error);
  for (size_t target = 0; status == SCL_STATUS_OK && target < problem->targets; target++)
    status = self->loss.loss == LOSS_SQUARE && !is_wide
                 ? solve_square(self, problem, target, &b, out, error)
                 : solve_weighted(self, problem, target, &b, is_wide ? &wide : NULL, out, error);
  box_wide_close(&wide);
  interior_box_close(&b);
  return status;
}

/* The penalty R(a): 0 inside the box, infinite outside. */
static scl_status box_objective(const void *instance, const scl_problem *problem,
                                const double *coefficients, const double *intercept, double *value,
                                scl_error *error) {
  const box *self = instance;
  const scl_status status = mean_loss(problem, &self->loss, coefficients, intercept, value, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->features * problem->targets; j++)
    if (!(fabs(coefficients[j]) <= largest_weight(self, problem))) *value = INFINITY;
  return status;
}

static scl_penalty box_penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_BOX;
}

/* The sums over rows suffice for the square loss unless the n x n system is used. */
static int32_t box_normal_alone(const void *self, const scl_problem *problem, const double *values,
                                size_t count, int32_t rows_have_weights) {
  (void)rows_have_weights, (void)values, (void)count;
  return ((const box *)self)->loss.loss == LOSS_SQUARE && !box_wide_fits(problem);
}

/* The host would otherwise bound the squared loss (f - y)^2. */
static const void *box_ability(const void *self, const char *id) {
  const bool square = ((const box *)self)->loss.loss == LOSS_SQUARE;
  return !square && strcmp(id, SCL_ABILITY_LOSS) == 0 ? &loss_ability : NULL;
}

/* With the n x n system: its matrix is made anew at each step, from rows that are held. */
static void wide_cost(const scl_problem *problem, double steps, scl_cost *out) {
  const double n = (double)problem->rows, d = (double)problem->features,
               held = fmin(n, (double)WIDE_BYTES / (d * sizeof(double)) + WIDE_TILE);
  out->passes = held < n ? 3 * steps : 3;
  out->factorised = steps * cost_cholesky(n);
  out->products = steps * n * n * d;
  out->bytes = 2 * cost_symmetric(n) +
               ((held + WIDE_TILE + 16) * d + (double)box_rows_numbers(problem->rows) + 5 * n) *
                   sizeof(double);
}

/* The square loss: an interior point method on the sums. Others: Newton's method, of three passes a
 * step, and some sums with other weights. Numbers of steps are typical. */
static void box_cost(const void *instance, const scl_problem *problem, const double *values,
                     size_t count, int32_t rows_have_weights, scl_cost *out) {
  const box *self = instance;
  enum { TYPICAL_STEPS = 20, TYPICAL_SUMS = 6 };
  const bool square = self->loss.loss == LOSS_SQUARE;
  const double n = (double)problem->rows, d = (double)problem->features,
               c = (double)problem->targets,
               steps = c * fmin((double)self->max_iterations, TYPICAL_STEPS);
  (void)values, (void)count, (void)rows_have_weights;
  out->normal = square;
  out->reweighted = square ? 0 : c * TYPICAL_SUMS;
  out->passes = square ? 0 : 3 * steps;
  out->columns = 1;
  (void)snprintf(out->note, sizeof out->note, "%g steps, a typical number", steps);
  if (box_wide_fits(problem)) {
    out->normal = out->reweighted = 0;
    wide_cost(problem, steps, out);
    return;
  }
  out->factorised = (square ? steps : c * TYPICAL_SUMS) * cost_cholesky(d);
  out->bytes = cost_symmetric(d) +
               ((double)box_rows_numbers(problem->rows) + n * c + 12 * d) * sizeof(double);
}

const scl_plugin scullery_plugin = {
    .name = "box",
    .summary = "A convex loss with every weight in [-C/T, C/T], to a duality gap",
    .definition = "h(r) = when(abs(r) <= delta, r^2/2, delta*abs(r) - delta^2/2)\n"
                  "l(f, y) = when(loss == \"square\", (f - y)^2/2, loss == \"logistic\", max(-f*y, "
                  "0) + log1p(exp(-abs(f*y))),\n"
                  "  loss == \"exponential\", exp(-f*y), loss == \"hinge\", max(0, 1 - f*y),\n"
                  "  loss == \"squared_hinge\", max(0, 1 - f*y)^2/2, h(f - y))\n"
                  "objective(rows, a) = when(largest(a, abs) <= C/#a*(1 + 1e-9),\n"
                  "  average(rows, function(r) return l(r.f, r.y) end), inf)",
    .doc =
        "min_a (1/n) sum l(f(x_i), y_i) s.t. ||a||_inf <= C/T, each target apart (Rahimi and "
        "Recht\n"
        "2008, equation 4); T parameters, or columns where there are no features. Features of\n"
        "sc.features are phi/sqrt(T), so that a_t is sqrt(T) times the weight of phi: the C of\n"
        "the paper, and of p:bound{}, is this one over sqrt(T). The square loss: an interior "
        "point\n"
        "method on the sums over rows. The other losses: Newton's method in the box, ten to forty\n"
        "times three passes over the features, and together a few sums over rows; where that\n"
        "makes no progress, and for the hinge of at most 1024 rows, the interior point method on\n"
        "sums that are made again each step. With more than two features a row all losses take\n"
        "the interior point method, by n x n systems: n^2 D products per step, and up to 256 MB "
        "of\n"
        "rows in float64.\n"
        "Losses of y f are for classification. Converged means that the duality gap is at most\n"
        "`tolerance` of the objective at a = 0 (square: the mean of y^2 / 2; hinge\n"
        "and exponential: 1; logistic: log 2); info().gap reports the gap. Bounds are for the\n"
        "squared loss (f - y)^2, or the loss named.",
    SCL_SOLVER(.dtypes = SCL_BIT(SCL_DTYPE_FLOAT32) | SCL_BIT(SCL_DTYPE_FLOAT64),
               .solve = box_solve),
    SCL_INSTANCE(box, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = box_penalty),
        SCL_OFFER(SCL_ABILITY_NORMAL, scl_ability_normal, .alone = box_normal_alone),
        SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = box_objective),
        SCL_OFFER_BARE(SCL_ABILITY_ORDERED_ROWS, scl_ability_ordered_rows),
        SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = box_cost)),
    .create = box_create,
    .ability = box_ability};
