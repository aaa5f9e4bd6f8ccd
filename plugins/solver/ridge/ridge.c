/* Ridge regression from streamed normal equations, or from the dual when there are more features
 * than rows:
 *
 *   penalty l2     min_a (1/2n) ||Phi a - y||^2 + (lambda/2) ||a||^2
 *                  primal: (Phi'Phi + n lambda I) a = Phi'y
 *                  dual:   (Phi Phi' + n lambda I) b = y,  a = Phi' b
 *   penalty rkhs   min_a (1/2n) ||Phi a - y||^2 + (lambda/2) a'Ga
 *                  (Phi'Phi + n lambda G) a = Phi'y     (Dube and Marchand 2023, algorithm 3)
 *
 * Phi n x D, y n x c (all targets share one factorisation), G_ij = K(w_i, w_j). One Cholesky a
 * lambda, in one matrix beside the sums over rows, which are the problem's and made once. A system
 * that is not positive definite is factored with jitter (1e-11 of its diagonal, 1e-5 with float32
 * features, and ten times more until it factors) and refined to the system as asked
 * (shared/refined_solve.c). Where rounding of the sums may change predictions, passes over the rows
 * repair that (rounding.c). Sparse rows of many columns: conjugate gradients on the rows. What
 * neither reaches is not called converged, nor is what conjugate gradients leave predictions off by
 * more than a share of 0.005. */
#include "ridge.h"
#include "shared/cost.h"
#include "shared/csr_newton.h"
#include "shared/mean_diagonal.h"
#include "shared/minibatch.h"
#include "shared/row_total.h"
#include "shared/solver_options.h"

#include <float.h>
#include <stdio.h>

typedef struct ridge {
  scl_base base;
  double lambda;
  int32_t penalty, form, estimate;
} ridge;

enum { FORM_AUTO, FORM_PRIMAL, FORM_DUAL };

/* Of conjugate gradients on sparse rows. */
static const double ROWS_TOLERANCE = 1e-8;
enum { ROWS_SWEEPS = 5000 };

static const double MOST_JITTER = 1e-2; /* a share of the diagonal */
static const double LEAST_LAMBDA = 1e-14;
/* Of the error of predictions that conjugate gradients leave (refined_account), which is known to a
 * factor of ten or so: more is not converged, less than the second number is not worth a note. */
static const double MOST_ERROR = 5e-3, LITTLE_ERROR = 1e-6;

static const scl_option options[] = {
    SOLVER_LAMBDA(ridge, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE),
    SOLVER_PENALTY(ridge), SCL_OPTION_INTERCEPT,
    SCL_WORD(
        ridge, form, "auto|primal|dual", "auto",
        "primal: a D x D system; dual: n x n (l2, rows of one weight); auto: dual where it can "
        "and D > n"),
    SCL_WORD(ridge, estimate, "none|loo|loo_error|gcv", "none",
             "estimate of the risk, reported in info().score: leave-one-out squared error, "
             "leave-one-out share of wrong classes, generalised cross-validation",
             .role = SCL_ROLE_ESTIMATE)};

static scl_status ridge_create(void *instance, scl_error *error) {
  const ridge *self = instance;
  if (self->penalty == PENALTY_RKHS && self->form == FORM_DUAL)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "form = \"dual\" goes with penalty = \"l2\"");
  return SCL_STATUS_OK;
}

/* ------------ one solution */

/* The system of all lambdas, primal or dual, and how its residual comes from the rows. */
typedef struct ridge_solver {
  const scl_problem *problem;
  refined_system system;
  ridge_rounding rounding;
  ridge_residual residual;
  void *context;
  const double *right;
  double penalty;  /* what a weight of 1 adds to the diagonal, in the mean */
  double factored; /* share of the diagonal that the last system had to have */
  double error;    /* of predictions, where that share made conjugate gradients necessary; else 0 */
} ridge_solver;

/* Opens the refined system and the account of rounding. The least jitter depends on the type in
 * which the sums were made. */
