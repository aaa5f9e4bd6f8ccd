#include "rows/pca.h"

#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "map/projection.h"
#include <math.h>
#include <string.h>

typedef struct averaging {
  const scl_flow *flow;
  double *mean, total; /* D sums */
  size_t rows;
} averaging;

static double weight_of(const scl_flow_block *block, size_t i) {
  return block->weights == NULL ? 1 : block->weights[i];
}

static scl_status add_to_mean(void *context, const scl_flow_block *block, scl_error *error) {
  averaging *a = context;
  const size_t d = scl_flow_features(a->flow);
  (void)error;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = weight_of(block, i);
    const char *row = (const char *)block->phi +
                      (ptrdiff_t)i * block->phi_stride * (ptrdiff_t)scl_dtype_size(a->flow->dtype);
    for (size_t j = 0; j < d; j++)
      a->mean[j] += weight * scl_number(row, a->flow->dtype, j);
    a->total += weight;
  }
  a->rows += block->count;
  return SCL_STATUS_OK;
}

typedef struct spreading {
  const scl_flow *flow;
  const double *mean;
  scl_symmetric *covariance;
} spreading;

static scl_status add_to_covariance(void *context, const scl_flow_block *block, scl_error *error) {
  const spreading *s = context;
  const size_t d = scl_flow_features(s->flow);
  double *centred = scl_allocate_array(block->count * d + 1, sizeof *centred);
  if (centred == NULL)
    return scl_fail_memory(error, block->count * d * sizeof *centred, "centred rows");
  for (size_t i = 0; i < block->count; i++) {
    const double root = sqrt(weight_of(block, i));
    const char *row = (const char *)block->phi +
                      (ptrdiff_t)i * block->phi_stride * (ptrdiff_t)scl_dtype_size(s->flow->dtype);
    for (size_t j = 0; j < d; j++)
      centred[i * d + j] = root * (scl_number(row, s->flow->dtype, j) - s->mean[j]);
  }
  const scl_status status = scl_symmetric_accumulate(s->covariance, SCL_DTYPE_FLOAT64, centred,
                                                     (ptrdiff_t)d, block->count, error);
  scl_release(centred);
  return status;
}

static void point_up(double *vector, size_t d) {
  size_t largest = 0;
  for (size_t j = 1; j < d; j++)
    if (fabs(vector[j]) > fabs(vector[largest])) largest = j;
  const double sign = vector[largest] < 0 ? -1 : 1;
  for (size_t j = 0; j < d; j++)
    vector[j] *= sign;
}

static scl_status decompose(const scl_symmetric *sum, double total, size_t k, size_t d,
                            scl_components *out, scl_error *error) {
  double *room = scl_allocate_array(d + k + k * d + 1, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, (d + k + k * d) * sizeof *room, "components");
  double *diagonal = room, *values = diagonal + d, *vectors = values + k;
  scl_service_symmetric.diagonal(sum, diagonal);
  for (size_t j = 0; j < d; j++)
    out->total += diagonal[j] / total;
  if (!isfinite(out->total)) {
    scl_release(room);
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "the covariance of the columns is too large for float64: scale the data");
  }
  const scl_status status = scl_service_symmetric.eigen(sum, k, values, vectors, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < k; i++) {
    point_up(vectors + i * d, d);
    memcpy(scl_matrix_row(&out->vectors, i), vectors + i * d, d * sizeof *vectors);
    *scl_matrix_row(&out->variances, i) = fmax(values[i] / total, 0);
  }
  scl_release(room);
  return status;
}

static scl_status make_room(size_t k, size_t d, scl_components *out, scl_error *error) {
  SCL_TRY(scl_matrix_create(k, d, SCL_DTYPE_FLOAT64, &out->vectors, error));
  SCL_TRY(scl_matrix_create(1, d, SCL_DTYPE_FLOAT64, &out->mean, error));
  return scl_matrix_create(k, 1, SCL_DTYPE_FLOAT64, &out->variances, error);
}

static scl_status check(const averaging *a, size_t k, size_t d, scl_error *error) {
  if (a->rows == 0) return scl_fail(error, SCL_STATUS_BAD_DATA, "there are no rows to fit on");
  if (k == 0 || k > d || k > a->rows)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'k' got %zu; it takes 1 to %zu, the least of %zu columns and %zu rows",
                    k, scl_min(d, a->rows), d, a->rows);
  return SCL_STATUS_OK;
}

static scl_status fit(const scl_flow *flow, size_t k, scl_symmetric *covariance,
                      scl_components *out, scl_error *error) {
  const size_t d = scl_flow_features(flow);
  averaging a = {flow, out->mean.data, 0, 0};
  SCL_TRY(scl_flow_walk(flow, true, add_to_mean, &a, error));
  SCL_TRY(check(&a, k, d, error));
  for (size_t j = 0; j < d; j++)
    a.mean[j] /= a.total;
  spreading s = {flow, a.mean, covariance};
  SCL_TRY(scl_flow_walk(flow, true, add_to_covariance, &s, error));
  return decompose(covariance, a.total, k, d, out, error);
}

scl_status scl_pca(const scl_flow *flow, size_t k, scl_components *out, scl_error *error) {
  const size_t d = scl_flow_features(flow);
  scl_symmetric *covariance = NULL;
  scl_flow plain = *flow;
  *out = (scl_components){0};
  plain.group = NULL;
  if (plain.map == NULL) plain.dtype = SCL_DTYPE_FLOAT64;
  if (plain.map != NULL && scl_map_slots(plain.map) > 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "one-hot features have too many columns for a covariance");
  if (k > d) return check(&(averaging){.rows = flow->source->rows}, k, d, error);
  scl_status status = make_room(k, d, out, error);
  if (status == SCL_STATUS_OK) status = scl_symmetric_create(d, &covariance, error);
  if (status == SCL_STATUS_OK) status = fit(&plain, k, covariance, out, error);
  scl_symmetric_destroy(covariance);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  scl_matrix_release(&out->vectors);
  scl_matrix_release(&out->mean);
  scl_matrix_release(&out->variances);
  return status;
}
