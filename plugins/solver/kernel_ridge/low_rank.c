/* The preconditioner of conjugate gradients on systems whose matrix has no factor: K ~ F F', F n x
 * r by randomly pivoted Cholesky, in blocks of pivots (Chen, Epperly, Tropp and Webber 2023,
 * Randomly pivoted Cholesky; Diaz, Epperly, Frangella, Tropp and Webber 2023, Robust, randomized
 * preconditioning for kernel ridge regression):
 *
 *   S ~ the diagonal that is left, d;   G = K(:, S) - F F(S, :)';   L L' = G(S, :) + jitter I
 *   F gains the columns G L^-T;   d -= their squares
 *
 * With D = diag(shift):  (F F' + D)^-1 = D^-1 - D^-1 F (I + F'D^-1 F)^-1 F'D^-1. */
#include "kernel_ridge.h"

enum { PIVOTS = 64, STREAM_PIVOTS = 0 };

size_t low_rank_of(const kernel_ridge *self, size_t rows) {
  enum { MOST = 1000 };
  const size_t some = (size_t)ceil(4 * sqrt((double)rows)), rank = self->rank > 0 ? self->rank
                                                                   : some < MOST  ? some
                                                                                  : MOST;
  return rank < rows ? rank : rows;
}

/* A block of pivots, and where its columns of F begin. */
typedef struct pivoting {
  linear_system *s;
  size_t first, count;
  size_t pivots[PIVOTS];
  double *left;   /* n: d */
  double *rows;   /* PIVOTS x cols: the pivots' rows of x */
  double *values; /* PIVOTS x rank: their rows of F */
  double *square; /* PIVOTS x PIVOTS: G(S, :), then L */
} pivoting;

/* Draws different pivots with probabilities proportional to d; fewer where little of d is left. */
static void draw_pivots(pivoting *p, uint64_t block) {
  const size_t n = p->s->m.rows, wanted = p->count;
  double total = 0, u[PIVOTS];
  for (size_t i = 0; i < n; i++)
    total += p->left[i];
  p->s->host->random->uniform(0, STREAM_PIVOTS, block, 0, wanted, u);
  p->count = 0;
  for (size_t k = 0; k < wanted && total > 0; k++) {
    double sum = 0;
    size_t i = 0;
    while (i + 1 < n && (sum += p->left[i]) < u[k] * total)
      i++;
    bool seen = !(p->left[i] > 0);
    for (size_t q = 0; q < p->count; q++)
      seen = seen || p->pivots[q] == i;
    if (!seen) p->pivots[p->count++] = i;
  }
}

/* Copies the pivots' rows of x and of F. */
static void copy_pivots(const pivoting *p) {
  const linear_system *s = p->s;
  for (size_t q = 0; q < p->count; q++) {
    memcpy(p->rows + q * s->m.cols, s->m.x + p->pivots[q] * s->m.cols, s->m.cols * sizeof *p->rows);
    memcpy(p->values + q * s->rank, s->f + p->pivots[q] * s->rank, s->rank * sizeof *p->values);
  }
}

/* out (count x p->count at `stride`) = G of the rows first .. */
static scl_status block_columns(const pivoting *p, size_t first, size_t count, const double *f,
                                double *out, ptrdiff_t stride, scl_error *error) {
  const linear_system *s = p->s;
  const scl_const_parameters u = rows_at(s, first, count),
                             v = scl_dense_rows(p->rows, (ptrdiff_t)s->m.cols, p->count, s->m.cols);
  const scl_status status = kernel_ridge_gram(s->self, &u, &v, out, stride, error);
  if (status == SCL_STATUS_OK)
    s->host->dense->gemm(0, 1, u.count, p->count, p->first, -1, f, (ptrdiff_t)s->rank, p->values,
                         (ptrdiff_t)s->rank, 1, out, stride);
  return status;
}

/* square = L of the block, with the jitter that it needs: rounding of the diagonal of K. */
static scl_status factor_block(const pivoting *p, scl_error *error) {
  const linear_system *s = p->s;
  const size_t m = p->count;
  double largest = 0;
  scl_status status = SCL_STATUS_OK;
  for (size_t q = 0; status == SCL_STATUS_OK && q < m; q++)
    status = block_columns(p, p->pivots[q], 1, s->f + p->pivots[q] * s->rank, p->square + q * m,
                           (ptrdiff_t)m, error);
  for (size_t q = 0; q < m; q++)
    largest = fmax(largest, s->diagonal[p->pivots[q]]);
  for (size_t q = 0; q < m; q++)
    p->square[q * m + q] += 1e-12 * largest;
  return status == SCL_STATUS_OK ? s->host->dense->potrf(m, p->square, (ptrdiff_t)m, error)
                                 : status;
}

