/* min_a (1/2) a'Ga - right'a + R(a) for a symmetric G that is already formed and a separable R (separable.h).
 *
 * Two moves, in turn. Coordinate descent with covariance updates (Friedman, Hastie and Tibshirani 2010) finds which coefficients are zero or
 * at a bound: rest = right - G a is kept whole, so looking at a coefficient is free and changing it costs one column of G, fetched when
 * it first moves. Then a Newton step on the coefficients that are free, all signs fixed, cut where they meet 0 or a bound (Bertsekas
 * 1982): it makes the badly conditioned Grams of random features as quick as good ones. Both only ever lower the objective. */
#ifndef SCULLERY_QUADRATIC_H
#define SCULLERY_QUADRATIC_H

#include "shared/separable.h"
#include <float.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct quadratic {
  const scl_host *host;
  const scl_symmetric_algebra *algebra;
  const scl_symmetric *gram;
  size_t order;
  double **columns; /* of G, NULL until needed */
  double *diagonal; /* order numbers, as the next three */
  double *step, *image, *packed;
  double flat;        /* curvature below which a coefficient does not count */
  scl_symmetric *factor; /* Cholesky of G_FF + l2 I, F the coefficients in `factored`: kept while they stay the same */
  size_t *free, *factored, n_free, n_factored;
  double factored_l2;
} quadratic;

static inline void quadratic_close(quadratic *q) {
  if (q->host == NULL) return;
  for (size_t j = 0; q->columns != NULL && j < q->order; j++)
    q->host->release(q->columns[j]);
  q->host->release(q->columns);
  q->host->release(q->diagonal);
  q->host->release(q->free);
  q->algebra->destroy(q->factor);
  memset(q, 0, sizeof *q);
}

static inline scl_status quadratic_open(quadratic *q, const scl_host *host, const scl_symmetric *gram, scl_error *error) {
  *q = (quadratic){.host = host, .algebra = host->service(SCL_SERVICE_SYMMETRIC), .gram = gram};
  q->order = q->algebra->order(gram);
  q->columns = host->allocate((q->order + 1) * sizeof *q->columns);
  q->diagonal = host->allocate((4 * q->order + 1) * sizeof *q->diagonal);
  q->free = host->allocate((2 * q->order + 1) * sizeof *q->free);
  for (size_t j = 0; q->columns != NULL && j < q->order; j++)
    q->columns[j] = NULL;
  if (q->columns == NULL || q->diagonal == NULL || q->free == NULL) {
    quadratic_close(q);
    return host->fail(error, SCL_NO_MEMORY, "not enough memory for a problem in %zu coefficients", q->order);
  }
  q->step = q->diagonal + q->order;
  q->image = q->step + q->order;
  q->packed = q->image + q->order;
  q->factored = q->free + q->order;
  q->algebra->diagonal(gram, q->diagonal);
  for (size_t j = 0; j < q->order; j++)
    q->flat = fmax(q->flat, 4 * DBL_EPSILON * q->diagonal[j]);
  return SCL_OK;
}

static inline scl_status quadratic_column(quadratic *q, size_t j, const double **out, scl_error *error) {
  if (q->columns[j] == NULL) {
    q->columns[j] = q->host->allocate(q->order * sizeof **q->columns);
    if (q->columns[j] == NULL) return q->host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu columns of the Gram matrix", q->order);
    q->algebra->column(q->gram, j, q->columns[j]);
  }
  *out = q->columns[j];
  return SCL_OK;
}

/* rest = right - G a, afresh: what rounding let it drift is gone. */
static inline void quadratic_refresh(quadratic *q, const double *right, const double *a, double *rest) {
  q->algebra->multiply(q->gram, a, 1, rest);
  for (size_t j = 0; j < q->order; j++)
    rest[j] = right[j] - rest[j];
}

/* One pass of coordinate descent over `inside` (NULL: all); changes that gain less than `negligible` are left out. */
static inline scl_status quadratic_descend(quadratic *q, const separable *r, const unsigned char *inside, double negligible, double *a,
                                           double *rest, scl_error *error) {
  for (size_t j = 0; j < q->order; j++) {
    const double h = q->diagonal[j];
    if (h <= q->flat || (inside != NULL && !inside[j])) continue;
    const double change = separable_minimiser(r, h, rest[j] + h * a[j]) - a[j];
    if (change == 0 || (h + r->l2) * change * change / 2 < negligible) continue;
    const double *column = NULL;
    const scl_status status = quadratic_column(q, j, &column, error);
    if (status != SCL_OK) return status;
    a[j] += change;
    if (fabs(a[j]) > r->bound) a[j] = separable_clip(r, a[j]);
    for (size_t i = 0; i < q->order; i++)
      rest[i] -= change * column[i];
  }
  return SCL_OK;
}

