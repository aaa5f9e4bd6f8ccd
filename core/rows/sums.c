#include "rows/sums.h"

#include "algebra/dense.h"
#include "base/pool.h"
#include "map/projection.h"
#include <float.h>
#include <math.h>
#include <string.h>

static scl_status reserve(const scl_flow *flow, scl_sums *out, scl_error *error) {
  const size_t d = scl_flow_features(flow), c = flow->source->targets,
               groups = flow->group == NULL ? 1 : flow->groups;
  *out = (scl_sums){.features = d, .targets = c, .groups = groups};
  out->right = scl_allocate_zero((groups * d * (c + 1) + 1) * sizeof(double));
  out->sum = scl_allocate_zero((groups * c + 1) * sizeof(double));
  out->square = scl_allocate_zero((groups * c + 1) * sizeof(double));
  out->count = scl_allocate_zero((groups + 1) * sizeof(double));
  out->gram = scl_allocate_zero((groups + 1) * sizeof(scl_symmetric *));
  if (!out->right || !out->sum || !out->square || !out->count || !out->gram)
    return scl_fail_memory(error, groups * d * (c + 1) * sizeof(double), "normal equations");
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(scl_symmetric_create(d, &out->gram[g], error));
  return SCL_STATUS_OK;
}

void scl_sums_destroy(scl_sums *sums) {
  for (size_t g = 0; sums->gram != NULL && g < sums->groups; g++)
    scl_symmetric_destroy(sums->gram[g]);
  scl_release(sums->gram);
  scl_release(sums->right);
  scl_release(sums->sum);
  scl_release(sums->square);
  scl_release(sums->count);
  memset(sums, 0, sizeof *sums);
}

/* ---------------------------------------------------------------- Phi'[Y 1] of one block, by
 * strips of features */

enum { STRIP = 256 };

typedef struct correlation {
  scl_dtype dtype;
  const char *phi;
  ptrdiff_t stride;
  size_t features, rows, cols; /* cols = c + 1 */
  const void *y;               /* rows x cols in dtype */
  double *right;
  float *scratch; /* features x cols, float32 only */
} correlation;

static void correlate_strip(void *context, size_t index) {
  const correlation *job = context;
  const size_t first = index * STRIP, count = scl_min(STRIP, job->features - first),
               size = scl_dtype_size(job->dtype);
  const char *phi = job->phi + first * size;
  const ptrdiff_t cols = (ptrdiff_t)job->cols;
  double *right = job->right + first * job->cols;
  if (job->dtype == SCL_DTYPE_FLOAT64) {
    scl_gemm(SCL_DTYPE_FLOAT64, true, false, count, job->cols, job->rows, 1, phi, job->stride,
             job->y, cols, 1, right, cols);
    return;
  }
  float *part = job->scratch + first * job->cols;
  scl_gemm(SCL_DTYPE_FLOAT32, true, false, count, job->cols, job->rows, 1, phi, job->stride, job->y,
           cols, 0, part, cols);
  for (size_t i = 0; i < count * job->cols; i++)
    right[i] += (double)part[i];
}

typedef struct accumulator {
  const scl_flow *flow;
  scl_sums *sums;
} accumulator;

static double weight_of(const scl_flow_block *block, size_t i) {
  return block->weights == NULL ? 1 : block->weights[i];
}

/* Sums of the targets of rows start .. end. */
static void add_targets(scl_sums *sums, const scl_flow_block *block, size_t group, size_t start,
                        size_t end) {
  const size_t c = sums->targets;
  for (size_t i = start; i < end; i++) {
    const double weight = weight_of(block, i), *y = block->y + i * c;
    for (size_t j = 0; j < c; j++) {
      sums->sum[group * c + j] += weight * y[j];
      sums->square[group * c + j] += weight * y[j] * y[j];
    }
    sums->count[group] += weight;
  }
}

