/* Ridge regression from streamed normal equations, or from the dual when there are more features
 * than rows:
 *
 *   min_a (1/2n) ||Phi a - y||^2 + (lambda/2) ||a||^2     (Phi'Phi + n lambda I) a = Phi'y
 *       penalty l2
 *   min_a (1/2n) ||Phi a - y||^2 + (lambda/2) a'Ga        (Phi'Phi + n lambda G) a = Phi'y
 *       penalty rkhs (Dube and Marchand 2023,
 * algorithm 3) dual (l2): a = Phi' b, (Phi Phi' + n lambda I) b = y
 *
 * Phi n x D, y n x c (all targets share one factorisation), G_ij = K(w_i, w_j). One Cholesky a
 * lambda; the sums over rows are the problem's and are made once. A system that is not positive
 * definite gets `jitter` on its diagonal, 1e-12 of the mean diagonal and ten times more until it
 * factors and its residual is small; the solution says how much. */
#include "shared/leave_one_out.h"
#include <math.h>
#include <scullery/plugin.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LAMBDA, PENALTY, INTERCEPT, FORM, ESTIMATE, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss"},
    {"penalty", SCL_FORM_WORD, "l2|rkhs", "l2", 0, 0, 0, SCL_WIDTH_NONE,
     "l2: ||a||^2; rkhs: a'Ga, for features of an instantiation with K"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
    {"form", SCL_FORM_WORD, "auto|primal|dual", "auto", 0, 0, 0, SCL_WIDTH_NONE,
     "primal: a D x D system; dual: n x n (l2, rows of one weight); auto: dual where it can and D "
     "> n"},
    {"estimate", SCL_FORM_WORD, "none|loo|loo_error|gcv", "none", 0, 0, 0, SCL_WIDTH_NONE,
     "its own risk, told by info().score: leave-one-out squared error, leave-one-out share of "
     "wrong classes, generalised cross-validation"},
};

static const double tolerance = 1e-8; /* relative residual of the normal equations */

typedef struct ridge {
  const scl_host *host;
  const scl_symmetric_algebra *algebra;
  double lambda;
  int rkhs, primal, dual;
  loo_kind estimate;
} ridge;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const int rkhs = strcmp(values[PENALTY].word, "rkhs") == 0,
            dual = strcmp(values[FORM].word, "dual") == 0;
  if (rkhs && dual)
    return host->fail(error, SCL_STATUS_BAD_OPTION, "form = \"dual\" goes with penalty = \"l2\"");
  ridge *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (ridge){host,
                  host->service(SCL_SERVICE_SYMMETRIC),
                  values[LAMBDA].number,
                  rkhs,
                  strcmp(values[FORM].word, "primal") == 0,
                  dual,
                  loo_kind_of(values[ESTIMATE].word)};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  ridge *self = instance;
  self->host->release(self);
}

/* A linear system (base + weight extra) x = right, extra NULL for the identity: what primal and
 * dual have in common. */
typedef struct system_of {
  const scl_symmetric *base, *extra;
  double weight;
  const double *right; /* order x columns */
  size_t order, columns;
} system_of;

/* largest |right - A x| over largest |right| */
static double relative_residual(const ridge *self, const system_of *s, double jitter,
                                const double *x, double *work) {
  const size_t count = s->order * s->columns;
  double *extra = work + count, worst = 0, size = 0;
  self->algebra->multiply(s->base, x, s->columns, work);
  if (s->extra != NULL) self->algebra->multiply(s->extra, x, s->columns, extra);
  for (size_t i = 0; i < count; i++) {
    const double penalty = s->extra != NULL ? s->weight * extra[i] : s->weight * x[i];
    work[i] = s->right[i] - work[i] - penalty - jitter * x[i];
    if (!(fabs(work[i]) <= worst)) worst = fabs(work[i]);
    if (fabs(s->right[i]) > size) size = fabs(s->right[i]);
  }
  return size > 0 ? worst / size : worst;
}

/* One try: assemble, factor, solve, one step of iterative refinement. SCL_STATUS_NUMERIC where it
 * does not factor. */
