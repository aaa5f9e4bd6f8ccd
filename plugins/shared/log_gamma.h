/* log Gamma(x), x > 0, from any thread: lgamma writes the sign to a global. */
#ifndef SCULLERY_SHARED_LOG_GAMMA_H
#define SCULLERY_SHARED_LOG_GAMMA_H

double lgamma_r(double x, int *sign); /* of <math.h>, which strict C11 hides */

static inline double log_gamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

#endif
