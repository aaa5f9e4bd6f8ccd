/* Products of a symmetric matrix with a few columns. A task computes the rows of one row of tiles:
 * tiles left of the diagonal as they are, those below the diagonal of its column transposed. */
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

typedef scl_multiplication multiplication;

enum { DIAGONAL_BLOCK = 32 };

/* out += tile x, or tile' x, for rows x cols numbers of a tile whose part of x begins at row `at`.
 * The loop for transposed tiles adds to `sums` (k x rows) instead. */
static void multiply_block(const multiplication *job, const double *tile, bool transposed,
                           size_t rows, size_t cols, size_t at, double *sums, double *out) {
  const scl_loops *loops = scl_loops_get();
  const size_t k = job->k;
  const ptrdiff_t stride = (ptrdiff_t)job->a->tile, n = (ptrdiff_t)job->a->n;
  const double *x = job->x + at * k;
  if (job->columns == NULL)
    scl_gemm(SCL_DTYPE_FLOAT64, transposed, false, rows, k, cols, 1, tile, stride, x, (ptrdiff_t)k,
             1, out, (ptrdiff_t)k);
  else if (transposed)
    loops->thin_adjoint_f64(cols, rows, k, tile, stride, x, sums, n);
  else
    loops->thin_product_f64(rows, cols, k, tile, stride, job->columns + at, n, out);
}

/* A diagonal tile has its lower triangle only: blocks of its rows left of the diagonal, as they are
 * and transposed, and blocks on the diagonal, whose upper triangle is added in a copy. */
static void multiply_diagonal(const multiplication *job, const double *tile, size_t rows, size_t at,
                              double *sums, double *out) {
  const size_t k = job->k, stride = job->a->tile;
  for (size_t i = 0; i < rows; i += DIAGONAL_BLOCK) {
    const size_t few = scl_min(rows - i, (size_t)DIAGONAL_BLOCK);
    const double *left = tile + i * stride;
    if (i > 0) {
      multiply_block(job, left, false, few, i, at, sums, out + i * k);
      multiply_block(job, left, true, i, few, at + i, sums, out);
    }
    double whole[DIAGONAL_BLOCK * DIAGONAL_BLOCK];
    for (size_t r = 0; r < few; r++)
      for (size_t c = 0; c <= r; c++)
        whole[r * DIAGONAL_BLOCK + c] = whole[c * DIAGONAL_BLOCK + r] = left[r * stride + i + c];
    if (job->columns == NULL)
      scl_gemm(SCL_DTYPE_FLOAT64, false, false, few, k, few, 1, whole, DIAGONAL_BLOCK,
               job->x + (at + i) * k, (ptrdiff_t)k, 1, out + i * k, (ptrdiff_t)k);
    else
      scl_loops_get()->thin_product_f64(few, few, k, whole, DIAGONAL_BLOCK, job->columns + at + i,
                                        (ptrdiff_t)job->a->n, out + i * k);
  }
}

/* The rows of the result that belong to row i of tiles, and their sums. */
static double *out_of(const multiplication *job, size_t i) {
  return job->out + i * job->a->tile * job->k;
}
static double *sums_of(const multiplication *job, size_t i) {
  return job->columns == NULL ? NULL : job->columns + job->k * job->a->n + i * job->a->tile;
}

void scl_multiply_left(const multiplication *job, size_t i) {
  const scl_symmetric *a = job->a;
  const size_t rows = scl_tile_rows(a, i);
  double *out = out_of(job, i);
  if (!job->more) memset(out, 0, rows * job->k * sizeof *out);
  for (size_t j = 0; j < i; j++)
    multiply_block(job, scl_tile_at(a, i, j), false, rows, scl_tile_rows(a, j), j * a->tile,
                   sums_of(job, i), out);
  multiply_diagonal(job, scl_tile_at(a, i, i), rows, i * a->tile, sums_of(job, i), out);
}

