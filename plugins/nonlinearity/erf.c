/* The error function:
 *   phi(z) = erf(z) = E sign(z + e),   e ~ N(0, 1/2)
 *
 * So smoothing and dual are the sign's with 1/2 added to the variances.
 *
 * Smoothing:      S(m, v) = erf(m / sqrt(1 + 2 v^2))
 * Gaussian dual:  for means of 0 the arc-sine kernel (Williams 1998, Computation with infinite
 *                 neural networks)
 *                   (2/pi) asin(2 c / sqrt((1 + 2 v_a)(1 + 2 v_b))) */
#include "shared/closed_form.h"
#include "shared/half_space.h"

SCL_LOOPS_OF(erf)

/* sqrt(1 + 2 v^2) without overflow. */
static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  for (size_t j = 0; j < count; j++) {
    const double root = SCL_SQRT2 * v[j];
    out[j] = m[j] / (root > 1e8 ? root : sqrt(1 + root * root));
  }
  loop(self, count, out, out);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return 2 * half_space_same(mean_a, mean_b, var_a + 0.5, var_b + 0.5, covariance, true) - 1;
}

const scl_plugin scullery_plugin = {
    .name = "erf",
    .summary = "erf(z): the arc-sine kernel",
    .definition = "phi(z) = erf(z)",
    .doc = "phi(z) = erf(z). One number in, one feature out.\n"
           "On N(0, S) rows it estimates (2/pi) asin(2x'Sy / sqrt((1 + 2x'Sx)(1 + 2y'Sy)))\n"
           "(Williams 1998); with means it is closed too, by the bivariate normal distribution\n"
           "function.\n"
           "In an RKHS weighting it becomes erf(m / sqrt(1 + 2 v^2)).",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    SCL_ABILITIES(CLOSED_FORM, SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1,
                                         .lipschitz = 1.12837916709551257390 /* 2/sqrt(pi) */))};
