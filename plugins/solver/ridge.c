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
 * that is not positive definite gets `jitter` on its diagonal, 1e-12 of the mean diagonal (1e-5
 * with float32 features) and ten times more until it factors and its residual is small; the
 * solution says how much. */
#include "ridge_estimate.h"
#include "shared/mean_diagonal.h"
#include "shared/solver_options.h"
#include <stdio.h>

typedef struct ridge {
  scl_base base;
  double lambda;
  int32_t penalty, form, estimate;
} ridge;

enum { FORM_AUTO, FORM_PRIMAL, FORM_DUAL };

static const scl_option options[] = {
    SOLVER_LAMBDA(ridge, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE),
    SOLVER_PENALTY(ridge), SOLVER_INTERCEPT_AUTO,
    SCL_WORD(
        ridge, form, "auto|primal|dual", "auto",
        "primal: a D x D system; dual: n x n (l2, rows of one weight); auto: dual where it can "
        "and D > n"),
    SCL_WORD(ridge, estimate, "none|loo|loo_error|gcv", "none",
             "its own estimate of the risk, in info().score: leave-one-out squared error, "
             "leave-one-out share of wrong classes, generalised cross-validation",
             .role = SCL_ROLE_ESTIMATE)};

static const double TOLERANCE = 1e-8; /* relative residual of the normal equations */

static scl_status create(void *instance, scl_error *error) {
  const ridge *self = instance;
  if (self->penalty == PENALTY_RKHS && self->form == FORM_DUAL)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "form = \"dual\" goes with penalty = \"l2\"");
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ a linear system */

/* (base + weight extra) x = right, extra NULL for the identity: primal or dual. */
typedef struct system_of {
  const scl_host *host;
  const scl_symmetric *base, *extra;
  double weight, least_jitter;
  const double *right; /* order x columns */
  size_t order, columns;
  scl_symmetric *factor; /* of that order */
  double *work;          /* 2 (order + 1) columns */
} system_of;

static scl_status open_system(system_of *s, const scl_problem *problem, scl_error *error) {
  const size_t count = s->order * s->columns;
  s->host = problem->host;
  s->least_jitter = problem->dtype == SCL_DTYPE_FLOAT32 ? 1e-5 : 1e-12;
  const scl_status status = s->host->symmetric->create(s->order, &s->factor, error);
  if (status != SCL_STATUS_OK) return status;
  s->work = s->host->allocate(2 * (count + s->columns) * sizeof *s->work);
  if (s->work != NULL) return SCL_STATUS_OK;
  return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                       count);
}

static void close_system(system_of *s) {
  if (s->host == NULL) return;
  s->host->symmetric->destroy(s->factor);
  s->host->release(s->work);
}

/* work = right - A x; *residual: its largest number over the largest of right */
static scl_status measure(const system_of *s, double jitter, const double *x, double *residual,
                          scl_error *error) {
  const size_t count = s->order * s->columns;
  double *extra = s->work + count, worst = 0, size = 0;
  scl_status status = s->host->symmetric->multiply(s->base, x, s->columns, s->work, error);
  if (status == SCL_STATUS_OK && s->extra != NULL)
    status = s->host->symmetric->multiply(s->extra, x, s->columns, extra, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < count; i++) {
    const double penalty = s->weight * (s->extra != NULL ? extra[i] : x[i]);
    s->work[i] = s->right[i] - s->work[i] - penalty - jitter * x[i];
    if (!(fabs(s->work[i]) <= worst)) worst = fabs(s->work[i]);
    if (fabs(s->right[i]) > size) size = fabs(s->right[i]);
  }
  *residual = size > 0 ? worst / size : worst;
  return SCL_STATUS_OK;
}

/* One try: assemble, factor, solve, one step of iterative refinement. SCL_STATUS_NUMERIC where it
 * does not factor. */
