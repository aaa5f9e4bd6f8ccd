/* Exact kernel ridge regression, the limit of ridge on random features of the same kernel:
 *
 *   min_{f, f0}  (1/2n) sum_i w_i (f(x_i) + f0 - y_i)^2 + (lambda/2) ||f||_K^2
 *   f = sum_i b_i K(x_i, .)
 *
 * K n x n between the rows, y n x c, W the diagonal matrix of the row weights w_i, n their sum. The
 * solution (Saunders, Gammerman and Vovk 1998) solves
 *
 *   (K + n lambda W^-1) b + f0 1 = y
 *   1'b = 0                                 with an intercept; f0 = 0 without
 *
 * All targets share one Cholesky factorisation, n^3/3 operations. In float64 it takes n^2/2 numbers
 * of 8 bytes. In float32 it takes half the memory and half the time; conjugate gradients on
 * products with the float64 matrix then correct the solution. Either way the residual reported is
 * that of the float64 system. Values of lambda share the rows and K. */
#include "kernel_ridge.h"
#include "shared/cost.h"
#include "shared/expansion_doubt.h"
#include "shared/models.h"

#include <stdio.h>

enum { MOST_TRIES = 12, MOST_REFINED = 3, FEW_ROWS = 1024 };
/* Limits on steps of conjugate gradients. After the first, a factor in float64 costs less (the
 * same limit whether K is kept or not); the second applies where there is no memory for one. */
enum { FEW_STEPS = 60, MOST_STEPS = 1000 };
enum { AUTO, FLOAT64, FLOAT32 };
enum { METHOD_AUTO, METHOD_DIRECT, METHOD_CG };
enum { MOST_DIRECT = 30000 };         /* rows up to which "auto" factors */
static const double tolerance = 1e-8; /* relative residual of the linear system */
/* If A has a factor and the residual is below this, the residual is due to rounding of products
 * with A, and jitter would change the problem by more. */
static const double rounding = 1e-3;

static const scl_option options[] = {
    SCL_ROW(kernel_ridge, kernel, SCL_FORM_PARTS, "kernel", "gaussian",
            "the kernel on rows, as sc.kernel.gaussian{ gamma = 2 }", .range = 0),
    SCL_NUMBER(kernel_ridge, lambda, "1e-6", "regularisation of the mean loss", SCL_NOT_NEGATIVE,
               .role = SCL_ROLE_REGULARISATION),
    SCL_BOOLEAN(kernel_ridge, intercept, "false", "fit an unpenalised constant",
                .role = SCL_ROLE_INTERCEPT),
    SCL_WORD(kernel_ridge, precision, "auto|float64|float32", "auto",
             "of the Cholesky factor: auto takes float32 from 1024 rows on, and float64 where "
             "float32 is not accurate enough"),
    SCL_WORD(kernel_ridge, method, "auto|direct|cg", "auto",
             "direct: a factor of K; cg: conjugate gradients on products with K, whose values are "
             "made again for each where they do not fit; auto: cg above 30,000 rows"),
    SCL_INTEGER(kernel_ridge, rank, NULL,
                "for cg: the rank of the preconditioner (by default 4 sqrt(n), at most 1000)",
                SCL_WITHIN(1, INT32_MAX)),
    SCL_NUMBER(kernel_ridge, tolerance, "1e-6",
               "for cg: the residual, as a share of the largest target", SCL_BETWEEN(0, 1))};

static bool is_iterative(const kernel_ridge *self, size_t rows) {
  return self->method == METHOD_CG || (self->method == METHOD_AUTO && rows > MOST_DIRECT);
}

/* ------------ solving with the factor of A */

/* Solves A^-1 b in place for k columns: by a factor of A itself, or by conjugate gradients
 * preconditioned with the factor of a matrix near A. */
static scl_status inverse(linear_system *s, double *b, size_t k, scl_error *error) {
  const bool exact = s->jitter == 0 || s->jittered;
  if (s->f != NULL)
    return gradients_solve(s, b, k, 0.5 * s->self->tolerance, s->most, &s->iterations, error);
  if (s->narrow == NULL && exact) return s->host->symmetric->solve(s->a, b, k, error);
  return gradients_solve(s, b, k, 1e-2 * tolerance, s->most, &s->iterations, error);
}

