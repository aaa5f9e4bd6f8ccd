/* Products of a symmetric matrix with a few columns. A task computes the rows of one row of tiles:
 * tiles left of the diagonal as they are, those below the diagonal of its column transposed. */
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

typedef struct multiplication {
  const scl_symmetric *a;
  const double *x;
  size_t k;
  double *out;
  bool more; /* add to out instead of setting it */
  double
      *columns; /* x transposed (k x n), then sums (k x n); NULL: too many columns, or no memory */
} multiplication;

/* Row r of the lower triangle of a diagonal tile times x, and the same numbers as column r of the
 * upper triangle times x_r. */
static void multiply_diagonal_row(const double *row, size_t r, const double *x, size_t k,
                                  double *out) {
  for (size_t c = 0; c < r; c++)
    for (size_t q = 0; q < k; q++)
      out[c * k + q] += row[c] * x[r * k + q];
  for (size_t q = 0; q < k; q++) {
    double part[4] = {0};
    for (size_t c = 0; c <= r; c++)
      part[c % 4] += row[c] * x[c * k + q];
    out[r * k + q] += (part[0] + part[1]) + (part[2] + part[3]);
  }
}

/* The same for k = 1, with loops over adjacent numbers. */
static void multiply_diagonal_column(const double *row, size_t r, const double *x, double *out) {
  double part[8] = {0};
  size_t c = 0;
  for (; c + 8 <= r; c += 8)
    for (size_t l = 0; l < 8; l++) {
      part[l] += row[c + l] * x[c + l];
      out[c + l] += row[c + l] * x[r];
    }
  for (; c < r; c++) {
    part[0] += row[c] * x[c];
    out[c] += row[c] * x[r];
  }
  out[r] += ((part[0] + part[4]) + (part[2] + part[6])) +
            ((part[1] + part[5]) + (part[3] + part[7])) + row[r] * x[r];
}

/* A diagonal tile has its lower triangle only. */
static void multiply_diagonal(const scl_symmetric *a, const double *tile, size_t rows,
                              const double *x, size_t k, double *out) {
  for (size_t r = 0; r < rows; r++) {
    if (k == 1)
      multiply_diagonal_column(tile + r * a->tile, r, x, out);
    else
      multiply_diagonal_row(tile + r * a->tile, r, x, k, out);
  }
}

/* out += tile x, or tile' x. The loop for transposed tiles adds to `sums` (k x rows) instead. */
static void multiply_tile(const multiplication *job, const double *tile, bool transposed,
                          size_t rows, size_t j, double *sums, double *out) {
  const scl_symmetric *a = job->a;
  const scl_loops *loops = scl_loops_get();
  const size_t cols = scl_tile_rows(a, j), k = job->k;
  const ptrdiff_t stride = (ptrdiff_t)a->tile, n = (ptrdiff_t)a->n;
  const double *x = job->x + j * a->tile * k;
  if (job->columns == NULL)
    scl_gemm(SCL_DTYPE_FLOAT64, transposed, false, rows, k, cols, 1, tile, stride, x, (ptrdiff_t)k,
             1, out, (ptrdiff_t)k);
  else if (transposed)
    loops->thin_adjoint_f64(cols, rows, k, tile, stride, x, sums, n);
  else
    loops->thin_product_f64(rows, cols, k, tile, stride, job->columns + j * a->tile, n, out);
}

/* Task: rows of the result that belong to row i of tiles. */
static void multiply_rows(void *context, size_t i) {
  const multiplication *job = context;
  const scl_symmetric *a = job->a;
  const size_t rows = scl_tile_rows(a, i), k = job->k;
  double *out = job->out + i * a->tile * k,
         *sums = job->columns == NULL ? NULL : job->columns + k * a->n + i * a->tile;
  if (!job->more) memset(out, 0, rows * k * sizeof *out);
  for (size_t j = 0; j < a->across; j++) {
    if (j == i)
      multiply_diagonal(a, scl_tile_at(a, i, i), rows, job->x + j * a->tile * k, k, out);
    else
      multiply_tile(job, j < i ? scl_tile_at(a, i, j) : scl_tile_at(a, j, i), j > i, rows, j, sums,
                    out);
  }
  for (size_t r = 0; job->columns != NULL && r < rows; r++)
    for (size_t q = 0; q < k; q++)
      out[r * k + q] += sums[q * a->n + r];
}

/* out = A x, or += it. Behind the columns of x lies room for as many sums. */
static void multiply_tiles(const scl_symmetric *a, const double *x, size_t k, bool more,
                           double *out) {
  const size_t n = a->n;
  multiplication job = {a, x, k, out, more, NULL};
  if (k <= SCL_THIN_COLUMNS) job.columns = scl_allocate_zero((2 * n * k + 1) * sizeof *job.columns);
  for (size_t i = 0; job.columns != NULL && i < n; i++)
    for (size_t q = 0; q < k; q++)
      job.columns[q * n + i] = x[i * k + q];
  scl_pool_run(a->across, multiply_rows, &job);
  scl_release(job.columns);
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
  (void)error;
  if (a->data != NULL) {
    multiply_tiles(a, x, k, false, out);
    return SCL_STATUS_OK;
  }
  if (a->n_parts == 0) memset(out, 0, a->n * k * sizeof *out);
  for (size_t p = 0; p < a->n_parts; p++)
    multiply_tiles(a->parts[p], x, k, p > 0, out);
  multiply_rank(a, x, k, out);
  return SCL_STATUS_OK;
}