static scl_status open_solver(ridge_solver *s, scl_error *error) {
  refined_system *system = &s->system;
  system->host = s->problem->host;
  const double rounding = SCL_HAS(s->problem, rounding) ? s->problem->rounding : DBL_EPSILON;
  system->least = rounding > 1e-10 ? 1e-5 : 1e-11;
  s->penalty = 1;
  scl_status status = refined_open(system, error);
  if (status == SCL_STATUS_OK) status = rounding_open(&s->rounding, system, rounding, error);
  s->rounding.wide = s->problem->rows < system->order;
  if (status == SCL_STATUS_OK && system->extra != NULL)
    status = mean_diagonal(system->host, system->extra, &s->penalty, error);
  return status;
}

/* Adds to the solution what became of rounding, of the sums and of conjugate gradients: repaired,
 * or a warning with the share by which predictions may change. A note on jitter is left as it
 * is. */
static void tell_rounding(const ridge_solver *s, bool repaired, scl_solution *out) {
  const ridge_rounding *r = &s->rounding;
  out->iterations += r->passes;
  if (repaired && r->passes > 0) {
    out->outcome = SCL_OUTCOME_CONVERGED;
    out->jitter = 0;
    (void)snprintf(out->note, sizeof out->note,
                   "%zu pass%s over the rows repaired the rounding of their sums", r->passes,
                   r->passes == 1 ? "" : "es");
  }
  const double left = repaired && r->passes > 0 ? 0 : s->error;
  if ((repaired && left <= LITTLE_ERROR) || out->jitter > 0) return;
  if (!(r->share <= r->limit && left <= MOST_ERROR)) out->outcome = SCL_OUTCOME_LIMIT;
  (void)snprintf(out->note, sizeof out->note,
                 "rounding of %s may change predictions by a share of %.0e: %s, "
                 "or give a larger lambda",
                 left > r->share ? "a nearly singular system" : "the sums over the rows",
                 fmax(r->share, left),
                 s->system.extra != NULL ? "give fewer features" : "standardise the data");
}

/* Solves for x from the sums, with at least that share of the diagonal as jitter, and estimates
 * the effect of rounding. */
static scl_status solve_sums(ridge_solver *s, double share, double *x, refined_account *account,
                             scl_error *error) {
  *account = (refined_account){.factored = share};
  const scl_status status = refined_solve(&s->system, s->right, x, account, error);
  s->error = account->factored > 0 ? account->error : 0;
  account->error = 0; /* is told by tell_rounding */
  return status == SCL_STATUS_OK ? rounding_estimate(&s->rounding, x, error) : status;
}

/* Computes x and its account for one weight n lambda. Where neither conjugate gradients nor
 * passes over the rows remove the need for jitter, the jitter is made large enough to cover the
 * rounding of the sums. */
static scl_status solve_one(ridge_solver *s, double weight, double *x, scl_solution *out,
                            scl_error *error) {
  ridge_rounding *r = &s->rounding;
  refined_account account;
  s->system.weight = weight;
  r->passes = 0;
  scl_status status = solve_sums(s, s->factored > 0 ? s->system.least : 0, x, &account, error);
  s->factored = account.factored;
  const double share = r->share;
  const bool exact = SCL_HAS(s->problem, exact) && s->problem->exact > 0;
  if (status == SCL_STATUS_OK && !exact &&
      (share > r->careless || (account.jitter > 0 && s->system.extra == NULL)))
    status = rounding_repair(r, s->residual, s->context, s->right, x, account.factored, error);
  const bool repaired = r->share <= r->careless && (account.jitter == 0 || r->passes > 0);
  if (!repaired) r->share = share;
  while (status == SCL_STATUS_OK && !repaired && account.jitter > 0 && r->share > r->careless &&
         account.factored < MOST_JITTER)
    status = solve_sums(s, 10 * account.factored, x, &account, error);
  if (status != SCL_STATUS_OK) return status;
  refined_tell(&s->system, &account, weight * s->penalty, out);
  out->iterations = 1;
  tell_rounding(s, repaired, out);
  return SCL_STATUS_OK;
}

