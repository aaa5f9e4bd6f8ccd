/* Ridge regression by preconditioned conjugate gradients (Hestenes and Stiefel 1952), where Phi'Phi
 * is too large to store or takes too long to form:
 *
 *   penalty l2     (Phi'W Phi + N lambda I) a = Phi'W y
 *   penalty rkhs   (Phi'W Phi + N lambda G) a = Phi'W y      (Falkon)
 *
 * Phi n x D, a D x c, W the row weights, N their sum, G_ij = K(w_i, w_j); rows are centred where
 * there is an intercept. Phi'Phi is never formed: an iteration is one sweep over the rows for all
 * targets together, which share their directions (directions.c). The preconditioner P
 * (preconditioner.c) is made from a sample of the rows or from G; for sparse rows it is the
 * diagonal.
 *
 * The residual r = Phi'W y - A a is stated relative to the right-hand side, the worst over targets,
 * and computed anew from a. Its norm is |r| (of r_t over the scale of feature t, where features are
 * of very different size); for rkhs it is that of the preconditioned system,
 * (r'P^-1 r)^1/2, which is about the energy norm of the error: |r| alone says little about
 * directions where G is small. */
#include "cg.h"
#include "shared/cost.h"
#include "shared/csr_newton.h"
#include "shared/solver_options.h"

#include <float.h>
#include <stdio.h>

enum { PRECONDITIONER_AUTO, PRECONDITIONER_ROWS, PRECONDITIONER_GRAM, PRECONDITIONER_NONE };

static const scl_option options[] = {
    SOLVER_LAMBDA(cg, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE),
    SOLVER_PENALTY(cg),
    SOLVER_TOLERANCE(
        cg, "1e-4",
        "norm of the residual relative to the right-hand side (rkhs: of the preconditioned "
        "system)"),
    SOLVER_MAX_ITERATIONS(cg, "1000", "sweeps over the rows at most"),
    SCL_WORD(
        cg, preconditioner, "auto|rows|gram|none", "auto",
        "rows: a sample of the rows (sparse rows: the diagonal); gram: G alone, for rkhs and "
        "features k(z, x); auto: rows for l2; for rkhs gram, and rows where that takes less work"),
    SCL_ROW(cg, rank, SCL_FORM_INTEGER | SCL_FORM_WORD, "auto", "auto",
            "rows in the sample that the preconditioner is made from; 0: none; auto: 10 per "
            "feature up to D = 2000, else 2000 in 400 MB (rkhs: 2 per feature)",
            SCL_WITHIN(0, 1e9)),
    SCL_ROW(cg, damping, SCL_FORM_NUMBER | SCL_FORM_WORD, "auto", "auto",
            "mu of a sample of rows, in lambda's units; auto: half of mean ||phi||^2/rank (0 where "
            "rank >= D), at least lambda (rkhs: lambda)",
            SCL_POSITIVE),
    SOLVER_SEED(cg, "seed for the sample"),
    SCL_OPTION_INTERCEPT};

static scl_status cg_create(void *instance, scl_error *error) {
  const cg *self = instance;
  if (self->preconditioner == PRECONDITIONER_GRAM && self->penalty == PENALTY_L2)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "preconditioner = \"gram\" goes with penalty = \"rkhs\"");
  return SCL_STATUS_OK;
}

/* PATIENCE: iterations without a smaller residual, after which only rounding is left; after
 * SHORT_PATIENCE with a float32 preconditioner, a float64 one takes its place. TRIAL: with
 * preconditioner = "auto" the speed of gram is judged after so many iterations, and again. */
enum { PATIENCE = 100, SHORT_PATIENCE = 25, TRIAL = 20 };

/* Allocates all vectors in one block of scratch memory, and asks the problem for G if the
 * penalty needs it. */
