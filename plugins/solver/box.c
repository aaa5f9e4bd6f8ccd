/* Learning in a box (Rahimi and Recht 2008, equation 4):
 *
 *   min_a (1/n) sum_i l(f(x_i), y_i)   s.t. ||a||_inf <= C/T,   f = Phi a (+ b),
 *       a column of y at a time
 *
 * l = (f - y)^2 / 2 (square), max(0, 1 - y f) (hinge) or log(1 + exp(-y f)) (logistic); Phi n x D,
 * T parameters (T = D where the features come from no map). By the primal-dual interior point
 * method of shared/interior_box.h: the square on the accumulated normal equations, the other two on
 * normal equations whose rows are weighted anew each step (shared/margin_rows.h), so that the
 * features are walked three times a step. Ends on the duality gap between a and the loss's own dual
 * point, as a share of the objective at a = 0:
 *
 *   square    sum_j ( C/T |v_j| - v_j a_j ),  v = Phi'(y - Phi a)
 *   others    sum l(y f) - sum d(alpha) + C/T ||Phi'(y alpha)||_1,
 *             d(alpha) = alpha or the entropy of
 * alpha */
#include "shared/margin_rows.h"
#include "shared/mean_loss.h"
#include "shared/separable.h"

enum { BOUND, LOSS, TOLERANCE, MAX_ITERATIONS, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"C", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "|a_t| <= C/T for each of T parameters"},
    {"loss", SCL_FORM_WORD, "square|hinge|logistic", "square", 0, 0, 0, SCL_WIDTH_NONE,
     "(f - y)^2 / 2, max(0, 1 - y f) or log(1 + exp(-y f))"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-6", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "duality gap to stop at, as a share of the objective at a = 0"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "200", 1, 1e9, 0, SCL_WIDTH_NONE,
     "steps for each target"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unconstrained constant"},
};

typedef enum box_loss { SQUARE, HINGE, LOGISTIC } box_loss;

typedef struct box {
  const scl_host *host;
  double c, tolerance;
  box_loss loss;
  size_t most;
} box;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const char *loss = values[LOSS].word;
  box *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (box){host, values[BOUND].number, values[TOLERANCE].number,
                strcmp(loss, "square") == 0  ? SQUARE
                : strcmp(loss, "hinge") == 0 ? HINGE
                                             : LOGISTIC,
                (size_t)values[MAX_ITERATIONS].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  box *self = instance;
  self->host->release(self);
}

static double largest_weight(const box *self, const scl_problem *problem) {
  return self->c / (double)(problem->parameters > 0 ? problem->parameters : problem->features);
}

/* What became of one target: its share in the solution. */
static void keep(const box *self, const scl_problem *problem, size_t target, const interior_box *b,
                 double unit, size_t steps, scl_solution *out) {
  const double relative = b->best_gap / unit;
  for (size_t j = 0; j < problem->features; j++)
    out->coefficients[j * problem->targets + target] = b->best[j];
  out->iterations += steps;
  out->tolerance = self->tolerance;
  if (target == 0 || relative > out->gap) out->gap = relative;
  out->outcome = out->gap <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    separable_note(out, steps < self->most
                            ? "a smaller C or a larger tolerance, rounding leaves no smaller one"
                            : "more max_iterations");
}

/* ---------------------------------------------------------------- square: on sums over rows */

/* descent = right - G a; returns the gap. */
static double square_gap(interior_box *b, const scl_normal *normal, const double *right,
                         size_t stride, const double *a) {
  const separable r = {0, 0, b->bound};
  b->algebra->multiply(normal->gram, a, 1, b->descent);
  for (size_t j = 0; j < b->order; j++)
    b->descent[j] = right[j * stride] - b->descent[j];
  return separable_gap(&r, b->order, a, b->descent, 0, NULL);
}

/* Coefficients that end within rounding of a bound are put on it, where that does not widen the
 * gap. */
