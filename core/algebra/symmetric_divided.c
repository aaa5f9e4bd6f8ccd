/* Factors of matrices that all processes of a machine have: each makes some of the strips
 * (symmetric_factor.c), by the operations of one process. In common memory the processes meet between
 * steps. Else each gets the others' strips when they are needed: those of a diagonal tile before its
 * factor, and those of a column of tiles after it. */
#include "algebra/symmetric_internal.h"

#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <string.h>

typedef struct divided_step {
  scl_symmetric *a;
  scl_symmetric_peers peers;
  size_t k;
  double *piece; /* room for the strips of one process */
} divided_step;

/* The process that makes a strip: rows of strips in turn, so that all have nearly as much to do. */
static size_t maker_of(const divided_step *s, const scl_strip *strip) {
  return (strip->i * scl_strips(s->a) + strip->first / SCL_STRIP) % s->peers.count;
}

static void solve_strip(void *context, size_t index) {
  const divided_step *s = context;
  const scl_strip strip = scl_strip_below(s->a, s->k, index);
  if (maker_of(s, &strip) == s->peers.rank)
    scl_strip_solve(&strip, scl_tile_at(s->a, s->k, s->k), scl_tile_at(s->a, strip.i, s->k));
}

static void subtract_strip(void *context, size_t index) {
  const divided_step *s = context;
  const scl_strip strip = scl_strip_behind(s->a, s->k, index);
  if (maker_of(s, &strip) == s->peers.rank)
    scl_strip_subtract(&strip, scl_tile_at(s->a, strip.i, s->k), scl_tile_at(s->a, strip.j, s->k),
                       scl_tile_at(s->a, strip.i, strip.j));
}

/* Copy the strips of tiles (first .. end-1, k) that process `rank` makes, to s->piece or from it.
 * Returns how many numbers these are. */
static size_t copy_strips(const divided_step *s, size_t first, size_t end, size_t rank, bool back) {
  const scl_symmetric *a = s->a;
  size_t done = 0;
  for (size_t i = first; i < end; i++)
    for (size_t row = 0; row < scl_tile_rows(a, i); row += SCL_STRIP) {
      const scl_strip strip = {.i = i, .first = row};
      if (maker_of(s, &strip) != rank) continue;
      const size_t numbers = scl_min(SCL_STRIP, scl_tile_rows(a, i) - row) * a->tile;
      double *inside = scl_tile_at(a, i, s->k) + row * a->tile, *outside = s->piece + done;
      memcpy(back ? inside : outside, back ? outside : inside, numbers * sizeof *inside);
      done += numbers;
    }
  return done;
}

/* All get the tiles (first .. end-1, k). */
static scl_status spread(const divided_step *s, size_t first, size_t end, scl_error *error) {
  if (s->a->common != NULL) return scl_common_meet(s->a, error);
  for (size_t r = 0; r < s->peers.count; r++) {
    const size_t numbers = copy_strips(s, first, end, r, false);
    SCL_TRY(s->peers.broadcast(r, s->piece, numbers * sizeof *s->piece, error));
    if (r != s->peers.rank) (void)copy_strips(s, first, end, r, true);
  }
  return SCL_STATUS_OK;
}

/* The diagonal tile of step k: each process makes it, or one for all. */
static scl_status factor_diagonal(const divided_step *s, size_t *pivot, scl_error *error) {
  const size_t rows = scl_tile_rows(s->a, s->k), from = s->k % s->peers.count;
  size_t bad = rows;
  if (s->a->common == NULL) return scl_factor_diagonal(s->a, s->k, pivot, error);
  if (from == s->peers.rank)
    bad = scl_potrf(rows, scl_tile_at(s->a, s->k, s->k), (ptrdiff_t)s->a->tile);
  SCL_TRY(s->peers.broadcast(from, &bad, sizeof bad, error)); /* they have met: the tile is there */
  return scl_factor_verdict(s->a, s->k, bad, pivot, error);
}

static scl_status factor(divided_step *s, size_t *pivot, scl_error *error) {
  scl_symmetric *a = s->a;
  for (size_t k = s->k = 0; k < a->across; k = ++s->k) {
    const size_t below = a->across - 1 - k;
    SCL_TRY(s->peers.meet(scl_interrupt_check(error), "a step of the factor", a->n, error));
    if (k > 0 && a->common == NULL) SCL_TRY(spread(s, k, k + 1, error));
    SCL_TRY(factor_diagonal(s, pivot, error));
    scl_pool_run(below * scl_strips(a), solve_strip, s);
    SCL_TRY(spread(s, k + 1, a->across, error));
    scl_pool_run(below * (below + 1) / 2 * scl_strips(a), subtract_strip, s);
  }
  return scl_common_meet(a, error);
}

scl_status scl_divided_factor(scl_symmetric *a, const scl_symmetric_peers *peers, size_t *pivot,
                              scl_error *error) {
  /* A process has at most one row of strips more than the others. */
  const size_t rows = a->across * scl_strips(a) / peers->count + 1,
               numbers = a->common != NULL ? 0 : rows * SCL_STRIP * a->tile;
  divided_step s = {
      .a = a, .peers = *peers, .piece = scl_allocate_array(numbers + 1, sizeof *s.piece)};
  scl_status status = s.piece == NULL
                          ? scl_fail_memory(error, numbers * sizeof *s.piece, "strips of a matrix")
                          : SCL_STATUS_OK;
  status = peers->meet(status, "the divided factor", a->n, error);
  if (status == SCL_STATUS_OK) status = factor(&s, pivot, error);
  scl_release(s.piece);
  return status;
}
