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
 * r is a quarter of the mean ||phi_i||^2: a larger one ties the rows to each other. Newton's method
 * on working sets (newton.c) keeps the constraint. */
#ifndef SCULLERY_SHARED_HINGE_CONSTANT_H
#define SCULLERY_SHARED_HINGE_CONSTANT_H

#include <scullery/plugin.h>

/* One class: scores without the constant, targets and duals, each at `stride`; row weights. */
typedef struct hinge_column {
  size_t count, stride;
  const double *f, *y, *duals, *weights;
} hinge_column;

typedef struct hinge_kink {
  double at, weight;
} hinge_kink;

/* *b = argmin_b sum_i w_i max(0, 1 - y_i (f_i + b)): the slope begins at -(weight of the rows with
 * y = 1) and rises by w_i at b = y_i - f_i. Where a whole interval is as good: its middle.
 * kinks, and room in each of these functions: count numbers of scratch. */
scl_status hinge_best_constant(const scl_problem *problem, const hinge_column *col,
                               hinge_kink *kinks, double *room, double *b, scl_error *error);

/* *sum = sum_i w_i max(0, 1 - y_i (f_i + b)) */
scl_status hinge_loss(const scl_problem *problem, const hinge_column *col, double b, double *room,
                      double *sum, scl_error *error);

/* What the duals of the two sides sum to, and their shares of ||a||^2:
 * sum of b_i y_i f_i = <a, the side's part of a>. */
typedef struct hinge_sides {
  double positive, negative, positive_along, negative_along;
} hinge_sides;

scl_status hinge_sides_of(const scl_problem *problem, const hinge_column *col, double *room,
                          hinge_sides *sides, scl_error *error);

/* sum_i b_i - (1/2) ||a||^2, at least, of duals that keep the constraint: those of the larger side
 * made smaller by a factor, which takes `cut` of its part of a. longest: max ||phi_i||^2; the part
 * of a side with duals of sum S is no longer than S sqrt(longest). The shares are of scores at
 * coefficients `apart` from a. */
double hinge_balanced_dual(const hinge_sides *s, double square, double longest, double apart);

#endif
