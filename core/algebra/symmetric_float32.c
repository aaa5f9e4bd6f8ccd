/* Cholesky factors in float32, right-looking, in the tiles of symmetric.c: half the memory and
 * about twice the speed of float64. The matrix is scaled to a unit diagonal, D A D with D =
 * diag(A)^(-1/2), plus a ridge; diagonal tiles are factored in float64. */
#include "algebra/symmetric_float32.h"

#include "algebra/blas.h"
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

struct scl_symmetric_float32 {
  size_t n, tile, across; /* as those of a scl_symmetric */
  float *data;
  double *scale; /* n: 1/sqrt of the diagonal */
  double ridge;  /* added to the unit diagonal */
};

/* Entries of the scaled matrix below this are 0: their squares would be subnormal numbers, which
 * are slow. */
static const double least = 0x1p-60;

static size_t tile_count(const scl_symmetric_float32 *a) { return a->across * (a->across + 1) / 2; }
static float *tile_at(const scl_symmetric_float32 *a, size_t i, size_t j) {
  return a->data + (i * (i + 1) / 2 + j) * a->tile * a->tile;
}
static size_t tile_rows(const scl_symmetric_float32 *a, size_t i) {
  return scl_min(a->tile, a->n - i * a->tile);
}

static void float32_destroy(scl_symmetric_float32 *a) {
  if (a == NULL) return;
  SCL_RELEASE(a->data, a->scale, a);
}

/* Slot `create`: a matrix of order n with entries that are not set. */
static scl_status float32_create(size_t n, scl_symmetric_float32 **out, scl_error *error) {
  const double bytes = scl_symmetric_bytes((double)n) / 2;
  scl_symmetric_float32 *a = bytes > 1e15 ? NULL : scl_allocate_zero(sizeof *a);
  if (a == NULL) return scl_fail_memory(error, n, "a symmetric matrix");
  a->n = n;
  a->tile = scl_symmetric_tile(n);
  a->across = (n + a->tile - 1) / a->tile;
  a->data = scl_allocate_array(tile_count(a) * a->tile * a->tile + 1, sizeof *a->data);
  a->scale = scl_allocate_array(n + 1, sizeof *a->scale);
  if (a->data != NULL && a->scale != NULL) {
    *out = a;
    return SCL_STATUS_OK;
  }
  float32_destroy(a);
  return scl_fail_memory(error, (size_t)bytes, "a symmetric matrix of float32");
}

/* ------------ filling */

/* Slot `begin`: set the scales from the diagonal of A, before entries are set. */
static void float32_begin(scl_symmetric_float32 *a, const double *diagonal, double ridge) {
  for (size_t i = 0; i < a->n; i++)
    a->scale[i] = diagonal[i] > 0 ? 1 / sqrt(diagonal[i]) : 1;
  a->ridge = ridge;
}

/* Set entries (i, j) .. (i, j+cols-1), which are in one tile, from unscaled numbers. */
static void set_run(const scl_symmetric_float32 *a, size_t i, size_t j, size_t cols,
                    const double *from) {
  float *to = tile_at(a, i / a->tile, j / a->tile) + i % a->tile * a->tile + j % a->tile;
  const double factor = a->scale[i], *scale = a->scale + j;
  for (size_t c = 0; c < cols; c++) {
    const double value = factor * scale[c] * from[c];
    to[c] = fabs(value) < least ? 0 : (float)value;
  }
  if (i >= j && i < j + cols) to[i - j] = (float)(1 + a->ridge);
}

/* Slot `set`: entries (i, j) .. (i+rows-1, j+cols-1) from a block of A at `stride`; those above the
 * diagonal are skipped. Rows are divided at the borders of tiles. */
static void float32_set(scl_symmetric_float32 *a, size_t i, size_t rows, size_t j, size_t cols,
                        const double *block, ptrdiff_t stride) {
  for (size_t r = 0; r < rows; r++) {
    const size_t end = scl_min(j + cols, i + r + 1);
    for (size_t c = j; c < end;) {
      const size_t run = scl_min(end - c, a->tile - c % a->tile);
      set_run(a, i + r, c, run, block + (ptrdiff_t)r * stride + (c - j));
      c += run;
    }
  }
}

typedef struct copying {
  const scl_symmetric *from;
  scl_symmetric_float32 *to;
} copying;

/* A task of the pool: one tile, as both matrices have tiles of the same size. */
static void copy_tile(void *context, size_t index) {
  const copying *job = context;
  const size_t tile = job->to->tile;
  size_t i, j;
  scl_tile_place(job->from, index, &i, &j);
  float32_set(job->to, i * tile, tile_rows(job->to, i), j * tile, tile_rows(job->to, j),
              scl_tile_at(job->from, i, j), (ptrdiff_t)tile);
}

