/* Cholesky factors of a symmetric matrix, right-looking, by tiles; and eigenvectors. */
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/interrupt.h"
#include "base/pool.h"

typedef struct step {
  scl_symmetric *a;
  size_t k;
} step;

static scl_strip strip_of(const scl_symmetric *a, size_t k, size_t i, size_t j, size_t index) {
  return (scl_strip){.i = i,
                     .j = j,
                     .first = index % scl_strips(a) * SCL_STRIP,
                     .tile = a->tile,
                     .rows = scl_tile_rows(a, i),
                     .inner = scl_tile_rows(a, k),
                     .cols = scl_tile_rows(a, j)};
}

scl_strip scl_strip_below(const scl_symmetric *a, size_t k, size_t index) {
  return strip_of(a, k, k + 1 + index / scl_strips(a), k, index);
}

/* Pairs i >= j > k are numbered along the lower triangle. */
scl_strip scl_strip_behind(const scl_symmetric *a, size_t k, size_t index) {
  size_t row = 0, left = index / scl_strips(a);
  while (left > row) {
    left -= row + 1;
    row++;
  }
  return strip_of(a, k, k + 1 + row, k + 1 + left, index);
}

void scl_strip_solve(const scl_strip *s, const double *diagonal, double *tile) {
  if (s->first >= s->rows) return;
  scl_trsm_right(scl_min(SCL_STRIP, s->rows - s->first), s->inner, diagonal, (ptrdiff_t)s->tile,
                 tile + s->first * s->tile, (ptrdiff_t)s->tile);
}

void scl_strip_subtract(const scl_strip *s, const double *left, const double *right, double *tile) {
  if (s->first >= s->rows) return;
  const size_t rows = scl_min(SCL_STRIP, s->rows - s->first), at = s->first * s->tile;
  scl_gemm(SCL_DTYPE_FLOAT64, false, true, rows,
           s->i == s->j ? s->first + rows : s->cols, /* the lower triangle only */
           s->inner, -1, left + at, (ptrdiff_t)s->tile, right, (ptrdiff_t)s->tile, 1, tile + at,
           (ptrdiff_t)s->tile);
}

static void panel_strip(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric *a = job->a;
  const scl_strip strip = scl_strip_below(a, job->k, index);
  scl_strip_solve(&strip, scl_tile_at(a, job->k, job->k), scl_tile_at(a, strip.i, job->k));
}

static void trailing_strip(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric *a = job->a;
  const scl_strip strip = scl_strip_behind(a, job->k, index);
  scl_strip_subtract(&strip, scl_tile_at(a, strip.i, job->k), scl_tile_at(a, strip.j, job->k),
                     scl_tile_at(a, strip.i, strip.j));
}

scl_status scl_factor_verdict(const scl_symmetric *a, size_t k, size_t bad, size_t *pivot,
                              scl_error *error) {
  if (bad == scl_tile_rows(a, k)) return SCL_STATUS_OK;
  if (pivot != NULL) *pivot = k * a->tile + bad;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "the matrix of order %zu is not positive definite (pivot %zu)", a->n,
                  k * a->tile + bad + 1);
}

scl_status scl_factor_diagonal(scl_symmetric *a, size_t k, size_t *pivot, scl_error *error) {
  const size_t bad = scl_potrf(scl_tile_rows(a, k), scl_tile_at(a, k, k), (ptrdiff_t)a->tile);
  return scl_factor_verdict(a, k, bad, pivot, error);
}

/* Matrices of a smaller order are factored before their strips have been exchanged. */
enum { DIVIDED_ORDER = SCL_BUFFER(1536) };

/* Step k: factor the diagonal tile, A_kk = L_kk L_kk'; then L_ik = A_ik L_kk^-T for all i > k; then
 * subtract L_ik L_jk' from all tiles i >= j > k. */
scl_status scl_symmetric_factor(scl_symmetric *a, size_t *pivot, scl_error *error) {
  if (scl_symmetric_is_shared(a)) return scl_shared_factor(a, pivot, error);
  const scl_symmetric_peers *peers = scl_symmetric_dividing();
  if (peers != NULL && (a->common != NULL || a->n >= DIVIDED_ORDER))
    return scl_divided_factor(a, peers, pivot, error);
  for (size_t k = 0; k < a->across; k++) {
    const size_t below = a->across - 1 - k;
    SCL_TRY(scl_interrupt_check(error));
    SCL_TRY(scl_factor_diagonal(a, k, pivot, error));
    step job = {a, k};
    scl_pool_run(below * scl_strips(a), panel_strip, &job);
    scl_pool_run(below * (below + 1) / 2 * scl_strips(a), trailing_strip, &job);
  }
  return SCL_STATUS_OK;
}

/* B = L^-1 B, from the first rows of B to the last. */
static void solve_lower(const scl_symmetric *l, double *b, size_t k) {
  const ptrdiff_t tile = (ptrdiff_t)l->tile, columns = (ptrdiff_t)k;
  for (size_t i = 0; i < l->across; i++) {
    double *rows = b + i * l->tile * k;
    for (size_t j = 0; j < i; j++)
      scl_gemm(SCL_DTYPE_FLOAT64, false, false, scl_tile_rows(l, i), k, scl_tile_rows(l, j), -1,
               scl_tile_at(l, i, j), tile, b + j * l->tile * k, columns, 1, rows, columns);
    scl_trsm(false, scl_tile_rows(l, i), k, scl_tile_at(l, i, i), tile, rows, columns);
  }
}

/* B = L^-T B, from the last rows to the first. */
static void solve_upper(const scl_symmetric *l, double *b, size_t k) {
  const ptrdiff_t tile = (ptrdiff_t)l->tile, columns = (ptrdiff_t)k;
  for (size_t i = l->across; i-- > 0;) {
    double *rows = b + i * l->tile * k;
    for (size_t j = i + 1; j < l->across; j++)
      scl_gemm(SCL_DTYPE_FLOAT64, true, false, scl_tile_rows(l, i), k, scl_tile_rows(l, j), -1,
               scl_tile_at(l, j, i), tile, b + j * l->tile * k, columns, 1, rows, columns);
    scl_trsm(true, scl_tile_rows(l, i), k, scl_tile_at(l, i, i), tile, rows, columns);
  }
}

scl_status scl_symmetric_triangular(const scl_symmetric *factor, int32_t transpose, double *b,
                                    size_t k, scl_error *error) {
  if (scl_symmetric_is_shared(factor))
    return scl_shared_triangular(factor, transpose != 0, b, k, error);
  scl_common_read(factor);
  (transpose ? solve_upper : solve_lower)(factor, b, k);
  return SCL_STATUS_OK;
}

scl_status scl_symmetric_solve(const scl_symmetric *factor, double *b, size_t k, scl_error *error) {
  SCL_TRY(scl_symmetric_triangular(factor, 0, b, k, error));
  return scl_symmetric_triangular(factor, 1, b, k, error);
}

scl_status scl_symmetric_eigen(const scl_symmetric *a, size_t count, double *values,
                               double *vectors, scl_error *error) {
  if (scl_symmetric_is_shared(a))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "eigenvectors of order %zu: the processes share the rows of this matrix", a->n);
  double *full = scl_allocate_array(a->n * a->n + 1, sizeof *full);
  if (full == NULL) return scl_fail_memory(error, a->n * a->n * sizeof *full, "eigenvectors");
  scl_service_symmetric.dense(a, full, (ptrdiff_t)a->n);
  const scl_status status = scl_eigenvectors(a->n, count, full, values, vectors, error);
  scl_release(full);
  return status;
}
