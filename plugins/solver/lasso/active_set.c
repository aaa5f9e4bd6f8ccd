/* The active set method of lasso, for a symmetric G that is already formed:
 *
 *   min_a (1/2) a'Ga - right'a + l1 ||a||_1 + (l2/2) ||a||^2
 *
 * rest = right - G a is kept whole, so that looking at a coefficient is free and only those that
 * become active need their column of G. On the active ones, signs fixed, the minimum is a linear
 * system, whose factor gains and loses a row as they come and go. The line search is exact, through
 * all changes of sign (feature-sign search; Lee, Battle, Raina and Ng 2007, with several entering
 * at once), so that the objective only falls. Unlike coordinate descent, the method does not slow
 * down with the condition of G, which is large for random features. */
#include "lasso.h"

#include <float.h>
#include <stdlib.h>

/* ------------ a factor that grows and shrinks
 *
 * The Cholesky factor L L' of a matrix that gains and loses rows one at a time: O(k^2) each, where
 * a factorisation takes k^3/3. */

/* Makes room for a factor of that order, and copies the present factor. On failure the factor is
 * unchanged. */
static scl_status growing_cholesky_reserve(growing_cholesky *f, size_t order, scl_error *error) {
  if (order <= f->room) return SCL_STATUS_OK;
  const size_t room = order + order / 2 + 32;
  double *l = f->host->allocate(room * room * sizeof *l),
         *turns = f->host->allocate(2 * room * sizeof *turns);
  if (l == NULL || turns == NULL) {
    f->host->release(l);
    f->host->release(turns);
    return f->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a factor of order %zu",
                         order);
  }
  for (size_t i = 0; i < f->order; i++)
    memcpy(l + i * room, f->l + i * f->room, (i + 1) * sizeof *l);
  f->host->release(f->l);
  f->host->release(f->turns);
  f->l = l;
  f->turns = turns;
  f->room = room;
  return SCL_STATUS_OK;
}

/* <x, y>, in eight sums that a compiler can keep in registers */
static double growing_cholesky_dot(size_t count, const double *x, const double *y) {
  double sum[8] = {0}, rest = 0;
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++)
      sum[k] += x[i + k] * y[i + k];
  for (; i < count; i++)
    rest += x[i] * y[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])) + rest;
}

/* One more row: `row` holds its entries with the rows there are. Returns false, and adds none,
 * where the pivot's square would be below `least`. Room must have been reserved. */
static bool growing_cholesky_append(growing_cholesky *f, const double *row, double diagonal,
                                    double least) {
  double *x = f->l + f->order * f->room;
  for (size_t i = 0; i < f->order; i++) {
    const double *li = f->l + i * f->room;
    x[i] = (row[i] - growing_cholesky_dot(i, li, x)) / li[i];
  }
  const double square = diagonal - growing_cholesky_dot(f->order, x, x);
  if (!(square >= least)) return false;
  x[f->order++] = sqrt(square);
  return true;
}

/* Leave out row `gone`: the rows below move up, and rotations of neighbouring columns make them
 * triangular again. */
static void growing_cholesky_remove(growing_cholesky *f, size_t gone) {
  double *cosine = f->turns, *sine = f->turns + f->room;
  for (size_t r = gone; r + 1 < f->order; r++) {
    double *row = f->l + r * f->room;
    memcpy(row, row + f->room, (r + 2) * sizeof *row);
    double carried = row[gone];
    for (size_t i = gone; i < r; i++) {
      const double next = row[i + 1];
      row[i] = cosine[i] * carried + sine[i] * next;
      carried = cosine[i] * next - sine[i] * carried;
    }
    const double length = hypot(carried, row[r + 1]);
    cosine[r] = carried / length;
    sine[r] = row[r + 1] / length;
    row[r] = length;
  }
  f->order--;
}

/* Solve L L' x = b in place. */
static void growing_cholesky_solve(const growing_cholesky *f, double *b) {
  for (size_t i = 0; i < f->order; i++) {
    const double *li = f->l + i * f->room;
    b[i] = (b[i] - growing_cholesky_dot(i, li, b)) / li[i];
  }
  for (size_t i = f->order; i-- > 0;) {
    const double *li = f->l + i * f->room, value = b[i] /= li[i];
    for (size_t k = 0; k < i; k++)
      b[k] -= value * li[k];
  }
}

/* ------------ the active set */

void active_set_close(active_set *q) {
  growing_cholesky *f = &q->factor;
  if (f->host == NULL) return;
  f->host->release(f->l);
  f->host->release(f->turns);
  memset(f, 0, sizeof *f);
}