void scl_multiply_above(const multiplication *job, size_t i, size_t j) {
  const scl_symmetric *a = job->a;
  multiply_block(job, scl_tile_at(a, j, i), true, scl_tile_rows(a, i), scl_tile_rows(a, j),
                 j * a->tile, sums_of(job, i), out_of(job, i));
}

void scl_multiply_finish(const multiplication *job, size_t i) {
  const size_t n = job->a->n, k = job->k;
  double *out = out_of(job, i);
  const double *sums = sums_of(job, i);
  for (size_t r = 0; sums != NULL && r < scl_tile_rows(job->a, i); r++)
    for (size_t q = 0; q < k; q++)
      out[r * k + q] += sums[q * n + r];
}

/* Task: rows of the result that belong to row i of tiles. */
static void multiply_rows(void *context, size_t i) {
  const multiplication *job = context;
  scl_multiply_left(job, i);
  for (size_t j = i + 1; j < job->a->across; j++)
    scl_multiply_above(job, i, j);
  scl_multiply_finish(job, i);
}

multiplication scl_multiplication_open(const scl_symmetric *a, const double *x, size_t k, bool more,
                                       double *out) {
  const size_t n = a->n;
  multiplication job = {a, x, k, out, more, NULL};
  if (k <= SCL_THIN_COLUMNS) job.columns = scl_allocate_zero((2 * n * k + 1) * sizeof *job.columns);
  for (size_t i = 0; job.columns != NULL && i < n; i++)
    for (size_t q = 0; q < k; q++)
      job.columns[q * n + i] = x[i * k + q];
  return job;
}

/* The same for processes that divide a matrix in common memory: they make rows of tiles in turn. */
typedef struct divided_rows {
  multiplication job; /* first: what multiply_rows gets */
  const scl_symmetric_peers *peers;
} divided_rows;

static void multiply_own_rows(void *context, size_t i) {
  divided_rows *d = context;
  if (i % d->peers->count == d->peers->rank) multiply_rows(&d->job, i);
}

/* out = A x, or += it. */
static scl_status multiply_tiles(const scl_symmetric *a, const double *x, size_t k, bool more,
                                 double *out, scl_error *error) {
  if (scl_symmetric_is_shared(a)) return scl_shared_multiply(a, x, k, more, out, error);
  divided_rows d = {scl_multiplication_open(a, x, k, more, out), NULL};
  scl_status status = SCL_STATUS_OK;
  if (scl_common_begets(a)) {
    d.peers = scl_symmetric_dividing();
    status = scl_common_meet(a, error);
  }
  scl_common_read(a);
  if (status == SCL_STATUS_OK)
    scl_pool_run(a->across, d.peers == NULL ? multiply_rows : multiply_own_rows, &d);
  for (size_t i = 0; d.peers != NULL && status == SCL_STATUS_OK && i < a->across; i++)
    status = d.peers->broadcast(i % d.peers->count, out_of(&d.job, i),
                                scl_tile_rows(a, i) * k * sizeof *out, error);
  scl_release(d.job.columns);
  return status;
}

/* out += factor v (v'x), a column of x at a time */
static void multiply_rank(const scl_symmetric *a, const double *x, size_t k, double *out) {
  for (size_t q = 0; a->factor != 0 && q < k; q++) {
    double along = 0;
    for (size_t i = 0; i < a->n; i++)
      along += a->vector[i] * x[i * k + q];
    for (size_t i = 0; i < a->n; i++)
      out[i * k + q] += a->factor * along * a->vector[i];
  }
}

scl_status scl_symmetric_multiply(const scl_symmetric *a, const double *x, size_t k, double *out,
                                  scl_error *error) {
  if (a->data != NULL) return multiply_tiles(a, x, k, false, out, error);
  if (a->n_parts == 0) memset(out, 0, a->n * k * sizeof *out);
  for (size_t p = 0; p < a->n_parts; p++)
    SCL_TRY(multiply_tiles(a->parts[p], x, k, p > 0, out, error));
  multiply_rank(a, x, k, out);
  return SCL_STATUS_OK;
}