static void square_settle(interior_box *b, const scl_normal *normal, const double *right,
                          size_t stride) {
  double *snapped = b->step;
  for (size_t j = 0; j < b->order; j++)
    snapped[j] =
        1 - fabs(b->best[j]) / b->bound < 1e-6 ? copysign(b->bound, b->best[j]) : b->best[j];
  const double settled = square_gap(b, normal, right, stride, snapped);
  if (!(settled <= b->best_gap)) return;
  b->best_gap = settled;
  memcpy(b->best, snapped, b->order * sizeof *b->best);
}

/* mu for the real step, once a first one towards 0 is known that may go so far: the less is left of
 * the products, the smaller. */
static double mehrotra(double before, double after, double number) {
  const double left = before > 0 ? fmax(after, 0) / before : 0;
  return left * left * left * before / number;
}

static scl_status square_step(interior_box *b, const scl_normal *normal, scl_error *error) {
  double primal = 1, dual = 1;
  const scl_status status = interior_box_factor(b, normal->gram, error);
  if (status != SCL_STATUS_OK) return status;
  interior_box_aim(b, 0);
  interior_box_direct(b);
  interior_box_limit(b, &primal, &dual);
  interior_box_correct(b, mehrotra(interior_box_products(b, 0, 0),
                                   interior_box_products(b, primal, dual), 2 * (double)b->order));
  interior_box_direct(b);
  primal = dual = 1;
  interior_box_limit(b, &primal, &dual);
  interior_box_move(b, primal, dual);
  return SCL_STATUS_OK;
}