scl_status active_set_open(active_set *q, const scl_host *host, const scl_symmetric *gram,
                           scl_error *error) {
  *q = (active_set){.host = host, .gram = gram, .factor = {.host = host}};
  const size_t d = q->order = host->symmetric->order(gram);
  q->columns = host->scratch(d * sizeof *q->columns);
  q->diagonal = host->scratch(4 * d * sizeof *q->diagonal);
  q->crossings = host->scratch(d * sizeof *q->crossings);
  q->active = host->scratch(d * sizeof *q->active);
  q->sign = host->scratch(d);
  if (q->columns == NULL || q->diagonal == NULL || q->crossings == NULL || q->active == NULL ||
      q->sign == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for a problem in %zu coefficients", d);
  for (size_t j = 0; j < d; j++)
    q->columns[j] = NULL;
  q->image = q->diagonal + d;
  q->direction = q->image + d;
  q->row = q->direction + d;
  memset(q->sign, 0, d);
  host->symmetric->diagonal(gram, q->diagonal);
  for (size_t j = 0; j < d; j++)
    q->largest = fmax(q->largest, q->diagonal[j]);
  q->flat = 4 * DBL_EPSILON * q->largest;
  q->jitter = fmax((double)d * DBL_EPSILON * q->largest, DBL_MIN);
  return SCL_STATUS_OK;
}

/* *out = column j of G, extracted on first use and kept for the rest of the solve. */
static scl_status active_set_column(active_set *q, size_t j, const double **out, scl_error *error) {
  if (q->columns[j] == NULL) {
    q->columns[j] = q->host->scratch(q->order * sizeof **q->columns);
    if (q->columns[j] == NULL)
      return q->host->fail(error, SCL_STATUS_NO_MEMORY,
                           "not enough memory for a column of %zu numbers", q->order);
    q->host->symmetric->column(q->gram, j, q->columns[j]);
  }
  *out = q->columns[j];
  return SCL_STATUS_OK;
}

scl_status active_set_refresh(const active_set *q, const double *right, const double *a,
                              double *rest, scl_error *error) {
  const scl_status status = q->host->symmetric->multiply(q->gram, a, 1, rest, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < q->order; j++)
    rest[j] = right[j] - rest[j];
  return status;
}

/* Adds the row of coefficient j to the factor; *fits = whether the matrix stayed positive
 * definite. */
static scl_status active_set_append(active_set *q, size_t j, bool *fits, scl_error *error) {
  const double *column = NULL;
  scl_status status = growing_cholesky_reserve(&q->factor, q->factor.order + 1, error);
  if (status == SCL_STATUS_OK) status = active_set_column(q, j, &column, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t k = 0; k < q->factor.order; k++)
    q->row[k] = column[q->active[k]];
  const double more = q->factor_l2 + q->jitter;
  *fits = growing_cholesky_append(&q->factor, q->row, q->diagonal[j] + more, more / 2);
  return SCL_STATUS_OK;
}

/* The factor of all active coefficients, with more on its diagonal until it is definite. It gives
 * the directions alone: lengths of steps and the gap come from G itself. */
static scl_status active_set_factor(active_set *q, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  q->factor.order = 0;
  while (status == SCL_STATUS_OK && q->factor.order < q->count) {
    bool fits = false;
    status = active_set_append(q, q->active[q->factor.order], &fits, error);
    if (status != SCL_STATUS_OK || fits) continue;
    if (!(q->jitter <= 10 * q->largest))
      return q->host->fail(error, SCL_STATUS_NUMERIC, "the normal equations are not finite");
    q->jitter *= 10;
    q->factor.order = 0;
  }
  return status;
}

/* Makes coefficient j active with the given sign. A column that depends on the active ones does not
 * fit the factor, which is then made again with more jitter. */
static scl_status active_set_enter(active_set *q, size_t j, int sign, scl_error *error) {
  bool fits = false;
  const scl_status status = active_set_append(q, j, &fits, error);
  if (status != SCL_STATUS_OK) return status;
  q->active[q->count++] = j;
  q->sign[j] = (signed char)sign;
  return fits ? SCL_STATUS_OK : active_set_factor(q, error);
}

/* Deactivates the coefficient at `place` of the active list. */
static void active_set_leave(active_set *q, size_t place) {
  q->sign[q->active[place]] = 0;
  growing_cholesky_remove(&q->factor, place);
  q->count--;
  memmove(q->active + place, q->active + place + 1, (q->count - place) * sizeof *q->active);
}

scl_status active_set_restart(active_set *q, double l2, const double *a, scl_error *error) {
  q->count = 0;
  q->factor_l2 = l2;
  for (size_t j = 0; j < q->order; j++) {
    q->sign[j] = (signed char)((a[j] > 0) - (a[j] < 0));
    if (a[j] != 0) q->active[q->count++] = j;
  }
  return active_set_factor(q, error);
}

/* image = G direction, for a direction given on the active coefficients; four columns at a time, so
 * that `image` is read and written a quarter as often. */
static void active_set_image(active_set *q) {
  const double *x = q->direction;
  memset(q->image, 0, q->order * sizeof *q->image);
  size_t k = 0;
  for (; k + 4 <= q->count; k += 4) {
    const size_t *at = q->active + k;
    const double *c0 = q->columns[at[0]], *c1 = q->columns[at[1]], *c2 = q->columns[at[2]],
                 *c3 = q->columns[at[3]];
    for (size_t i = 0; i < q->order; i++)
      q->image[i] += (x[k] * c0[i] + x[k + 1] * c1[i]) + (x[k + 2] * c2[i] + x[k + 3] * c3[i]);
  }
  for (; k < q->count; k++) {
    const double *column = q->columns[q->active[k]];
    for (size_t i = 0; i < q->order; i++)
      q->image[i] += x[k] * column[i];
  }
}

/* Newton's direction for the current signs. A coefficient that has just become active but would
 * move against its sign is deactivated again. */
static void active_set_direct(active_set *q, const separable *r, const double *a,
                              const double *rest) {
  for (bool again = true; again;) {
    again = false;
    for (size_t k = 0; k < q->count; k++) {
      const size_t j = q->active[k];
      q->direction[k] = rest[j] - r->l2 * a[j] - r->l1 * q->sign[j];
    }
    growing_cholesky_solve(&q->factor, q->direction);
    for (size_t k = q->count; k-- > 0;)
      if (a[q->active[k]] == 0 && q->direction[k] * q->sign[q->active[k]] <= 0 && r->l1 > 0) {
        active_set_leave(q, k);
        again = true;
      }
  }
}

/* Ascending by step length, equal lengths by place, so that the order does not depend on qsort. */
static int crossing_order(const void *x, const void *y) {
  const crossing *a = x, *b = y;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

/* The step length that minimises the objective along the direction: a quadratic whose slope jumps
 * up where a coefficient crosses 0, so that the crossings are visited in ascending order until the
 * slope is no longer negative. *stop: the place of the coefficient that becomes 0 there, or
 * count. */
static double active_set_length(active_set *q, const separable *r, const double *a,
                                const double *rest, size_t *stop) {
  double slope = 0, curvature = 0;
  size_t n = 0;
  *stop = q->count;
  for (size_t k = 0; k < q->count; k++) {
    const size_t j = q->active[k];
    const double d = q->direction[k];
    slope -= d * (rest[j] - r->l2 * a[j] - r->l1 * q->sign[j]);
    curvature += d * (q->image[j] + r->l2 * d);
    if (r->l1 > 0 && a[j] * d < 0)
      q->crossings[n++] = (crossing){.at = -a[j] / d, .rise = 2 * r->l1 * fabs(d), .place = k};
  }
  if (!(slope < 0)) return 0;
  qsort(q->crossings, n, sizeof *q->crossings, crossing_order);
  for (size_t i = 0; i < n; i++) {
    const crossing *c = &q->crossings[i];
    if (slope + c->at * curvature >= 0) break;
    slope += c->rise;
    if (slope + c->at * curvature >= 0) {
      *stop = c->place;
      return c->at;
    }
  }
  return curvature > 0 ? fmin(-slope / curvature, 1) : 1;
}

/* Takes the step; returns whether no sign changed along it, in which case the active
 * coefficients are at their minimum. */
static bool active_set_move(active_set *q, double length, size_t stop, double *a, double *rest) {
  bool settled = stop == q->count;
  for (size_t k = q->count; k-- > 0;) {
    const size_t j = q->active[k];
    const double to = k == stop ? 0 : a[j] + length * q->direction[k];
    if (to * q->sign[j] <= 0) settled = false;
    a[j] = to;
    if (to != 0)
      q->sign[j] = to > 0 ? 1 : -1;
    else
      active_set_leave(q, k);
  }
  for (size_t j = 0; j < q->order; j++)
    rest[j] -= length * q->image[j];
  return settled;
}

/* ------------ to a duality gap */

/* Sets loss and gap from rest; ||y - Phi a||^2 = y'y - (right + rest)'a. inside: coefficients of
 * the gap, NULL: all. */
static void active_set_gap(const active_set *q, const separable *r, active_state *s,
                           const unsigned char *inside) {
  double residual = s->square;
  for (size_t j = 0; j < q->order; j++)
    residual -= (s->right[j] + s->rest[j]) * s->a[j];
  s->loss = residual / (2 * s->total);
  s->gap = separable_gap(r, q->order, s->a, s->rest, residual, inside);
}

/* Activates the violators at least `share` as large as the largest; returns their number. */
static scl_status active_set_admit(active_set *q, const separable *r, active_state *s, double share,
                                   size_t *admitted, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  double worst = 0;
  *admitted = 0;
  for (size_t j = 0; j < q->order; j++)
    if (s->inside[j] && q->sign[j] == 0 && q->diagonal[j] > q->flat)
      worst = fmax(worst, fabs(s->rest[j]) - r->l1);
  for (size_t j = 0; status == SCL_STATUS_OK && worst > 0 && j < q->order; j++)
    if (s->inside[j] && q->sign[j] == 0 && q->diagonal[j] > q->flat &&
        fabs(s->rest[j]) - r->l1 >= share * worst) {
      status = active_set_enter(q, j, s->rest[j] > 0 ? 1 : -1, error);
      ++*admitted;
    }
  return status;
}

/* Activates coefficients that screening left out but that violate the optimality conditions. */
static bool active_set_widen(const active_set *q, const separable *r, active_state *s) {
  bool more = false;
  for (size_t j = 0; j < q->order; j++)
    if (!s->inside[j] && fabs(s->rest[j]) > r->l1) {
      s->inside[j] = 1;
      more = true;
    }
  return more;
}

/* Whether the gap, over all coefficients and from a fresh residual, is at most target. */
static scl_status active_set_reached(const active_set *q, const separable *r, double target,
                                     active_state *s, bool *reached, scl_error *error) {
  *reached = false;
  active_set_gap(q, r, s, s->inside);
  if (s->gap > target) return SCL_STATUS_OK;
  const scl_status status = active_set_refresh(q, s->right, s->a, s->rest, error);
  if (status != SCL_STATUS_OK || active_set_widen(q, r, s)) return status;
  active_set_gap(q, r, s, NULL);
  *reached = s->gap <= target;
  return SCL_STATUS_OK;
}

/* One step. *settled: whether the active coefficients are at their minimum, before and after;
 * *idle: number of consecutive steps that began at the minimum and activated no coefficient. */
static scl_status active_set_step(active_set *q, const separable *r, active_state *s, bool *settled,
                                  int *idle, scl_error *error) {
  size_t admitted = 0, stop;
  scl_status status = SCL_STATUS_OK;
  if (*settled) status = active_set_admit(q, r, s, r->l1 > 0 ? 0.3 : 0, &admitted, error);
  if (status == SCL_STATUS_OK && *settled && admitted == 0) {
    status = active_set_refresh(q, s->right, s->a, s->rest, error);
    ++*idle;
  }
  if (status != SCL_STATUS_OK) return status;
  active_set_direct(q, r, s->a, s->rest);
  active_set_image(q);
  const double length = active_set_length(q, r, s->a, s->rest, &stop);
  *settled = active_set_move(q, length, stop, s->a, s->rest);
  s->steps++;
  return SCL_STATUS_OK;
}

scl_status active_set_solve(active_set *q, const separable *r, const scl_problem *problem,
                            double target, size_t most, active_state *s, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  bool settled = q->count == 0, reached = false; /* where none is active, none can move */
  int idle = 0;
  if (r->l2 != q->factor_l2) status = active_set_restart(q, r->l2, s->a, error);
  if (status == SCL_STATUS_OK) status = active_set_reached(q, r, target, s, &reached, error);
  for (size_t done = 0; status == SCL_STATUS_OK && !reached && done < most && idle < 4; done++) {
    status = problem->progress(problem, "solving", (double)done / (double)most, s->loss, error);
    if (status == SCL_STATUS_OK) status = active_set_step(q, r, s, &settled, &idle, error);
    if (status == SCL_STATUS_OK) status = active_set_reached(q, r, target, s, &reached, error);
  }
  if (status == SCL_STATUS_OK && s->gap > target) {
    status = active_set_refresh(q, s->right, s->a, s->rest, error);
    active_set_gap(q, r, s, NULL);
  }
  return status;
}
