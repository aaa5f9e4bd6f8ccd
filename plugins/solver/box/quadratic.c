/* A quadratic in a box, for Newton's step of box:
 *
 *   min_d  -descent'd + (1/2) d'(H + shift I)d   s.t.  |a + d| <= bound
 *
 * by the primal-dual active set method (Hintermueller, Ito and Kunisch 2002): coordinates held at a
 * bound, the others by one Cholesky factorisation; then those that left the box are held, and those
 * whose multiplier has the wrong sign released: a few rounds. They can cycle, so each is cut to the
 * box and has to improve on the best point. Else it becomes a shorter step from there, and
 * coordinates are held as they are there (projected Newton: Bertsekas 1982). Where few rounds do
 * not end it, as with features that are nearly the same, the interior point method does. */
#include "box.h"

enum { QUADRATIC_ROUNDS = 4, QUADRATIC_HALVINGS = 12, QUADRATIC_STEPS = 50 };

void box_quadratic_close(box_quadratic *q) {
  q->host->release(q->d);
  q->host->release(q->open);
  q->host->release(q->held);
}

scl_status box_quadratic_open(box_quadratic *q, const scl_problem *problem, const interior_box *b,
                              scl_error *error) {
  const scl_host *host = b->host;
  const size_t order = b->order;
  *q = (box_quadratic){.problem = problem,
                       .host = host,
                       .hessian = b->matrix,
                       .bound = b->bound,
                       .order = order,
                       .a = b->a,
                       .descent = b->descent,
                       .step = b->step};
  q->d = host->allocate(4 * order * sizeof *q->d);
  q->open = host->allocate(order * sizeof *q->open);
  q->held = host->allocate(order * sizeof *q->held);
  if (q->d == NULL || q->open == NULL || q->held == NULL) {
    box_quadratic_close(q);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu coefficients", order);
  }
  q->image = q->d + order;
  q->column = q->image + order;
  q->right = q->column + order;
  return SCL_STATUS_OK;
}

/* *out = H restricted to the `count` free coordinates, plus shift I. The caller destroys *out. A
 * column is compacted in place: q->open ascends, so that no entry is overwritten before it is
 * read. */
static scl_status box_quadratic_part(const box_quadratic *q, size_t count, double shift,
                                     scl_symmetric **out, scl_error *error) {
  const scl_symmetric_algebra *algebra = q->host->symmetric;
  const scl_status status = algebra->create(count, out, error);
  if (status != SCL_STATUS_OK) return status;
  if (count == q->order) algebra->copy(q->hessian, *out);
  for (size_t k = 0; count < q->order && k < count; k++) {
    algebra->column(q->hessian, q->open[k], q->column);
    for (size_t l = k; l < count; l++)
      q->column[l] = q->column[q->open[l]];
    algebra->set(*out, k, count - k, k, 1, q->column + k, 1);
  }
  algebra->shift(shift, *out);
  return SCL_STATUS_OK;
}

/* Solves right = (H + shift I)^-1 right on the free coordinates, with a larger shift where that
 * is singular to working precision. */
static scl_status box_quadratic_solve(const box_quadratic *q, size_t count, scl_error *error) {
  scl_status status = SCL_STATUS_NUMERIC;
  double shift = q->shift;
  for (int tries = 0; status == SCL_STATUS_NUMERIC && tries < 6; tries++, shift *= 100) {
    scl_symmetric *part = NULL;
    size_t pivot;
    status = box_quadratic_part(q, count, shift, &part, error);
    if (status == SCL_STATUS_OK) status = q->host->symmetric->factor(part, &pivot, error);
    if (status == SCL_STATUS_OK) status = q->host->symmetric->solve(part, q->right, 1, error);
    q->host->symmetric->destroy(part);
  }
  return status;
}

/* Sets d at the coordinates held at a bound, and 0 elsewhere, and lists the free coordinates in
 * q->open. Returns their number. */
static size_t box_quadratic_hold(const box_quadratic *q) {
  size_t open = 0;
  for (size_t j = 0; j < q->order; j++) {
    q->d[j] = q->held[j] == 0 ? 0 : q->held[j] * q->bound - q->a[j];
    if (q->held[j] == 0) q->open[open++] = j;
  }
  return open;
}

/* Solves for d at the free coordinates. */
static scl_status box_quadratic_free(const box_quadratic *q, size_t open, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  memset(q->image, 0, q->order * sizeof *q->image);
  if (open < q->order) status = q->host->symmetric->multiply(q->hessian, q->d, 1, q->image, error);
  for (size_t k = 0; k < open; k++)
    q->right[k] = q->descent[q->open[k]] - q->image[q->open[k]];
  if (status == SCL_STATUS_OK && open > 0) status = box_quadratic_solve(q, open, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < open; k++)
    q->d[q->open[k]] = q->right[k];
  return status;
}

/* Takes the point at t between the best point and d, projects it onto the box, and keeps it as
 * the best if it is better. */
