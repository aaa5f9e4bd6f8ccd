/* Normal equations of features that are numbers: Phi'Phi by symmetric products of a block, Phi'[Y
 * 1] by strips of features. Products inside a block are in the flow's dtype; the sums over blocks
 * do not depend on their order (block_sums.h). This way sums every flow that no other claims. Other
 * ways sum rows like these as float64 sums over blocks. */
#include "algebra/dense.h"
#include "base/pool.h"
#include "rows/block_sums.h"
#include "rows/ways.h"
#include <math.h>

/* ------------ Phi'[Y 1] of one block, by strips of features */

enum { STRIP = 256 };

/* The product Phi'[Y 1] of one block; strips of features are added in parallel. */
typedef struct correlation {
  scl_dtype dtype;
  const void *phi;
  ptrdiff_t stride;
  size_t features, rows, cols; /* cols = c + 1 */
  const void *y;               /* rows x cols in dtype */
  double *right;
  float *scratch; /* features x cols, float32 only */
} correlation;

/* A task of the pool: the products of STRIP features. float32 products are made in float32 for one
 * block only, and added in float64. */
static void correlate_strip(void *context, size_t index) {
  const correlation *job = context;
  const size_t first = index * STRIP, count = scl_min(STRIP, job->features - first);
  const void *phi = scl_at(job->phi, job->dtype, (ptrdiff_t)first);
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

/* ------------ Phi'Phi */

/* Packed rows times the square roots of their weights. */
typedef struct rooting {
  const scl_flow *flow;
  const scl_flow_block *block;
  size_t start, rows, features;
  void *out;
} rooting;

enum { ROOT_ROWS = 64 };

/* A task of the pool: ROOT_ROWS rows. */
static void root_rows(void *context, size_t index) {
  const rooting *r = context;
  const size_t d = r->features, end = scl_min((index + 1) * ROOT_ROWS, r->rows);
  for (size_t i = index * ROOT_ROWS; i < end; i++) {
    const double root = sqrt(r->block->weights[r->start + i]);
    const void *from = scl_flow_row(r->flow, r->block, r->start + i);
    if (r->flow->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < d; j++)
        ((double *)r->out)[i * d + j] = root * ((const double *)from)[j];
    else
      for (size_t j = 0; j < d; j++)
        ((float *)r->out)[i * d + j] = (float)root * ((const float *)from)[j];
  }
}

/* Add Phi'Phi of rows: to sums of blocks, or to a float64 matrix. */
static scl_status add_products(scl_sums *sums, const scl_block_rows *rows, scl_error *error) {
  if (sums->exact) return scl_block_sums_add(sums->whole, rows, error);
  return scl_symmetric_accumulate(sums->moment[rows->group], rows->dtype, rows->phi, rows->stride,
                                  rows->rows, error);
}

/* Add Phi'W Phi of some rows of a block. Weighted rows are multiplied by the roots of their weights
 * first, so that the product remains symmetric. */
static scl_status add_moment(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                             size_t group, size_t start, size_t rows, scl_error *error) {
  const size_t d = sums->features, size = scl_dtype_size(flow->dtype);
  scl_block_rows products = {flow->dtype, NULL, block->phi_stride, rows, group};
  if (block->weights == NULL) {
    products.phi = scl_flow_row(flow, block, start);
    return add_products(sums, &products, error);
  }
  rooting r = {flow, block, start, rows, d, scl_allocate_array(rows * d + 1, size)};
  if (r.out == NULL) return scl_fail_memory(error, rows * d * size, "weighted rows");
  scl_pool_run((rows + ROOT_ROWS - 1) / ROOT_ROWS, root_rows, &r);
  products.phi = r.out;
  products.stride = (ptrdiff_t)d;
  const scl_status status = add_products(sums, &products, error);
  scl_release(r.out);
  return status;
}

/* right (D x (c + 1)) += Phi'W [Y 1]. */
static scl_status add_right(const scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                            size_t start, size_t rows, double *right, scl_error *error) {
  const scl_dtype dtype = flow->dtype;
  const size_t c = sums->targets, cols = c + 1, d = sums->features,
               scratch = dtype == SCL_DTYPE_FLOAT32 ? d * cols : 0;
  double *memory = scl_allocate_array(rows * cols + scratch + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, (rows * cols + scratch) * sizeof *memory, "targets of a block");
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      scl_set_number(memory, dtype, i * cols + j,
                     scl_flow_weight(block, start + i) *
                         (j == c ? 1 : block->y[(start + i) * c + j]));
  correlation job = {.dtype = dtype,
                     .phi = scl_flow_row(flow, block, start),
                     .stride = block->phi_stride,
                     .features = d,
                     .rows = rows,
                     .cols = cols,
                     .y = memory,
                     .right = right,
                     .scratch = (float *)(void *)(memory + rows * cols)};
  scl_pool_run((d + STRIP - 1) / STRIP, correlate_strip, &job);
  scl_release(memory);
  return SCL_STATUS_OK;
}

/* Add all sums but Phi'Phi for one group of a block: each is computed for the block in float64,
 * then added exactly. */
static scl_status add_block_right(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                                  size_t group, size_t start, size_t rows, scl_error *error) {
  const size_t c = sums->targets, right = sums->features * (c + 1);
  double *made = scl_allocate_zero((right + 2 * c + 1) * sizeof *made), *own = made + right;
  if (made == NULL) return scl_fail_memory(error, right * sizeof *made, "targets of a block");
  for (size_t i = start; i < start + rows; i++) {
    const double weight = scl_flow_weight(block, i), *y = block->y + i * c;
    for (size_t j = 0; j < c; j++) {
      own[j] += weight * y[j];
      own[c + j] += weight * y[j] * y[j];
    }
    own[2 * c] += weight;
  }
  scl_status status = add_right(sums, flow, block, start, rows, made, error);
  if (status == SCL_STATUS_OK)
    status = scl_block_sums_add_right(sums->whole, group, made, own, error);
  scl_release(made);
  return status;
}

/* ------------ rows */

/* scl_sums_dense_rows for rows of bits: change them into floating-point features first. */
static scl_status add_spread(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                             size_t group, size_t start, size_t end, scl_error *error) {
  const size_t rows = end - start, d = scl_flow_features(flow), size = scl_dtype_size(flow->dtype);
  scl_flow_block spread = *block;
  void *phi = scl_allocate_array(rows * d + 1, size);
  if (phi == NULL) return scl_fail_memory(error, rows * d * size, "rows of features");
  scl_flow_fill(flow, block, start, rows, phi);
  spread.bits = NULL;
  spread.phi = phi;
  spread.phi_stride = (ptrdiff_t)d;
  spread.y += start * sums->targets;
  spread.weights = block->weights == NULL ? NULL : block->weights + start;
  const scl_status status = scl_sums_dense_rows(sums, flow, &spread, group, 0, rows, error);
  scl_release(phi);
  return status;
}

scl_status scl_sums_dense_rows(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                               size_t group, size_t start, size_t end, scl_error *error) {
  if (end == start) return SCL_STATUS_OK;
  if (block->bits != NULL) return add_spread(sums, flow, block, group, start, end, error);
  SCL_TRY(add_moment(sums, flow, block, group, start, end - start, error));
  if (sums->exact) return add_block_right(sums, flow, block, group, start, end - start, error);
  scl_sums_add_targets(sums, block, group, start, end);
  return add_right(sums, flow, block, start, end - start,
                   sums->right + group * sums->features * (sums->targets + 1), error);
}

static bool dense_claims(const scl_flow *flow) {
  (void)flow;
  return true;
}

/* Slot `open`: the units of the features. */
static scl_status dense_open(scl_summing *s, scl_error *error) {
  double *unit;
  SCL_TRY(scl_block_units(s->flow, s->flow->weights, s->flow->source->rows, &unit, error));
  s->state = unit;
  s->like.unit = unit;
  s->like.blocks = s->flow;
  return SCL_STATUS_OK;
}

static void dense_close(scl_summing *s) { scl_release(s->state); }

const scl_sums_way scl_way_dense = {.name = "dense",
                                    .whole = true,
                                    .blocks = true,
                                    .claims = dense_claims,
                                    .rows = scl_sums_dense_rows,
                                    .first_of = scl_sums_of_first,
                                    .open = dense_open,
                                    .close = dense_close};