static void add_sparse(const accumulator *a, const scl_flow_block *block, size_t group,
                       size_t start, size_t end) {
  scl_sums *sums = a->sums;
  const size_t c = sums->targets, cols = c + 1;
  double *right = sums->right + group * sums->features * cols;
  scl_symmetric_scatter(sums->gram[group], block->columns + start * block->slots, block->slots,
                        end - start, block->value,
                        block->weights == NULL ? NULL : block->weights + start);
  for (size_t i = start; i < end; i++)
    for (size_t k = 0; k < block->slots; k++) {
      const int32_t column = block->columns[i * block->slots + k];
      for (size_t j = 0; column >= 0 && j < cols; j++)
        right[(size_t)column * cols + j] +=
            block->value * weight_of(block, i) * (j == c ? 1 : block->y[i * c + j]);
    }
}

/* Rows times the square roots of their weights. */
typedef struct rooting {
  const scl_flow_block *block;
  size_t start, features;
  scl_dtype dtype;
  char *out;
} rooting;

static void root_row(void *context, size_t i) {
  const rooting *r = context;
  const size_t size = scl_dtype_size(r->dtype);
  const double root = sqrt(r->block->weights[r->start + i]);
  const char *from = (const char *)r->block->phi +
                     (ptrdiff_t)(r->start + i) * r->block->phi_stride * (ptrdiff_t)size;
  for (size_t j = 0; j < r->features; j++)
    scl_set_number(r->out, r->dtype, i * r->features + j, root * scl_number(from, r->dtype, j));
}

static scl_status add_gram(const accumulator *a, const scl_flow_block *block, size_t group,
                           size_t start, size_t rows, scl_error *error) {
  scl_symmetric *gram = a->sums->gram[group];
  const scl_dtype dtype = a->flow->dtype;
  const size_t d = a->sums->features, size = scl_dtype_size(dtype);
  const char *phi =
      (const char *)block->phi + (ptrdiff_t)start * block->phi_stride * (ptrdiff_t)size;
  if (block->weights == NULL)
    return scl_symmetric_accumulate(gram, dtype, phi, block->phi_stride, rows, error);
  rooting r = {block, start, d, dtype, scl_allocate_array(rows * d + 1, size)};
  if (r.out == NULL) return scl_fail_memory(error, rows * d * size, "weighted rows");
  scl_pool_run(rows, root_row, &r);
  const scl_status status = scl_symmetric_accumulate(gram, dtype, r.out, (ptrdiff_t)d, rows, error);
  scl_release(r.out);
  return status;
}

/* Phi'W [Y 1]. */
static scl_status add_right(const accumulator *a, const scl_flow_block *block, size_t group,
                            size_t start, size_t rows, scl_error *error) {
  scl_sums *sums = a->sums;
  const scl_dtype dtype = a->flow->dtype;
  const size_t c = sums->targets, size = scl_dtype_size(dtype), cols = c + 1;
  const char *phi =
      (const char *)block->phi + (ptrdiff_t)start * block->phi_stride * (ptrdiff_t)size;
  void *y = scl_allocate_array(rows * cols, size);
  float *scratch = dtype == SCL_DTYPE_FLOAT32
                       ? scl_allocate_array(sums->features * cols + 1, sizeof *scratch)
                       : NULL;
  if (y == NULL || (dtype == SCL_DTYPE_FLOAT32 && scratch == NULL)) {
    scl_release(y);
    scl_release(scratch);
    return scl_fail_memory(error, rows * cols * size, "targets of a block");
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      scl_set_number(y, dtype, i * cols + j,
                     weight_of(block, start + i) * (j == c ? 1 : block->y[(start + i) * c + j]));
  correlation job = {dtype,
                     phi,
                     block->phi_stride,
                     sums->features,
                     rows,
                     cols,
                     y,
                     sums->right + group * sums->features * cols,
                     scratch};
  scl_pool_run((sums->features + STRIP - 1) / STRIP, correlate_strip, &job);
  scl_release(y);
  scl_release(scratch);
  return SCL_STATUS_OK;
}

/* Rows start .. end of the block belong to `group`. */
static scl_status add_rows(const accumulator *a, const scl_flow_block *block, size_t group,
                           size_t start, size_t end, scl_error *error) {
  if (end == start) return SCL_STATUS_OK;
  add_targets(a->sums, block, group, start, end);
  if (block->slots > 0) {
    add_sparse(a, block, group, start, end);
    return SCL_STATUS_OK;
  }
  SCL_TRY(add_gram(a, block, group, start, end - start, error));
  return add_right(a, block, group, start, end - start, error);
}

static scl_status add_block(void *context, const scl_flow_block *block, scl_error *error) {
  const accumulator *a = context;
  for (size_t g = 0; g < a->sums->groups; g++)
    SCL_TRY(add_rows(a, block, g, block->group_start[g], block->group_start[g + 1], error));
  return SCL_STATUS_OK;
}

/* Data are finite, so a sum that is not comes from a feature: a plugin's mistake, or numbers too
 * large for the dtype. */
static scl_status check_finite(const scl_sums *sums, scl_dtype dtype, scl_error *error) {
  for (size_t g = 0; g < sums->groups; g++)
    for (size_t j = 0; j < sums->features; j++)
      if (!isfinite(scl_symmetric_get(sums->gram[g], j, j)))
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "feature %zu is NaN or too large for %s on some row: scale the data, or "
                        "look at the nonlinearity",
                        j + 1, scl_dtype_name(dtype));
  return SCL_STATUS_OK;
}