static scl_status box_quadratic_keep(const box_quadratic *q, double t, double *best,
                                     scl_error *error) {
  double value = 0, *cut = q->column;
  for (size_t j = 0; j < q->order; j++) {
    const double to = t == 1 ? q->d[j] : q->step[j] + t * (q->d[j] - q->step[j]);
    cut[j] = fmax(-q->bound - q->a[j], fmin(q->bound - q->a[j], to));
  }
  const scl_status status = q->host->symmetric->multiply(q->hessian, cut, 1, q->image, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < q->order; j++)
    value += cut[j] * ((q->image[j] + q->shift * cut[j]) / 2 - q->descent[j]);
  if (status != SCL_STATUS_OK || !(value < *best)) return status;
  *best = value;
  memcpy(q->step, cut, q->order * sizeof *cut);
  return SCL_STATUS_OK;
}

/* Updates the set of coordinates held at a bound from d; *changed receives whether the set
 * changed. */
static scl_status box_quadratic_turn(const box_quadratic *q, bool *changed, scl_error *error) {
  const scl_status status = q->host->symmetric->multiply(q->hessian, q->d, 1, q->image, error);
  *changed = false;
  for (size_t j = 0; status == SCL_STATUS_OK && j < q->order; j++) {
    const double to = q->a[j] + q->d[j], pull = q->descent[j] - q->image[j] - q->shift * q->d[j];
    const signed char before = q->held[j];
    if (before == 0)
      q->held[j] = to > q->bound ? 1 : to < -q->bound ? -1 : 0;
    else if (before * pull < 0)
      q->held[j] = 0;
    *changed = *changed || q->held[j] != before;
  }
  return status;
}

/* Holds the coordinates that are at or near a bound at the best point and whose gradient points
 * outwards. */
static scl_status box_quadratic_return(const box_quadratic *q, scl_error *error) {
  const scl_status status = q->host->symmetric->multiply(q->hessian, q->step, 1, q->image, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < q->order; j++) {
    const double pull = q->descent[j] - q->image[j] - q->shift * q->step[j];
    const bool near = copysign(1, pull) * (q->a[j] + q->step[j]) >= (1 - 1e-4) * q->bound;
    q->held[j] = !near ? 0 : pull > 0 ? 1 : pull < 0 ? -1 : 0;
  }
  return status;
}

/* One round of the active set method; *changed: a further round may improve the point. */
static scl_status box_quadratic_round(const box_quadratic *q, double *best, bool *changed,
                                      scl_error *error) {
  const double before = *best;
  scl_status status = box_quadratic_free(q, box_quadratic_hold(q), error);
  if (status == SCL_STATUS_OK) status = box_quadratic_keep(q, 1, best, error);
  if (status == SCL_STATUS_OK && *best < before) return box_quadratic_turn(q, changed, error);
  double t = 0.5;
  for (int tries = 0; status == SCL_STATUS_OK && *best == before && tries < QUADRATIC_HALVINGS;
       tries++, t /= 2)
    status = box_quadratic_keep(q, t, best, error);
  *changed = *best < before;
  return status == SCL_STATUS_OK ? box_quadratic_return(q, error) : status;
}

/* Falls back on the interior point method, in the variable u = a + d. */
static scl_status box_quadratic_inside(const box_quadratic *q, double *best, scl_error *error) {
  const scl_symmetric_algebra *algebra = q->host->symmetric;
  interior_box inside;
  const interior_quadratic quadratic = {.box = &inside,
                                        .problem = q->problem,
                                        .matrix = q->hessian,
                                        .right = q->right,
                                        .stride = 1,
                                        .most = QUADRATIC_STEPS};
  size_t steps = 0;
  scl_status status = interior_box_open(&inside, q->host, q->order, q->bound, true, error);
  if (status != SCL_STATUS_OK) return status;
  inside.best_gap = INFINITY;
  algebra->shift(q->shift, q->hessian);
  status = algebra->multiply(q->hessian, q->a, 1, q->right, error);
  for (size_t j = 0; j < q->order; j++)
    q->right[j] += q->descent[j];
  if (status == SCL_STATUS_OK)
    status = interior_quadratic_follow(&quadratic, q->goal, &steps, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < q->order; j++)
    q->d[j] = inside.best[j] - q->a[j];
  algebra->shift(-q->shift, q->hessian);
  if (status == SCL_STATUS_OK) status = box_quadratic_keep(q, 1, best, error);
  interior_box_close(&inside);
  return status;
}

/* d = 0 has the value 0; the first set of held coordinates is that of the bounds that a is at. */
scl_status box_quadratic_minimise(const box_quadratic *q, scl_error *error) {
  double best = 0;
  bool changed = true;
  memset(q->step, 0, q->order * sizeof *q->step);
  scl_status status = box_quadratic_return(q, error);
  for (int round = 0; status == SCL_STATUS_OK && changed && round < QUADRATIC_ROUNDS; round++)
    status = box_quadratic_round(q, &best, &changed, error);
  return status == SCL_STATUS_OK && changed ? box_quadratic_inside(q, &best, error) : status;
}
