/* The penalty of lasso (bound = infinity) and box (l1 = 0), a sum over coefficients,
 *
 *   R(a) = l1 ||a||_1 + (l2/2) ||a||^2   on the box ||a||_inf <= bound,
 *
 * its conjugate, and the duality gap that follows. */
#ifndef SCULLERY_SHARED_SEPARABLE_H
#define SCULLERY_SHARED_SEPARABLE_H

#include <scullery/plugin.h>
#include <stdio.h>

typedef struct separable {
  double l1, l2, bound;
} separable;

/* R*(v) = max over the box of v x - R(x), for l2 > 0 or a finite bound. */
static inline double separable_conjugate(const separable *r, double v) {
  const double excess = fmax(fabs(v) - r->l1, 0);
  if (excess == 0) return 0;
  const double x = r->l2 > 0 ? fmin(excess / r->l2, r->bound) : r->bound;
  return x * (excess - r->l2 / 2 * x);
}

/* The gap of min (1/2) ||y - Phi a||^2 + R(a) between a and the dual point s (y - Phi a), s <= 1:
 *
 *   (1/2) (1 - s)^2 ||y - Phi a||^2 + R(a) + R*(s v) - s v'a,   v = Phi'(y - Phi a),
 *
 * a sum of terms that are none of them negative, so that nothing cancels. `inside` (NULL: all)
 * leaves coefficients out. A bound or l2 > 0 takes s = 1 (the gap coordinate by coordinate). Else,
 * and where it is the smaller, l2 counts as rows of the design (sqrt(l2) I against zeros) and s is
 * the largest that the dual allows, |s (v_j - l2 a_j)| <= l1. */
static inline double separable_gap(const separable *r, size_t count, const double *a,
                                   const double *v, double residual_square,
                                   const unsigned char *inside) {
  double largest = 0, ridge = 0, plain = 0, scaled = 0;
  for (size_t j = 0; j < count; j++)
    if (inside == NULL || inside[j]) largest = fmax(largest, fabs(v[j] - r->l2 * a[j]));
  const double s = largest > r->l1 ? r->l1 / largest : 1;
  for (size_t j = 0; j < count; j++) {
    if (inside != NULL && !inside[j]) continue;
    ridge += r->l2 * a[j] * a[j];
    scaled += r->l1 * fabs(a[j]) - s * (v[j] - r->l2 * a[j]) * a[j];
    plain += r->l1 * fabs(a[j]) + r->l2 / 2 * a[j] * a[j] - v[j] * a[j];
    if (r->l2 > 0 || isfinite(r->bound)) plain += separable_conjugate(r, v[j]);
  }
  scaled += (1 - s) * (1 - s) / 2 * (fmax(residual_square, 0) + ridge);
  const double gap = isfinite(r->bound) || (r->l2 > 0 && plain < scaled) ? plain : scaled;
  return gap < 0 ? 0 : gap; /* below 0 by rounding; NaN stays NaN */
}

/* The note of a solution whose gap is above its tolerance. */
static inline void separable_note(scl_solution *out, const char *advice) {
  (void)snprintf(out->note, sizeof out->note,
                 "the duality gap is %.1e of the objective at a = 0, %.1e was wanted: %s", out->gap,
                 out->tolerance, advice);
}

#endif
