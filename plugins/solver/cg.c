/* Ridge regression by preconditioned conjugate gradients (Hestenes and Stiefel 1952), for more
 * features than a matrix of D x D has room for:
 *
 *   (Phi'W Phi + N lambda I) a = Phi'W y,
 *       W the row weights, N their sum; centred where there is an intercept
 *
 * Phi'Phi is never formed: an iteration is one sweep over the rows for all targets together (Phi n
 * x D, a D x c). The preconditioner is made from a sample of the rows (shared/row_sample.h); for
 * sparse rows it is the diagonal. Each target has a step of its own, as if solved alone. The
 * residual |Phi'W y - A a|/|Phi'W y|, the worst over targets, is computed anew from a before it is
 * stated. */
#include "shared/row_sample.h"
#include <stdio.h>

enum { LAMBDA, TOLERANCE, MAX_ITERATIONS, RANK, DAMPING, SEED, INTERCEPT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-6", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "regularisation of the mean loss"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-4", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "norm of the residual relative to the right-hand side"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "1000", 1, 1e9, 0, SCL_WIDTH_NONE,
     "sweeps over the rows at most"},
    {"rank", SCL_FORM_INTEGER | SCL_FORM_WORD, "auto", "auto", 0, 1e9, 0, SCL_WIDTH_NONE,
     "rows in the sample that the preconditioner is made from; 0: none; auto: 10 a feature up to D "
     "= 2000, else 2000, in 400 MB"},
    {"damping", SCL_FORM_NUMBER | SCL_FORM_WORD, "auto", "auto", 0, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "mu of the preconditioner, in lambda's units; auto: half of mean ||phi||^2/rank (0 where rank "
     ">= D), at least lambda"},
    {"seed", SCL_FORM_INTEGER, NULL, "0", 0, 9007199254740992, 0, SCL_WIDTH_NONE, "of the sample"},
    {"intercept", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE,
     "fit an unpenalised constant"},
};

typedef struct cg {
  const scl_host *host;
  double lambda, tolerance, damping; /* damping 0: auto */
  size_t max_iterations, rank;
  int auto_rank;
  uint64_t seed;
} cg;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  cg *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self =
      (cg){.host = host, .lambda = values[LAMBDA].number, .tolerance = values[TOLERANCE].number};
  self->max_iterations = (size_t)values[MAX_ITERATIONS].number;
  self->auto_rank = values[RANK].form == SCL_FORM_WORD;
  self->rank = self->auto_rank ? 0 : (size_t)values[RANK].number;
  self->damping = values[DAMPING].form == SCL_FORM_WORD ? 0 : values[DAMPING].number;
  self->seed = (uint64_t)values[SEED].number;
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  cg *self = instance;
  self->host->release(self);
}

enum { PATIENCE = 100 }; /* iterations without a smaller residual: rounding has taken over */

/* One solve. D x c numbers each: right, residual, z (preconditioned), p (direction), image (A p),
 * best (the a of the least residual). */
typedef struct descent {
  const cg *self;
  const scl_problem *problem;
  double *right, *residual, *z, *p, *image, *best;
  double *sums;                 /* D x (c + 1): Phi'W [y 1] */
  double *mean, *diagonal;      /* D: Phi'W 1/N; what stands on the diagonal of A, sparse rows */
  double *response;             /* c: mean target */
  double *along, *size, *score; /* c: residual . z; norm of right; relative residual */
  double total, value;
  row_sample sample;
  int sampled;
} descent;

static void close_descent(descent *d) {
  d->self->host->release(d->right);
  if (d->sampled) sample_close(&d->sample);
}

static scl_status open_descent(descent *d, const cg *self, const scl_problem *problem,
                               scl_error *error) {
  const size_t features = problem->features, c = problem->targets, count = features * c;
  *d = (descent){.self = self, .problem = problem};
  d->right = self->host->allocate((7 * count + 3 * features + 4 * c + 1) * sizeof *d->right);
  if (d->right == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients",
                            count);
  d->residual = d->right + count;
  d->z = d->residual + count;
  d->p = d->z + count;
  d->image = d->p + count;
  d->best = d->image + count;
  d->sums = d->best + count;
  d->mean = d->sums + count + features;
  d->diagonal = d->mean + features;
  d->response = d->diagonal + features;
  d->along = d->response + c;
  d->size = d->along + c;
  d->score = d->size + c;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the system */

static scl_status turn_to_targets(void *context, const scl_rows *rows, double *scores,
                                  scl_error *error) {
  descent *d = context;
  const size_t c = d->problem->targets;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows_weight(rows, i);
    for (size_t j = 0; j < c; j++) {
      scores[i * (c + 1) + j] = weight * rows->targets[i * c + j];
      d->response[j] += scores[i * (c + 1) + j];
    }
    scores[i * (c + 1) + c] = weight;
    d->total += weight;
  }
  d->value = rows->value;
  return SCL_STATUS_OK;
}