/* ------------ primal */

/* The scores of all solutions from one decomposition. work: D c numbers. */
static scl_status estimate(const ridge *self, const scl_problem *problem, const scl_normal *normal,
                           const scl_symmetric *gram, const double *lambdas, size_t count,
                           scl_solution *const *out, double *work, scl_error *error) {
  loo_spectrum spectrum;
  scl_status status = loo_decompose(problem->host, normal->moment, gram, &spectrum, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t k = 0; status == SCL_STATUS_OK && self->estimate == ESTIMATE_GCV && k < count; k++)
    status = loo_gcv(&spectrum, normal, problem, lambdas[k], out[k]->coefficients, work,
                     &out[k]->score, error);
  if (self->estimate != ESTIMATE_GCV)
    status =
        loo_by_rows(problem, &spectrum, self->estimate, normal->total, lambdas, count, out, error);
  return status;
}

/* From scores [Phi a, 0] to W [y - Phi a, 1]; `sums`: of its columns, `rows`: itself. */
typedef struct row_residual {
  const scl_problem *problem;
  const scl_symmetric *gram;
  double lambda;
  double *in, *out, *sums, *rows; /* D x (c + 1) each; c + 1; n x (c + 1) */
} row_residual;

/* Replaces the scores of a block by weighted residuals and weights, and stores them by row, so that
 * their sums can be made exactly afterwards. */
static scl_status turn_to_residuals(void *context, const scl_rows *rows, double *scores,
                                    scl_error *error) {
  row_residual *r = context;
  const size_t c = r->problem->targets;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows_weight(rows, i);
    double *row = scores + i * (c + 1);
    for (size_t j = 0; j < c; j++)
      row[j] = weight * (rows->targets[i * c + j] - row[j]);
    row[c] = weight;
  }
  memcpy(r->rows + rows->first * (c + 1), scores, rows->count * (c + 1) * sizeof *scores);
  return SCL_STATUS_OK;
}

/* r->out = Phi'W [y - Phi a, 1] for r->in = [a, 0], and the sums of the columns. */
static scl_status sum_residuals(row_residual *r, scl_error *error) {
  const scl_problem *problem = r->problem;
  const size_t n = problem->rows, k = problem->targets + 1;
  r->rows = problem->host->allocate((n * k + 1) * sizeof *r->rows);
  if (r->rows == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the residuals of %zu rows", n);
  scl_status status = problem->sweep(problem, r->in, k, turn_to_residuals, r, r->out, error);
  if (status == SCL_STATUS_OK) status = row_total(problem, r->rows, n, k, r->sums, error);
  problem->host->release(r->rows);
  return status;
}

/* out = Phi'W (y - Phi a - constant) - N lambda P a */
static scl_status residual_of_rows(void *context, const double *a, double *out, scl_error *error) {
  row_residual *r = context;
  const scl_problem *problem = r->problem;
  const size_t d = problem->features, c = problem->targets;
  for (size_t i = 0; i < d * (c + 1); i++)
    r->in[i] = i % (c + 1) < c ? a[i / (c + 1) * c + i % (c + 1)] : 0;
  scl_status status = sum_residuals(r, error);
  if (status == SCL_STATUS_OK && r->gram != NULL)
    status = problem->host->symmetric->multiply(r->gram, a, c, r->in, error);
  if (status != SCL_STATUS_OK) return status;
  const double *penalised = r->gram != NULL ? r->in : a, total = r->sums[c];
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < c; j++) {
      const double centre = problem->intercept ? r->out[i * (c + 1) + c] * (r->sums[j] / total) : 0;
      out[i * c + j] = r->out[i * (c + 1) + j] - centre - total * r->lambda * penalised[i * c + j];
    }
  return SCL_STATUS_OK;
}

