/* The leaky rectifier, with the slope a for negative numbers:
 *
 *   phi(z) = max(0, z) + a min(0, z) = p z + q |z|,   p = (1 + a)/2,   q = (1 - a)/2
 *
 * Smoothing:      E phi(N(m, v^2)) = p m + q (m erf(h) + v sqrt(2/pi) exp(-h^2)),   h = m/(v sqrt2)
 * Gaussian dual:  E phi(A) phi(B) = s (p^2 cos t + q^2 (2/pi) (sin t + (pi/2 - t) cos t))
 *
 * for normal A and B with means of 0, s^2 = var A var B and cos t = cov(A, B)/s: the linear kernel
 * and an arc-cosine kernel of order 1 (Cho and Saul 2009, Kernel methods for deep learning). */
#include <scullery/plugin.hpp>

namespace {

struct leaky {
  scl_base base; // what the host offers, and the options as they came
  double slope;  // a; the host writes it before anything is called
};

const scl_option options[] = {SCL_NUMBER(
    leaky, slope, "0.01", "a, the factor of negative numbers; 0: max(0, z), 1: z, -1: |z|",
    SCL_WITHIN(-1, 1))};

// phi(z) for count numbers; out may be z. Called by many threads at once, as all that follows. No
// exception may leave a slot.
template <typename Real> void loop(const void *instance, size_t count, const Real *z, Real *out) {
  const Real slope = static_cast<Real>(scullery::of<leaky>(instance).slope);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? z[j] : slope * z[j];
}

// E phi(N(m, v^2)), v > 0; out may be m. With it, features under a Gaussian K are exact.
void smooth(const void *instance, size_t count, const double *m, const double *v, double *out) {
  const leaky &self = scullery::of<leaky>(instance);
  const double p = (1 + self.slope) / 2, q = (1 - self.slope) / 2;
  for (size_t j = 0; j < count; j++) {
    const double h = m[j] / (v[j] * SCL_SQRT2);
    out[j] = p * m[j] + q * (m[j] * std::erf(h) + v[j] * std::sqrt(2 / SCL_PI) * std::exp(-h * h));
  }
}

// E phi(A) phi(B). With it, the kernel that features of Gaussian rows estimate is known exactly.
double dual(const void *instance, double mean_a, double mean_b, double var_a, double var_b,
            double covariance) {
  const leaky &self = scullery::of<leaky>(instance);
  const double p = (1 + self.slope) / 2, q = (1 - self.slope) / 2;
  const double s = std::sqrt(var_a) * std::sqrt(var_b);
  if (mean_a != 0 || mean_b != 0) return NAN; // no closed form is given here
  if (!(s > 0)) return 0;
  const double cosine = std::fmax(-1, std::fmin(1, covariance / s)), t = std::acos(cosine);
  const double even = 2 / SCL_PI * (std::sin(t) + (SCL_PI / 2 - t) * cosine);
  return s * (p * p * cosine + q * q * even);
}

const double breaks[] = {0};

} // namespace

const scl_plugin scullery_plugin = scullery::plugin(
    SCL_KIND_NONLINEARITY,
    scl_nonlinearity{.spaces = SCL_SPACES_RIDGE, .loop = loop<double>, .loop_float32 = loop<float>},
    {.name = "my_plugin",
     .summary = "the leaky rectifier: z where z > 0, slope z elsewhere",
     .doc = "phi(z) = max(0, z) + slope min(0, z) = p z + q |z|, p = (1 + slope)/2 and\n"
            "q = (1 - slope)/2. One number in, one feature out.\n"
            "On N(0, I) rows it estimates, th the angle of x and y,\n"
            "|x| |y| (p^2 cos th + q^2 (2/pi) (sin th + (pi/2 - th) cos th)).\n"
            "In an RKHS weighting it becomes p m + q E|N(m, v^2)|.",
     SCL_INSTANCE(leaky, options),
     .abilities = scullery::abilities(
         {scullery::offer(SCL_ABILITY_SMOOTHING, scl_ability_smoothing{.loop = smooth}),
          scullery::offer(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual{.dual = dual}),
          scullery::offer(SCL_ABILITY_FACTS, scl_ability_facts{.bound = INFINITY,
                                                               .lipschitz = 1,
                                                               .breaks = breaks,
                                                               .n_breaks = 1})}),
     .version = "0.1",
     .definition = "phi(z) = max(0, z) + slope*min(0, z)"});