/* Solves for b (rows x c) and f0 from the right-hand side in b, where 1'b is to equal `sums` (c).
 * Block elimination: with B = A^-1 y and z = A^-1 1, f0 = (1'B - sums)/1'z and b = B - f0 z. */
static scl_status solve_factored(linear_system *s, double *b, const double *sums, double *f0,
                                 scl_error *error) {
  const size_t n = s->m.rows, c = s->m.functions;
  double ones = 0;
  const scl_status status = inverse(s, b, c, error);
  if (status != SCL_STATUS_OK || !s->self->intercept) return status;
  for (size_t i = 0; i < n; i++)
    ones += s->ones[i];
  for (size_t j = 0; j < c; j++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += b[i * c + j];
    f0[j] = (sum - sums[j]) / ones;
    for (size_t i = 0; i < n; i++)
      b[i * c + j] -= f0[j] * s->ones[i];
  }
  return SCL_STATUS_OK;
}

/* Solves with the factor for the targets themselves. s->ones becomes A^-1 1, which refinement uses
 * again. */
static scl_status solve_first(linear_system *s, scl_error *error) {
  const size_t n = s->m.rows, c = s->m.functions;
  scl_status status = SCL_STATUS_OK;
  memset(s->right, 0, c * sizeof *s->right);
  memset(s->m.f0, 0, c * sizeof *s->m.f0);
  memcpy(s->m.b, s->set.y, n * c * sizeof *s->m.b);
  for (size_t i = 0; i < n; i++)
    s->ones[i] = 1;
  if (s->self->intercept) status = inverse(s, s->ones, 1, error);
  return status == SCL_STATUS_OK ? solve_factored(s, s->m.b, s->right, s->m.f0, error) : status;
}

/* One step of iterative refinement: solves for the residual, with 1'b corrected to 0 where there is
 * an intercept, and adds the result to b and f0. */
static scl_status kernel_ridge_refine(linear_system *s, scl_error *error) {
  const size_t n = s->m.rows, c = s->m.functions;
  double *sums = s->right, *f0 = s->right + c;
  for (size_t j = 0; j < c; j++) {
    sums[j] = f0[j] = 0;
    for (size_t i = 0; i < n; i++)
      sums[j] -= s->m.b[i * c + j];
  }
  const scl_status status = solve_factored(s, s->residual, sums, f0, error);
  for (size_t j = 0; j < c; j++)
    s->m.f0[j] += f0[j];
  for (size_t i = 0; i < n * c; i++)
    s->m.b[i] += s->residual[i];
  return status;
}

/* s->residual = y - f0 - A b; *relative receives its largest entry over the largest of y. NaN
 * counts as the largest. */
static scl_status kernel_ridge_residual(const linear_system *s, double *relative,
                                        scl_error *error) {
  const size_t c = s->m.functions, count = s->m.rows * c;
  double worst = 0, size = 0;
  const scl_status status = linear_system_product(s, s->m.b, c, s->residual, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    s->residual[i] = s->set.y[i] - s->m.f0[i % c] - s->residual[i];
    if (!(fabs(s->residual[i]) <= worst)) worst = fabs(s->residual[i]);
    if (fabs(s->set.y[i]) > size) size = fabs(s->set.y[i]);
  }
  *relative = size > 0 ? worst / size : worst;
  return status;
}

/* Writes outcome, residual and iterations, and the general note unless a more specific one is
 * there. */
static void kernel_ridge_account(const linear_system *s, double residual, size_t iterations,
                                 scl_solution *out) {
  const double wanted = s->f != NULL ? s->self->tolerance : tolerance;
  out->outcome = residual <= wanted ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  out->residual = residual;
  out->tolerance = wanted;
  out->iterations = iterations;
  if (out->outcome == SCL_OUTCOME_LIMIT && out->note[0] == 0)
    (void)snprintf(
        out->note, sizeof out->note,
        "rounding leaves a residual of %.1e of the right-hand side, %.0e was wanted: give "
        "a larger lambda, or scale the data",
        residual, wanted);
}

/* ------------ in float32 */

/* Computes the float32 Cholesky factor of A with `ridge` of its diagonal added; *found = whether it
 * exists. s->ones serves as scratch for the diagonal: solve_first sets it again. */
