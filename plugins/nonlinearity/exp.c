/* The exponential:
 *   phi(z) = exp(z)
 *
 * Smoothing:      S(m, v) = exp(m + v^2/2)
 * Gaussian dual:  exp((v_a + v_b + 2 c)/2 + m_a + m_b) */
#include "shared/closed_form.h"

SCL_LOOPS_OF(exp)

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] = m[j] + v[j] * v[j] / 2;
  loop(self, count, out, out);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return exp((var_a + var_b + 2 * covariance) / 2 + mean_a + mean_b);
}

const scl_plugin scullery_plugin = {
    .name = "exp",
    .summary = "exp(z), the exponential",
    .definition = "phi(z) = exp(z)",
    .doc = "phi(z) = exp(z). One number in, one feature out.\n"
           "It overflows for z above 709, in float32 above 88: keep <w, x> moderate.\n"
           "On N(0, S) rows with a bias b it estimates exp((x+y)'S(x+y)/2) E exp(2b).\n"
           "In an RKHS weighting it becomes exp(m + v^2/2).",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula, .tags = "none|positive"),
    SCL_ABILITIES(CLOSED_FORM, SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY,
                                         .lipschitz = INFINITY))};