/* Solves the D x D system for each lambda on the same sums over rows. */
static scl_status primal(const ridge *self, const scl_problem *problem, const double *lambdas,
                         size_t count, scl_solution *const *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t c = problem->targets, numbers = problem->features * (c + 1);
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  row_residual rows = {.problem = problem};
  ridge_solver s = {.problem = problem,
                    .system = {.order = problem->features, .columns = c},
                    .residual = residual_of_rows,
                    .context = &rows};
  if ((rows.in = host->scratch((2 * numbers + c + 1) * sizeof *rows.in)) == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                      numbers);
  rows.out = rows.in + numbers;
  rows.sums = rows.out + numbers;
  scl_status status = problem->normal(problem, &normal, error);
  s.system.base = normal.moment;
  s.right = normal.right;
  if (status == SCL_STATUS_OK && self->penalty == PENALTY_RKHS)
    status = problem->gram(problem, &s.system.extra, error);
  rows.gram = s.system.extra;
  if (status == SCL_STATUS_OK) status = open_solver(&s, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    rows.lambda = lambdas[k];
    status = problem->progress(problem, "solving", (double)k / (double)count, NAN, error);
    if (status == SCL_STATUS_OK)
      status = solve_one(&s, normal.total * lambdas[k], out[k]->coefficients, out[k], error);
  }
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    status = estimate(self, problem, &normal, s.system.extra, lambdas, count, out, rows.in, error);
  refined_close(&s.system);
  return status;
}

/* ------------ dual */

/* Scratch from which the scores of the dual are computed, besides its solutions. */
typedef struct dual_scoring {
  loo_spectrum spectrum;
  double *targets, *left; /* n x c as they are, n + c */
} dual_scoring;

/* Reads the targets as they are, and decomposes Phi Phi', for the scores of the dual. */
static scl_status open_scoring(const scl_problem *problem, const scl_symmetric *outer,
                               dual_scoring *d, scl_error *error) {
  const size_t count = problem->rows * problem->targets;
  d->targets =
      problem->host->scratch((count + problem->rows + problem->targets) * sizeof *d->targets);
  if (d->targets == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets",
                               problem->rows);
  d->left = d->targets + count;
  const scl_status status = problem->responses(problem, d->targets, NULL, error);
  return status == SCL_STATUS_OK ? loo_decompose(problem->host, outer, NULL, &d->spectrum, error)
                                 : status;
}

/* With an intercept: each column of b (n x c) less its mean. b itself sums to 0 but for rounding,
 * which a singular system magnifies. */