static scl_status factor_narrow(linear_system *s, double ridge, bool *found, scl_error *error) {
  const size_t n = s->m.rows;
  size_t pivot = 0;
  *found = false;
  for (size_t i = 0; i < n; i++)
    s->ones[i] = s->diagonal[i] + s->shift[i];
  s->algebra->begin(s->narrow, s->ones, ridge);
  scl_status status = linear_system_fill(s, TO_FLOAT32, error);
  if (status == SCL_STATUS_OK)
    status = s->problem->progress(s->problem, "factoring the kernel matrix", 0.5, NAN, error);
  if (status != SCL_STATUS_OK) return status;
  status = s->algebra->factor(s->narrow, &pivot, error);
  *found = status == SCL_STATUS_OK;
  return status == SCL_STATUS_NUMERIC ? SCL_STATUS_OK : status;
}

/* Tries shares of the diagonal 0, 1e-5, 1e-4, ... 0.1 until a factor exists. */
static scl_status find_ridge(linear_system *s, double *ridge, bool *found, scl_error *error) {
  scl_status status = factor_narrow(s, *ridge = 0, found, error);
  for (*ridge = 0; status == SCL_STATUS_OK && !*found && *ridge < 0.1;) {
    *ridge = *ridge > 0 ? 10 * *ridge : 1e-5;
    status = factor_narrow(s, *ridge, found, error);
  }
  return status;
}

/* Solves in float32; *served = whether the tolerance was reached. The first refinement is left out
 * only where the residual is a tenth of it already, the others where it is at most that. */
static scl_status solve_narrow(linear_system *s, scl_solution *out, bool *served,
                               scl_error *error) {
  double ridge = 0, residual = INFINITY;
  bool found = false;
  *served = false;
  s->iterations = 0;
  scl_status status = find_ridge(s, &ridge, &found, error);
  if (status != SCL_STATUS_OK || !found) return status;
  status = solve_first(s, error);
  if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, &residual, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < MOST_REFINED; i++) {
    const double enough = i == 0 ? 0.1 * tolerance : tolerance;
    if (!isfinite(residual) || residual <= enough || s->iterations >= s->most) break;
    status = kernel_ridge_refine(s, error);
    if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, &residual, error);
  }
  *served = residual <= tolerance;
  if (!isfinite(residual)) return status;
  kernel_ridge_account(s, residual, s->iterations, out);
  if (ridge > 0)
    (void)snprintf(out->note, sizeof out->note,
                   "the kernel matrix is indefinite in float32: the preconditioner of its "
                   "conjugate gradients has %.0e more on the diagonal",
                   ridge);
  return status;
}

/* ------------ in float64 */

/* Computes the Cholesky factor of A + jitter I; *found = whether it exists. */
static scl_status factor_wide(linear_system *s, bool *found, scl_error *error) {
  size_t pivot = 0;
  scl_status status = linear_system_fill(s, TO_SYSTEM, error);
  if (status == SCL_STATUS_OK)
    status = s->problem->progress(s->problem, "factoring the kernel matrix", 0.5, NAN, error);
  if (status != SCL_STATUS_OK) return status;
  status = s->host->symmetric->factor(s->a, &pivot, error);
  *found = status == SCL_STATUS_OK;
  return status == SCL_STATUS_NUMERIC ? SCL_STATUS_OK : status;
}

/* Computes the solution, refined where that reduces the residual, and its residual. */
static scl_status solve_refined(linear_system *s, double *relative, scl_error *error) {
  scl_status status = solve_first(s, error);
  if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, relative, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < MOST_REFINED; i++) {
    const double enough = i == 0 ? 1e-3 * tolerance : tolerance;
    if (!isfinite(*relative) || *relative <= enough) break;
    status = kernel_ridge_refine(s, error);
    if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, relative, error);
  }
  return status;
}

/* The mean of a vector over the rows. */
static double mean_of(const linear_system *s, const double *rows) {
  double sum = 0;
  for (size_t i = 0; i < s->m.rows; i++)
    sum += rows[i];
  return sum / (double)s->m.rows;
}

/* Writes the note that says which system was solved in place of A. */
static void account_jitter(const linear_system *s, double residual, scl_solution *out) {
  const double asked = mean_of(s, s->shift);
  kernel_ridge_account(s, residual, 1, out);
  out->jitter = s->jitter;
  (void)snprintf(out->note, sizeof out->note,
                 "regularised by %.1e, asked %.1e: the kernel matrix is singular to working "
                 "precision, and %.1e was added to its diagonal",
                 asked + s->jitter, asked, s->jitter);
}

