/* Symmetric matrices that are too large for one process: row i of tiles is stored by process i mod
 * the number of processes. Each number is computed by the operations of one process, in their
 * order, so that results have the same bits for any number of processes. */
#include "algebra/symmetric_internal.h"

#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include <math.h>
#include <string.h>

static scl_symmetric_peers peers = {.count = 1};

void scl_symmetric_set_peers(const scl_symmetric_peers *given) {
  peers = given == NULL ? (scl_symmetric_peers){.count = 1} : *given;
}

const scl_symmetric_peers *scl_symmetric_dividing(void) {
  return peers.count > 1 && peers.divides() ? &peers : NULL;
}

bool scl_symmetric_is_shared(const scl_symmetric *a) { return a->ranks > 1; }

double scl_symmetric_shared_bytes(double n, size_t count) {
  const double side = (double)scl_symmetric_tile(n > 1e9 ? (size_t)1e9 : (size_t)n);
  return scl_symmetric_bytes(n) / (double)count + n * side * sizeof(double);
}

scl_status scl_symmetric_create_shared(size_t n, scl_symmetric **out, scl_error *error) {
  return scl_symmetric_create_rows(n, peers.rank, peers.count, out, error);
}

scl_status scl_symmetric_create_like(const scl_symmetric *like, scl_symmetric **out,
                                     scl_error *error) {
  return scl_common_begets(like)
             ? scl_symmetric_create_common(like->n, true, out, error)
             : scl_symmetric_create_rows(like->n, like->rank, like->ranks, out, error);
}

/* The process that stores row i of tiles. */
static size_t owner_of(const scl_symmetric *a, size_t i) { return i % a->ranks; }

void scl_shared_diagonal(const scl_symmetric *a, double *out) {
  scl_status status = peers.meet(SCL_STATUS_OK, "the diagonal", a->n, NULL);
  for (size_t i = 0; status == SCL_STATUS_OK && i < a->across; i++)
    status =
        peers.broadcast(owner_of(a, i), out + i * a->tile, scl_tile_rows(a, i) * sizeof *out, NULL);
  for (size_t i = 0; status != SCL_STATUS_OK && i < a->n; i++)
    out[i] = NAN;
}

/* ------------ factor */

/* Step k of the factor (symmetric_factor.c). panel: the tiles of column k, row after row, the first
 * of them L_kk: those that are made here, then all. */
typedef struct shared_step {
  scl_symmetric *a;
  size_t k;
  double *panel;
} shared_step;

static double *panel_tile(const shared_step *s, size_t i) {
  return s->panel + (i - s->k) * s->a->tile * s->a->tile;
}

static void solve_strip(void *context, size_t index) {
  const shared_step *s = context;
  const scl_strip strip = scl_strip_below(s->a, s->k, index);
  if (scl_tile_row_here(s->a, strip.i))
    scl_strip_solve(&strip, panel_tile(s, s->k), scl_tile_at(s->a, strip.i, s->k));
}

static void subtract_strip(void *context, size_t index) {
  const shared_step *s = context;
  const scl_strip strip = scl_strip_behind(s->a, s->k, index);
  if (scl_tile_row_here(s->a, strip.i))
    scl_strip_subtract(&strip, panel_tile(s, strip.i), panel_tile(s, strip.j),
                       scl_tile_at(s->a, strip.i, strip.j));
}

/* All get tile (i, k) of the process that stores it. */
static scl_status spread_tile(const shared_step *s, size_t i, scl_error *error) {
  const size_t bytes = scl_tile_rows(s->a, i) * s->a->tile * sizeof(double);
  if (scl_tile_row_here(s->a, i)) memcpy(panel_tile(s, i), scl_tile_at(s->a, i, s->k), bytes);
  return peers.broadcast(owner_of(s->a, i), panel_tile(s, i), bytes, error);
}

/* The diagonal tile of step k, on its process; *bad: the first row whose pivot is not positive, or
 * all rows. */
static scl_status factor_diagonal(const shared_step *s, size_t *bad, scl_error *error) {
  const scl_symmetric *a = s->a;
  *bad = scl_tile_rows(a, s->k);
  scl_status status = scl_interrupt_check(error);
  if (status == SCL_STATUS_OK && scl_tile_row_here(a, s->k))
    *bad = scl_potrf(*bad, scl_tile_at(a, s->k, s->k), (ptrdiff_t)a->tile);
  status = peers.meet(status, "the factor", a->n, error);
  if (status == SCL_STATUS_OK) status = peers.broadcast(owner_of(a, s->k), bad, sizeof *bad, error);
  return status;
}

static scl_status factor_step(shared_step *s, size_t *pivot, scl_error *error) {
  scl_symmetric *a = s->a;
  const size_t k = s->k, below = a->across - 1 - k;
  size_t bad;
  SCL_TRY(factor_diagonal(s, &bad, error));
  SCL_TRY(scl_factor_verdict(a, k, bad, pivot, error));
  SCL_TRY(spread_tile(s, k, error));
  scl_pool_run(below * scl_strips(a), solve_strip, s);
  for (size_t i = k + 1; i < a->across; i++)
    SCL_TRY(spread_tile(s, i, error));
  scl_pool_run(below * (below + 1) / 2 * scl_strips(a), subtract_strip, s);
  return SCL_STATUS_OK;
}

scl_status scl_shared_factor(scl_symmetric *a, size_t *pivot, scl_error *error) {
  const size_t numbers = a->across * a->tile * a->tile;
  shared_step s = {.a = a, .panel = scl_allocate_array(numbers + 1, sizeof *s.panel)};
  scl_status status = s.panel == NULL ? scl_fail_memory(error, numbers * sizeof *s.panel,
                                                        "a column of tiles of a matrix")
                                      : SCL_STATUS_OK;
  status = peers.meet(status, "the factor", a->n, error);
  for (s.k = 0; status == SCL_STATUS_OK && s.k < a->across; s.k++)
    status = factor_step(&s, pivot, error);
  scl_release(s.panel);
  return status;
}

