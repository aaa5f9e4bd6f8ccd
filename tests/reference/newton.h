/* Newton's method for a mean of smooth losses with a constant:
 *
 *   min_{a,b} sum_i w_i l(x_i a + b, y_i) / sum_i w_i + (l2/2) ||a||^2 + linear'a
 *
 * z holds a column of x's coefficients and its constant, c times d + 1 numbers. */
#ifndef SCULLERY_TESTS_REFERENCE_NEWTON_H
#define SCULLERY_TESTS_REFERENCE_NEWTON_H

#include "problem.h"

typedef enum loss { SQUARE, HUBER, LOGISTIC, SQUARED_HINGE } loss;

typedef struct objective {
  const problem *p;
  loss loss;
  quad delta;         /* of huber */
  const quad *weight; /* n; NULL: 1 each */
  quad l2;
  const quad *linear; /* (d + 1) c; NULL: 0 */
  const bool *fixed;  /* (d + 1) c: coordinates that keep their value; NULL: none */
} objective;

/* The loss of that name; ends the program for a name that is none. */
loss loss_named(const char *name);

/* From z to the minimum. */
void newton(const objective *o, quad *z);

/* The gradient at z, of all coordinates, also those that are fixed. */
void newton_gradient(const objective *o, const quad *z, quad *gradient);

/* x_i a + b for all rows of the problem and each column: its answer. */
void newton_answer(problem *p, const quad *z);

#endif
