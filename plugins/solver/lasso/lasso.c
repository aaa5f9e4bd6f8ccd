/* The lasso and the elastic net, on the accumulated normal equations:
 *
 *   min_a (1/2n) ||Phi a - y||^2 + lambda ( l1_ratio ||a||_1 + (1 - l1_ratio)/2 ||a||^2 ),
 *         a column of y at a time
 *
 * Phi n x D, y n x c (Dube and Marchand 2023, algorithm 4; Zou and Hastie 2005 for the l2 part). By
 * an active set (active_set.c), down a path of lambdas from the smallest that leaves all
 * coefficients 0, each starting where the last ended. A sequential strong rule (Tibshirani et al.
 * 2012) leaves out the coefficients that the next lambda will hardly need; those that it should not
 * have left out come back when the optimality conditions are checked over all. It ends on the
 * duality gap, as a share of the objective at a = 0. */
#include "lasso.h"
#include "shared/csr_rows.h"
#include "shared/lambda_order.h"
#include "shared/losses.h"
#include "shared/mean_loss.h"
#include "shared/solver_options.h"

#include <stdio.h>
#include <string.h>

typedef struct lasso {
  scl_base base;
  double lambda, l1_ratio, tolerance;
  size_t max_iterations;
} lasso;

static const scl_option options[] = {
    SOLVER_LAMBDA(lasso, "1e-4", "regularisation of the mean loss", SCL_POSITIVE),
    SCL_NUMBER(lasso, l1_ratio, "1",
               "share of ||a||_1 in the penalty (1: lasso, 0: ridge); ||a||^2/2 has the rest",
               SCL_WITHIN(0, 1)),
    SOLVER_TOLERANCE(lasso, "1e-6", "duality gap to stop at, as a share of the objective at a = 0"),
    SOLVER_MAX_ITERATIONS(lasso, "10000", "steps from one active set to the next, at each lambda"),
    SCL_OPTION_INTERCEPT};

/* Between the lambdas on the way to the first that is asked for, and what they are solved to. */
static const double PATH_RATIO = 0.3, PATH_TOLERANCE = 1e-2;

/* The penalty R for sums over rows instead of means. */
static separable penalty_of(const lasso *self, double total, double lambda) {
  return (separable){.l1 = total * lambda * self->l1_ratio,
                     .l2 = total * lambda * (1 - self->l1_ratio),
                     .bound = INFINITY};
}

/* Goes from the solution for the penalty `before` to that for `after`, with the strong rule: for
 * most j |rest_j| changes by at most as much as l1, so that the coefficients with
 * |rest_j| < 2 l1 - l1_before stay 0. */
static scl_status lasso_advance(const lasso *self, active_set *q, const scl_problem *problem,
                                const separable *before, const separable *after, double target,
                                active_state *s, scl_error *error) {
  for (size_t j = 0; j < q->order; j++)
    s->inside[j] = s->a[j] != 0 || fabs(s->rest[j]) >= 2 * after->l1 - before->l1;
  return active_set_solve(q, after, problem, target, self->max_iterations, s, error);
}

/* ||y - Phi a||^2 by the sums. Below 0 these are no longer sums over any rows, which happens to
 * float32 features of rank below D. */
static double remainder_of(const active_state *s, size_t order) {
  double sum = s->square;
  for (size_t j = 0; j < order; j++)
    sum -= s->a[j] * (s->right[j] + s->rest[j]);
  return sum;
}

static const char LOST[] = "lambda is lost in the rounding of the sums over rows: give a larger "
                           "one, a smaller l1_ratio or float64 features";

/* Writes the solution of one target. The note is that of the worst one. The outcome is "converged"
 * only if all targets so far have converged; it is not if the residual ||y - Phi a||^2 comes out
 * negative, lost in rounding. */
static void lasso_keep(const lasso *self, const scl_problem *problem, size_t target,
                       const active_state *s, scl_solution *out) {
  const double relative = s->square > 0 ? s->gap / (s->square / 2) : s->gap;
  for (size_t j = 0; j < problem->features; j++)
    out->coefficients[j * problem->targets + target] = s->a[j];
  out->iterations += s->steps;
  out->tolerance = self->tolerance;
  const bool worst = target == 0 || relative > out->gap;
  if (worst) out->gap = relative;
  const bool lost = remainder_of(s, problem->features) < -self->tolerance * s->square;
  out->outcome =
      out->gap <= self->tolerance && !lost && (target == 0 || out->outcome == SCL_OUTCOME_CONVERGED)
          ? SCL_OUTCOME_CONVERGED
          : SCL_OUTCOME_LIMIT;
  if (lost)
    (void)snprintf(out->note, sizeof out->note, "%s", LOST);
  else if (worst && relative > self->tolerance && strcmp(out->note, LOST) != 0)
    separable_note(out, s->steps < self->max_iterations
                            ? "rounding allows no smaller one: give a larger lambda or tolerance"
                            : "give more max_iterations");
}

