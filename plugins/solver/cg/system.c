/* The system of conjugate gradients: its right-hand side, and products with its matrix
 *
 *   A = (Phi - 1 mean')'W (Phi - 1 mean') + N lambda R,   R = I or G,
 *
 * in sweeps over the rows; mean = 0 without an intercept. */
#include "cg.h"
#include "shared/minibatch.h"
#include "shared/row_total.h"

/* Number of columns of the assembling pass: c + 1, and one more for rkhs. */
static size_t sums_of(const descent *d) {
  return d->problem->targets + (d->system.gram == NULL ? 1 : 2);
}

/* Replaces the scores of [0 0 v] by W [y 1 Phi v]. */
static scl_status turn_to_targets(void *context, const scl_rows *rows, double *scores,
                                  scl_error *error) {
  descent *d = context;
  const size_t c = d->problem->targets, k = sums_of(d);
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows_weight(rows, i);
    double *to = scores + i * k;
    for (size_t j = 0; j < c; j++)
      to[j] = weight * rows->targets[i * c + j];
    to[c] = weight;
    if (k > c + 1) to[c + 1] *= weight;
    memcpy(d->weighted + (rows->first + i) * (c + 1), to, (c + 1) * sizeof *to);
  }
  d->value = rows->value;
  return SCL_STATUS_OK;
}

/* Computes kappa = v'Phi'W Phi v/(N ||G v||^2) for a random vector v of D numbers; image: D
 * numbers of scratch. */
static scl_status estimate_kappa(descent *d, const double *v, double *image, scl_error *error) {
  const scl_host *host = d->problem->host;
  const size_t features = d->problem->features, c = d->problem->targets;
  double moment = 0, square = 0;
  const scl_status status = host->symmetric->multiply(d->system.gram, v, 1, image, error);
  for (size_t t = 0; status == SCL_STATUS_OK && t < features; t++) {
    moment += v[t] * d->sums[t * (c + 2) + c + 1];
    square += image[t] * image[t];
  }
  d->kappa = square > 0 && moment > 0 ? moment / (d->system.total * square) : 1;
  return status;
}

/* d->sums = Phi'W [y 1 Phi v], d->response = 1'W y, and the sum of the weights, in one pass; `in`
 * is [0 0 v]. */
static scl_status sum_targets(descent *d, const double *in, scl_error *error) {
  const scl_problem *problem = d->problem;
  const scl_host *host = problem->host;
  const size_t n = problem->rows, c = problem->targets;
  d->weighted = host->allocate((n * (c + 1) + 1) * sizeof *d->weighted);
  if (d->weighted == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the targets of %zu rows",
                      n);
  scl_status status = problem->sweep(problem, in, sums_of(d), turn_to_targets, d, d->sums, error);
  if (status == SCL_STATUS_OK)
    status = row_total(problem, d->weighted, n, c + 1, d->response, error);
  host->release(d->weighted);
  d->system.total = d->response[c];
  return status;
}

scl_status cg_assemble(descent *d, scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t features = problem->features, c = problem->targets, k = sums_of(d);
  double *in = d->right, *v = d->best, *diagonal = d->diagonal; /* in: spans the arrays up to z */
  memset(in, 0, features * k * sizeof *in);
  if (d->system.gram != NULL) problem->host->random->normal(d->self->seed, 1, 0, 0, features, v);
  for (size_t t = 0; k > c + 1 && t < features; t++)
    in[t * k + c + 1] = v[t];
  scl_status status = sum_targets(d, in, error);
  if (status != SCL_STATUS_OK) return status;
  const double total = d->system.total;
  if (!(total > 0)) return problem->host->fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  if (d->system.gram != NULL) {
    status = estimate_kappa(d, v, d->image, error);
    problem->host->symmetric->diagonal(d->system.gram, diagonal);
  }
  for (size_t j = 0; j < c; j++)
    d->response[j] /= total;
  for (size_t t = 0; t < features; t++) {
    const double *sums = d->sums + t * k;
    d->mean[t] = problem->intercept ? sums[c] / total : 0;
    diagonal[t] = d->value * sums[c] - total * d->mean[t] * d->mean[t] +
                  total * d->self->lambda * (d->system.gram == NULL ? 1 : diagonal[t]);
    for (size_t j = 0; j < c; j++)
      d->right[t * c + j] = sums[j] - (problem->intercept ? sums[c] * d->response[j] : 0);
  }
  d->system.centre = problem->intercept ? d->mean : NULL;
  return status;
}

/* Replaces the scores Phi a of a block of rows by W Phi a; the sweep then applies Phi'. */
static scl_status turn_to_weighted(void *context, const scl_rows *rows, double *scores,
                                   scl_error *error) {
  const size_t c = ((const descent *)context)->columns;
  (void)error;
  for (size_t i = 0; rows->weights != NULL && i < rows->count * c; i++)
    scores[i] *= rows->weights[i / c];
  return SCL_STATUS_OK;
}

/* Centring subtracts N mean (mean'a), so that the rows themselves are never centred. */
scl_status cg_multiply(descent *d, const double *a, size_t c, double *out, scl_error *error) {
  const scl_problem *problem = d->problem;
  const size_t features = problem->features;
  const double ridge = d->system.total * d->self->lambda;
  const double *penalised = a;
  d->columns = c;
  scl_status status = problem->sweep(problem, a, c, turn_to_weighted, d, out, error);
  if (status == SCL_STATUS_OK && d->system.gram != NULL) {
    status = problem->host->symmetric->multiply(d->system.gram, a, c, d->z, error);
    penalised = d->z;
  }
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < features * c; i++)
    out[i] += ridge * penalised[i];
  for (size_t j = 0; problem->intercept && j < c; j++) {
    double along = 0;
    for (size_t t = 0; t < features; t++)
      along += d->mean[t] * a[t * c + j];
    for (size_t t = 0; t < features; t++)
      out[t * c + j] -= d->system.total * along * d->mean[t];
  }
  return SCL_STATUS_OK;
}