static scl_status attempt(const system_of *s, double jitter, double *x, double *residual,
                          scl_error *error) {
  const scl_symmetric_algebra *algebra = s->host->symmetric;
  const size_t count = s->order * s->columns;
  size_t pivot = 0;
  algebra->copy(s->base, s->factor);
  if (s->extra != NULL) algebra->add(s->weight, s->extra, s->factor);
  algebra->shift((s->extra == NULL ? s->weight : 0) + jitter, s->factor);
  scl_status status = algebra->factor(s->factor, &pivot, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(x, s->right, count * sizeof *x);
  status = algebra->solve(s->factor, x, s->columns, error);
  if (status == SCL_STATUS_OK) status = measure(s, jitter, x, residual, error);
  if (status != SCL_STATUS_OK || !isfinite(*residual) || *residual <= 1e-3 * TOLERANCE)
    return status;
  status = algebra->solve(s->factor, s->work, s->columns, error);
  for (size_t i = 0; i < count; i++)
    x[i] += s->work[i];
  return status == SCL_STATUS_OK ? measure(s, jitter, x, residual, error) : status;
}

static void note_jitter(scl_solution *out, double unit) {
  if (out->jitter > 0)
    (void)snprintf(out->note, sizeof out->note,
                   "the system is singular to working precision: %.1e (%.0e of its mean "
                   "diagonal) was added to the diagonal",
                   out->jitter, out->jitter / unit);
}

/* Over the mean diagonal. Sums of n equal float32 products, as of features sign(z)/sqrt(T), are off
 * by about 1e-5 of themselves, all to the same side: up to 1e-5 of the trace in one direction. */
static double most_jitter(const system_of *s) { return fmax(2e-2, 2e-4 * (double)s->order); }

/* x = solution. singular: a system of the same path was, so that this one is not tried without
 * jitter. */
static scl_status solve_system(const system_of *s, bool singular, double *x, scl_solution *out,
                               scl_error *error) {
  double unit = 0, extra = 1;
  scl_status status = mean_diagonal(s->host, s->base, &unit, error);
  if (status == SCL_STATUS_OK && s->extra != NULL)
    status = mean_diagonal(s->host, s->extra, &extra, error);
  if (status != SCL_STATUS_OK) return status;
  unit += s->weight * extra;
  double jitter = singular ? s->least_jitter * unit : 0;
  const double most = most_jitter(s) * unit;
  for (int tries = 0; tries < 16 && jitter <= most; tries++) {
    status = attempt(s, jitter, x, &out->residual, error);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_NUMERIC) return status;
    if (status == SCL_STATUS_OK && isfinite(out->residual) &&
        (out->residual <= TOLERANCE || tries > 8)) {
      out->jitter = jitter;
      out->tolerance = TOLERANCE;
      out->outcome = out->residual <= TOLERANCE ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
      out->iterations = 1;
      note_jitter(out, unit);
      return SCL_STATUS_OK;
    }
    jitter = jitter == 0 ? s->least_jitter * unit : 10 * jitter;
  }
  return s->host->fail(
      error, SCL_STATUS_NUMERIC,
      "the system of order %zu stays singular even with %.1e on its diagonal: give a larger lambda",
      s->order, jitter / 10);
}

/* ------------------------------------------------------------ primal */

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
  loo_release(problem->host, &spectrum);
  return status;
}

static scl_status primal(const ridge *self, const scl_problem *problem, const double *lambdas,
                         size_t count, scl_solution *const *out, scl_error *error) {
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  system_of s = {.order = problem->features, .columns = problem->targets};
  scl_status status = problem->normal(problem, &normal, error);
  s.base = normal.moment;
  s.right = normal.right;
  if (status == SCL_STATUS_OK && self->penalty == PENALTY_RKHS)
    status = problem->gram(problem, &s.extra, error);
  if (status == SCL_STATUS_OK) status = open_system(&s, problem, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    s.weight = normal.total * lambdas[k];
    status = problem->progress(problem, "solving", (double)k / (double)count, NAN, error);
    if (status == SCL_STATUS_OK)
      status =
          solve_system(&s, k > 0 && out[k - 1]->jitter > 0, out[k]->coefficients, out[k], error);
  }
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    status = estimate(self, problem, &normal, s.extra, lambdas, count, out, s.work, error);
  close_system(&s);
  return status;
}

/* ------------------------------------------------------------ dual */

/* What the dual's scores are made of, beside its solutions. */
typedef struct dual_scoring {
  loo_spectrum spectrum;
  double *targets, *left; /* n x c as they are, c */
} dual_scoring;

static scl_status open_scoring(const scl_problem *problem, const scl_symmetric *outer,
                               dual_scoring *d, scl_error *error) {
  const size_t count = problem->rows * problem->targets;
  d->targets = problem->host->allocate((count + problem->targets) * sizeof *d->targets);
  if (d->targets == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets",
                               problem->rows);
  d->left = d->targets + count;
  const scl_status status = problem->responses(problem, d->targets, NULL, error);
  return status == SCL_STATUS_OK ? loo_decompose(problem->host, outer, NULL, &d->spectrum, error)
                                 : status;
}