static scl_status solve_square(const box *self, const scl_problem *problem, size_t target,
                               interior_box *b, scl_solution *out, scl_error *error) {
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  scl_status status = problem->normal(problem, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  if (normal.square[target] <= 0) { /* targets that are their mean: all weights 0 */
    interior_box_start(b, 0);
    (void)interior_box_note(b, 0);
    keep(self, problem, target, b, 1, 0, out);
    return SCL_STATUS_OK;
  }
  const double *right = normal.right + target, unit = normal.square[target] / 2,
               goal = self->tolerance * unit;
  size_t steps = 0;
  interior_box_start(b, 0);
  const double first = square_gap(b, &normal, right, problem->targets, b->a);
  interior_box_start(b, first / (2 * (double)b->order));
  for (double gap = first; interior_box_note(b, gap) && gap > goal && steps < self->most; steps++) {
    status = problem->progress(problem, (double)steps / (double)self->most, "solving", error);
    if (status == SCL_STATUS_OK) status = square_step(b, &normal, error);
    if (status == SCL_STATUS_NUMERIC) break; /* as good as rounding lets it be: the gap tells */
    if (status != SCL_STATUS_OK) return status;
    gap = square_gap(b, &normal, right, problem->targets, b->a);
  }
  square_settle(b, &normal, right, problem->targets);
  keep(self, problem, target, b, unit, steps, out);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- hinge and logistic: rows
 * weighted anew each step */

typedef struct margins {
  interior_box *box;
  margin_rows rows;
  double *pulled; /* D x MARGIN_COLUMNS: Phi' columns */
  double length;  /* of the last step */
} margins;

static double margins_gap(const margins *m, int intercept) {
  double positive = 1, negative = 1, norm = 0;
  if (intercept) margin_rows_balance(&m->rows, &positive, &negative);
  for (size_t j = 0; j < m->box->order; j++) {
    const double *v = m->pulled + j * MARGIN_COLUMNS;
    norm += fabs(positive * v[MARGIN_POSITIVE] + negative * v[MARGIN_NEGATIVE]);
  }
  const double gap = margin_rows_loss(&m->rows, 0) -
                     margin_rows_dual(&m->rows, positive, negative) + m->box->bound * norm;
  return gap < 0 ? 0 : gap; /* by rounding */
}

/* The factor for the weights in `columns`. */
static scl_status margins_factor(const scl_problem *problem, margins *m, scl_error *error) {
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  const scl_status status = problem->reweighted(problem, m->rows.weight, &normal, error);
  return status == SCL_STATUS_OK ? interior_box_factor(m->box, normal.gram, error) : status;
}

/* box->step = Newton's for the goals, rows.df what it does to the scores; centring the features by
 * their weighted mean takes the intercept, which goes by *by, out of the system. */
static scl_status margins_direct(const scl_problem *problem, margins *m, double *by,
                                 scl_error *error) {
  interior_box *b = m->box;
  double descent = 0, total = 0;
  for (size_t i = 0; i < m->rows.count; i++) {
    descent += m->rows.columns[i * MARGIN_COLUMNS + MARGIN_DESCENT];
    total += m->rows.weight[i];
  }
  const double shift = problem->intercept ? descent / total : 0;
  for (size_t j = 0; j < b->order; j++)
    b->descent[j] = m->pulled[j * MARGIN_COLUMNS + MARGIN_DESCENT] -
                    shift * m->pulled[j * MARGIN_COLUMNS + MARGIN_WEIGHT];
  interior_box_direct(b);
  *by = shift;
  for (size_t j = 0; problem->intercept && j < b->order; j++)
    *by -= m->pulled[j * MARGIN_COLUMNS + MARGIN_WEIGHT] / total * b->step[j];
  const scl_status status = problem->product(problem, b->step, 1, m->rows.df, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->rows.count; i++)
    m->rows.df[i] += *by;
  return status;
}

static void margins_limit(const margins *m, double *primal, double *dual) {
  *primal = *dual = 1;
  interior_box_limit(m->box, primal, dual);
  margin_rows_limit(&m->rows, primal, dual);
}

static double margins_products(const margins *m, double primal, double dual) {
  return margin_rows_products(&m->rows, primal, dual) + interior_box_products(m->box, primal, dual);
}

static double margins_number(const margins *m) {
  return (double)(margin_rows_number(&m->rows) + 2 * m->box->order);
}

static void margins_aim(margins *m, double mu) {
  interior_box_aim(m->box, mu);
  margin_rows_aim(&m->rows, mu);
}

/* pulled = Phi' columns for the goals */
static scl_status margins_pull(const scl_problem *problem, margins *m, scl_error *error) {
  margin_rows_prepare(&m->rows);
  return problem->adjoint(problem, m->rows.columns, MARGIN_COLUMNS, m->pulled, error);
}

/* loss - mu sum log(bound^2 - a^2) after a step of this length */
static double barrier_value(const margins *m, double mu, double length) {
  const interior_box *b = m->box;
  double barrier = 0;
  for (size_t j = 0; j < b->order; j++) {
    const double a = b->a[j] + length * b->step[j];
    barrier += log((b->bound - a) / b->bound) + log((b->bound + a) / b->bound);
  }
  return margin_rows_loss(&m->rows, length) - mu * barrier;
}

/* The logistic loss bends: halve until the barrier function falls. */
static double shorten(const margins *m, double mu, double length) {
  const double now = barrier_value(m, mu, 0);
  for (int tries = 0; tries < 30 && !(barrier_value(m, mu, length) <= now + 1e-14 * fabs(now));
       tries++)
    length /= 2;
  return length;
}

/* Hinge: a first step towards 0 sets the goals of the real one. */
static scl_status hinge_step(const scl_problem *problem, margins *m, double *by, double *primal,
                             double *dual, scl_error *error) {
  scl_status status = margins_direct(problem, m, by, error);
  if (status != SCL_STATUS_OK) return status;
  margins_limit(m, primal, dual);
  const double mu =
      mehrotra(margins_products(m, 0, 0), margins_products(m, *primal, *dual), margins_number(m));
  interior_box_correct(m->box, mu);
  margin_rows_correct(&m->rows, mu);
  status = margins_pull(problem, m, error);
  if (status == SCL_STATUS_OK) status = margins_direct(problem, m, by, error);
  if (status == SCL_STATUS_OK) margins_limit(m, primal, dual);
  return status;
}

/* Logistic: straight towards mu, as far as the last step lets hope for. */
static scl_status logistic_step(const scl_problem *problem, margins *m, double *by, double *primal,
                                double *dual, scl_error *error) {
  const double mu = interior_share(m->length) * margins_products(m, 0, 0) / margins_number(m);
  margins_aim(m, mu);
  const scl_status status = margins_direct(problem, m, by, error);
  if (status != SCL_STATUS_OK) return status;
  margins_limit(m, primal, dual);
  *primal = shorten(m, mu, *primal);
  m->length = fmin(*primal, *dual);
  return SCL_STATUS_OK;
}

static scl_status margins_step(const scl_problem *problem, margins *m, scl_error *error) {
  double by = 0, primal = 1, dual = 1;
  scl_status status = margins_factor(problem, m, error);
  if (status == SCL_STATUS_OK)
    status = (m->rows.loss == MARGIN_HINGE ? hinge_step : logistic_step)(problem, m, &by, &primal,
                                                                         &dual, error);
  if (status != SCL_STATUS_OK) return status;
  interior_box_move(m->box, primal, dual);
  margin_rows_move(&m->rows, primal, dual);
  m->box->constant += primal * by;
  return SCL_STATUS_OK;
}

/* Targets of one column, and weights that sum to 1. */
static scl_status read_rows(const scl_problem *problem, size_t target, margins *m,
                            scl_error *error) {
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
  problem->host->release(all);
  return status;
}

/* Steps until the gap is small enough. */
static scl_status follow(const box *self, const scl_problem *problem, margins *m, double goal,
                         size_t *steps, scl_error *error) {
  for (*steps = 0;; ++*steps) {
    scl_status status =
        problem->progress(problem, (double)*steps / (double)self->most, "solving", error);
    margins_aim(m, 0);
    if (status == SCL_STATUS_OK) status = margins_pull(problem, m, error);
    if (status != SCL_STATUS_OK) return status;
    const double gap = margins_gap(m, problem->intercept);
    if (!interior_box_note(m->box, gap) || gap <= goal || *steps >= self->most)
      return SCL_STATUS_OK;
    status = margins_step(problem, m, error);
    if (status == SCL_STATUS_NUMERIC)
      return SCL_STATUS_OK; /* as good as rounding lets it be: the gap tells */
    if (status != SCL_STATUS_OK) return status;
  }
}

static scl_status solve_margins(const box *self, const scl_problem *problem, size_t target,
                                interior_box *b, scl_solution *out, scl_error *error) {
  const size_t n = problem->rows, d = problem->features;
  const margin_loss loss = self->loss == HINGE ? MARGIN_HINGE : MARGIN_LOGISTIC;
  const double unit = margin_value(loss, 0);
  double *memory =
      self->host->allocate((margin_rows_numbers(n) + d * MARGIN_COLUMNS) * sizeof *memory);
  if (memory == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  margins m = {b, margin_rows_in(memory, n, loss), memory + margin_rows_numbers(n), 0.5};
  size_t steps = 0;
  scl_status status = read_rows(problem, target, &m, error);
  if (status == SCL_STATUS_OK) {
    margin_rows_start(&m.rows);
    interior_box_start(b, unit / (double)(loss == MARGIN_HINGE ? n : 2 * d));
    status = follow(self, problem, &m, self->tolerance * unit, &steps, error);
  }
  if (status == SCL_STATUS_OK) keep(self, problem, target, b, unit, steps, out);
  if (status == SCL_STATUS_OK && out->intercept != NULL) out->intercept[target] = b->best_constant;
  self->host->release(memory);
  return status;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const box *self = instance;
  interior_box b;
  if (self->loss != SQUARE && problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "loss = \"%s\" is for classification; loss = \"square\" takes a regression",
        self->loss == HINGE ? "hinge" : "logistic");
  scl_status status =
      interior_box_open(&b, self->host, problem->features, largest_weight(self, problem), error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t target = 0; status == SCL_STATUS_OK && target < problem->targets; target++)
    status = self->loss == SQUARE ? solve_square(self, problem, target, &b, out, error)
                                  : solve_margins(self, problem, target, &b, out, error);
  interior_box_close(&b);
  return status;
}

/* ---------------------------------------------------------------- abilities */

static double value(const void *instance, size_t c, const double *f, const double *y) {
  const box *self = instance;
  double sum = 0;
  if (self->loss == SQUARE) return squared_value(NULL, c, f, y);
  for (size_t k = 0; k < c; k++)
    sum += margin_value(self->loss == HINGE ? MARGIN_HINGE : MARGIN_LOGISTIC, y[k] * f[k]);
  return sum;
}

static void slope(const void *instance, size_t c, const double *f, const double *y, double *out) {
  const box *self = instance;
  if (self->loss == SQUARE) {
    squared_slope(c, f, y, out);
    return;
  }
  for (size_t k = 0; k < c; k++)
    out[k] = self->loss == LOGISTIC ? -y[k] * logistic_share(y[k] * f[k])
             : y[k] * f[k] < 1      ? -y[k]
                                    : 0;
}

static double bound(const void *instance, double reach) {
  const box *self = instance;
  return self->loss == SQUARE  ? squared_bound(reach)
         : self->loss == HINGE ? 1 + reach
                               : logistic_loss(-reach);
}

static double lipschitz(const void *instance, double reach) {
  const box *self = instance;
  return self->loss == SQUARE  ? squared_lipschitz(reach)
         : self->loss == HINGE ? 1
                               : logistic_share(-reach);
}

/* One against all: shares of the logistic values. */
static int probabilities(const void *instance, size_t c, const double *f, double *out) {
  double sum = 0;
  if (((const box *)instance)->loss != LOGISTIC) return 0;
  if (c == 1) {
    out[0] = logistic_share(f[0]);
    out[1] = logistic_share(-f[0]);
    return 1;
  }
  for (size_t k = 0; k < c; k++)
    sum += out[k] = fmax(logistic_share(-f[k]), DBL_MIN);
  for (size_t k = 0; k < c; k++)
    out[k] /= sum;
  return 1;
}

/* Infinite outside the box. */
static scl_status objective(const void *instance, const scl_problem *problem,
                            const double *coefficients, const double *intercept, double *result,
                            scl_error *error) {
  const box *self = instance;
  const scl_status status = mean_loss(problem, coefficients, intercept, value, self, result, error);
  if (status == SCL_STATUS_OK && self->loss == SQUARE) *result /= 2;
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->features * problem->targets; j++)
    if (!(fabs(coefficients[j]) <= largest_weight(self, problem))) *result = INFINITY;
  return status;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_loss loss_table = {
      SCL_HEAD(scl_ability_loss), value, slope, bound, lipschitz, probabilities};
  static const scl_ability_objective objective_table = {SCL_HEAD(scl_ability_objective), objective};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LOSS) == 0) return &loss_table;
  return strcmp(id, SCL_ABILITY_OBJECTIVE) == 0 ? &objective_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "box",
    "1.0",
    "The Scullery authors",
    "Square, hinge or logistic loss with every weight in [-C/T, C/T], to a duality gap",
    "min_a (1/n) sum l(f(x_i), y_i) s.t. ||a||_inf <= C/T, each target apart (Rahimi and Recht "
    "2008, equation 4); T parameters, or\n"
    "columns where there are no features. An interior point method: on the sums over rows for the "
    "square; for hinge and logistic\n"
    "(classification) on sums that are made again each step, some twenty or thirty times three "
    "passes over the features. Converged means "
    "that\n"
    "the duality gap is at most `tolerance` of the objective at a = 0 (the mean of y^2 / 2, 1, or "
    "log 2); info().gap says what it is.\n"
    "Bounds are for the squared loss (f - y)^2, or the loss named.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