/* Slot `copy`: all entries of a float64 matrix, after `begin`. */
static scl_status float32_copy(const scl_symmetric *from, scl_symmetric_float32 *to,
                               scl_error *error) {
  copying job = {from, to};
  if (from->data == NULL || from->n != to->n)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "a sum of matrices, or one of another order, has no copy in float32");
  scl_pool_run(tile_count(to), copy_tile, &job);
  return SCL_STATUS_OK;
}

/* ------------ factoring */

/* Factor diagonal tile k in float64. Returns the index of the first pivot that is not positive, or
 * the order of the tile. room: tile^2 numbers. */
static size_t factor_diagonal(const scl_symmetric_float32 *a, size_t k, double *room) {
  const size_t rows = tile_rows(a, k);
  float *tile = tile_at(a, k, k);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c <= r; c++)
      room[r * rows + c] = (double)tile[r * a->tile + c];
  const size_t bad = scl_potrf(rows, room, (ptrdiff_t)rows);
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c <= r; c++)
      tile[r * a->tile + c] = (float)room[r * rows + c];
  return bad;
}

typedef struct step {
  const scl_symmetric_float32 *a;
  size_t k;
} step;

enum { STRIP = 64 };
static size_t strips(const scl_symmetric_float32 *a) { return (a->tile + STRIP - 1) / STRIP; }

/* A strip of tile (i, k) = A_ik L_kk^-T. */
static void panel_strip(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric_float32 *a = job->a;
  const size_t i = job->k + 1 + index / strips(a), first = index % strips(a) * STRIP;
  if (first >= tile_rows(a, i)) return;
  scl_blas_get()->strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        (int)scl_min(STRIP, tile_rows(a, i) - first), (int)tile_rows(a, job->k), 1,
                        tile_at(a, job->k, job->k), (int)a->tile,
                        tile_at(a, i, job->k) + first * a->tile, (int)a->tile);
}

/* Tile (i, j) -= A_ik A_jk'. */
static void trailing_tile(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric_float32 *a = job->a;
  const ptrdiff_t stride = (ptrdiff_t)a->tile;
  size_t row = 0, left = index;
  while (left > row) {
    left -= row + 1;
    row++;
  }
  const size_t i = job->k + 1 + row, j = job->k + 1 + left;
  scl_gemm(SCL_DTYPE_FLOAT32, false, true, tile_rows(a, i), tile_rows(a, j), tile_rows(a, job->k),
           -1, tile_at(a, i, job->k), stride, tile_at(a, j, job->k), stride, 1, tile_at(a, i, j),
           stride);
}

/* Right-looking: each step factors a diagonal tile in float64, then the panel below it, and
 * updates the trailing tiles. *pivot: the first pivot that is not positive. */
static scl_status float32_factor(scl_symmetric_float32 *a, size_t *pivot, scl_error *error) {
  double *room = scl_allocate_array(a->tile * a->tile + 1, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, a->tile * a->tile * sizeof *room, "a factor");
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < a->across; k++) {
    const size_t below = a->across - 1 - k, bad = factor_diagonal(a, k, room);
    step job = {a, k};
    if (bad != tile_rows(a, k)) {
      *pivot = k * a->tile + bad;
      status = scl_fail(error, SCL_STATUS_NUMERIC,
                        "the matrix of order %zu is not positive definite in float32 (pivot %zu)",
                        a->n, *pivot + 1);
      break;
    }
    scl_pool_run(below * strips(a), panel_strip, &job);
    scl_pool_run(below * (below + 1) / 2, trailing_tile, &job);
    status = scl_interrupt_check(error);
  }
  scl_release(room);
  return status;
}

/* ------------ solving */

/* k <= SCL_THIN_COLUMNS columns at a time. x: column q at q n, float64; part: of the tile in turn,
 * float32, k columns `tile` apart and, behind them, as rows of k. */
typedef struct solving {
  const scl_symmetric_float32 *a;
  size_t k, turn; /* turn: the tile whose x is known */
  double *x, *rows;
  float *part, *part_rows;
} solving;

/* rows of tile i -= L_it x_t */
static void lower_tile(void *context, size_t index) {
  const solving *s = context;
  const scl_symmetric_float32 *a = s->a;
  const size_t i = s->turn + 1 + index;
  scl_loops_get()->thin_product_f32(tile_rows(a, i), tile_rows(a, s->turn), s->k,
                                    tile_at(a, i, s->turn), (ptrdiff_t)a->tile, s->part,
                                    (ptrdiff_t)a->tile, s->rows + i * a->tile * s->k);
}

/* x of tile j -= L_tj' x_t */
static void upper_tile(void *context, size_t j) {
  const solving *s = context;
  const scl_symmetric_float32 *a = s->a;
  scl_loops_get()->thin_adjoint_f32(tile_rows(a, s->turn), tile_rows(a, j), s->k,
                                    tile_at(a, s->turn, j), (ptrdiff_t)a->tile, s->part_rows,
                                    s->x + j * a->tile, (ptrdiff_t)a->n);
}

