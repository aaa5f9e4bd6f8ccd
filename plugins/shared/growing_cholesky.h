/* The Cholesky factor L L' of a matrix that gains and loses rows one at a time: O(k^2) each where a
 * factorisation takes k^3/3. */
#ifndef SCULLERY_GROWING_CHOLESKY_H
#define SCULLERY_GROWING_CHOLESKY_H

#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct growing_cholesky {
  const scl_host *host;
  double *l;     /* room x room, row-major, lower */
  double *turns; /* 2 room: the rotations of a removal */
  size_t order, room;
} growing_cholesky;

static inline void growing_cholesky_close(growing_cholesky *f) {
  if (f->host == NULL) return;
  f->host->release(f->l);
  f->host->release(f->turns);
  memset(f, 0, sizeof *f);
}

static inline scl_status growing_cholesky_reserve(growing_cholesky *f, size_t order,
                                                  scl_error *error) {
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
static inline double growing_cholesky_dot(size_t count, const double *x, const double *y) {
  double sum[8] = {0}, rest = 0;
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++)
      sum[k] += x[i + k] * y[i + k];
  for (; i < count; i++)
    rest += x[i] * y[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7])) + rest;
}

/* One more row: `row` holds its entries with the rows there are. Returns 0, and adds none, where
 * the pivot's square would be below `least`. Room must have been reserved. */
static inline int growing_cholesky_append(growing_cholesky *f, const double *row, double diagonal,
                                          double least) {
  double *x = f->l + f->order * f->room;
  for (size_t i = 0; i < f->order; i++) {
    const double *li = f->l + i * f->room;
    x[i] = (row[i] - growing_cholesky_dot(i, li, x)) / li[i];
  }
  const double square = diagonal - growing_cholesky_dot(f->order, x, x);
  if (!(square >= least)) return 0;
  x[f->order++] = sqrt(square);
  return 1;
}

/* Leave out row `gone`: the rows below move up, and rotations of neighbouring columns make them
 * triangular again. */
static inline void growing_cholesky_remove(growing_cholesky *f, size_t gone) {
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
static inline void growing_cholesky_solve(const growing_cholesky *f, double *b) {
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

#endif