static scl_status attempt(const ridge *self, const system_of *s, double jitter, scl_symmetric *a,
                          double *x, double *work, double *residual, scl_error *error) {
  const size_t count = s->order * s->columns;
  size_t pivot = 0;
  self->algebra->copy(s->base, a);
  if (s->extra != NULL) self->algebra->add(s->weight, s->extra, a);
  self->algebra->shift((s->extra == NULL ? s->weight : 0) + jitter, a);
  const scl_status status = self->algebra->factor(a, &pivot, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(x, s->right, count * sizeof *x);
  self->algebra->solve(a, x, s->columns);
  *residual = relative_residual(self, s, jitter, x, work);
  if (!isfinite(*residual) || *residual <= 1e-3 * tolerance) return SCL_STATUS_OK;
  self->algebra->solve(a, work, s->columns);
  for (size_t i = 0; i < count; i++)
    work[count + i] = x[i] + work[i];
  memcpy(x, work + count, count * sizeof *x);
  *residual = relative_residual(self, s, jitter, x, work);
  return SCL_STATUS_OK;
}

static double mean_diagonal(const ridge *self, const scl_symmetric *a, size_t order, double *work) {
  double sum = 0;
  self->algebra->diagonal(a, work);
  for (size_t i = 0; i < order; i++)
    sum += work[i];
  return order == 0 || sum <= 0 ? 1 : sum / (double)order;
}

/* x = solution; a has the system's order and is spoilt; work holds 2 order columns numbers.
 * singular: a system of the same path was, so that this one is not tried without jitter. */
static scl_status solve_system(const ridge *self, const system_of *s, double least_jitter,
                               bool singular, scl_symmetric *a, double *x, double *work,
                               scl_solution *out, scl_error *error) {
  const double unit =
      mean_diagonal(self, s->base, s->order, work) +
      s->weight * (s->extra == NULL ? 1 : mean_diagonal(self, s->extra, s->order, work));
  double jitter = singular ? least_jitter * unit : 0;
  for (int tries = 0; tries < 12; tries++) {
    const scl_status status = attempt(self, s, jitter, a, x, work, &out->residual, error);
    if (status != SCL_STATUS_OK && status != SCL_STATUS_NUMERIC) return status;
    if (status == SCL_STATUS_OK && isfinite(out->residual) &&
        (out->residual <= tolerance || tries > 8)) {
      out->jitter = jitter;
      out->tolerance = tolerance;
      out->outcome = out->residual <= tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
      out->iterations = 1;
      if (jitter > 0)
        (void)snprintf(out->note, sizeof out->note,
                       "the system is singular to working precision: %.1e (%.0e of its mean "
                       "diagonal) was added to the diagonal",
                       jitter, jitter / unit);
      return SCL_STATUS_OK;
    }
    jitter = jitter == 0 ? least_jitter * unit : 10 * jitter;
  }
  return self->host->fail(
      error, SCL_STATUS_NUMERIC,
      "the system of order %zu stays singular even with %.1e on its diagonal: give a larger lambda",
      s->order, jitter / 10);
}

static double least_jitter(const scl_problem *problem) {
  return problem->dtype == SCL_DTYPE_FLOAT32 ? 1e-5 : 1e-12;
}

/* The scores of all solutions from one decomposition. work: D c numbers. */
static scl_status estimate(const ridge *self, const scl_problem *problem, const scl_normal *normal,
                           const scl_symmetric *gram, const double *lambdas, size_t count,
                           scl_solution *const *out, double *work, scl_error *error) {
  loo_spectrum spectrum;
  if (self->estimate == LOO_ERROR && problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(error, SCL_STATUS_BAD_OPTION,
                            "estimate = \"loo_error\" is for classes; a regression takes \"loo\"");
  scl_status status = loo_decompose(self->host, normal->gram, gram, &spectrum, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t k = 0; self->estimate == LOO_GCV && k < count; k++)
    out[k]->score =
        loo_gcv(self->host, &spectrum, normal, problem, lambdas[k], out[k]->coefficients, work);
  if (self->estimate != LOO_GCV)
    status =
        loo_by_rows(problem, &spectrum, self->estimate, normal->total, lambdas, count, out, error);
  loo_release(self->host, &spectrum);
  return status;
}

static scl_status primal(const ridge *self, const scl_problem *problem, const double *lambdas,
                         size_t count, scl_solution *const *out, scl_error *error) {
  scl_normal normal = {SCL_HEAD(scl_normal), NULL, NULL, NULL, 0};
  system_of s = {NULL, NULL, 0, NULL, problem->features, problem->targets};
  scl_symmetric *a = NULL;
  double *work = NULL;
  scl_status status = problem->normal(problem, &normal, error);
  if (status == SCL_STATUS_OK && self->rkhs) status = problem->gram(problem, &s.extra, error);
  if (status == SCL_STATUS_OK) status = self->algebra->create(s.order, &a, error);
  if (status == SCL_STATUS_OK)
    work = self->host->allocate(2 * (s.order + 1) * s.columns * sizeof *work);
  if (status == SCL_STATUS_OK && work == NULL)
    status = self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                              s.order * s.columns);
  s.base = normal.gram;
  s.right = normal.right;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    s.weight = normal.total * lambdas[k];
    status = problem->progress(problem, (double)k / (double)count, "solving", error);
    if (status == SCL_STATUS_OK)
      status = solve_system(self, &s, least_jitter(problem), k > 0 && out[k - 1]->jitter > 0, a,
                            out[k]->coefficients, work, out[k], error);
  }
  if (status == SCL_STATUS_OK && self->estimate != LOO_NONE)
    status = estimate(self, problem, &normal, s.extra, lambdas, count, out, work, error);
  self->host->release(work);
  self->algebra->destroy(a);
  return status;
}