/* ------------ triangular systems */

/* B = L^-1 B: the rows of each row of tiles are made where it is stored. */
static scl_status lower(const scl_symmetric *l, double *b, size_t k, scl_error *error) {
  const ptrdiff_t tile = (ptrdiff_t)l->tile, columns = (ptrdiff_t)k;
  for (size_t i = 0; i < l->across; i++) {
    double *rows = b + i * l->tile * k;
    for (size_t j = 0; scl_tile_row_here(l, i) && j < i; j++)
      scl_gemm(SCL_DTYPE_FLOAT64, false, false, scl_tile_rows(l, i), k, scl_tile_rows(l, j), -1,
               scl_tile_at(l, i, j), tile, b + j * l->tile * k, columns, 1, rows, columns);
    if (scl_tile_row_here(l, i))
      scl_trsm(false, scl_tile_rows(l, i), k, scl_tile_at(l, i, i), tile, rows, columns);
    SCL_TRY(peers.broadcast(owner_of(l, i), rows, scl_tile_rows(l, i) * k * sizeof *b, error));
  }
  return SCL_STATUS_OK;
}

/* B = L^-T B: the rows that belong to row i of tiles need the tiles (j, i) below the diagonal, in
 * ascending order of j, and go from process to process. */
static scl_status upper(const scl_symmetric *l, double *b, size_t k, scl_error *error) {
  const ptrdiff_t tile = (ptrdiff_t)l->tile, columns = (ptrdiff_t)k;
  for (size_t i = l->across; i-- > 0;) {
    double *rows = b + i * l->tile * k;
    const size_t bytes = scl_tile_rows(l, i) * k * sizeof *b;
    for (size_t j = i + 1; j < l->across; j++) {
      if (scl_tile_row_here(l, j))
        scl_gemm(SCL_DTYPE_FLOAT64, true, false, scl_tile_rows(l, i), k, scl_tile_rows(l, j), -1,
                 scl_tile_at(l, j, i), tile, b + j * l->tile * k, columns, 1, rows, columns);
      SCL_TRY(peers.broadcast(owner_of(l, j), rows, bytes, error));
    }
    if (scl_tile_row_here(l, i))
      scl_trsm(true, scl_tile_rows(l, i), k, scl_tile_at(l, i, i), tile, rows, columns);
    SCL_TRY(peers.broadcast(owner_of(l, i), rows, bytes, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_shared_triangular(const scl_symmetric *factor, bool transpose, double *b, size_t k,
                                 scl_error *error) {
  SCL_TRY(peers.meet(SCL_STATUS_OK, "the solution of a triangular system", factor->n, error));
  return (transpose ? upper : lower)(factor, b, k, error);
}

/* ------------ products */

static void left_task(void *context, size_t index) {
  const scl_multiplication *job = context;
  if (scl_tile_row_here(job->a, index)) scl_multiply_left(job, index);
}

typedef struct above_job {
  const scl_multiplication *job;
  size_t j;
} above_job;

static void above_task(void *context, size_t index) {
  const above_job *above = context;
  scl_multiply_above(above->job, index, above->j);
}

/* The first `rows` numbers of each column of `sums` (k columns of n), or the first rows of out. */
static scl_status spread_first(const scl_multiplication *job, size_t from, size_t rows,
                               scl_error *error) {
  const size_t n = job->a->n, k = job->k;
  if (job->columns == NULL)
    return peers.broadcast(from, job->out, rows * k * sizeof *job->out, error);
  for (size_t q = 0; q < k; q++)
    SCL_TRY(peers.broadcast(from, job->columns + (k + q) * n, rows * sizeof *job->columns, error));
  return SCL_STATUS_OK;
}

/* Row j of tiles contributes to its own rows of out, and by its transposed tiles to the rows above:
 * row after row, on the process that stores it. */
static scl_status multiply(scl_multiplication *job, scl_error *error) {
  const scl_symmetric *a = job->a;
  scl_pool_run(a->across, left_task, job);
  for (size_t j = 0; j < a->across; j++) {
    above_job above = {job, j};
    const size_t rows = scl_tile_rows(a, j), first = j * a->tile, k = job->k, from = owner_of(a, j);
    if (scl_tile_row_here(a, j)) scl_pool_run(j, above_task, &above);
    SCL_TRY(spread_first(job, from, first, error));
    SCL_TRY(peers.broadcast(from, job->out + first * k, rows * k * sizeof *job->out, error));
    for (size_t q = 0; job->columns != NULL && q < k; q++)
      SCL_TRY(peers.broadcast(from, job->columns + (k + q) * a->n + first,
                              rows * sizeof *job->columns, error));
  }
  for (size_t i = 0; i < a->across; i++)
    scl_multiply_finish(job, i);
  return SCL_STATUS_OK;
}

scl_status scl_shared_multiply(const scl_symmetric *a, const double *x, size_t k, bool more,
                               double *out, scl_error *error) {
  const bool thin = k <= SCL_THIN_COLUMNS;
  scl_multiplication job = scl_multiplication_open(a, x, k, more, out);
  scl_status status = thin && job.columns == NULL
                          ? scl_fail_memory(error, 2 * a->n * k * sizeof *out, "a product")
                          : SCL_STATUS_OK;
  status = peers.meet(status, "the product with a matrix", a->n, error);
  if (status == SCL_STATUS_OK) status = multiply(&job, error);
  scl_release(job.columns);
  return status;
}