/* Right-hand side, means and the sum of weights, in one pass. */
static scl_status assemble(descent *d, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  double *zero = d->right; /* D x (c + 1) zeros, where right and residual will be */
  memset(zero, 0, features * (c + 1) * sizeof *zero);
  memset(d->response, 0, c * sizeof *d->response);
  const scl_status status =
      d->problem->sweep(d->problem, zero, c + 1, turn_to_targets, d, d->sums, error);
  if (status != SCL_STATUS_OK) return status;
  if (!(d->total > 0))
    return d->self->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  for (size_t j = 0; j < c; j++)
    d->response[j] /= d->total;
  memset(d->size, 0, c * sizeof *d->size);
  for (size_t t = 0; t < features; t++) {
    const double *sums = d->sums + t * (c + 1);
    d->mean[t] = d->problem->intercept ? sums[c] / d->total : 0;
    d->diagonal[t] =
        d->value * sums[c] - d->total * d->mean[t] * d->mean[t] + d->total * d->self->lambda;
    for (size_t j = 0; j < c; j++) {
      d->right[t * c + j] = sums[j] - (d->problem->intercept ? sums[c] * d->response[j] : 0);
      d->size[j] += d->right[t * c + j] * d->right[t * c + j];
    }
  }
  for (size_t j = 0; j < c; j++)
    d->size[j] = sqrt(d->size[j]);
  return SCL_STATUS_OK;
}

static scl_status turn_to_weighted(void *context, const scl_rows *rows, double *scores,
                                   scl_error *error) {
  const size_t c = ((const descent *)context)->problem->targets;
  (void)error;
  for (size_t i = 0; rows->weights != NULL && i < rows->count * c; i++)
    scores[i] *= rows->weights[i / c];
  return SCL_STATUS_OK;
}