/* Solves one target for all lambdas, in descending order. The path starts at the smallest lambda
 * for which all coefficients are 0 (a warm start begins at lambdas[0]); the lambdas in between are
 * solved roughly. */
static scl_status solve_target(const lasso *self, active_set *q, const scl_problem *problem,
                               size_t target, const double *lambdas, size_t count,
                               scl_solution *const *out, active_state *s, scl_error *error) {
  const double goal = s->square / 2, total = s->total;
  double largest = 0;
  for (size_t j = 0; j < q->order; j++)
    largest = fmax(largest, fabs(s->rest[j]));
  const double top =
      self->l1_ratio > 0 && !problem->warm ? largest / total / self->l1_ratio : lambdas[0];
  separable now = penalty_of(self, total, top);
  scl_status status = SCL_STATUS_OK;
  for (double lambda = PATH_RATIO * top; status == SCL_STATUS_OK && lambda > lambdas[0];
       lambda *= PATH_RATIO) {
    const separable next = penalty_of(self, total, lambda);
    status = lasso_advance(self, q, problem, &now, &next, PATH_TOLERANCE * goal, s, error);
    now = next;
  }
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    const separable next = penalty_of(self, total, lambdas[k]);
    status = lasso_advance(self, q, problem, &now, &next, self->tolerance * goal, s, error);
    now = next;
    if (status == SCL_STATUS_OK) lasso_keep(self, problem, target, s, out[k]);
    s->steps = 0;
  }
  return status;
}

/* Solves all targets, from the largest lambda down. numbers: 3 D numbers of scratch; inside: D. */
static scl_status solve_targets(const lasso *self, const scl_problem *problem, active_set *q,
                                const scl_normal *normal, double *numbers, unsigned char *inside,
                                const double *lambdas, size_t count, scl_solution *const *out,
                                scl_error *error) {
  const size_t d = problem->features, c = problem->targets;
  scl_status status = SCL_STATUS_OK;
  for (size_t target = 0; status == SCL_STATUS_OK && target < c; target++) {
    double *right = numbers + 2 * d;
    active_state s = {.right = right,
                      .square = normal->square[target],
                      .total = normal->total,
                      .a = numbers,
                      .rest = numbers + d,
                      .inside = inside};
    for (size_t j = 0; j < d; j++) {
      right[j] = normal->right[j * c + target];
      s.a[j] = problem->warm ? out[0]->coefficients[j * c + target] : 0;
    }
    status = active_set_refresh(q, right, s.a, s.rest, error);
    if (status == SCL_STATUS_OK) status = active_set_restart(q, 0, s.a, error);
    if (status == SCL_STATUS_OK)
      status = solve_target(self, q, problem, target, lambdas, count, out, &s, error);
  }
  return status;
}

/* Makes the sums over rows and solves all targets on them. */
static scl_status solve_sums(const lasso *self, const scl_problem *problem, const double *lambdas,
                             size_t count, scl_solution *const *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t d = problem->features;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  active_set q;
  double *numbers = host->scratch(3 * d * sizeof *numbers);
  unsigned char *inside = host->scratch(d);
  if (numbers == NULL || inside == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", d);
  scl_status status = problem->normal(problem, &normal, error);
  if (status == SCL_STATUS_OK) status = active_set_open(&q, host, normal.moment, error);
  if (status != SCL_STATUS_OK) return status;
  status = solve_targets(self, problem, &q, &normal, numbers, inside, lambdas, count, out, error);
  active_set_close(&q);
  return status;
}

/* ------------ a path */

/* Sparse rows of many columns: a matrix of D x D would not be sparse. */
static bool lasso_by_columns(const scl_problem *problem) {
  enum { MANY = 200 };
  return csr_is(problem) && problem->features > MANY;
}

static scl_status solve_sparse(const lasso *self, const scl_problem *problem, const double *lambdas,
                               size_t count, scl_solution *const *out, scl_error *error) {
  const lasso_sparse sparse = {.l1_ratio = self->l1_ratio,
                               .tolerance = self->tolerance,
                               .ratio = PATH_RATIO,
                               .rough = PATH_TOLERANCE,
                               .most = self->max_iterations};
  return lasso_sparse_path(&sparse, problem, lambdas, count, out, error);
}

/* Solves the lambdas in descending order as one path. */
static scl_status path(const void *self, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  double *lambdas;
  scl_solution **sorted;
  if (count == 0) return SCL_STATUS_OK;
  const scl_status status =
      lambda_order(problem->host, values, count, out, &lambdas, &sorted, error);
  if (status != SCL_STATUS_OK) return status;
  return lasso_by_columns(problem) ? solve_sparse(self, problem, lambdas, count, sorted, error)
                                   : solve_sums(self, problem, lambdas, count, sorted, error);
}

static scl_status lasso_solve(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  return path(self, problem, &((const lasso *)self)->lambda, 1, &out, error);
}

/* ------------ abilities */

static scl_status lasso_objective(const void *instance, const scl_problem *problem,
                                  const double *coefficients, const double *intercept,
                                  double *value, scl_error *error) {
  static const loss_choice square = {.loss = LOSS_SQUARE};
  const separable r = penalty_of(instance, 1, ((const lasso *)instance)->lambda);
  const scl_status status = mean_loss(problem, &square, coefficients, intercept, value, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < problem->features * problem->targets; j++)
    *value += r.l1 * fabs(coefficients[j]) + r.l2 / 2 * coefficients[j] * coefficients[j];
  return status;
}

static scl_penalty lasso_penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_L1;
}

