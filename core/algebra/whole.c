/* Whole-number features: rounding, and products with float64 numbers. */
#include "algebra/whole.h"

#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

const char *scl_whole_name(scl_whole type) {
  return type == SCL_WHOLE_INT8 ? "int8" : type == SCL_WHOLE_INT16 ? "int16" : NULL;
}

bool scl_whole_round(scl_whole type, scl_dtype dtype, size_t count, const void *y,
                     const void *offset, const void *inverse, void *v, size_t *clipped) {
  const scl_whole_loops *loops = scl_loops_get()->whole;
  scl_whole_rounder *const rounder =
      dtype == SCL_DTYPE_FLOAT32
          ? (type == SCL_WHOLE_INT8 ? loops->round_f32_i8 : loops->round_f32_i16)
          : (type == SCL_WHOLE_INT8 ? loops->round_f64_i8 : loops->round_f64_i16);
  return rounder(count, y, offset, inverse, v, clipped);
}

/* ------------ V a: whole numbers are widened, a
 * rectangle after the other, for the loop of thin products */

typedef struct product {
  scl_whole type;
  size_t rows, cols, k;
  const char *v;
  ptrdiff_t stride;
  const double *numbers; /* a or d */
  double *out;
} product;

static const void *number_at(const product *job, size_t row, size_t col) {
  return job->v +
         ((ptrdiff_t)row * job->stride + (ptrdiff_t)col) * (ptrdiff_t)scl_whole_size(job->type);
}

/* Rows of a task and columns that are widened together, in the first cache. Rows of widened numbers
 * lie PAD numbers more apart: at powers of two they would share its places. */
enum { PAD = 8, PRODUCT_ROWS = 8, PRODUCT_COLUMNS = 256, APART = PRODUCT_COLUMNS + PAD };

/* Products of some rows with columns first .. first+k-1 of a. The partial sums of PRODUCT_COLUMNS
 * features are added in their order. */
static void product_columns(const product *job, size_t row, size_t rows, size_t first, size_t k) {
  const scl_loops *loops = scl_loops_get();
  double wide[PRODUCT_ROWS * APART], sums[PRODUCT_ROWS * SCL_THIN_COLUMNS] = {0};
  for (size_t j = 0; j < job->cols; j += PRODUCT_COLUMNS) {
    const size_t cols = scl_min(PRODUCT_COLUMNS, job->cols - j);
    const bool last = j + cols == job->cols;
    const ptrdiff_t ahead = last ? (ptrdiff_t)rows * job->stride - (ptrdiff_t)j : (ptrdiff_t)cols;
    const void *v = number_at(job, row, j);
    if (job->type == SCL_WHOLE_INT8)
      loops->whole->widen_i8(rows, cols, v, job->stride, ahead, wide, APART);
    else
      loops->whole->widen_i16(rows, cols, v, job->stride, ahead, wide, APART);
    loops->thin_product_f64(rows, cols, k, wide, APART, job->numbers + first * job->cols + j,
                            (ptrdiff_t)job->cols, sums);
  }
  for (size_t i = 0; i < rows; i++)
    memcpy(job->out + (row + i) * job->k + first, sums + i * k, k * sizeof *sums);
}

static void product_task(void *context, size_t index) {
  const product *job = context;
  const size_t row = index * PRODUCT_ROWS, rows = scl_min(PRODUCT_ROWS, job->rows - row);
  for (size_t first = 0; first < job->k; first += SCL_THIN_COLUMNS)
    product_columns(job, row, rows, first, scl_min(SCL_THIN_COLUMNS, job->k - first));
}

void scl_whole_product(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *a, size_t k, double *out) {
  product job = {type, rows, cols, k, v, stride, a, out};
  scl_pool_run((rows + PRODUCT_ROWS - 1) / PRODUCT_ROWS, product_task, &job);
}

/* ------------ V'd, columns of a task for all rows:
 * some rows at a time, so that their numbers stay in the first cache for all columns of d */

enum { ADJOINT_COLUMNS = 256, ADJOINT_ROWS = 32 };

/* Task: the sums of ADJOINT_COLUMNS features over all rows. */
static void adjoint_task(void *context, size_t index) {
  const product *job = context;
  const scl_whole_loops *loops = scl_loops_get()->whole;
  const size_t col = index * ADJOINT_COLUMNS, cols = scl_min(ADJOINT_COLUMNS, job->cols - col);
  for (size_t r = 0; r < job->rows; r += ADJOINT_ROWS) {
    const size_t rows = scl_min(ADJOINT_ROWS, job->rows - r);
    const void *v = number_at(job, r, col);
    const double *d = job->numbers + r * job->k;
    if (job->type == SCL_WHOLE_INT8)
      loops->adjoint_i8(rows, cols, job->k, v, job->stride, d, job->out + col, job->cols);
    else
      loops->adjoint_i16(rows, cols, job->k, v, job->stride, d, job->out + col, job->cols);
  }
}

void scl_whole_adjoint(scl_whole type, size_t rows, size_t cols, const void *v, ptrdiff_t stride,
                       const double *d, size_t k, double *sums) {
  product job = {type, rows, cols, k, v, stride, d, sums};
  scl_pool_run((cols + ADJOINT_COLUMNS - 1) / ADJOINT_COLUMNS, adjoint_task, &job);
}