/* The coefficients that a Newton step may move: away from the kink and from the bounds. Returns 1 where they are those of the factor. */
static inline int quadratic_choose(quadratic *q, const separable *r, const double *a) {
  q->n_free = 0;
  for (size_t j = 0; j < q->order; j++)
    if (q->diagonal[j] > q->flat && fabs(a[j]) < r->bound && (r->l1 == 0 || a[j] != 0)) q->free[q->n_free++] = j;
  return q->factor != NULL && q->factored_l2 == r->l2 && q->n_free == q->n_factored &&
         memcmp(q->free, q->factored, q->n_free * sizeof *q->free) == 0;
}

/* Cholesky of G_FF + l2 I, with as little more on the diagonal as it takes: the step stays one of descent. */
static inline scl_status quadratic_factor(quadratic *q, double l2, scl_error *error) {
  double mean = 0;
  q->algebra->destroy(q->factor);
  q->factor = NULL;
  scl_status status = q->algebra->create(q->n_free, &q->factor, error);
  for (size_t k = 0; k < q->n_free; k++)
    mean += q->diagonal[q->free[k]] / (double)q->n_free;
  for (double jitter = 0; status == SCL_OK; jitter = jitter == 0 ? 1e-14 : 10 * jitter) {
    for (size_t k = 0; status == SCL_OK && k < q->n_free; k++) {
      const double *column = NULL;
      status = quadratic_column(q, q->free[k], &column, error);
      for (size_t i = 0; status == SCL_OK && i <= k; i++)
        q->packed[i] = column[q->free[i]];
      if (status == SCL_OK) q->algebra->set(q->factor, k, 1, 0, k + 1, q->packed, 0);
    }
    if (status != SCL_OK) break;
    size_t pivot;
    q->algebra->shift(l2 + jitter * mean, q->factor);
    status = q->algebra->factor(q->factor, &pivot, error);
    if (status != SCL_NUMERIC || jitter > 1) break;
    status = SCL_OK;
  }
  memcpy(q->factored, q->free, q->n_free * sizeof *q->free);
  q->n_factored = status == SCL_OK ? q->n_free : 0;
  q->factored_l2 = l2;
  return status;
}

/* image = G x for x that is 0 but at the free coefficients, whose columns are there */
static inline void quadratic_image(quadratic *q, const double *x) {
  memset(q->image, 0, q->order * sizeof *q->image);
  size_t k = 0;
  for (; k + 4 <= q->n_free; k += 4) {
    const size_t *at = q->free + k;
    const double *c0 = q->columns[at[0]], *c1 = q->columns[at[1]], *c2 = q->columns[at[2]], *c3 = q->columns[at[3]];
    const double x0 = x[at[0]], x1 = x[at[1]], x2 = x[at[2]], x3 = x[at[3]];
    for (size_t i = 0; i < q->order; i++)
      q->image[i] += (x0 * c0[i] + x1 * c1[i]) + (x2 * c2[i] + x3 * c3[i]);
  }
  for (; k < q->n_free; k++) {
    const double *column = q->columns[q->free[k]], factor = x[q->free[k]];
    for (size_t i = 0; i < q->order; i++)
      q->image[i] += factor * column[i];
  }
}

/* Where a free coefficient may go without a change of sign (l1 > 0) or leaving the box. */
static inline double quadratic_reach(const separable *r, double from, double to) {
  const double inside = separable_clip(r, to);
  return r->l1 > 0 && inside * from < 0 ? 0 : inside;
}

/* The longest step, at most 1, that cuts nothing. */
static inline double quadratic_uncut(const quadratic *q, const separable *r, const double *a, const double *direction) {
  double longest = 1;
  for (size_t k = 0; k < q->n_free; k++) {
    const size_t j = q->free[k];
    const double end = quadratic_reach(r, a[j], a[j] + direction[k]);
    if (end != a[j] + direction[k]) longest = fmin(longest, (end - a[j]) / direction[k]);
  }
  return longest;
}

/* step = the cut step of this length; returns what the objective gains (G step is left in image). */
static inline double quadratic_try(quadratic *q, const separable *r, const double *a, const double *rest, const double *direction,
                                   double length) {
  double gain = 0;
  for (size_t k = 0; k < q->n_free; k++) {
    const size_t j = q->free[k];
    q->step[j] = quadratic_reach(r, a[j], a[j] + length * direction[k]) - a[j];
  }
  quadratic_image(q, q->step);
  for (size_t k = 0; k < q->n_free; k++) {
    const size_t j = q->free[k];
    const double slope = rest[j] - r->l2 * a[j] - (a[j] > 0 ? r->l1 : -r->l1);
    gain += q->step[j] * (slope - (q->image[j] + r->l2 * q->step[j]) / 2);
  }
  return gain;
}