static scl_status open_descent(descent *d, const cg *self, const scl_problem *problem,
                               scl_error *error) {
  const scl_host *host = problem->host;
  const size_t features = problem->features, c = problem->targets, count = features * c;
  *d = (descent){.self = self,
                 .problem = problem,
                 .system = {.problem = problem, .lambda = self->lambda},
                 .preconditioner = {.problem = problem},
                 .scale = SCL_HAS(problem, scale) ? problem->scale : NULL};
  d->right = host->scratch((7 * count + 4 * features + 3 * c + 2) * sizeof *d->right);
  if (d->right == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", count);
  d->residual = d->right + count;
  d->z = d->residual + count;
  d->p = d->z + count;
  d->image = d->p + count;
  d->best = d->image + count;
  d->sums = d->best + count;
  d->mean = d->sums + count + 2 * features;
  d->diagonal = d->mean + features;
  d->response = d->diagonal + features;
  d->size = d->response + c + 1;
  d->score = d->size + c;
  const scl_status status = directions_open(&d->directions, problem, d->p, d->image, error);
  if (status != SCL_STATUS_OK || self->penalty == PENALTY_L2) return status;
  return problem->gram(problem, &d->system.gram, error);
}

/* ------------ norms */

/* x_j'y_j for column j of x and y, D x c each. */
static double column_dot(const descent *d, const double *x, const double *y, size_t j) {
  const size_t features = d->problem->features, c = d->problem->targets;
  double sum = 0;
  for (size_t t = 0; t < features; t++)
    sum += x[t * c + j] * y[t * c + j];
  return sum;
}

/* Squared norm of column j, each entry divided by the scale of its feature. */
static double column_square(const descent *d, const double *x, size_t j) {
  const size_t features = d->problem->features, c = d->problem->targets;
  double sum = 0;
  for (size_t t = 0; t < features; t++) {
    const double number = d->scale == NULL ? x[t * c + j] : x[t * c + j] / d->scale[t];
    sum += number * number;
  }
  return sum;
}

/* z = P^-1 residual, and the norms of the residual in d->score. */
static scl_status cg_norms(descent *d, scl_error *error) {
  const scl_status status = precondition(&d->preconditioner, d->residual, d->z, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < d->problem->targets; j++) {
    d->score[j] = sqrt(d->energy ? fmax(column_dot(d, d->residual, d->z, j), 0)
                                 : column_square(d, d->residual, j));
  }
  return status;
}

/* The same norms relative to the right-hand side; *worst receives the largest over targets. */
static scl_status judge(descent *d, double *worst, scl_error *error) {
  const scl_status status = cg_norms(d, error);
  *worst = 0;
  for (size_t j = 0; status == SCL_STATUS_OK && j < d->problem->targets; j++) {
    if (d->size[j] > 0) d->score[j] /= d->size[j];
    if (!(d->score[j] <= *worst)) *worst = d->score[j];
  }
  return status;
}

/* residual = right - A a, from a itself */
static scl_status true_residual(descent *d, const double *a, double *worst, scl_error *error) {
  const size_t count = d->problem->features * d->problem->targets;
  const scl_status status = cg_multiply(d, a, d->problem->targets, d->image, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < count; i++)
    d->residual[i] = d->right[i] - d->image[i];
  return judge(d, worst, error);
}

/* ------------ the preconditioner */

/* m, the rows of the sample: the option `rank`, at most n. auto: 10 D up to D = 2000; above, 2000
 * rows but at most 400 MB of float64 (rkhs: 2 D). */
static size_t sample_rows_of(const cg *self, const scl_problem *problem, bool gram) {
  const size_t n = problem->rows, features = problem->features;
  size_t rows = (size_t)self->rank->number;
  if (self->rank->form == SCL_FORM_WORD) {
    rows = features <= 2000 ? 10 * features : !gram ? 2000 : 2 * features;
    if (!gram && features > 2000 && (double)features * 16000 > 4e8)
      rows = (size_t)(4e8 / ((double)features * sizeof(double)));
  }
  return rows > n ? n : rows;
}

/* Builds the preconditioner from a sample of rows, or from the diagonal where rows are sparse. */
static scl_status cg_prepare_rows(descent *d, scl_error *error) {
  const scl_value *damping = d->self->damping;
  const size_t rows = sample_rows_of(d->self, d->problem, d->system.gram != NULL);
  if (d->problem->entries > 0) {
    d->preconditioner.diagonal = d->diagonal;
    return SCL_STATUS_OK;
  }
  if (rows == 0) return SCL_STATUS_OK;
  return precondition_by_rows(&d->preconditioner, &d->system, rows, d->self->seed,
                              damping->form == SCL_FORM_WORD ? 0 : damping->number, d->precise,
                              error);
}

/* Refuses a right-hand side whose norm overflows or underflows, as its residual would pass for
 * that of a solution. */
static scl_status check_sizes(const descent *d, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  for (size_t j = 0; j < c; j++) {
    double largest = 0;
    for (size_t t = 0; t < features; t++)
      largest = fmax(largest, fabs(d->right[t * c + j]) / (d->scale == NULL ? 1 : d->scale[t]));
    const bool lost = !d->energy && largest > 0 && !(d->size[j] >= largest);
    if (lost || !isfinite(d->size[j]))
      return d->problem->host->fail(error, SCL_STATUS_BAD_DATA,
                                    "the norm of Phi'W y is not a number of double precision (its "
                                    "largest entry is %.3g): scale the data, or its weights",
                                    largest);
  }
  return SCL_STATUS_OK;
}

/* Builds the preconditioner and computes the norms of the right-hand side. On return residual is
 * the right-hand side, and z and score belong to it. */
static scl_status cg_prepare(descent *d, bool by_gram, scl_error *error) {
  const size_t c = d->problem->targets;
  scl_status status = SCL_STATUS_OK;
  preconditioner_close(&d->preconditioner);
  d->preconditioner.problem = d->problem;
  if (by_gram)
    status = precondition_by_gram(&d->preconditioner, &d->system, d->kappa, error);
  else if (d->self->preconditioner != PRECONDITIONER_NONE)
    status = cg_prepare_rows(d, error);
  if (status != SCL_STATUS_OK) return status;
  d->energy = d->system.gram != NULL && d->preconditioner.factor != NULL;
  memcpy(d->residual, d->right, d->problem->features * c * sizeof *d->residual);
  status = cg_norms(d, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(d->size, d->score, c * sizeof *d->size);
  return check_sizes(d, error);
}

/* ------------ the iteration */

/* One step along new directions, the first of which is z itself. */
static scl_status cg_step(descent *d, double *a, bool fresh, scl_error *error) {
  directions *p = &d->directions;
  if (fresh)
    directions_span(p, d->z);
  else
    directions_turn(p, d->z);
  const scl_status status =
      p->count == 0 ? SCL_STATUS_OK : cg_multiply(d, p->p, p->count, p->image, error);
  if (status == SCL_STATUS_OK && p->count > 0) directions_step(p, a, d->residual);
  return status;
}

/* Whether the iterations that gram still needs, at the speed of the last TRIAL, take more work than
 * making a preconditioner from rows, which needs few: k sweeps of 4 n D c against m D^2 + D^3/3. */
static bool too_slow(const descent *d, double least) {
  const double n = (double)d->problem->rows, features = (double)d->problem->features,
               rows = (double)sample_rows_of(d->self, d->problem, d->system.gram != NULL),
               targets = (double)d->problem->targets;
  const double left =
      least < d->mark ? TRIAL * log(least / d->self->tolerance) / log(d->mark / least) : INFINITY;
  return left * 4 * n * targets > rows * features + features * features / 3;
}

/* Whether the preconditioner in use was made in float32. */
static bool is_narrow(const descent *d) {
  const preconditioner *p = &d->preconditioner;
  return p->factor != NULL && p->dtype == SCL_DTYPE_FLOAT32;
}

/* Iterates from a until the running residual reaches the goal, or iterations or patience run
 * out. Ends at the best a found. */
static scl_status cg_round(descent *d, double *a, double worst, scl_solution *out,
                           scl_error *error) {
  const size_t most = d->self->max_iterations,
               bytes = d->problem->features * d->problem->targets * sizeof *a;
  double least = worst;
  memcpy(d->best, a, bytes);
  const int patience = is_narrow(d) ? SHORT_PATIENCE : PATIENCE;
  bool fresh = true;
  for (int tries = 0; least > d->goal && out->iterations < most && tries < patience; tries++) {
    scl_status status = d->problem->progress(d->problem, "conjugate gradients",
                                             (double)out->iterations / (double)most, NAN, error);
    if (status != SCL_STATUS_OK) return status;
    status = cg_step(d, a, fresh, error);
    fresh = false;
    if (status == SCL_STATUS_OK) status = judge(d, &worst, error);
    if (status != SCL_STATUS_OK) return status;
    out->iterations++;
    if (worst < least) {
      least = worst;
      tries = 0;
      memcpy(d->best, a, bytes);
    }
    if (!d->trial || out->iterations % TRIAL != 0 || least <= d->goal) continue;
    d->slow = too_slow(d, least);
    d->mark = least;
    if (d->slow) break;
  }
  memcpy(a, d->best, bytes);
  return SCL_STATUS_OK;
}

/* Rounds of iterations, each started from the true residual. Rounding, mostly of float32, makes
 * the running residual drift from the true one, so rounds after the first aim lower. */
static scl_status cg_rounds(descent *d, bool warm, scl_solution *out, scl_error *error) {
  double *a = out->coefficients, worst = INFINITY, before = INFINITY;
  scl_status status;
  if (warm) {
    status = true_residual(d, a, &worst, error);
  } else {
    memset(a, 0, d->problem->features * d->problem->targets * sizeof *a);
    status = judge(d, &worst, error);
  }
  /* another round follows one that went below half of the last residual or, close to the tolerance,
   * below 0.9 of it */
  while (status == SCL_STATUS_OK && worst > d->self->tolerance &&
         out->iterations < d->self->max_iterations &&
         worst < (before > 8 * d->self->tolerance ? before / 2 : 0.9 * before) && !d->slow) {
    d->goal = d->self->tolerance / (before < INFINITY ? 4 : 1);
    before = worst;
    status = cg_round(d, a, worst, out, error);
    if (status == SCL_STATUS_OK && !d->slow) status = true_residual(d, a, &worst, error);
  }
  out->residual = worst;
  return status;
}

/* Continues from a with the preconditioner made from rows. */
static scl_status iterate_again(descent *d, scl_solution *out, scl_error *error) {
  const scl_status status = cg_prepare(d, false, error);
  return status == SCL_STATUS_OK ? cg_rounds(d, true, out, error) : status;
}

/* Solves with the gram preconditioner where it applies; switches to rows where gram is slow, and
 * to float64 where float32 makes no further progress. */
static scl_status iterate_all(descent *d, scl_solution *out, scl_error *error) {
  const int32_t choice = d->self->preconditioner;
  const bool automatic = choice == PRECONDITIONER_AUTO && d->system.gram != NULL;
  d->trial = automatic && d->problem->entries == 0 &&
             sample_rows_of(d->self, d->problem, d->system.gram != NULL) > 0;
  d->mark = 1;
  out->iterations = 0;
  scl_status status = cg_prepare(d, automatic || choice == PRECONDITIONER_GRAM, error);
  if (status == SCL_STATUS_OK) status = cg_rounds(d, d->problem->warm != 0, out, error);
  if (status == SCL_STATUS_OK && d->slow) {
    d->slow = d->trial = false;
    status = iterate_again(d, out, error);
  }
  d->precise = status == SCL_STATUS_OK && is_narrow(d) && out->residual > d->self->tolerance &&
               out->iterations < d->self->max_iterations;
  return d->precise ? iterate_again(d, out, error) : status;
}

/* Writes outcome, note and the intercept, mean(y) - mean(phi)'a, of the solution in out. */
static scl_status cg_account(const descent *d, scl_solution *out, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  if (!isfinite(out->residual))
    return d->problem->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "products of the features, targets and weights are not finite: scale the data");
  out->tolerance = d->self->tolerance;
  out->outcome = out->residual <= out->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note,
                   "the residual is %.3g of the right-hand side, %.3g was wanted: %s",
                   out->residual, out->tolerance,
                   out->iterations < d->self->max_iterations
                       ? "rounding allows no smaller one: give a larger lambda or tolerance"
                       : "give more max_iterations, a higher rank or a larger lambda");
  for (size_t j = 0; d->problem->intercept && j < c; j++) {
    out->intercept[j] = d->response[j];
    for (size_t t = 0; t < features; t++)
      out->intercept[j] -= d->mean[t] * out->coefficients[t * c + j];
  }
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

static scl_status cg_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                           scl_error *error) {
  const cg *self = instance;
  descent d;
  scl_status status = penalty_check(self->penalty, problem, error);
  if (status != SCL_STATUS_OK) return status;
  if (csr_is(problem))
    return csr_least_squares(problem, &self->lambda, 1, self->tolerance, self->max_iterations, &out,
                             error);
  status = open_descent(&d, self, problem, error);
  if (status == SCL_STATUS_OK) status = cg_assemble(&d, error);
  if (status == SCL_STATUS_OK) status = iterate_all(&d, out, error);
  if (status == SCL_STATUS_OK) status = cg_account(&d, out, error);
  preconditioner_close(&d.preconditioner);
  return status;
}