/* With the factor of A + jitter I: solves A itself by conjugate gradients, or else A + jitter I.
 * `last`: accept the result whatever its residual. The residual reported is that of A. */
static scl_status solve_jittered(linear_system *s, bool last, scl_solution *out, bool *served,
                                 scl_error *error) {
  double asked = INFINITY, other = INFINITY;
  s->iterations = 0;
  s->most = FEW_STEPS;
  scl_status status = solve_refined(s, &asked, error);
  *served = asked <= tolerance;
  if (status == SCL_STATUS_OK && *served) {
    kernel_ridge_account(s, asked, s->iterations, out);
    (void)snprintf(out->note, sizeof out->note,
                   "the kernel matrix is singular to working precision: the preconditioner of its "
                   "conjugate gradients has %.1e more on the diagonal",
                   s->jitter);
  }
  if (status != SCL_STATUS_OK || *served) return status;
  s->jittered = true;
  status = solve_refined(s, &other, error);
  s->jittered = false;
  if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, &asked, error);
  *served = other <= tolerance || (last && isfinite(other));
  if (*served) account_jitter(s, asked, out);
  return status;
}

/* Factors A, or A with the least jitter, in powers of ten, whose factor gives a solution. */
static scl_status solve_wide(linear_system *s, scl_solution *out, scl_error *error) {
  const double diagonal = mean_of(s, s->diagonal) + mean_of(s, s->shift),
               unit = diagonal > 0 ? diagonal : 1;
  s->jitter = 0;
  for (int tries = 0; tries < MOST_TRIES; tries++) {
    bool found = false, served = false;
    double residual = INFINITY;
    scl_status status = factor_wide(s, &found, error);
    if (status == SCL_STATUS_OK && found && s->jitter > 0)
      status = solve_jittered(s, tries + 3 >= MOST_TRIES, out, &served, error);
    else if (status == SCL_STATUS_OK && found) {
      status = solve_refined(s, &residual, error);
      served = residual <= rounding;
      kernel_ridge_account(s, residual, 1, out);
      if (served && residual > tolerance)
        (void)snprintf(out->note, sizeof out->note,
                       "the residual does not fall below the rounding of kernel values near %.1e: "
                       "standardize the columns, or give a larger lambda",
                       mean_of(s, s->diagonal));
    }
    if (status != SCL_STATUS_OK || served) return status;
    s->jitter = 1e-12 * pow(10, tries) * unit;
  }
  return s->host->fail(error, SCL_STATUS_NUMERIC,
                       "the kernel matrix of %zu rows stays singular even with %.1e on its "
                       "diagonal: give a larger lambda",
                       s->m.rows, s->jitter);
}

/* ------------ which of the two */

/* The error for a matrix of n^2/2 numbers of `bytes` bytes that does not fit into memory. */
static scl_status refuse_matrix(const linear_system *s, double bytes, scl_error *error) {
  const double n = (double)s->m.rows;
  return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                       "exact kernel ridge of %zu rows takes a matrix of %.1f GB, more memory "
                       "than there is: take fewer rows, or random features",
                       s->m.rows, bytes * 1e-9 * n * n / 2);
}

/* Allocates the factor: float64 for few rows or where it is asked for, float32 otherwise and where
 * float64 does not fit. With float32, K is kept beside the factor if both together take no more
 * than the allowance. */
static scl_status choose_precision(linear_system *s, scl_error *error) {
  const double n = (double)s->m.rows;
  const int32_t wanted = s->self->precision;
  const scl_symmetric_algebra *wide = s->host->symmetric;
  if (wanted == FLOAT64 || (wanted == AUTO && s->m.rows < FEW_ROWS)) {
    if (wide->create(s->m.rows, &s->a, NULL) == SCL_STATUS_OK) return SCL_STATUS_OK;
    if (wanted == FLOAT64) return refuse_matrix(s, 8, error);
  }
  s->algebra = s->host->service(SCL_SERVICE_SYMMETRIC_FLOAT32);
  if (s->algebra->create(s->m.rows, &s->narrow, NULL) != SCL_STATUS_OK)
    return refuse_matrix(s, 4, error);
  return linear_system_keep(s, 2 * n * n, error);
}

