/* The leaky rectifier, with the slope a for negative numbers:
 *
 *   phi(z) = max(0, z) + a min(0, z) = p z + q |z|,   p = (1 + a)/2,   q = (1 - a)/2
 *
 * Smoothing:      E phi(N(m, v^2)) = p m + q (m erf(h) + v sqrt(2/pi) exp(-h^2)),   h = m/(v sqrt2)
 * Gaussian dual:  E phi(A) phi(B) = s (p^2 cos t + q^2 (2/pi) (sin t + (pi/2 - t) cos t))
 *
 * for normal A and B with means of 0, s^2 = var A var B and cos t = cov(A, B)/s: the linear kernel
 * and an arc-cosine kernel of order 1 (Cho and Saul 2009, Kernel methods for deep learning). */
#include <scullery/plugin.h>

typedef struct leaky {
  scl_base base; /* what the host offers, and the options as they came */
  double slope;  /* a; the host writes it before anything is called */
} leaky;

static const scl_option options[] = {SCL_NUMBER(
    leaky, slope, "0.01", "a, the factor of negative numbers; 0: max(0, z), 1: z, -1: |z|",
    SCL_WITHIN(-1, 1))};

/* phi(z) for count numbers; out may be z. Called by many threads at once. */
static void loop(const void *instance, size_t count, const double *z, double *out) {
  const leaky *self = instance;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? z[j] : self->slope * z[j];
}

static void loop_float32(const void *instance, size_t count, const float *z, float *out) {
  const float slope = (float)((const leaky *)instance)->slope;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? z[j] : slope * z[j];
}

/* E phi(N(m, v^2)), v > 0; out may be m. With it, features under a Gaussian K are exact. */
static void smooth(const void *instance, size_t count, const double *m, const double *v,
                   double *out) {
  const leaky *self = instance;
  const double p = (1 + self->slope) / 2, q = (1 - self->slope) / 2;
  for (size_t j = 0; j < count; j++) {
    const double h = m[j] / (v[j] * SCL_SQRT2);
    out[j] = p * m[j] + q * (m[j] * erf(h) + v[j] * sqrt(2 / SCL_PI) * exp(-h * h));
  }
}

/* E phi(A) phi(B). With it, the kernel that features of Gaussian rows estimate is known exactly. */
static double dual(const void *instance, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  const leaky *self = instance;
  const double p = (1 + self->slope) / 2, q = (1 - self->slope) / 2;
  const double s = sqrt(var_a) * sqrt(var_b);
  if (mean_a != 0 || mean_b != 0) return NAN; /* no closed form is given here */
  if (!(s > 0)) return 0;
  const double cosine = fmax(-1, fmin(1, covariance / s)), t = acos(cosine);
  const double even = 2 / SCL_PI * (sin(t) + (SCL_PI / 2 - t) * cosine);
  return s * (p * p * cosine + q * q * even);
}

const scl_plugin scullery_plugin = {
    .name = "my_plugin",
    .summary = "the leaky rectifier: z where z > 0, slope z elsewhere",
    .definition = "phi(z) = max(0, z) + slope*min(0, z)",
    .doc = "phi(z) = max(0, z) + slope min(0, z) = p z + q |z|, p = (1 + slope)/2 and\n"
           "q = (1 - slope)/2. One number in, one feature out.\n"
           "On N(0, I) rows it estimates, th the angle of x and y,\n"
           "|x| |y| (p^2 cos th + q^2 (2/pi) (sin th + (pi/2 - th) cos th)).\n"
           "In an RKHS weighting it becomes p m + q E|N(m, v^2)|.",
    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop, .loop_float32 = loop_float32),
    SCL_INSTANCE(leaky, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SMOOTHING, scl_ability_smoothing, .loop = smooth),
                  SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual),
                  SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1,
                            .breaks = (const double[]){0}, .n_breaks = 1)),
    .version = "0.1"};