static scl_penalty cg_penalty(const void *self) {
  return ((const cg *)self)->penalty == PENALTY_RKHS ? SCL_PENALTY_RKHS : SCL_PENALTY_L2;
}

/* Typical sweeps to the default tolerance; the residual shrinks by about the same factor in
 * each. */
static double typical_sweeps(const cg *self) {
  enum { SWEEPS = 30 };
  const double tolerance = fmin(fmax(self->tolerance, DBL_EPSILON), 0.5);
  return fmin((double)self->max_iterations, round(SWEEPS * log(tolerance) / log(1e-4)));
}

/* The sample and its factor, and typical_sweeps() with a product by each. The sample of all rows is
 * the normal equations. */
static void cg_cost(const void *instance, const scl_problem *problem, const double *values,
                    size_t count, int32_t weighted, scl_cost *out) {
  const cg *self = instance;
  const bool rkhs = self->penalty == PENALTY_RKHS,
             sampled =
                 problem->entries == 0 && (!rkhs || self->preconditioner == PRECONDITIONER_ROWS);
  const size_t rows = sampled ? sample_rows_of(self, problem, rkhs) : 0;
  const double n = (double)problem->rows, d = (double)problem->features, m = (double)rows,
               c = (double)problem->targets, solves = values == NULL ? 1 : (double)count,
               order = rkhs || m >= d ? d : m, sweeps = typical_sweeps(self);
  const bool all = m >= d && rows >= problem->rows && problem->rounding <= DBL_EPSILON;
  (void)weighted;
  out->gram = rkhs;
  out->normal = all;
  out->passes = solves * (sweeps + 1);
  out->columns = c;
  out->minibatch = all ? 0 : m * d;
  out->products =
      solves * sweeps * 4 * order * (m >= d ? order : d) * c + (all ? 0 : m * d * order);
  out->factorised = sampled || rkhs ? cost_cholesky(order) : 0;
  out->bytes = (9 * d * c + n * (c + 1)) * sizeof(double) +
               (sampled ? cost_symmetric(order) + d * (m >= d ? 256 : m) * sizeof(float) : 0);
  (void)snprintf(out->note, sizeof out->note, "%g sweeps over the rows, a typical number", sweeps);
}

