/* The constant b of the linear support vector machine, which is not penalised: its dual has the
 * constraint sum_i b_i y_i = 0, which no move of a single dual keeps. Coordinate descent takes a
 * proximal step in b instead, from the b0 where it begins,
 *
 *   min_{a,b} P(a, b) + (lambda/(2 r)) (b - b0)^2,
 *
 * which is one more feature of value sqrt(r): ||phi_i||^2 + r in place of ||phi_i||^2, and
 *
 *   b = b0 + r s,   s = what sum_i b_i y_i has grown by
 *
 * r is a quarter of the mean ||phi_i||^2: a larger one ties the rows to each other. Newton's method on
 * working sets (hinge_newton.h) keeps the constraint. */
#ifndef SCULLERY_HINGE_CONSTANT_H
#define SCULLERY_HINGE_CONSTANT_H

#include "shared/risk.h"
#include <stdlib.h>

/* One class: scores without the constant, targets and duals, each at `stride`; row weights. */
typedef struct hinge_column {
  size_t count, stride;
  const double *f, *y, *duals, *weights;
} hinge_column;

typedef struct hinge_kink {
  double at, weight;
} hinge_kink;

static inline int hinge_kink_order(const void *a, const void *b) {
  const double x = ((const hinge_kink *)a)->at, y = ((const hinge_kink *)b)->at;
  return (x > y) - (x < y);
}

/* argmin_b sum_i w_i max(0, 1 - y_i (f_i + b)): the slope begins at -(weight of the rows with
 * y = 1) and rises by w_i at b = y_i - f_i. Where a whole interval is as good: its middle.
 * kinks: count of scratch. */
static inline double hinge_best_constant(const hinge_column *col, hinge_kink *kinks) {
  double slope = 0, total = 0;
  size_t k = 0;
  for (size_t i = 0; i < col->count; i++) {
    const double y = col->y[i * col->stride];
    kinks[i] = (hinge_kink){y - col->f[i * col->stride], col->weights[i]};
    if (y > 0) slope -= col->weights[i];
    total += col->weights[i];
  }
  qsort(kinks, col->count, sizeof *kinks, hinge_kink_order);
  const double zero = -1e-13 * total; /* rounding */
  for (; k < col->count - 1 && (slope += kinks[k].weight) < zero;)
    k++;
  const double low = kinks[k].at;
  const double high = k + 1 < col->count && slope <= -zero ? kinks[k + 1].at : low;
  return low + (high - low) / 2;
}

static inline double hinge_mean_loss(const hinge_column *col, double b, double total) {
  double sum = 0;
  for (size_t i = 0; i < col->count; i++)
    sum += col->weights[i] * fmax(0, 1 - col->y[i * col->stride] * (col->f[i * col->stride] + b));
  return sum / total;
}

/* What the duals of the two sides sum to, and their shares of ||a||^2:
 * sum of b_i y_i f_i = <a, the side's part of a>. */
typedef struct hinge_sides {
  double positive, negative, positive_along, negative_along;
} hinge_sides;

static inline hinge_sides hinge_sides_of(const hinge_column *col) {
  hinge_sides s = {0, 0, 0, 0};
  for (size_t i = 0; i < col->count; i++) {
    const double dual = col->duals[i * col->stride], f = col->f[i * col->stride];
    if (col->y[i * col->stride] > 0) {
      s.positive += dual;
      s.positive_along += dual * f;
    } else {
      s.negative += dual;
      s.negative_along -= dual * f;
    }
  }
  return s;
}

/* sum_i b_i - (1/2) ||a||^2, at least, of duals that keep the constraint: those of the larger side
 * made smaller by a factor, which takes `cut` of its part of a. longest: max ||phi_i||^2; the part
 * of a side with duals of sum S is no longer than S sqrt(longest). The shares are of scores at
 * coefficients `apart` from a. */
static inline double hinge_balanced_dual(const hinge_sides *s, double square, double longest,
                                         double apart) {
  const bool larger = s->positive > s->negative;
  const double sum = larger ? s->positive : s->negative,
               along = larger ? s->positive_along : s->negative_along,
               move = fabs(s->positive - s->negative), cut = sum > 0 ? move / sum : 0;
  return 2 * fmin(s->positive, s->negative) -
         (square - 2 * cut * along + move * move * longest) / 2 - move * sqrt(longest) * apart;
}

#endif
