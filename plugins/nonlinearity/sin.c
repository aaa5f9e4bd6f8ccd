/* The sine:
 *   phi(z) = sin(z)
 *
 * Smoothing:      S(m, v) = exp(-v^2/2) sin m
 * Gaussian dual:  by sin a sin b = (cos(a - b) - cos(a + b))/2 */
#include "shared/closed_form.h"
#include "shared/normal.h"

SCL_LOOPS_OF(sin)

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  enum { CHUNK = 256 };
  const scl_vector_math *math = ((const scl_base *)self)->host->math;
  double damp[CHUNK] = {0};
  for (size_t from = 0; from < count; from += CHUNK) {
    const size_t some = count - from < CHUNK ? count - from : CHUNK;
    for (size_t j = 0; j < some; j++)
      damp[j] = -v[from + j] * v[from + j] / 2;
    math->exp(some, damp, damp);
    math->sin(some, m + from, out + from);
    for (size_t j = 0; j < some; j++)
      out[from + j] *= damp[j];
  }
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return (normal_cosine(mean_a - mean_b, var_a + var_b - 2 * covariance) -
          normal_cosine(mean_a + mean_b, var_a + var_b + 2 * covariance)) /
         2;
}

const scl_plugin scullery_plugin = {
    .name = "sin",
    .summary = "sin(z)",
    .definition = "phi(z) = sin(z)",
    .doc = "phi(z) = sin(z). One number in, one feature out.\n"
           "On N(0, S) rows it estimates exp(-(x'Sx + y'Sy)/2) sinh(x'Sy).\n"
           "In an RKHS weighting it becomes exp(-v^2/2) sin m.\n"
           "For Fourier features take nonlinearity.fourier.",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    SCL_ABILITIES(CLOSED_FORM,
                  SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = 1))};
