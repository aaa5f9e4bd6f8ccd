/* Newton's step of box where there are many more features than rows, by an n x n system. With E the
 * barrier's diagonal (> 0), W the curvatures of the rows, r the descent with the barrier's and t
 * the constant's, the step da and the constant's move q solve
 *
 *   Phi'W (Phi da + q 1) + E da = r,   1'W (Phi da + q 1) = t
 *
 * and with z = W (Phi da + q 1)
 *
 *   (T + W^-1) z = Phi E^-1 r + q 1,   1'z = t,   da = E^-1 (r - Phi'z),   T = Phi E^-1 Phi'.
 *
 * With a constant T + rho 11' takes the place of T, and q + rho t that of q: near a vertex T alone
 * may be singular to working precision.
 *
 * T is n^2 D products each step. As many rows as fit WIDE_BYTES are held: all of them, and they are
 * read once; else T is made a block of columns at a time, in two passes each. Rows are cut by their
 * place in the problem: the same numbers for every block size. */
#include "box.h"
#include "shared/mean_diagonal.h"

#include <float.h>

enum { WIDE_REFINEMENTS = 3 };
static const double WIDE_RESIDUAL = 1e-10; /* of a step, in the norm of E^-1 */

bool box_wide_fits(const scl_problem *problem) {
  const bool by_sums = SCL_HAS(problem, exact) && problem->exact > 1;
  return !by_sums && problem->features / 2 > problem->rows;
}

void box_wide_close(box_wide *w) {
  if (w->problem == NULL) return;
  refined_close(&w->system);
  w->problem->host->symmetric->destroy(w->outer);
  w->problem->host->release(w->memory);
}

scl_status box_wide_open(box_wide *w, const scl_problem *problem, size_t bytes, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t n = problem->rows, d = problem->features, sides = problem->intercept ? 2 : 1;
  const size_t fit = bytes / (d * sizeof(double)) / WIDE_TILE * WIDE_TILE;
  *w = (box_wide){.problem = problem, .count = n, .order = d};
  w->most = n <= fit ? n : fit > WIDE_TILE ? fit : WIDE_TILE;
  if (w->most > n) w->most = n;
  w->memory =
      host->allocate(((w->most + WIDE_TILE + 4) * d + n + 2 * n * sides) * sizeof *w->memory);
  if (w->memory == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows of %zu features",
                      w->most + WIDE_TILE, d);
  w->held = w->memory;
  w->chunk = w->held + w->most * d;
  w->over = w->chunk + WIDE_TILE * d;
  w->pulled = w->over + d;
  w->right = w->pulled + d;
  w->rest = w->right + d;
  w->diagonal = w->rest + d;
  w->sides = w->diagonal + n;
  w->solved = w->sides + n * sides;
  const scl_status status = host->symmetric->create(n, &w->outer, error);
  w->system = (refined_system){.host = host,
                               .base = w->outer,
                               .diagonal = w->diagonal,
                               .least = 1e-15,
                               .order = n,
                               .columns = sides};
  return status == SCL_STATUS_OK ? refined_open(&w->system, error) : status;
}

/* ------------ T */

void box_wide_row(const scl_rows *rows, size_t i, size_t order, double *to) {
  const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride;
  if (rows->features.dtype == SCL_DTYPE_FLOAT64)
    memcpy(to, (const double *)rows->features.data + at, order * sizeof *to);
  else
    for (size_t j = 0; j < order; j++)
      to[j] = (double)((const float *)rows->features.data)[at + (ptrdiff_t)j];
}

/* Hold rows first .. first+most-1. */
static scl_status box_wide_hold(void *context, const scl_rows *rows, scl_error *error) {
  box_wide *w = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    const size_t row = rows->first + i;
    if (row < w->first || row >= w->first + w->most) continue;
    box_wide_row(rows, i, w->order, w->held + (row - w->first) * w->order);
    w->held_rows = row - w->first + 1;
  }
  return SCL_STATUS_OK;
}

/* A task of the pool: products of the chunk's rows with one tile of held rows. */
static scl_status box_wide_tile(void *context, size_t index, scl_error *error) {
  const box_wide *w = context;
  const scl_host *host = w->problem->host;
  const size_t from = index * WIDE_TILE, left = w->held_rows - from,
               cols = left < WIDE_TILE ? left : WIDE_TILE;
  const ptrdiff_t d = (ptrdiff_t)w->order;
  double *tile = host->scratch(WIDE_TILE * WIDE_TILE * sizeof *tile);
  if (tile == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a tile of %zu columns",
                      cols);
  host->dense->gemm(0, 1, w->filled, cols, w->order, 1, w->chunk, d, w->held + from * w->order, d,
                    0, tile, WIDE_TILE);
  host->symmetric->set(w->outer, w->chunk_first, w->filled, w->first + from, cols, tile, WIDE_TILE);
  return SCL_STATUS_OK;
}

