/* Random projections (Johnson and Lindenstrauss 1984), and the features of samplers that make
 * finished ones (tag "sketch"):
 *   phi(z) = z
 *
 * Smoothing:      S(m, v) = m
 * Gaussian dual:  m_a m_b + c, the linear kernel */
#include <scullery/plugin.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  memmove(out, z, count * sizeof *out);
}

static void loop_float32(const void *self, size_t count, const float *z, float *out) {
  (void)self;
  memmove(out, z, count * sizeof *out);
}

SCL_FORMULA(loop_formula, "z")

static void identity_smooth(const void *self, size_t count, const double *m, const double *v,
                            double *out) {
  (void)v;
  loop(self, count, m, out);
}

static void smooth_float32(const void *self, size_t count, const float *m, const float *v,
                           float *out) {
  (void)v;
  loop_float32(self, count, m, out);
}

static double identity_dual(const void *self, double mean_a, double mean_b, double var_a,
                            double var_b, double covariance) {
  (void)self, (void)var_a, (void)var_b;
  return mean_a * mean_b + covariance;
}

const scl_plugin scullery_plugin = {
    .name = "identity",
    .summary = "z itself: random projections",
    .definition = "phi(z) = z",
    .doc = "phi(z) = z. One number in, one feature out.\n"
           "On rows of covariance S it estimates the linear kernel x'Sy (random projections,\n"
           "Johnson and Lindenstrauss 1984). It also takes the features of sketches as they are.\n"
           "In an RKHS weighting it becomes m.",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula, .tags = "none|sketch"),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = identity_smooth,
                  .loop_float32 = smooth_float32),
        SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = identity_dual),
        SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1))};
