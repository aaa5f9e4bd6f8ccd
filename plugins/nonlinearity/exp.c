/* The exponential:
 *   phi(z) = exp(z)
 *
 * Smoothing:      S(m, v) = exp(m + v^2/2)
 * Gaussian dual:  exp((v_a + v_b + 2 c)/2 + m_a + m_b) */
#include <scullery/plugin.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  ((const scl_base *)self)->host->math->exp(count, z, out);
}

static void loop_float32(const void *self, size_t count, const float *z, float *out) {
  ((const scl_base *)self)->host->math->expf(count, z, out);
}

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
    .doc = "phi(z) = exp(z). One number in, one feature out.\n"
           "It overflows for z above 709, in float32 above 88: keep <w, x> moderate.\n"
           "On N(0, S) rows with a bias b it estimates exp((x+y)'S(x+y)/2) E exp(2b).\n"
           "In an RKHS weighting it becomes exp(m + v^2/2).",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop, .loop_float32 = loop_float32),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth),
        SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual),
        SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = INFINITY))};
