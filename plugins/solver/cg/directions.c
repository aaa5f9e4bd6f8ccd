/* Directions of a block of conjugate gradients (O'Leary 1980): all targets descend on one space.
 *
 * P (D x s) spans the preconditioned residuals made conjugate to the last block. A step is the
 * least point of the energy over all of P,
 *
 *   W = P'A P,  a += P W^+ P'r,  r -= A P W^+ P'r,
 *
 * and the next block is Z - P W^+ (A P)'Z, Z the preconditioned residual. Residuals that depend on
 * each other, as those of one-hot targets do, leave a block of fewer columns: each new block is
 * made orthonormal, and columns go that lie in the space of the others up to rounding. With one
 * target this is the method of Hestenes and Stiefel. */
#include "cg.h"

#include <math.h>

/* Exchanges pivots i and k: rows and columns of the matrix in f->l, and their places. */
static void pivoted_swap(pivoted *f, size_t i, size_t k) {
  const size_t n = f->n, place = f->order[i];
  f->order[i] = f->order[k];
  f->order[k] = place;
  for (size_t j = 0; j < n; j++) {
    const double x = f->l[i * n + j];
    f->l[i * n + j] = f->l[k * n + j];
    f->l[k * n + j] = x;
  }
  for (size_t j = 0; j < n; j++) {
    const double x = f->l[j * n + i];
    f->l[j * n + i] = f->l[j * n + k];
    f->l[j * n + k] = x;
  }
}

/* Computes column k of L and subtracts its outer product from the remaining matrix. */
static void pivoted_eliminate(pivoted *f, size_t k) {
  const size_t n = f->n;
  double *l = f->l;
  const double root = sqrt(l[k * n + k]);
  l[k * n + k] = root;
  for (size_t i = k + 1; i < n; i++)
    l[i * n + k] /= root;
  for (size_t i = k + 1; i < n; i++)
    for (size_t j = k + 1; j <= i; j++) {
      l[i * n + j] -= l[i * n + k] * l[j * n + k];
      l[j * n + i] = l[i * n + j];
    }
}

/* Factors the matrix in f->l, of which both triangles are given, scaled to a unit diagonal. Rows
 * whose diagonal is not positive get scale 0 and thus are never pivots. Ends where the largest
 * pivot is at most `least`; f->rank is the number of pivots taken. */
static void pivoted_factor(pivoted *f, double least) {
  const size_t n = f->n;
  double *l = f->l;
  for (size_t i = 0; i < n; i++) {
    const double diagonal = l[i * n + i];
    f->order[i] = i;
    f->scale[i] = diagonal > 0 && isfinite(diagonal) ? 1 / sqrt(diagonal) : 0;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++)
      l[i * n + j] = l[j * n + i] =
          f->scale[i] > 0 && f->scale[j] > 0 ? l[i * n + j] * f->scale[i] * f->scale[j] : 0;
  for (f->rank = 0; f->rank < n; f->rank++) {
    size_t best = f->rank;
    for (size_t i = best + 1; i < n; i++)
      if (l[i * n + i] > l[best * n + best]) best = i;
    if (!(l[best * n + best] > least)) return;
    if (best != f->rank) pivoted_swap(f, best, f->rank);
    pivoted_eliminate(f, f->rank);
  }
}

/* y (rank numbers) = L^-1 of the scaled and ordered numbers x, which lie `step` apart. */
static void pivoted_forward(const pivoted *f, const double *x, size_t step, double *y) {
  for (size_t i = 0; i < f->rank; i++) {
    double sum = x[f->order[i] * step] * f->scale[f->order[i]];
    for (size_t j = 0; j < i; j++)
      sum -= f->l[i * f->n + j] * y[j];
    y[i] = sum / f->l[i * f->n + i];
  }
}

/* b (n x k) = A^+ b up to the pivots left out, whose rows are 0; y: n numbers of scratch. */
static void pivoted_solve(const pivoted *f, double *b, size_t k, double *y) {
  for (size_t q = 0; q < k; q++) {
    pivoted_forward(f, b + q, k, y);
    for (size_t i = f->rank; i-- > 0;) {
      for (size_t j = i + 1; j < f->rank; j++)
        y[i] -= f->l[j * f->n + i] * y[j];
      y[i] /= f->l[i * f->n + i];
    }
    for (size_t i = 0; i < f->n; i++)
      b[i * k + q] = 0;
    for (size_t i = 0; i < f->rank; i++)
      b[f->order[i] * k + q] = f->scale[f->order[i]] * y[i];
  }
}

/* ------------ the block */

/* Shares of the largest pivot, of squares: what is below is rounding. */
static const double LEAST_NEW = 1e-10, LEAST_CURVED = 1e-13;

scl_status directions_open(directions *d, const scl_problem *problem, double *p, double *image,
                           scl_error *error) {
  const size_t c = problem->targets;
  const scl_host *host = problem->host;
  *d = (directions){
      .host = host, .features = problem->features, .targets = c, .p = p, .image = image};
  d->small = host->scratch((2 * c * c + 2 * c + 1) * sizeof *d->small);
  d->factor.order = host->scratch((c + 1) * sizeof *d->factor.order);
  if (d->small == NULL || d->factor.order == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu targets", c);
  d->factor.l = d->small + c * c;
  d->factor.scale = d->factor.l + c * c;
  d->row = d->factor.scale + c;
  return SCL_STATUS_OK;
}

/* to (m x n) = x'y, x D x m, y D x n */
static void directions_inner(const directions *d, const double *x, size_t m, const double *y,
                             size_t n, double *to) {
  d->host->dense->gemm(1, 0, m, n, d->features, 1, x, (ptrdiff_t)m, y, (ptrdiff_t)n, 0, to,
                       (ptrdiff_t)n);
}

/* y (D x c) -= x small, x D x s */
static void directions_subtract(const directions *d, const double *x, double *y) {
  d->host->dense->gemm(0, 0, d->features, d->targets, d->count, -1, x, (ptrdiff_t)d->count,
                       d->small, (ptrdiff_t)d->targets, 1, y, (ptrdiff_t)d->targets);
}

/* With L L' = S Z'Z S from the pivots, the columns of P = Z S L^-T are orthonormal; a row of P is a
 * forward substitution of the row of Z. */
void directions_span(directions *d, const double *z) {
  const size_t c = d->targets;
  d->factor.n = c;
  directions_inner(d, z, c, z, c, d->factor.l);
  pivoted_factor(&d->factor, LEAST_NEW);
  d->count = d->factor.rank;
  for (size_t t = 0; t < d->features; t++)
    pivoted_forward(&d->factor, z + t * c, 1, d->p + t * d->count);
}

void directions_turn(directions *d, double *z) {
  directions_inner(d, d->image, d->count, z, d->targets, d->small);
  pivoted_solve(&d->factor, d->small, d->targets, d->row);
  directions_subtract(d, d->p, z);
  directions_span(d, z);
}

/* small = W^+ P'r, then r -= A P small and a += P small. directions_subtract subtracts, which the
 * change of sign turns into the addition. */
void directions_step(directions *d, double *a, double *residual) {
  const size_t c = d->targets, s = d->count;
  d->factor.n = s;
  directions_inner(d, d->p, s, d->image, s, d->factor.l);
  pivoted_factor(&d->factor, LEAST_CURVED);
  directions_inner(d, d->p, s, residual, c, d->small);
  pivoted_solve(&d->factor, d->small, c, d->row);
  directions_subtract(d, d->image, residual);
  for (size_t i = 0; i < s * c; i++)
    d->small[i] = -d->small[i];
  directions_subtract(d, d->p, a);
}