static scl_status centre_dual(const scl_problem *problem, double *b, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  if (!problem->intercept) return SCL_STATUS_OK;
  double *sums = problem->host->scratch(c * sizeof *sums);
  if (sums == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu means", c);
  const scl_status status = row_total(problem, b, n, c, sums, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n * c; i++)
    b[i] -= sums[i % c] / (double)n;
  return status;
}

/* out = y - Phi Phi'b - N lambda b, all centred with an intercept; y = the dual's right-hand side.
 * room: D c numbers. */
typedef struct dual_residual {
  const scl_problem *problem;
  const double *right;
  double *room, weight;
} dual_residual;

static scl_status residual_of_dual(void *context, const double *b, double *out, scl_error *error) {
  const dual_residual *r = context;
  const scl_problem *problem = r->problem;
  const size_t n = problem->rows, c = problem->targets;
  scl_status status = problem->adjoint(problem, b, c, r->room, error);
  if (status == SCL_STATUS_OK) status = problem->product(problem, r->room, c, out, error);
  if (status == SCL_STATUS_OK) status = centre_dual(problem, out, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n * c; i++)
    out[i] = r->right[i] - out[i] - r->weight * b[i];
  return status;
}

/* One lambda. b: n x c numbers of scratch. */
static scl_status dual_solution(const ridge *self, const scl_problem *problem, ridge_solver *s,
                                const dual_scoring *scoring, double lambda, double *b,
                                scl_solution *out, scl_error *error) {
  scl_status status = solve_one(s, (double)problem->rows * lambda, b, out, error);
  if (status == SCL_STATUS_OK) status = centre_dual(problem, b, error);
  if (status == SCL_STATUS_OK)
    status = problem->adjoint(problem, b, problem->targets, out->coefficients, error);
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    out->score = out->jitter > 0 ? INFINITY
                                 : loo_dual(problem, &scoring->spectrum, self->estimate, lambda, b,
                                            scoring->targets, scoring->left);
  return status;
}

/* Solves the n x n system for each lambda, and computes a = Phi'b in a pass over the rows. */
static scl_status ridge_dual(const ridge *self, const scl_problem *problem, const double *lambdas,
                             size_t count, scl_solution *const *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t c = problem->targets, numbers = (problem->rows + problem->features) * c;
  dual_residual rows = {.problem = problem};
  ridge_solver s = {.problem = problem,
                    .system = {.order = problem->rows, .columns = c},
                    .residual = residual_of_dual,
                    .context = &rows};
  dual_scoring scoring = {.targets = NULL};
  double *b = host->scratch((numbers + 1) * sizeof *b);
  if (b == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                      numbers);
  rows.room = b + problem->rows * c;
  scl_status status = problem->dual(problem, &s.system.base, &s.right, error);
  rows.right = s.right;
  if (status == SCL_STATUS_OK) status = open_solver(&s, error);
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    status = open_scoring(problem, s.system.base, &scoring, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    rows.weight = (double)problem->rows * lambdas[k];
    status = problem->progress(problem, "solving", (double)k / (double)count, NAN, error);
    if (status == SCL_STATUS_OK)
      status = dual_solution(self, problem, &s, &scoring, lambdas[k], b, out[k], error);
  }
  refined_close(&s.system);
  return status;
}

/* ------------ the plugin */

/* Whether the dual is tried: where it is asked for, or by `auto` for l2, more features than rows,
 * and rows that may be read. */
static bool takes_dual(const ridge *self, const scl_problem *problem) {
  const bool by_sums = SCL_HAS(problem, exact) && problem->exact > 1;
  return self->form == FORM_DUAL || (self->form == FORM_AUTO && self->penalty != PENALTY_RKHS &&
                                     problem->features > problem->rows && !by_sums);
}

/* Sparse rows of many columns: by conjugate gradients on the rows, to the residual of a system that
 * is solved. An estimate needs the system. */
static bool takes_rows(const ridge *self, const scl_problem *problem) {
  enum { LARGE = 2000 };
  return csr_is(problem) && self->form == FORM_AUTO && self->estimate == ESTIMATE_NONE &&
         problem->features > LARGE && problem->rows > LARGE;
}

/* The dual needs the rows, and so does leaving each of them out. With an RKHS penalty and hardly
 * any lambda rounding decides what the sums cannot: passes over the features repair that, while
 * other coordinates lack what rounding took from G. */
static int32_t ridge_normal_alone(const void *instance, const scl_problem *problem,
                                  const double *values, size_t count, int32_t weighted) {
  const ridge *self = instance;
  const bool by_rows = self->estimate == ESTIMATE_LOO || self->estimate == ESTIMATE_LOO_ERROR;
  double least = values == NULL ? self->lambda : INFINITY;
  for (size_t k = 0; values != NULL && k < count; k++)
    least = fmin(least, values[k]);
  return !by_rows && !takes_rows(self, problem) && self->form != FORM_DUAL &&
         (weighted || !takes_dual(self, problem)) &&
         (self->penalty != PENALTY_RKHS || least >= LEAST_LAMBDA);
}

/* Rows of different weights have no dual: `auto` then takes the primal. */
static scl_status path(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  const ridge *self = instance;
  const scl_status fits = penalty_check(self->penalty, problem, error);
  if (fits != SCL_STATUS_OK) return fits;
  if (self->estimate == ESTIMATE_LOO_ERROR && problem->task != SCL_TASK_CLASSIFICATION)
    return problem->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "estimate = \"loo_error\" is for classes; a regression takes \"loo\"");
  if (takes_rows(self, problem))
    return csr_least_squares(problem, values, count, ROWS_TOLERANCE, ROWS_SWEEPS, out, error);
  if (takes_dual(self, problem)) {
    const scl_status status = ridge_dual(self, problem, values, count, out, error);
    if (status != SCL_STATUS_UNSUPPORTED) return status;
    if (self->form == FORM_DUAL)
      return problem->host->fail(error, status,
                                 "rows have weights, and the dual takes rows of one weight: "
                                 "form = \"primal\" takes them");
  }
  return primal(self, problem, values, count, out, error);
}