static int32_t lasso_normal_alone(const void *self, const scl_problem *problem,
                                  const double *values, size_t count, int32_t weighted) {
  (void)self, (void)weighted, (void)values, (void)count;
  return !lasso_by_columns(problem);
}

/* The steps of an active set that ends with a quarter of the features are typical: each feature
 * that enters takes its column, and updates of the factor and of all gradients. On sparse rows a
 * copy of them by columns, of 100 numbers a row. */
static void lasso_cost(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, int32_t weighted, scl_cost *out) {
  const double d = (double)problem->features, c = (double)problem->targets, active = d / 4;
  (void)instance, (void)values, (void)count, (void)weighted;
  if (lasso_by_columns(problem)) {
    const double n = (double)problem->rows;
    out->bytes = (7 * d + 2 * n * c + 2 * d * c + 150 * n) * sizeof(double);
    (void)snprintf(out->note, sizeof out->note, "100 numbers in a row are typical");
    return;
  }
  out->normal = 1;
  out->steps = c * (active * active * active + 4 * active * d);
  out->bytes = (active * d + active * active + 8 * d) * sizeof(double);
  (void)snprintf(out->note, sizeof out->note, "a quarter of the coefficients not 0 is typical");
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = path),
    SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = lasso_penalty),
    SCL_OFFER(SCL_ABILITY_NORMAL, scl_ability_normal, .alone = lasso_normal_alone),
    SCL_OFFER_BARE(SCL_ABILITY_CSR_ROWS, scl_ability_csr_rows),
    SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = lasso_objective),
    SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = lasso_cost),
    {NULL, NULL}};

const scl_plugin scullery_plugin = {
    .name = "lasso",
    .summary = "Least squares with an l1 or elastic net penalty, from streamed normal equations, "
               "to a duality gap",
    .definition =
        "objective(rows, a) = average(rows, function(r) return (r.f - r.y)^2/2 end)\n"
        "  + lambda*(l1_ratio*sum(a, abs) + (1 - l1_ratio)/2*dot(a, a))\n"
        "slopes(rows, d) = map(range(d), function(j) return average(rows, function(r)"
        " return (r.y - r.f)*r.x[j] end) end)\n"
        "square(rows, c) = average(rows, function(r) return (r.y - (c or r.f))^2 end)\n"
        "bound(a, v, s, rest) = sum(a, function(x, j) return lambda*abs(x) - s*v[j]*x end)"
        " + (1 - s)^2/2*rest\n"
        "of(a, v, rest) = bound(a, v, min(1, lambda/largest(v, abs)), rest)\n"
        /* Without an l2 part. */
        "gap(rows, a, b) = l1_ratio == 1 and of(a, slopes(rows, #a), square(rows))\n"
        "  / (square(rows, b and average(rows, function(r) return r.y end) or 0)/2)",
    .doc =
        "min_a (1/2n) ||Phi a - y||^2 + lambda (l1_ratio ||a||_1 + (1 - l1_ratio)/2 ||a||^2),\n"
        "each target apart (Dube and Marchand 2023, algorithm 4; Zou and Hastie 2005). By its\n"
        "active set, on the sums over rows, which are made once; a path of lambdas costs little\n"
        "more than its last. Sparse rows of more than 200 columns: coordinate descent, without\n"
        "the sums (Friedman, Hastie and Tibshirani 2010). Converged means that the duality gap is\n"
        "at most `tolerance` of the objective at a = 0, the mean of y^2 / 2 (centred with an\n"
        "intercept); info().gap says what it is, the largest of several targets. lambda = 0 is\n"
        "refused: sc.solver.ridge{ lambda = 0 } is least squares. Bounds are for the squared loss\n"
        "(f - y)^2.",
    SCL_SOLVER(.solve = lasso_solve),
    SCL_INSTANCE(lasso, options),
    .abilities = abilities};
