/* The bivariate normal distribution function, by Owen's T. */
#include "shared/normal.h"

/* T(h, a) for |a| <= 1: Gauss-Legendre with 20 nodes on [0, a]. */
static double owen_near(double h, double a) {
  static const double node[10] = {0.076526521133497333755, 0.227785851141645078080,
                                  0.373706088715419560673, 0.510867001950827098004,
                                  0.636053680726515025453, 0.746331906460150792614,
                                  0.839116971822218823395, 0.912234428251325905868,
                                  0.963971927277913791268, 0.993128599185094924786};
  static const double weight[10] = {0.152753387130725850698, 0.149172986472603746788,
                                    0.142096109318382051329, 0.131688638449176626898,
                                    0.118194531961518417312, 0.101930119817240435037,
                                    0.083276741576704748725, 0.062672048334109063570,
                                    0.040601429800386941331, 0.017614007139152118312};
  const double half = -h * h / 2;
  if (half < -700 || a == 0) return 0;
  double sum = 0;
  for (size_t i = 0; i < 10; i++) {
    const double low = a * (1 - node[i]) / 2, high = a * (1 + node[i]) / 2;
    const double l = 1 + low * low, u = 1 + high * high;
    sum += weight[i] * (exp(half * l) / l + exp(half * u) / u);
  }
  return sum * a / (4 * SCL_PI);
}

/* T(h, a) as a function of h and ah = a h, which stay finite where a does not. For |a| > 1, with
 * Q = 1 - F and h, ah > 0:
 *   T(h, a) = (Q(h) + Q(ah))/2 - Q(h) Q(ah) - T(ah, 1/a) */
static double owen(double h, double ah) {
  const double x = fabs(h), y = fabs(ah), sign = (h < 0) != (ah < 0) ? -1 : 1;
  if (y <= x) return x == 0 ? 0 : sign * owen_near(x, y / x);
  const double qx = normal_cdf(-x), qy = normal_cdf(-y);
  return sign * ((qx + qy) / 2 - qx * qy - owen_near(y, x / y));
}

double normal_given(double h, double k, double r) {
  const double rest = normal_rest(r), gap = r > 0 ? (k - h) + (1 - r) * h : (k + h) - (1 + r) * h;
  return gap == 0 ? 0 : gap / rest;
}

/* h and k are cut to +-40. r = +-1 and h = k = 0 have closed forms; the result is clipped to the
 * range that rounding could leave. */
double bivariate_normal_cdf(double h, double k, double r) {
  h = normal_cut(h);
  k = normal_cut(k);
  const double fh = normal_cdf(h), fk = normal_cdf(k), least = fh < fk ? fh : fk;
  if (r >= 1) return least;
  if (r <= -1) return h + k <= 0 ? 0 : h < k ? fh - normal_cdf(-k) : fk - normal_cdf(-h);
  if (h == 0 && k == 0) return 0.25 + atan2(r, normal_rest(r)) / (2 * SCL_PI);
  const bool apart = (h < 0) != (k < 0);
  const double value = (fh + fk) / 2 - owen(h, normal_given(h, k, r)) -
                       owen(k, normal_given(k, h, r)) - (apart ? 0.5 : 0);
  return value < 0 ? 0 : value > least ? least : value;
}
