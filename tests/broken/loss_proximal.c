/* The proximal step takes t for 2 t. */
// caught by: proximal fail
// says: (z - p)/t
#include "loss.h"

/* The proximal step, by Newton's method. */
static double near_of(const void *self, double z, double y, double t) {
  double p = z;
  for (int step = 0; step < 200; step++) {
    const double r = (p - y) / scale_of(self), bend = 1 / t + pow(cosh(r), -2);
    const double by = (scale_of(self) * tanh(r) + (p - z) / t) / bend;
    p -= fmax(-scale_of(self), fmin(scale_of(self), by));
  }
  return p;
}

static void wrong_proximal(const void *self, size_t count, const double *z, const double *y,
                           const double *t, double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = near_of(self, z[i], y[i], t[i] / 2);
}
BROKEN_LOSS_WITH(RIGHT_CURVATURE, SCL_OFFER(SCL_ABILITY_LOSS_PROXIMAL, scl_ability_loss_proximal,
                                            .proximal = wrong_proximal))
