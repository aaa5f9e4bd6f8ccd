/* Moments of rectified normals, for relu, abs and the arc-cosine features. */
#include "shared/rectified.h"

#include "shared/normal.h"

/* E max(0, N(mean, spread^2)). */
static double rectified_mean(double mean, double spread) {
  if (!(spread > 0)) return mean > 0 ? mean : 0;
  const double h = mean / spread;
  return mean * normal_cdf(h) + spread * normal_density(h);
}

double rectified_pair(double mean_a, double mean_b, double var_a, double var_b, double covariance) {
  const double sa = sqrt(var_a), sb = sqrt(var_b);
  if (!(sa > 0) || !(sb > 0)) return rectified_mean(mean_a, sa) * rectified_mean(mean_b, sb);
  const double h = normal_cut(mean_a / sa), k = normal_cut(mean_b / sb),
               r = normal_correlation(var_a, var_b, covariance);
  const double given = normal_given(h, k, r);
  const double value = (mean_a * mean_b + covariance) * bivariate_normal_cdf(h, k, r) +
                       mean_a * sb * normal_density(k) * normal_cdf(normal_given(k, h, r)) +
                       mean_b * sa * normal_density(h) * normal_cdf(given) +
                       normal_rest(r) * sa * sb * normal_density(h) * normal_density(given);
  return value > 0 ? value : 0;
}

void rectified_parts(const scl_vector_math *math, size_t count, const double *m, const double *v,
                     double *odd, double *even) {
  const double root = sqrt(0.5);
  for (size_t j = 0; j < count; j++) {
    odd[j] = m[j] / v[j] * root;
    even[j] = -odd[j] * odd[j];
  }
  math->erf(count, odd, odd);
  math->exp(count, even, even);
}

void rectified_smooth(const scl_vector_math *math, size_t count, const double *m, const double *v,
                      double size, double drift, double *out) {
  const double peak = size * sqrt(2 / SCL_PI);
  double odd[RECTIFIED_CHUNK] = {0}, even[RECTIFIED_CHUNK] = {0};
  for (size_t from = 0; from < count; from += RECTIFIED_CHUNK) {
    const size_t some = count - from < RECTIFIED_CHUNK ? count - from : RECTIFIED_CHUNK;
    rectified_parts(math, some, m + from, v + from, odd, even);
    for (size_t j = 0; j < some; j++)
      out[from + j] = m[from + j] * (size * odd[j] + drift) + peak * v[from + j] * even[j];
  }
}