/* What the dual's scores are made of. */
typedef struct dual_scoring {
  loo_spectrum spectrum;
  double *targets, *left; /* n x c as they are, c */
} dual_scoring;

static void end_dual_scoring(const ridge *self, dual_scoring *d) {
  loo_release(self->host, &d->spectrum);
  self->host->release(d->targets);
}

static scl_status begin_dual_scoring(const ridge *self, const scl_problem *problem,
                                     const scl_symmetric *gram, dual_scoring *d, scl_error *error) {
  *d = (dual_scoring){0};
  if (self->estimate == LOO_NONE) return SCL_STATUS_OK;
  if (self->estimate == LOO_ERROR && problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(error, SCL_STATUS_BAD_OPTION,
                            "estimate = \"loo_error\" is for classes; a regression takes \"loo\"");
  d->targets = self->host->allocate((problem->rows + 1) * problem->targets * sizeof *d->targets);
  if (d->targets == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets",
                            problem->rows);
  d->left = d->targets + problem->rows * problem->targets;
  const scl_status status = problem->responses(problem, d->targets, NULL, error);
  return status == SCL_STATUS_OK ? loo_decompose(self->host, gram, NULL, &d->spectrum, error)
                                 : status;
}

static scl_status dual(const ridge *self, const scl_problem *problem, const double *lambdas,
                       size_t count, scl_solution *const *out, scl_error *error) {
  system_of s = {NULL, NULL, 0, NULL, problem->rows, problem->targets};
  scl_symmetric *a = NULL;
  double *work = NULL;
  scl_status status = problem->dual(problem, &s.base, &s.right, error);
  if (status == SCL_STATUS_OK) status = self->algebra->create(s.order, &a, error);
  if (status == SCL_STATUS_OK)
    work = self->host->allocate(3 * (s.order + 1) * s.columns * sizeof *work);
  if (status == SCL_STATUS_OK && work == NULL)
    status = self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                              s.order * s.columns);
  dual_scoring scoring = {0};
  if (status == SCL_STATUS_OK) status = begin_dual_scoring(self, problem, s.base, &scoring, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    double *b = work + 2 * s.order * s.columns;
    s.weight = (double)problem->rows * lambdas[k];
    status = problem->progress(problem, (double)k / (double)count, "solving", error);
    if (status == SCL_STATUS_OK)
      status = solve_system(self, &s, least_jitter(problem), k > 0 && out[k - 1]->jitter > 0, a, b,
                            work, out[k], error);
    if (status == SCL_STATUS_OK)
      status = problem->adjoint(problem, b, s.columns, out[k]->coefficients, error);
    if (status == SCL_STATUS_OK && self->estimate != LOO_NONE)
      out[k]->score = loo_dual(problem, &scoring.spectrum, self->estimate, lambdas[k], b,
                               scoring.targets, scoring.left);
  }
  end_dual_scoring(self, &scoring);
  self->host->release(work);
  self->algebra->destroy(a);
  return status;
}

static scl_status path(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  const ridge *self = instance;
  if (self->rkhs && !problem->has_kernel)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "penalty = \"rkhs\" needs features of an instantiation with K; penalty "
                            "= \"l2\" goes with these");
  const int short_and_wide = problem->features > problem->rows && !self->rkhs && !self->primal;
  if (self->dual || short_and_wide) {
    const scl_status status = dual(self, problem, values, count, out, error);
    if (self->dual || status != SCL_STATUS_UNSUPPORTED)
      return status; /* rows of different weights have no dual here */
  }
  return primal(self, problem, values, count, out, error);
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return path(instance, problem, &((const ridge *)instance)->lambda, 1, &out, error);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_path path_table = {SCL_HEAD(scl_ability_path), "lambda", path};
  (void)instance;
  return strcmp(id, SCL_ABILITY_PATH) == 0 ? &path_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "ridge",
    "1.0",
    "The Scullery authors",
    "Least squares with an l2 or RKHS penalty, from streamed normal equations",
    "min_a (1/2n) ||Phi a - y||^2 + (lambda/2) R(a), R(a) = ||a||^2 (l2) or a'Ga (rkhs; Dube and "
    "Marchand 2023, algorithm 3).\n"
    "The sums over rows are made once, block by block; each lambda costs one Cholesky "
    "factorisation. With more features\n"
    "than rows, all of one weight, the dual system is solved instead (same solution). A singular "
    "system gets the least jitter\n"
    "(from 1e-12 of the mean diagonal, times ten) that makes it solvable; info() says so. On a "
    "path of lambdas a system whose\n"
    "neighbour was singular starts with jitter.\n"
    "estimate: leave-one-out (Allen 1974) and generalised cross-validation (Golub, Heath and Wahba "
    "1979) for all lambdas from\n"
    "one decomposition of the sums; search(ds, { folds = \"loo\" }) asks for it.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
