/* The lasso and the elastic net, on the accumulated normal equations:
 *
 *   min_a (1/2n) ||Phi a - y||^2 + lambda ( l1_ratio ||a||_1 + (1 - l1_ratio)/2 ||a||^2 ),
 *       a column of y at a time
 *
 * Phi n x D, y n x c (Dube and Marchand 2023, algorithm 4; Zou and Hastie 2005 for the l2 part), by
 * the active set as shared/active_set.h says, down a path of lambdas from the smallest that leaves
 * all coefficients 0, each starting where the last ended. A sequential strong rule (Tibshirani et
 * al. 2012) leaves out the coefficients that the next lambda will hardly need; those it should not
 * have left out come back when the optimality conditions are checked over all. Ends on the duality
 * gap, as a share of the objective at a = 0. */
#include "shared/active_set.h"
#include "shared/mean_loss.h"
#include <stdlib.h>

enum { LAMBDA, L1_RATIO, TOLERANCE, MAX_ITERATIONS, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-4", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "regularisation of the mean loss"},
    {"l1_ratio", SCL_FORM_NUMBER, NULL, "1", 0, 1, 0, SCL_WIDTH_NONE,
     "share of ||a||_1 in the penalty (1: lasso, 0: ridge); ||a||^2/2 has the rest"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-6", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "duality gap to stop at, as a share of the objective at a = 0"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "10000", 1, 1e9, 0, SCL_WIDTH_NONE,
     "steps from one active set to the next, at each lambda"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

static const double path_ratio =
    0.3; /* between the lambdas on the way to the first that is asked for */
static const double path_tolerance = 1e-2; /* what they are solved to */

typedef struct lasso {
  const scl_host *host;
  double lambda, l1_ratio, tolerance;
  size_t most;
} lasso;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  lasso *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (lasso){host, values[LAMBDA].number, values[L1_RATIO].number, values[TOLERANCE].number,
                  (size_t)values[MAX_ITERATIONS].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  lasso *self = instance;
  self->host->release(self);
}

/* R for sums over rows instead of means. */
static separable penalty_of(const lasso *self, double total, double lambda) {
  return (separable){total * lambda * self->l1_ratio, total * lambda * (1 - self->l1_ratio),
                     INFINITY};
}

/* The strong rule: |rest_j| falls by at most as much as l1 does, for most j. */
static void screen(size_t order, double l1, double l1_before, active_state *s) {
  for (size_t j = 0; j < order; j++)
    s->inside[j] = s->a[j] != 0 || fabs(s->rest[j]) >= 2 * l1 - l1_before;
}

/* From the penalty `before` to `after`. */
static scl_status advance(const lasso *self, active_set *q, const scl_problem *problem,
                          const separable *before, const separable *after, double target,
                          active_state *s, scl_error *error) {
  screen(q->order, after->l1, before->l1, s);
  return active_set_solve(q, after, problem, target, self->most, s, error);
}

/* ||y - Phi a||^2 by the sums. Less than 0 says that they are no longer those of any rows: of
 * features of rank below D in float32. */
static double remainder_of(const active_state *s, size_t order) {
  double sum = s->square;
  for (size_t j = 0; j < order; j++)
    sum -= s->a[j] * (s->right[j] + s->rest[j]);
  return sum;
}

static void keep(const lasso *self, const scl_problem *problem, size_t target,
                 const active_state *s, scl_solution *out) {
  const double relative = s->square > 0 ? s->gap / (s->square / 2) : s->gap;
  for (size_t j = 0; j < problem->features; j++)
    out->coefficients[j * problem->targets + target] = s->a[j];
  out->iterations += s->steps;
  out->tolerance = self->tolerance;
  if (target == 0 || relative > out->gap) out->gap = relative;
  const int lost = remainder_of(s, problem->features) < -self->tolerance * s->square;
  out->outcome =
      out->gap <= self->tolerance && !lost && (target == 0 || out->outcome == SCL_OUTCOME_CONVERGED)
          ? SCL_OUTCOME_CONVERGED
          : SCL_OUTCOME_LIMIT;
  if (lost)
    (void)snprintf(out->note, sizeof out->note,
                   "lambda is lost in the rounding of the sums over rows: give a larger one, a "
                   "smaller l1_ratio or float64 features");
  else if (out->gap > self->tolerance)
    separable_note(out, s->steps < self->most
                            ? "a larger lambda or tolerance, rounding leaves no smaller one"
                            : "more max_iterations");
}

/* One target, all lambdas, in descending order. */
static scl_status solve_target(const lasso *self, active_set *q, const scl_problem *problem,
                               double total, size_t target, const double *lambdas, size_t count,
                               scl_solution *const *out, active_state *s, scl_error *error) {
  double largest = 0;
  const double goal = s->square / 2;
  for (size_t j = 0; j < q->order; j++)
    largest = fmax(largest, fabs(s->rest[j]));
  const double top =
      self->l1_ratio > 0 && !problem->warm ? largest / total / self->l1_ratio : lambdas[0];
  separable now = penalty_of(self, total, top);
  scl_status status = SCL_STATUS_OK;
  for (double lambda = path_ratio * top; status == SCL_STATUS_OK && lambda > lambdas[0];
       lambda *= path_ratio) {
    const separable next = penalty_of(self, total, lambda);
    status = advance(self, q, problem, &now, &next, path_tolerance * goal, s, error);
    now = next;
  }
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    const separable next = penalty_of(self, total, lambdas[k]);
    status = advance(self, q, problem, &now, &next, self->tolerance * goal, s, error);
    now = next;
    if (status == SCL_STATUS_OK) keep(self, problem, target, s, out[k]);
    s->steps = 0;
  }
  return status;
}

/* All targets, lambdas from the largest down. */
static scl_status solve_targets(const lasso *self, const scl_problem *problem,
                                const scl_normal *normal, const double *lambdas, size_t count,
                                scl_solution *const *out, scl_error *error) {
  const size_t d = problem->features, c = problem->targets;
  active_set q;
  scl_status status = active_set_open(&q, self->host, normal->gram, error);
  if (status != SCL_STATUS_OK) return status;
  double *numbers = self->host->allocate(3 * d * sizeof *numbers);
  unsigned char *inside = self->host->allocate(d);
  if (numbers == NULL || inside == NULL)
    status =
        self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", d);
  for (size_t target = 0; status == SCL_STATUS_OK && target < c; target++) {
    double *right = numbers + 2 * d;
    active_state s = {right, normal->square[target], numbers, numbers + d, inside, 0, 0};
    for (size_t j = 0; j < d; j++) {
      right[j] = normal->right[j * c + target];
      s.a[j] = problem->warm ? out[0]->coefficients[j * c + target] : 0;
    }
    active_set_refresh(&q, right, s.a, s.rest);
    status = active_set_restart(&q, 0, s.a, error);
    if (status != SCL_STATUS_OK) break;
    status = solve_target(self, &q, problem, normal->total, target, lambdas, count, out, &s, error);
  }
  self->host->release(numbers);
  self->host->release(inside);
  active_set_close(&q);
  return status;
}

/* Values and solutions in the order that they are solved in. */
typedef struct place {
  double value;
  scl_solution *out;
} place;

static int descending(const void *a, const void *b) {
  const double x = ((const place *)a)->value, y = ((const place *)b)->value;
  return (x < y) - (x > y);
}

static scl_status path(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  const lasso *self = instance;
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  if (count == 0) return SCL_STATUS_OK;
  place *places = self->host->allocate(count * sizeof *places);
  double *lambdas = self->host->allocate(count * sizeof *lambdas);
  scl_solution **sorted = self->host->allocate(count * sizeof(scl_solution *));
  scl_status status = SCL_STATUS_OK;
  if (places == NULL || lambdas == NULL || sorted == NULL)
    status =
        self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a path of %zu", count);
  if (status == SCL_STATUS_OK) {
    for (size_t k = 0; k < count; k++)
      places[k] = (place){values[k], out[k]};
    qsort(places, count, sizeof *places, descending);
    for (size_t k = 0; k < count; k++) {
      lambdas[k] = places[k].value;
      sorted[k] = places[k].out;
    }
    status = problem->normal(problem, &normal, error);
  }
  if (status == SCL_STATUS_OK)
    status = solve_targets(self, problem, &normal, lambdas, count, sorted, error);
  self->host->release(places);
  self->host->release(lambdas);
  self->host->release(sorted);
  return status;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return path(instance, problem, &((const lasso *)instance)->lambda, 1, &out, error);
}

/* ---------------------------------------------------------------- abilities */

static void slope(const void *instance, size_t c, const double *f, const double *y, double *out) {
  (void)instance;
  squared_slope(c, f, y, out);
}

static double bound(const void *instance, double reach) {
  (void)instance;
  return squared_bound(reach);
}

static double lipschitz(const void *instance, double reach) {
  (void)instance;
  return squared_lipschitz(reach);
}

static int no_probabilities(const void *instance, size_t c, const double *f, double *out) {
  (void)instance, (void)c, (void)f, (void)out;
  return 0;
}

static scl_status objective(const void *instance, const scl_problem *problem,
                            const double *coefficients, const double *intercept, double *value,
                            scl_error *error) {
  const lasso *self = instance;
  const separable r = penalty_of(self, 1, self->lambda);
  const scl_status status =
      mean_loss(problem, coefficients, intercept, squared_value, NULL, value, error);
  if (status == SCL_STATUS_OK)
    *value = *value / 2 + separable_value(&r, problem->features * problem->targets, coefficients);
  return status;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_path path_table = {SCL_HEAD(scl_ability_path), "lambda", path};
  static const scl_ability_loss loss_table = {
      SCL_HEAD(scl_ability_loss), squared_value, slope, bound, lipschitz, no_probabilities};
  static const scl_ability_objective objective_table = {SCL_HEAD(scl_ability_objective), objective};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_PATH) == 0) return &path_table;
  if (strcmp(id, SCL_ABILITY_LOSS) == 0) return &loss_table;
  return strcmp(id, SCL_ABILITY_OBJECTIVE) == 0 ? &objective_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_SOLVER,
                                    "lasso",
                                    "1.0",
                                    "The Scullery authors",
                                    "Least squares with an l1 or elastic net penalty, from "
                                    "streamed normal equations, to a duality gap",
                                    "min_a (1/2n) ||Phi a - y||^2 + lambda (l1_ratio ||a||_1 + (1 "
                                    "- l1_ratio)/2 ||a||^2), each target apart (Dube and Marchand\n"
                                    "2023, algorithm 4; Zou and Hastie 2005). By its active set, "
                                    "on the sums over rows, which are made once; a path\n"
                                    "of lambdas costs little more than its last. Converged means "
                                    "that the duality gap is at most `tolerance` of the objective\n"
                                    "at a = 0, the mean of y^2 / 2 (centred with an intercept); "
                                    "info().gap says what it is, the largest of several targets.\n"
                                    "lambda = 0 is refused: sc.solver.ridge{ lambda = 0 } is least "
                                    "squares. Bounds are for the squared loss (f - y)^2.",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    destroy,
                                    ability};