/* Switches to float64 for the remaining lambdas. Returns false where memory does not allow it. */
static bool widen(linear_system *s) {
  s->host->release(s->kept);
  s->kept = NULL;
  if (s->host->symmetric->create(s->m.rows, &s->a, NULL) != SCL_STATUS_OK) return false;
  s->algebra->destroy(s->narrow);
  s->narrow = NULL;
  return true;
}

/* Conjugate gradients without a factor of A, to self->tolerance. */
static scl_status solve_iterative(linear_system *s, scl_solution *out, scl_error *error) {
  double residual = INFINITY;
  if (!(s->lambda > 0))
    return s->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "method \"cg\", that of \"auto\" above %d rows, takes a lambda above 0, by "
        "which its systems are solvable",
        (int)MOST_DIRECT);
  s->most = MOST_STEPS;
  s->iterations = 0;
  scl_status status = low_rank_factor(s, error);
  if (status == SCL_STATUS_OK) status = solve_first(s, error);
  if (status == SCL_STATUS_OK) status = kernel_ridge_residual(s, &residual, error);
  if (status != SCL_STATUS_OK) return status;
  if (!(residual <= s->self->tolerance))
    (void)snprintf(out->note, sizeof out->note,
                   "%zu steps of conjugate gradients leave a residual of %.1e of the right-hand "
                   "side, %.0e was wanted: give a larger lambda or rank",
                   s->iterations, residual, s->self->tolerance);
  kernel_ridge_account(s, residual, s->iterations, out);
  return SCL_STATUS_OK;
}

/* Solves for one lambda: in float32 and, where that does not reach the tolerance, in float64, if
 * memory allows; if not, in float32 again with more steps. A result above the tolerance is returned
 * as SCL_OUTCOME_LIMIT; no result at all is an error. */
static scl_status solve_system(linear_system *s, scl_solution *out, scl_error *error) {
  const bool must = s->self->precision == FLOAT32;
  bool served = false;
  double total = 0;
  for (size_t i = 0; i < s->m.rows; i++)
    total += s->set.weights[i];
  for (size_t i = 0; i < s->m.rows; i++)
    s->shift[i] = total / s->set.weights[i] * s->lambda;
  if (s->f != NULL) return solve_iterative(s, out, error);
  if (s->narrow == NULL) return solve_wide(s, out, error);
  s->most = must ? MOST_STEPS : FEW_STEPS;
  scl_status status = solve_narrow(s, out, &served, error);
  if (status != SCL_STATUS_OK || served) return status;
  if (!must) out->note[0] = 0;
  if (!must && widen(s)) return solve_wide(s, out, error);
  s->most = MOST_STEPS;
  if (!must) status = solve_narrow(s, out, &served, error);
  if (status != SCL_STATUS_OK || out->outcome != SCL_OUTCOME_NONE) return status;
  return s->host->fail(error, SCL_STATUS_NUMERIC,
                       "the kernel matrix of %zu rows has no Cholesky factor in float32: give a "
                       "larger lambda, or precision = \"float64\"",
                       s->m.rows);
}

/* ------------ fitting */

static void end(const void *instance, void *model) {
  const scl_host *host = ((const kernel_ridge *)instance)->base.host;
  if (model == NULL) return;
  expansion_release(host, model);
  host->release(model);
}

/* A copy of `bytes` bytes, which the caller releases; NULL: no memory. */
static void *copied(const scl_host *host, const void *from, size_t bytes) {
  void *to = host->allocate(bytes);
  if (to != NULL) memcpy(to, from, bytes);
  return to;
}