/* A task: columns first .. first+count-1 of F, and d, for a tile of rows. */
static scl_status extend_rows(void *context, size_t index, scl_error *error) {
  const pivoting *p = context;
  const linear_system *s = p->s;
  const size_t first = index * TILE, rows = expansion_least(s->m.rows - first, TILE), m = p->count;
  double *g = s->host->scratch(TILE * m * sizeof *g);
  if (g == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for kernel values");
  const scl_status status =
      block_columns(p, first, rows, s->f + first * s->rank, g, (ptrdiff_t)m, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows; i++) {
    double *to = s->f + (first + i) * s->rank + p->first, sum = 0;
    for (size_t q = 0; q < m; q++) { /* forward substitution with L */
      double value = g[i * m + q];
      for (size_t k = 0; k < q; k++)
        value -= p->square[q * m + k] * to[k];
      to[q] = value / p->square[q * m + q];
      sum += to[q] * to[q];
    }
    p->left[first + i] = fmax(p->left[first + i] - sum, 0);
  }
  return status;
}

/* F, block by block. Where K has a lower rank, the columns of F that are left are 0. */
static scl_status fill_factor(pivoting *p, scl_error *error) {
  linear_system *s = p->s;
  const size_t tiles = tiles_of(s->m.rows);
  scl_status status = SCL_STATUS_OK;
  double whole = 0, left;
  for (size_t i = 0; i < s->m.rows; i++)
    whole += s->diagonal[i];
  for (uint64_t block = 0; status == SCL_STATUS_OK && p->first < s->rank; block++) {
    left = 0;
    for (size_t i = 0; i < s->m.rows; i++)
      left += p->left[i];
    if (!(left > 1e-13 * whole)) return SCL_STATUS_OK;
    status = s->problem->progress(s->problem, "randomly pivoted Cholesky",
                                  (double)p->first / (double)s->rank, NAN, error);
    p->count = expansion_least(s->rank - p->first, PIVOTS);
    draw_pivots(p, block);
    if (status != SCL_STATUS_OK || p->count == 0) return status;
    copy_pivots(p);
    status = factor_block(p, error);
    if (status == SCL_STATUS_NUMERIC) return SCL_STATUS_OK; /* what is left is rounding */
    if (status == SCL_STATUS_OK) status = s->host->parallel(tiles, extend_rows, p, error);
    for (size_t q = 0; q < p->count; q++)
      p->left[p->pivots[q]] = 0;
    p->first += p->count;
  }
  return status;
}

scl_status low_rank_open(linear_system *s, scl_error *error) {
  const scl_host *host = s->host;
  const size_t n = s->m.rows;
  s->rank = low_rank_of(s->self, n);
  s->f = host->allocate(n * s->rank * sizeof *s->f);
  pivoting p = {.s = s,
                .left = host->scratch(n * sizeof *p.left),
                .rows = host->scratch((PIVOTS * s->m.cols + 1) * sizeof *p.rows),
                .values = host->scratch(PIVOTS * s->rank * sizeof *p.values),
                .square = host->scratch(PIVOTS * PIVOTS * sizeof *p.square)};
  s->inverted = host->scratch(2 * s->rank * (s->m.functions + 1) * sizeof *s->inverted);
  if (s->f == NULL || p.left == NULL || p.rows == NULL || p.values == NULL || p.square == NULL ||
      s->inverted == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "the preconditioner of %zu rows takes %.1f GB: give a smaller 'rank'", n,
                      8e-9 * (double)n * (double)s->rank);
  memset(s->f, 0, n * s->rank * sizeof *s->f);
  memcpy(p.left, s->diagonal, n * sizeof *p.left);
  const scl_status status = fill_factor(&p, error);
  return status == SCL_STATUS_OK ? host->symmetric->create(s->rank, &s->inner, error) : status;
}

scl_status low_rank_factor(linear_system *s, scl_error *error) {
  const scl_symmetric_algebra *algebra = s->host->symmetric;
  double *scaled = s->host->allocate(TILE * s->rank * sizeof *scaled);
  scl_status status = SCL_STATUS_OK;
  size_t pivot;
  if (scaled == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a preconditioner");
  algebra->scale(0, s->inner);
  algebra->shift(1, s->inner);
  for (size_t first = 0; status == SCL_STATUS_OK && first < s->m.rows; first += TILE) {
    const size_t rows = expansion_least(s->m.rows - first, TILE);
    for (size_t i = 0; i < rows; i++)
      for (size_t k = 0; k < s->rank; k++)
        scaled[i * s->rank + k] = s->f[(first + i) * s->rank + k] / sqrt(s->shift[first + i]);
    status = algebra->rank(s->inner, 1, scaled, rows, (ptrdiff_t)s->rank, error);
  }
  s->host->release(scaled);
  return status == SCL_STATUS_OK ? algebra->factor(s->inner, &pivot, error) : status;
}

scl_status low_rank_solve(const linear_system *s, double *z, size_t k, scl_error *error) {
  const scl_host *host = s->host;
  const size_t n = s->m.rows;
  double *inner = s->inverted;
  for (size_t i = 0; i < n * k; i++)
    z[i] /= s->shift[i / k];
  double *product = host->allocate(n * k * sizeof *product);
  if (product == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  scl_status status = host->dense->thin_adjoint(SCL_DTYPE_FLOAT64, n, s->rank, s->f,
                                                (ptrdiff_t)s->rank, z, k, inner, error);
  if (status == SCL_STATUS_OK) status = host->symmetric->solve(s->inner, inner, k, error);
  if (status == SCL_STATUS_OK)
    status = host->dense->thin_product(SCL_DTYPE_FLOAT64, n, s->rank, s->f, (ptrdiff_t)s->rank,
                                       inner, k, product, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < n * k; i++)
    z[i] -= product[i] / s->shift[i / k];
  host->release(product);
  return status;
}