static scl_status ridge_solve(const void *self, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  return path(self, problem, &((const ridge *)self)->lambda, 1, &out, error);
}

/* One factorisation for each lambda; with an estimate, an eigendecomposition besides. */
static void ridge_cost(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, int32_t weighted, scl_cost *out) {
  const ridge *self = instance;
  const bool dual = !weighted && takes_dual(self, problem);
  const double order = (double)(dual ? problem->rows : problem->features),
               columns = (double)problem->targets, solves = values == NULL ? 1 : (double)count;
  const double matrix = cost_symmetric(order);
  out->normal = !dual;
  out->dual = dual;
  out->gram = self->penalty == PENALTY_RKHS;
  out->passes = dual ? solves : 0;
  out->columns = columns;
  out->factorised = solves * cost_cholesky(order);
  out->bytes = matrix + 8 * order * columns * sizeof(double);
  if (self->estimate == ESTIMATE_NONE) return;
  out->products = 9 * order * order * order;
  out->bytes += 2 * order * order * sizeof(double);
}

static scl_penalty ridge_penalty(const void *self) {
  return ((const ridge *)self)->penalty == PENALTY_RKHS ? SCL_PENALTY_RKHS : SCL_PENALTY_L2;
}

const scl_plugin scullery_plugin = {
    .name = "ridge",
    .summary = "Least squares with an l2 or RKHS penalty, from streamed normal equations",
    .definition = "objective(rows, a) = penalty == \"l2\" and average(rows, function(r) return "
                  "(r.f - r.y)^2/2 end)\n"
                  "  + lambda/2*dot(a, a)",
    .doc =
        "min_a (1/2n) ||Phi a - y||^2 + (lambda/2) R(a), R(a) = ||a||^2 (l2) or a'Ga (rkhs; Dube\n"
        "and Marchand 2023, algorithm 3). The sums over rows are made once, block by block; each\n"
        "lambda costs one Cholesky factorisation. With more features than rows, all of one\n"
        "weight, the dual system is solved instead (same solution). Sparse rows of more than 2000\n"
        "columns take no system, but conjugate gradients on the rows, to a residual of 1e-8. A\n"
        "system that is singular to working precision is factored with jitter on its diagonal and\n"
        "refined until the residual of the system without it is small. Where rounding of the sums\n"
        "may change predictions by a share of 1e-6 (1e-2 with float32 features), passes over the\n"
        "rows correct the solution. Where that fails the note says what was solved, or how large\n"
        "the share is; above 1e-4 (0.1) the status is not converged.\n"
        "estimate: leave-one-out (Allen 1974) and generalised cross-validation (Golub, Heath and\n"
        "Wahba 1979) for all lambdas from one decomposition of the sums;\n"
        "search(ds, { folds = \"loo\" }) asks for it.",
    SCL_SOLVER(.solve = ridge_solve),
    SCL_INSTANCE(ridge, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = path),
                  SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = ridge_penalty),
                  SCL_OFFER(SCL_ABILITY_NORMAL, scl_ability_normal, .alone = ridge_normal_alone),
                  SCL_OFFER_BARE(SCL_ABILITY_SHARED_TILES, scl_ability_shared_tiles),
                  SCL_OFFER_BARE(SCL_ABILITY_CSR_ROWS, scl_ability_csr_rows),
                  SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = ridge_cost)),
    .create = ridge_create};