/* Solve the system of the present diagonal tile for part_rows; part_rows and part (its transpose)
 * become -x, so that the products of other tiles with it can be added. */
static void solve_diagonal(const solving *s, bool transposed) {
  const scl_symmetric_float32 *a = s->a;
  const size_t count = tile_rows(a, s->turn);
  scl_blas_get()->strsm(CblasRowMajor, CblasLeft, CblasLower,
                        transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)count, (int)s->k,
                        -1, tile_at(a, s->turn, s->turn), (int)a->tile, s->part_rows, (int)s->k);
  for (size_t q = 0; q < s->k; q++)
    for (size_t r = 0; r < count; r++)
      s->part[q * a->tile + r] = s->part_rows[r * s->k + q];
}

/* Solve L x = rows by tiles, from the first rows to the last. */
static void solve_lower(solving *s) {
  const scl_symmetric_float32 *a = s->a;
  for (s->turn = 0; s->turn < a->across; s->turn++) {
    double *rows = s->rows + s->turn * a->tile * s->k;
    const size_t count = tile_rows(a, s->turn) * s->k;
    for (size_t i = 0; i < count; i++)
      s->part_rows[i] = (float)rows[i];
    solve_diagonal(s, false);
    for (size_t i = 0; i < count; i++)
      rows[i] = -(double)s->part_rows[i];
    scl_pool_run(a->across - 1 - s->turn, lower_tile, s);
  }
}

/* Solves L' x = x by tiles, from the last rows to the first. */
static void solve_upper(solving *s) {
  const scl_symmetric_float32 *a = s->a;
  for (size_t left = a->across; left-- > 0;) {
    s->turn = left;
    double *x = s->x + left * a->tile;
    const size_t rows = tile_rows(a, left);
    for (size_t r = 0; r < rows; r++)
      for (size_t q = 0; q < s->k; q++)
        s->part_rows[r * s->k + q] = (float)x[q * a->n + r];
    solve_diagonal(s, true);
    for (size_t r = 0; r < rows; r++)
      for (size_t q = 0; q < s->k; q++)
        x[q * a->n + r] = -(double)s->part_rows[r * s->k + q];
    scl_pool_run(left, upper_tile, s);
  }
}

/* Solve for columns first .. first + s->k - 1 of b (n x k): b = D L^-T L^-1 D b. Each column is
 * divided by its largest entry meanwhile, so that float32 neither overflows nor loses small
 * numbers. */
static void solve_some(solving *s, double *b, size_t first, size_t k) {
  const size_t n = s->a->n;
  double most[SCL_THIN_COLUMNS] = {0};
  for (size_t i = 0; i < n; i++)
    for (size_t q = 0; q < s->k; q++)
      most[q] = fmax(most[q], fabs(b[i * k + first + q] * s->a->scale[i]));
  for (size_t i = 0; i < n; i++)
    for (size_t q = 0; q < s->k; q++)
      s->rows[i * s->k + q] = most[q] > 0 ? b[i * k + first + q] * s->a->scale[i] / most[q] : 0;
  solve_lower(s);
  for (size_t i = 0; i < n; i++)
    for (size_t q = 0; q < s->k; q++)
      s->x[q * n + i] = s->rows[i * s->k + q];
  solve_upper(s);
  for (size_t i = 0; i < n; i++)
    for (size_t q = 0; q < s->k; q++)
      b[i * k + first + q] = s->x[q * n + i] * s->a->scale[i] * most[q];
}

/* b (n x k) = A^-1 b, SCL_THIN_COLUMNS columns at a time. */
static scl_status float32_solve(const scl_symmetric_float32 *a, double *b, size_t k,
                                scl_error *error) {
  const size_t most = scl_min(k, SCL_THIN_COLUMNS), numbers = a->n * most;
  solving s = {.a = a};
  s.x = scl_allocate_array(2 * numbers + 1, sizeof *s.x);
  s.part = scl_allocate_array(2 * a->tile * most + 1, sizeof *s.part);
  scl_status status = SCL_STATUS_OK;
  if (s.x == NULL || s.part == NULL)
    status = scl_fail_memory(error, 2 * numbers * sizeof *s.x, "a solution");
  for (size_t first = 0; status == SCL_STATUS_OK && first < k; first += s.k) {
    s.k = scl_min(SCL_THIN_COLUMNS, k - first);
    s.rows = s.x + numbers;
    s.part_rows = s.part + a->tile * most;
    solve_some(&s, b, first, k);
    status = scl_interrupt_check(error);
  }
  SCL_RELEASE(s.x, s.part);
  return status;
}

const scl_symmetric_float32_algebra scl_service_symmetric_float32 = {
    SCL_HEAD(scl_symmetric_float32_algebra),
    float32_create,
    float32_destroy,
    float32_begin,
    float32_set,
    float32_copy,
    float32_factor,
    float32_solve};