/* One Newton step on the free coefficients. */
static inline scl_status quadratic_newton(quadratic *q, const separable *r, double *a, double *rest, scl_error *error) {
  const int same = quadratic_choose(q, r, a);
  if (q->n_free == 0) return SCL_OK;
  const scl_status status = same ? SCL_OK : quadratic_factor(q, r->l2, error);
  if (status != SCL_OK) return status;
  double *direction = q->packed, length = 1, gain;
  for (size_t k = 0; k < q->n_free; k++) {
    const size_t j = q->free[k];
    direction[k] = rest[j] - r->l2 * a[j] - (r->l1 == 0 ? 0 : a[j] > 0 ? r->l1 : -r->l1);
  }
  q->algebra->solve(q->factor, direction, 1);
  const double uncut = quadratic_uncut(q, r, a, direction);
  while ((gain = quadratic_try(q, r, a, rest, direction, fmax(length, uncut))) <= 0 && length > uncut && length > 1e-3)
    length /= 4;
  if (gain <= 0 && uncut > 0 && uncut < length) gain = quadratic_try(q, r, a, rest, direction, uncut);
  if (gain <= 0) return SCL_OK;
  for (size_t k = 0; k < q->n_free; k++) {
    const size_t j = q->free[k];
    a[j] += q->step[j];
    if (fabs(a[j]) >= r->bound * (1 - 4 * DBL_EPSILON)) a[j] = separable_clip(r, a[j] * INFINITY);
  }
  for (size_t j = 0; j < q->order; j++)
    rest[j] -= q->image[j];
  return SCL_OK;
}

/* ---------------------------------------------------------------- to a duality gap */

/* One right-hand side: where it stands, and how far it is to go. */
typedef struct quadratic_state {
  const double *right;
  double square;         /* y'y, so that a'Ga - 2 right'a + square = ||y - Phi a||^2 */
  double *a, *rest;      /* rest = right - G a */
  unsigned char *inside; /* coefficients that screening left in, NULL: all */
  double gap;
  size_t rounds;
} quadratic_state;

static inline double quadratic_gap(const quadratic *q, const separable *r, const quadratic_state *s, const unsigned char *inside) {
  double residual = s->square;
  for (size_t j = 0; j < q->order; j++)
    residual -= (s->right[j] + s->rest[j]) * s->a[j];
  return separable_gap(r, q->order, s->a, s->rest, residual, inside);
}

/* Let in what screening left out and should not have. */
static inline int quadratic_admit(const quadratic *q, const separable *r, quadratic_state *s) {
  int admitted = 0;
  for (size_t j = 0; s->inside != NULL && j < q->order; j++)
    if (!s->inside[j] && fabs(s->rest[j]) > r->l1) admitted = s->inside[j] = 1;
  return admitted;
}

/* Is the gap, over all coefficients and from a fresh residual, at most target? */
static inline int quadratic_reached(quadratic *q, const separable *r, double target, quadratic_state *s) {
  s->gap = quadratic_gap(q, r, s, s->inside);
  if (s->gap > target) return 0;
  quadratic_refresh(q, s->right, s->a, s->rest);
  if (quadratic_admit(q, r, s)) return 0;
  s->gap = quadratic_gap(q, r, s, NULL);
  return s->gap <= target;
}

/* Rounds of descent and a Newton step until the gap is at most `target`, or `most` rounds are done. */
static inline scl_status quadratic_solve(quadratic *q, const separable *r, const scl_problem *problem, double target, size_t most,
                                         quadratic_state *s, scl_error *error) {
  const double negligible = 1e-3 * target / (double)(q->order + 1);
  while (!quadratic_reached(q, r, target, s)) {
    if (s->rounds >= most) {
      quadratic_refresh(q, s->right, s->a, s->rest);
      s->gap = quadratic_gap(q, r, s, NULL);
      return SCL_OK;
    }
    scl_status status = problem->progress(problem, (double)s->rounds++ / (double)most, "solving", error);
    for (int pass = 0; status == SCL_OK && pass < 2; pass++)
      status = quadratic_descend(q, r, s->inside, negligible, s->a, s->rest, error);
    if (status == SCL_OK) status = quadratic_newton(q, r, s->a, s->rest, error);
    if (status != SCL_OK) return status;
  }
  return SCL_OK;
}

#endif