/* Stores the solution as a separate model; the last one takes over the rows. */
static scl_status kernel_ridge_model(linear_system *s, bool last, void **model, scl_error *error) {
  const size_t n = s->m.rows, c = s->m.functions;
  expansion *m = models_new(s->host, sizeof *m, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  *m = (expansion){.rows = n, .cols = s->m.cols, .functions = c};
  m->x = last ? s->m.x : copied(s->host, s->m.x, n * m->cols * sizeof *m->x);
  if (last) s->m.x = NULL;
  if (s->m.pilot != NULL) m->pilot = copied(s->host, s->m.pilot, m->cols * sizeof *m->pilot);
  m->b = copied(s->host, s->m.b, n * c * sizeof *m->b);
  m->f0 = copied(s->host, s->m.f0, c * sizeof *m->f0);
  *model = m;
  if (m->x != NULL && m->b != NULL && m->f0 != NULL && (m->pilot != NULL) == (s->m.pilot != NULL))
    return SCL_STATUS_OK;
  return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model of %zu rows", n);
}

/* Index of the largest lambda not solved yet. */
static size_t next_value(const double *values, size_t count, void *const *models) {
  size_t best = count;
  for (size_t k = 0; k < count; k++)
    if (models[k] == NULL && (best == count || values[k] > values[best])) best = k;
  return best;
}

/* Solves from the largest lambda, the best conditioned for float32, to the smallest. */
static scl_status fit_all(linear_system *s, const double *values, size_t count, void **models,
                          scl_solution *const *out, scl_error *error) {
  scl_status status = linear_system_collect(s, error);
  if (status == SCL_STATUS_OK) status = linear_system_reserve(s, error);
  if (status == SCL_STATUS_OK && is_iterative(s->self, s->m.rows)) {
    status = low_rank_open(s, error);
    if (status == SCL_STATUS_OK)
      status = linear_system_keep(s, 8.0 * (double)s->m.rows * (double)s->rank, error);
  } else if (status == SCL_STATUS_OK) {
    status = choose_precision(s, error);
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    const size_t k = next_value(values, count, models);
    s->lambda = values[k];
    status = solve_system(s, out[k], error);
    if (status == SCL_STATUS_OK)
      status =
          expansion_doubt(s->self, kernel_ridge_gram, &s->m, s->diagonal, s->set.y, out[k], error);
    if (status == SCL_STATUS_OK) status = kernel_ridge_model(s, i + 1 == count, &models[k], error);
  }
  return status;
}

/* The models of all lambdas. After a failure none is left. */
static scl_status fit_path(const void *instance, const scl_problem *problem, const double *values,
                           size_t count, void **models, scl_solution *const *out,
                           scl_error *error) {
  linear_system s = {.self = instance, .host = problem->host, .problem = problem};
  for (size_t k = 0; k < count; k++)
    models[k] = NULL;
  const scl_status status = fit_all(&s, values, count, models, out, error);
  s.host->symmetric->destroy(s.a);
  if (s.narrow != NULL) s.algebra->destroy(s.narrow);
  s.host->symmetric->destroy(s.inner);
  s.host->release(s.f);
  s.host->release(s.kept);
  expansion_release(s.host, &s.m);
  rows_release(s.host, &s.set);
  for (size_t k = 0; status != SCL_STATUS_OK && k < count; k++) {
    end(instance, models[k]);
    models[k] = NULL;
  }
  return status;
}

static scl_status kernel_ridge_fit(const void *instance, const scl_problem *problem, void **model,
                                   scl_solution *out, scl_error *error) {
  return fit_path(instance, problem, &((const kernel_ridge *)instance)->lambda, 1, model, &out,
                  error);
}

/* ------------ the model */

static scl_status kernel_ridge_decide(const void *instance, const void *model,
                                      const scl_const_block *rows, double *scores, ptrdiff_t stride,
                                      scl_error *error) {
  const scl_const_parameters u =
      scl_dense_rows(rows->data, rows->row_stride, rows->rows, rows->cols);
  return expansion_values(instance, kernel_ridge_gram, model, &u, scores, stride, error);
}

static scl_status kernel_ridge_save(const void *instance, const void *model, scl_archive *archive,
                                    scl_error *error) {
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  expansion_put(&w, model);
  return w.status;
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  expansion *m = model;
  (void)self;
  m->cols = features;
  m->functions = targets;
  expansion_get(r, m);
}
MODELS_LOAD(expansion)

/* K of all rows, and a factorisation for each lambda, in float32 where there are many rows; a value
 * of K takes about ten operations besides its product. */
static void kernel_ridge_cost(const void *instance, const scl_problem *problem,
                              const double *values, size_t count, int32_t weighted, scl_cost *out) {
  const kernel_ridge *self = instance;
  const double n = (double)problem->rows, d = (double)problem->features,
               c = (double)problem->targets, solves = values == NULL ? 1 : (double)count;
  const bool wide = self->precision == FLOAT64 ||
                    (self->precision == AUTO && problem->rows < FEW_ROWS),
             kept = !wide && 6 * n * n <= (double)problem->allowance;
  (void)weighted;
  out->passes = 1;
  out->factorised = solves * cost_cholesky(n) / (wide ? 1 : 2);
  out->products = n * n * d * (kept ? 1 : solves) + 40 * solves * n * n * c;
  out->steps = 5 * n * n * (kept ? 1 : solves);
  if (is_iterative(self, problem->rows)) {
    const double rank = (double)low_rank_of(self, problem->rows), steps = 40 * solves,
                 least = 8 * n * rank, whole = cost_symmetric(n); /* of K, where it is kept */
    const bool keeps = least + whole <= (double)problem->allowance;
    out->factorised = n * rank * rank * (solves + 1);
    out->products = n * n * ((keeps ? 1 : steps) * d + steps * c);
    out->steps = 5 * n * n * (keeps ? 1 : steps);
    out->bytes = least + 8 * n * (d + 8 * c) + (keeps ? whole : 0);
    return;
  }
  out->bytes = cost_symmetric(n) * (wide ? 1 : kept ? 1.5 : 0.5) + n * (d + 3 * c) * sizeof(double);
}

const scl_plugin scullery_plugin = {
    .name = "kernel_ridge",
    .summary =
        "Exact kernel ridge regression, for as many rows as a matrix of n^2/2 numbers allows",
    .definition = "N(rows) = sum(rows, function(r) return r.w end)\n"
                  "A(rows) = map(rows, function(r, i) return map(rows, function(s, j)\n"
                  "  return kernel.K(r.x, s.x) + when(i == j, N(rows)*lambda/r.w, 0) end) end)\n"
                  "score(rows) = not intercept and type(rows[1].y) == \"number\" and (function(b)\n"
                  "  return function(x) return sum(rows, function(r, i) return b[i]*kernel.K(r.x, "
                  "x) end) end\n"
                  "end)(solve(A(rows), map(rows, function(r) return r.y end)))",
    .doc =
        "min_f (1/2n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/2) ||f||_K^2, f = sum_i b_i K(x_i, .)\n"
        "w_i are the row weights and n their sum: (K + n lambda W^-1) b = y (Saunders, Gammerman\n"
        "and Vovk 1998). It is the limit of ridge on random features of the same kernel. Any\n"
        "kernel on rows, its width a number, \"scale\" or \"median\". n^3/3 operations.\n"
        "method = \"cg\", and \"auto\" above 30,000 rows: conjugate gradients on products with K,\n"
        "whose values are made again for each product where they do not fit the pipeline's\n"
        "allowance, so that memory grows with n: n rank numbers for the preconditioner, by\n"
        "randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023).\n"
        "A step costs n^2 (d + 10) operations, and the fewer are taken the larger lambda and\n"
        "rank are. The residual reported is that of the system itself. Otherwise, with\n"
        "precision \"float32\" the Cholesky factor takes 2 n^2 bytes; conjugate gradients with\n"
        "the float64 matrix correct the solution, and the residual is that of float64. The\n"
        "matrix is kept beside the factor where both (6 n^2 bytes) fit the pipeline's\n"
        "allowance, and made again for each step where they do not. \"float64\" takes 4 n^2\n"
        "bytes. \"auto\" is float32 from 1024 rows on, with float64 for a lambda too small for\n"
        "it. The lambdas of a search share the rows and the kept matrix. The model keeps all\n"
        "rows (arrays rows, coefficients, intercept; columns far from 0 less the array pilot).\n"
        "Where A has no factor in float64, one with the least jitter, from 1e-12 of the mean\n"
        "diagonal in powers of ten, preconditions conjugate gradients on A. If these fail, the\n"
        "jitter stays: the status is \"limit\", and the note says how much was added to the\n"
        "diagonal and how much was asked for.",
    SCL_SOLVER(.solve = NULL),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = kernel_ridge_fit,
                            .decide = kernel_ridge_decide, .save = kernel_ridge_save, .load = load,
                            .destroy = end),
                  SCL_OFFER(SCL_ABILITY_MODEL_PATH, scl_ability_model_path, .option = "lambda",
                            .fit = fit_path),
                  SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = kernel_ridge_cost)),
    SCL_INSTANCE(kernel_ridge, options)};