scl_status scl_sums_accumulate(const scl_flow *flow, scl_sums *out, scl_error *error) {
  accumulator a = {flow, out};
  scl_status status = reserve(flow, out, error);
  if (status == SCL_STATUS_OK) status = scl_flow_walk(flow, true, add_block, &a, error);
  if (status == SCL_STATUS_OK) status = check_finite(out, flow->dtype, error);
  if (status != SCL_STATUS_OK) scl_sums_destroy(out);
  return status;
}

void scl_sums_centre(double count, size_t d, size_t c, scl_symmetric *gram, double *right,
                     double *square, const double *mean_phi, const double *mean_y) {
  scl_symmetric_rank(gram, -count, mean_phi, 1);
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < c; j++)
      right[i * c + j] -= count * mean_phi[i] * mean_y[j];
  for (size_t j = 0; j < c; j++) {
    const double mean = count * mean_y[j] * mean_y[j];
    square[j] = square[j] - mean > 16 * DBL_EPSILON * mean
                    ? square[j] - mean
                    : 0; /* what rounding leaves of a constant */
  }
}

double scl_sums_combine(const scl_sums *sums, long without, bool centre, scl_symmetric *gram,
                        double *right, double *square, double *mean_phi, double *mean_y) {
  const size_t d = sums->features, c = sums->targets, cols = c + 1;
  double count = 0;
  bool first = true;
  memset(right, 0, d * c * sizeof *right);
  memset(square, 0, c * sizeof *square);
  memset(mean_phi, 0, d * sizeof *mean_phi);
  memset(mean_y, 0, c * sizeof *mean_y);
  for (size_t g = 0; g < sums->groups; g++) {
    if ((long)g == without) continue;
    if (first)
      scl_service_symmetric.copy(sums->gram[g], gram);
    else
      scl_service_symmetric.add(1, sums->gram[g], gram);
    first = false;
    const double *from = sums->right + g * d * cols;
    for (size_t i = 0; i < d; i++) {
      for (size_t j = 0; j < c; j++)
        right[i * c + j] += from[i * cols + j];
      mean_phi[i] += from[i * cols + c];
    }
    for (size_t j = 0; j < c; j++) {
      mean_y[j] += sums->sum[g * c + j];
      square[j] += sums->square[g * c + j];
    }
    count += sums->count[g];
  }
  if (count == 0) return 0;
  for (size_t i = 0; i < d; i++)
    mean_phi[i] /= count;
  for (size_t j = 0; j < c; j++)
    mean_y[j] /= count;
  if (centre) scl_sums_centre(count, d, c, gram, right, square, mean_phi, mean_y);
  return count;
}