const scl_plugin scullery_plugin = {
    .name = "cg",
    .summary = "Ridge regression by preconditioned conjugate gradients, without Phi'Phi",
    .definition = "objective(rows, a) = penalty == \"l2\" and average(rows, function(r) return "
                  "(r.f - r.y)^2/2 end)\n"
                  "  + lambda/2*dot(a, a)",
    .doc =
        "(Phi'Phi + n lambda R) a = Phi'y, the problem of solver.ridge with penalty l2 (R = I) or\n"
        "rkhs (R = G), without Phi'Phi: one sweep over the rows per iteration, for all targets\n"
        "together. Preconditioners (sparse rows: the diagonal):\n"
        "rows, l2     (n/m) S'S + n mu I of a sample S of m = `rank` rows (mu = `damping`), by a\n"
        "             system of order min(m, D)\n"
        "rows, rkhs   (n/m) S'S + n mu G, a system of order D\n"
        "gram, rkhs   n kappa G^2 + n lambda G, from G alone, for features k(z, x) of landmarks z\n"
        "             (Falkon; Rudi, Carratino and Rosasco 2017)\n"
        "auto takes rows for l2; for rkhs gram and, judged every 20 iterations, rows from where\n"
        "making them takes less work than the iterations that gram still needs. It ends when the\n"
        "residual is `tolerance` of the right-hand side for every target, for rkhs in the norm of\n"
        "the preconditioned system; info().residual is computed anew from the coefficients.\n"
        "float32 features leave residuals of about 1e-6 at best (l2).",
    SCL_SOLVER(.solve = cg_solve),
    SCL_INSTANCE(cg, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = cg_penalty),
                  SCL_OFFER_BARE(SCL_ABILITY_SPARSE_ROWS, scl_ability_sparse_rows),
                  SCL_OFFER_BARE(SCL_ABILITY_CSR_ROWS, scl_ability_csr_rows),
                  SCL_OFFER_BARE(SCL_ABILITY_ROWS_APART, scl_ability_rows_apart),
                  SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = cg_cost)),
    .create = cg_create};
