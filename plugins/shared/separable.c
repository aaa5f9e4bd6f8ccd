/* The duality gap of lasso and box. */
#include "shared/separable.h"

#include <stdio.h>

/* R*(v) = max over the box of v x - R(x), for l2 > 0 or a finite bound. */
static double separable_conjugate(const separable *r, double v) {
  const double excess = fmax(fabs(v) - r->l1, 0);
  if (excess == 0) return 0;
  const double x = r->l2 > 0 ? fmin(excess / r->l2, r->bound) : r->bound;
  return x * (excess - r->l2 / 2 * x);
}

double separable_gap(const separable *r, size_t count, const double *a, const double *v,
                     double residual_square, const unsigned char *inside) {
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

void separable_note(scl_solution *out, const char *advice) {
  (void)snprintf(out->note, sizeof out->note,
                 "the duality gap is %.1e of the objective at a = 0, %.1e was wanted: %s", out->gap,
                 out->tolerance, advice);
}