/* Computes the entries of T in the chunk's rows and the held rows' columns, up to the diagonal. */
static scl_status box_wide_multiply(box_wide *w, scl_error *error) {
  const size_t end = w->chunk_first + w->filled;
  size_t reach = end > w->first ? end - w->first : 0;
  if (reach > w->held_rows) reach = w->held_rows;
  for (size_t k = 0; k < w->filled * w->order; k++)
    w->chunk[k] *= w->over[k % w->order];
  const scl_status status =
      w->problem->host->parallel((reach + WIDE_TILE - 1) / WIDE_TILE, box_wide_tile, w, error);
  w->filled = 0;
  return status;
}

/* Collects the rows at or after the first held one in chunks, and multiplies each full chunk (or
 * the last one) with the held rows. Earlier rows are above the diagonal of T, and skipped. */
static scl_status box_wide_visit(void *context, const scl_rows *rows, scl_error *error) {
  box_wide *w = context;
  for (size_t i = 0; i < rows->count; i++) {
    const size_t row = rows->first + i;
    if (row < w->first) continue;
    if (w->filled == 0) w->chunk_first = row;
    box_wide_row(rows, i, w->order, w->chunk + w->filled++ * w->order);
    if (w->filled < WIDE_TILE && row + 1 < w->count) continue;
    const scl_status status = box_wide_multiply(w, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

/* Forms T when all rows are held, without a pass over the data. */
static scl_status box_wide_form_held(box_wide *w, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < w->count; i += WIDE_TILE) {
    w->chunk_first = i;
    w->filled = w->count - i < WIDE_TILE ? w->count - i : WIDE_TILE;
    memcpy(w->chunk, w->held + i * w->order, w->filled * w->order * sizeof *w->chunk);
    status = box_wide_multiply(w, error);
  }
  return status;
}

/* Forms T: at once where all rows are held, else one block of held columns at a time. */
static scl_status box_wide_form(box_wide *w, scl_error *error) {
  const scl_problem *problem = w->problem;
  scl_status status = SCL_STATUS_OK;
  if (w->most == w->count) {
    if (w->held_rows == 0) status = problem->walk(problem, box_wide_hold, w, error);
    return status == SCL_STATUS_OK ? box_wide_form_held(w, error) : status;
  }
  for (w->first = 0; status == SCL_STATUS_OK && w->first < w->count; w->first += w->most) {
    status = problem->walk(problem, box_wide_hold, w, error);
    if (status == SCL_STATUS_OK) status = problem->walk(problem, box_wide_visit, w, error);
  }
  return status;
}

/* ------------ the step */

/* out (n) = Phi a and out (D) = Phi'r, in float64 where all rows are held: float32 features lose
 * the digits that E^-1 asks for. */
static scl_status box_wide_product(const box_wide *w, const double *a, double *out,
                                   scl_error *error) {
  if (w->most < w->count) return w->problem->product(w->problem, a, 1, out, error);
  return w->problem->host->dense->thin_product(SCL_DTYPE_FLOAT64, w->count, w->order, w->held,
                                               (ptrdiff_t)w->order, a, 1, out, error);
}

static scl_status box_wide_adjoint(const box_wide *w, const double *r, double *out,
                                   scl_error *error) {
  if (w->most < w->count) return w->problem->adjoint(w->problem, r, 1, out, error);
  return w->problem->host->dense->thin_adjoint(SCL_DTYPE_FLOAT64, w->count, w->order, w->held,
                                               (ptrdiff_t)w->order, r, 1, out, error);
}

/* T + rho 11', rho the mean diagonal of T. */
static scl_status box_wide_lift(box_wide *w, scl_error *error) {
  const scl_host *host = w->problem->host;
  const scl_status status = mean_diagonal(host, w->outer, &w->rho, error);
  for (size_t i = 0; i < w->count; i++)
    w->diagonal[i] = 1;
  if (status != SCL_STATUS_OK) return status;
  return host->symmetric->rank(w->outer, w->rho, w->diagonal, 1, (ptrdiff_t)w->count, error);
}

scl_status box_wide_factor(box_wide *w, const interior_box *b, const double *weights,
                           scl_error *error) {
  double most = DBL_MIN;
  w->weights = weights;
  for (size_t j = 0; j < w->order; j++)
    w->over[j] = 1 / fmax(interior_box_barrier(b, j), DBL_MIN);
  const scl_status status = box_wide_form(w, error);
  if (status != SCL_STATUS_OK) return status;
  const scl_status lifted = w->problem->intercept ? box_wide_lift(w, error) : SCL_STATUS_OK;
  w->problem->host->symmetric->diagonal(w->outer, w->diagonal);
  for (size_t i = 0; i < w->count; i++)
    most = fmax(most, fmax(w->diagonal[i], weights[i] > 1e-100 ? 1 / weights[i] : 0));
  for (size_t i = 0; i < w->count; i++)
    w->diagonal[i] = weights[i] > 1e-100 ? 1 / weights[i] : 1e40 * most;
  return lifted;
}

/* Computes z in out (n) from the solutions of the n x n system. With a constant, two right-hand
 * sides were solved, Phi E^-1 r and 1, and q follows from 1'z = t. Returns q, freed of the lift rho
 * t. */
static double box_wide_combine(const box_wide *w, double pull, double *out) {
  const size_t n = w->count, sides = w->system.columns;
  double by = sides > 1 ? pull : 0, ones = 0;
  for (size_t i = 0; sides > 1 && i < n; i++) {
    by -= w->solved[2 * i];
    ones += w->solved[2 * i + 1];
  }
  if (sides > 1) by /= ones;
  for (size_t i = 0; i < n; i++)
    out[i] = w->solved[i * sides] + (sides > 1 ? by * w->solved[2 * i + 1] : 0);
  return sides > 1 ? by - w->rho * pull : 0;
}

/* step += E^-1 (rest - Phi'z), *by += q for the right-hand sides `rest` and pull; change (n) =
 * Phi step + *by. */
static scl_status box_wide_add(box_wide *w, double pull, double *step, double *by, double *change,
                               scl_error *error) {
  const size_t sides = w->system.columns;
  refined_account account = {0};
  for (size_t j = 0; j < w->order; j++)
    w->pulled[j] = w->over[j] * w->rest[j];
  scl_status status = box_wide_product(w, w->pulled, change, error);
  for (size_t i = 0; i < w->count; i++) {
    w->sides[i * sides] = change[i];
    if (sides > 1) w->sides[i * sides + 1] = 1;
  }
  if (status == SCL_STATUS_OK)
    status = refined_solve(&w->system, w->sides, w->solved, &account, error);
  if (status != SCL_STATUS_OK) return status;
  *by += box_wide_combine(w, pull, change);
  status = box_wide_adjoint(w, change, w->pulled, error);
  for (size_t j = 0; j < w->order; j++)
    step[j] += w->over[j] * (w->rest[j] - w->pulled[j]);
  if (status == SCL_STATUS_OK) status = box_wide_product(w, step, change, error);
  for (size_t i = 0; i < w->count; i++)
    change[i] += *by;
  return status;
}

/* Computes in rest and *pull (t on entry) the residuals of the system for the step so far. *size
 * receives rest'E^-1 rest, their squared norm. */
static scl_status box_wide_rest(box_wide *w, const double *step, const double *change, double *pull,
                                double *size, scl_error *error) {
  for (size_t i = 0; i < w->count; i++) {
    w->sides[i] = w->weights[i] * change[i];
    *pull -= w->sides[i];
  }
  const scl_status status = box_wide_adjoint(w, w->sides, w->pulled, error);
  *size = 0;
  for (size_t j = 0; j < w->order; j++) {
    w->rest[j] = w->right[j] - w->pulled[j] - step[j] / w->over[j];
    *size += w->rest[j] * w->over[j] * w->rest[j];
  }
  return status;
}

/* Iterative refinement: the residual of the step is solved for again until it is WIDE_RESIDUAL of
 * the right-hand side, or no longer falls to a quarter (in squares). */
scl_status box_wide_direct(box_wide *w, interior_box *b, double pull, double *by, double *change,
                           scl_error *error) {
  double before = 0;
  memcpy(w->right, b->step, w->order * sizeof *w->right);
  memcpy(w->rest, b->step, w->order * sizeof *w->rest);
  for (size_t j = 0; j < w->order; j++)
    before += w->right[j] * w->over[j] * w->right[j];
  memset(b->step, 0, w->order * sizeof *b->step);
  *by = 0;
  scl_status status = box_wide_add(w, pull, b->step, by, change, error);
  const double goal = WIDE_RESIDUAL * WIDE_RESIDUAL * before;
  for (int tries = 0; status == SCL_STATUS_OK && tries < WIDE_REFINEMENTS; tries++) {
    double size = 0, rest = pull;
    status = box_wide_rest(w, b->step, change, &rest, &size, error);
    if (status != SCL_STATUS_OK || !(size > goal && size < before / 4)) break;
    before = size;
    status = box_wide_add(w, rest, b->step, by, change, error);
  }
  return status;
}
