/* The penalty of lasso (bound = infinity) and box (l1 = 0), a sum over coefficients,
 *
 *   R(a) = l1 ||a||_1 + (l2/2) ||a||^2   on the box ||a||_inf <= bound,
 *
 * its conjugate, and the duality gap that follows. */
#ifndef SCULLERY_SHARED_SEPARABLE_H
#define SCULLERY_SHARED_SEPARABLE_H

#include <scullery/plugin.h>

typedef struct separable {
  double l1, l2, bound;
} separable;

/* The gap of min (1/2) ||y - Phi a||^2 + R(a) between a and the dual point s (y - Phi a), s <= 1:
 *
 *   (1/2) (1 - s)^2 ||y - Phi a||^2 + R(a) + R*(s v) - s v'a,   v = Phi'(y - Phi a),
 *
 * a sum of terms that are none of them negative, so that nothing cancels. `inside` (NULL: all)
 * leaves coefficients out. A bound or l2 > 0 takes s = 1 (the gap coordinate by coordinate). Else,
 * and where it is the smaller, l2 counts as rows of the design (sqrt(l2) I against zeros) and s is
 * the largest that the dual allows, |s (v_j - l2 a_j)| <= l1. */
double separable_gap(const separable *r, size_t count, const double *a, const double *v,
                     double residual_square, const unsigned char *inside);

/* Writes the note of a solution whose gap exceeds its tolerance. */
void separable_note(scl_solution *out, const char *advice);

#endif