static void close_scoring(const scl_host *host, dual_scoring *d) {
  loo_release(host, &d->spectrum);
  host->release(d->targets);
}

/* One lambda. b: n x c numbers of scratch. */
static scl_status dual_solution(const ridge *self, const scl_problem *problem, const system_of *s,
                                const dual_scoring *scoring, double lambda, bool singular,
                                double *b, scl_solution *out, scl_error *error) {
  scl_status status = solve_system(s, singular, b, out, error);
  if (status == SCL_STATUS_OK)
    status = problem->adjoint(problem, b, s->columns, out->coefficients, error);
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    out->score = loo_dual(problem, &scoring->spectrum, self->estimate, lambda, b, scoring->targets,
                          scoring->left);
  return status;
}

static scl_status dual(const ridge *self, const scl_problem *problem, const double *lambdas,
                       size_t count, scl_solution *const *out, scl_error *error) {
  const scl_host *host = problem->host;
  system_of s = {.order = problem->rows, .columns = problem->targets};
  dual_scoring scoring = {.targets = NULL};
  double *b = NULL;
  scl_status status = problem->dual(problem, &s.base, &s.right, error);
  if (status == SCL_STATUS_OK) status = open_system(&s, problem, error);
  if (status == SCL_STATUS_OK) b = host->allocate((s.order + 1) * s.columns * sizeof *b);
  if (status == SCL_STATUS_OK && b == NULL)
    status = host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                        s.order * s.columns);
  if (status == SCL_STATUS_OK && self->estimate != ESTIMATE_NONE)
    status = open_scoring(problem, s.base, &scoring, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    s.weight = (double)problem->rows * lambdas[k];
    status = problem->progress(problem, "solving", (double)k / (double)count, NAN, error);
    if (status == SCL_STATUS_OK)
      status = dual_solution(self, problem, &s, &scoring, lambdas[k],
                             k > 0 && out[k - 1]->jitter > 0, b, out[k], error);
  }
  close_scoring(host, &scoring);
  host->release(b);
  close_system(&s);
  return status;
}

/* ------------------------------------------------------------ the plugin */

/* Rows of different weights have no dual: `auto` then takes the primal. */
static scl_status path(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  const ridge *self = instance;
  const bool rkhs = self->penalty == PENALTY_RKHS;
  const scl_status fits = penalty_check(self->penalty, problem, error);
  if (fits != SCL_STATUS_OK) return fits;
  if (self->estimate == ESTIMATE_LOO_ERROR && problem->task != SCL_TASK_CLASSIFICATION)
    return problem->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "estimate = \"loo_error\" is for classes; a regression takes \"loo\"");
  if (self->form == FORM_DUAL ||
      (self->form == FORM_AUTO && !rkhs && problem->features > problem->rows)) {
    const scl_status status = dual(self, problem, values, count, out, error);
    if (status != SCL_STATUS_UNSUPPORTED) return status;
    if (self->form == FORM_DUAL)
      return problem->host->fail(error, status,
                                 "rows have weights, and the dual takes rows of one weight: "
                                 "form = \"primal\" takes them");
  }
  return primal(self, problem, values, count, out, error);
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return path(self, problem, &((const ridge *)self)->lambda, 1, &out, error);
}

static scl_penalty penalty(const void *self) {
  return ((const ridge *)self)->penalty == PENALTY_RKHS ? SCL_PENALTY_RKHS : SCL_PENALTY_L2;
}

const scl_plugin scullery_plugin = {
    .name = "ridge",
    .summary = "Least squares with an l2 or RKHS penalty, from streamed normal equations",
    .doc =
        "min_a (1/2n) ||Phi a - y||^2 + (lambda/2) R(a), R(a) = ||a||^2 (l2) or a'Ga (rkhs; Dube\n"
        "and Marchand 2023, algorithm 3). The sums over rows are made once, block by block; each\n"
        "lambda costs one Cholesky factorisation. With more features than rows, all of one "
        "weight,\n"
        "the dual system is solved instead (same solution). A singular system gets the least\n"
        "jitter (from 1e-12 of the mean diagonal, times ten) that makes it solvable; info() says\n"
        "so. On a path of lambdas a system whose neighbour was singular starts with jitter.\n"
        "estimate: leave-one-out (Allen 1974) and generalised cross-validation (Golub, Heath and\n"
        "Wahba 1979) for all lambdas from one decomposition of the sums;\n"
        "search(ds, { folds = \"loo\" }) asks for it.",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(ridge, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = path),
                  SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = penalty)),
    .create = create};