/* out = A a */
static scl_status multiply(descent *d, const double *a, double *out, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  const scl_status status = d->problem->sweep(d->problem, a, c, turn_to_weighted, d, out, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < features * c; i++)
    out[i] += d->total * d->self->lambda * a[i];
  for (size_t j = 0; d->problem->intercept && j < c; j++) {
    double along = 0;
    for (size_t t = 0; t < features; t++)
      along += d->mean[t] * a[t * c + j];
    for (size_t t = 0; t < features; t++)
      out[t * c + j] -= d->total * along * d->mean[t];
  }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the preconditioner */

static size_t sample_rows_of(const descent *d) {
  const size_t n = d->problem->rows, features = d->problem->features;
  size_t rows = d->self->rank;
  if (d->self->auto_rank) {
    rows = features <= 2000 ? 10 * features : 2000;
    if (features > 2000 && (double)features * 16000 > 4e8)
      rows = (size_t)(4e8 / ((double)features * sizeof(double)));
  }
  return rows > n ? n : rows;
}

static scl_status precondition(descent *d, scl_error *error) {
  const size_t rows = d->problem->slots > 0 ? 0 : sample_rows_of(d);
  if (rows == 0) return SCL_STATUS_OK;
  const scl_status status = sample_open(
      &d->sample, d->problem, rows, d->self->seed, d->self->lambda, d->self->damping,
      d->problem->intercept ? d->mean : NULL, d->total / (double)d->problem->rows, error);
  d->sampled = status == SCL_STATUS_OK;
  return status;
}

/* z = P^-1 residual */
static void apply_preconditioner(descent *d) {
  const size_t features = d->problem->features, c = d->problem->targets;
  if (d->sampled) {
    sample_apply(&d->sample, d->residual, d->z);
    return;
  }
  for (size_t i = 0; i < features * c; i++)
    d->z[i] = d->problem->slots > 0 && d->diagonal[i / c] > 0 ? d->residual[i] / d->diagonal[i / c]
                                                              : d->residual[i];
}

/* ---------------------------------------------------------------- the iteration */

static double column_dot(const descent *d, const double *x, const double *y, size_t j) {
  const size_t features = d->problem->features, c = d->problem->targets;
  double sum = 0;
  for (size_t t = 0; t < features; t++)
    sum += x[t * c + j] * y[t * c + j];
  return sum;
}

/* The worst relative residual. */
static double judge(descent *d) {
  double worst = 0;
  for (size_t j = 0; j < d->problem->targets; j++) {
    const double norm = sqrt(column_dot(d, d->residual, d->residual, j));
    d->score[j] = d->size[j] > 0 ? norm / d->size[j] : norm;
    if (!(d->score[j] <= worst)) worst = d->score[j];
  }
  return worst;
}

/* residual = right - A a, from a itself */
static scl_status true_residual(descent *d, const double *a, double *worst, scl_error *error) {
  const size_t count = d->problem->features * d->problem->targets;
  const scl_status status = multiply(d, a, d->image, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < count; i++)
    d->residual[i] = d->right[i] - d->image[i];
  *worst = judge(d);
  return SCL_STATUS_OK;
}

/* p = z + beta p, beta of each target; fresh: p = z */
static void turn_direction(descent *d, int fresh) {
  const size_t features = d->problem->features, c = d->problem->targets;
  apply_preconditioner(d);
  for (size_t j = 0; j < c; j++) {
    const double before = d->along[j];
    d->along[j] = column_dot(d, d->residual, d->z, j);
    const double beta = fresh || before == 0 ? 0 : d->along[j] / before;
    for (size_t t = 0; t < features; t++)
      d->p[t * c + j] = d->z[t * c + j] + (fresh ? 0 : beta * d->p[t * c + j]);
  }
}

/* a += step p, residual -= step A p; targets that are solved stay. */
static scl_status advance(descent *d, double *a, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  const scl_status status = multiply(d, d->p, d->image, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++) {
    const double bend = column_dot(d, d->p, d->image, j), step = bend > 0 ? d->along[j] / bend : 0;
    if (d->score[j] <= d->self->tolerance / 10) continue;
    for (size_t t = 0; t < features; t++) {
      a[t * c + j] += step * d->p[t * c + j];
      d->residual[t * c + j] -= step * d->image[t * c + j];
    }
  }
  return SCL_STATUS_OK;
}

/* From a to the tolerance by the running residual, or out of iterations or patience; ends on the
 * best a of its way. */
static scl_status descend(descent *d, double *a, double worst, scl_solution *out,
                          scl_error *error) {
  const size_t most = d->self->max_iterations,
               bytes = d->problem->features * d->problem->targets * sizeof *a;
  double least = worst;
  memcpy(d->best, a, bytes);
  for (int tries = 0; least > d->self->tolerance && out->iterations < most && tries < PATIENCE;
       tries++) {
    scl_status status = d->problem->progress(d->problem, (double)out->iterations / (double)most,
                                             "conjugate gradients", error);
    if (status != SCL_STATUS_OK) return status;
    turn_direction(d, tries == 0);
    status = advance(d, a, error);
    if (status != SCL_STATUS_OK) return status;
    out->iterations++;
    worst = judge(d);
    if (!(worst < least)) continue;
    least = worst;
    tries = 0;
    memcpy(d->best, a, bytes);
  }
  memcpy(a, d->best, bytes);
  return SCL_STATUS_OK;
}

/* Rounds of descent, each begun from the true residual: rounding (float32 above all) makes the
 * running one drift away from it. */
static scl_status iterate(descent *d, scl_solution *out, scl_error *error) {
  double *a = out->coefficients, worst = INFINITY, before = INFINITY;
  scl_status status = SCL_STATUS_OK;
  if (d->problem->warm) {
    status = true_residual(d, a, &worst, error);
  } else {
    memset(a, 0, d->problem->features * d->problem->targets * sizeof *a);
    memcpy(d->residual, d->right, d->problem->features * d->problem->targets * sizeof *a);
    worst = judge(d);
  }
  out->iterations = 0;
  while (status == SCL_STATUS_OK && worst > d->self->tolerance &&
         out->iterations < d->self->max_iterations && worst < before / 2) {
    before = worst;
    status = descend(d, a, worst, out, error);
    if (status == SCL_STATUS_OK) status = true_residual(d, a, &worst, error);
  }
  out->residual = worst;
  return status;
}

static scl_status account(const descent *d, scl_solution *out, scl_error *error) {
  const size_t features = d->problem->features, c = d->problem->targets;
  if (!isfinite(out->residual))
    return d->problem->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "products of the features, targets and weights are not finite: scale the data");
  out->tolerance = d->self->tolerance;
  out->outcome = out->residual <= out->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note,
                   "the residual is %.1e of the right-hand side, %.1e was wanted: give %s",
                   out->residual, out->tolerance,
                   out->iterations < d->self->max_iterations
                       ? "a larger lambda or tolerance, rounding leaves no smaller one"
                       : "more max_iterations, a higher rank or a larger lambda");
  for (size_t j = 0; d->problem->intercept && j < c; j++) {
    out->intercept[j] = d->response[j];
    for (size_t t = 0; t < features; t++)
      out->intercept[j] -= d->mean[t] * out->coefficients[t * c + j];
  }
  return SCL_STATUS_OK;
}

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  descent d;
  scl_status status = open_descent(&d, instance, problem, error);
  if (status != SCL_STATUS_OK) return status;
  status = assemble(&d, error);
  if (status == SCL_STATUS_OK) status = precondition(&d, error);
  if (status == SCL_STATUS_OK) status = iterate(&d, out, error);
  if (status == SCL_STATUS_OK) status = account(&d, out, error);
  close_descent(&d);
  return status;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_head sparse = SCL_HEAD(scl_head);
  (void)instance;
  return strcmp(id, SCL_ABILITY_SPARSE_ROWS) == 0 ? &sparse : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "cg",
    "1.0",
    "The Scullery authors",
    "Ridge regression by preconditioned conjugate gradients, for D too large to factor",
    "(Phi'Phi + n lambda I) a = Phi'y, the problem of solver.ridge with penalty l2, without "
    "Phi'Phi: one sweep over the rows an\n"
    "iteration, for all targets together. Preconditioned by (n/m) S'S + n mu I of a sample S of m "
    "= `rank` rows (mu = `damping`), through\n"
    "a system of order min(m, D); sparse rows: by the diagonal. It ends when the residual is "
    "`tolerance` of the right-hand side for\n"
    "every target; info().residual is computed anew from the coefficients. float32 features leave "
    "residuals of about 1e-6 at best.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
