/* Moments and collision probabilities of maxima of normals, by quadrature and Chebyshev series made
 * once for each q. */
#include "shared/maxout.h"

#include "shared/normal.h"

double maxout_node(size_t i) {
  static const double node[6] = {0.125233408511468915472, 0.367831498998180193753,
                                 0.587317954286617447297, 0.769902674194304687037,
                                 0.904117256370474856678, 0.981560634246719250691};
  return i < 6 ? -node[5 - i] : node[i - 6];
}

double maxout_weight(size_t i) {
  static const double weight[6] = {0.249147045813402785001, 0.233492536538354808761,
                                   0.203167426723065921749, 0.160078328543346226335,
                                   0.106939325995318430960, 0.047175336386511827195};
  return i < 6 ? weight[5 - i] : weight[i - 6];
}

/* x^n by repeated squaring. */
static double maxout_power(double x, size_t n) {
  double value = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2 == 1) value *= x;
  return value;
}

/* The inner integral over w in [0, 8.4], doubled: E[ F2(cu + dw, cu - dw; r)^(q-1) | u ]. Nodes
 * that cannot matter are left out. */
static double maxout_given(size_t q, double u, double density, double c, double d, double r) {
  const double panel = 2.1, least = 1e-16;
  double sum = 0;
  for (size_t p = 0; p < 4; p++)
    for (size_t i = 0; i < MAXOUT_RULE; i++) {
      const double w = panel * ((double)p + (1 + maxout_node(i)) / 2),
                   weight = panel / 2 * maxout_weight(i) * normal_density(w);
      if (density * weight * maxout_power(normal_cdf(c * u - d * w), q - 1) < least) return 2 * sum;
      sum += weight * maxout_power(bivariate_normal_cdf(c * u + d * w, c * u - d * w, r), q - 1);
    }
  return 2 * sum;
}

/* kappa_q(theta) by quadrature over u in [-8.4, 8.4]. */
static double maxout_collision_at(size_t q, double theta) {
  const double c = cos(theta / 2), d = sin(theta / 2), r = cos(theta);
  const size_t panels = q <= 8 ? 8 : q <= 32 ? 12 : 20; /* F^(q-1) grows steep with q */
  const double panel = 16.8 / (double)panels;
  double sum = 0;
  for (size_t p = 0; p < panels; p++)
    for (size_t i = 0; i < MAXOUT_RULE; i++) {
      const double u = panel * ((double)p + (1 + maxout_node(i)) / 2) - 8.4;
      const double density = (double)q * panel / 2 * maxout_weight(i) * normal_density(u);
      sum += density * maxout_given(q, u, density, c, d, r);
    }
  return sum;
}

/* E max and E max^2: the density of the maximum is q f F^(q-1). */
static void maxout_moments(size_t q, double *mean, double *square) {
  const double panel = 0.5;
  *mean = 0;
  *square = 0;
  for (size_t p = 0; p < 40; p++)
    for (size_t i = 0; i < MAXOUT_RULE; i++) {
      const double t = panel * ((double)p + (1 + maxout_node(i)) / 2) - 10;
      const double mass = (double)q * panel / 2 * maxout_weight(i) * normal_density(t) *
                          maxout_power(normal_cdf(t), q - 1);
      *mean += mass * t;
      *square += mass * t * t;
    }
}

/* Chebyshev coefficients of a function from its values at the nodes cos(pi (i + 1/2)/terms). */
static void maxout_coefficients(size_t terms, const double *value, double *out) {
  const double n = (double)terms;
  for (size_t k = 0; k < terms; k++) {
    out[k] = 0;
    for (size_t i = 0; i < terms; i++)
      out[k] += value[i] * cos(SCL_PI * (double)k * ((double)i + 0.5) / n) * (k == 0 ? 1 : 2) / n;
  }
}

/* Coefficients of E max^2 - integral_0^theta of the series in `rate`. A Chebyshev series is
 * integrated term by term, with the factor pi/2 of d theta; the constant makes the value at theta =
 * 0 equal to `square`. */
static void maxout_integrate(size_t terms, const double *rate, double square, double *out) {
  double start = 0;
  for (size_t k = 1; k < terms; k++) {
    const double below = (k == 1 ? 2 : 1) * rate[k - 1], above = k + 1 < terms ? rate[k + 1] : 0;
    out[k] = -SCL_PI / 2 * (below - above) / (2 * (double)k);
    start += k % 2 == 1 ? -out[k] : out[k];
  }
  out[0] = square - start;
}

void maxout_table_make(size_t q, maxout_table *out) {
  double value[MAXOUT_TERMS], rate[MAXOUT_TERMS];
  /* Two codes differ over an angle that shrinks with q: then the series is longer. */
  const size_t terms = q <= 8 ? 32 : MAXOUT_TERMS;
  *out = (maxout_table){.q = q, .terms = terms};
  maxout_moments(q, &out->mean, &out->square);
  if (q <= 2) return;
  for (size_t i = 0; i < terms; i++) {
    const double theta = SCL_PI / 2 * (1 + cos(SCL_PI * ((double)i + 0.5) / (double)terms));
    value[i] = maxout_collision_at(q, theta);
    rate[i] = value[i] * sin(theta);
  }
  maxout_coefficients(terms, value, out->collision);
  double slope[MAXOUT_TERMS];
  maxout_coefficients(terms, rate, slope);
  maxout_integrate(terms, slope, out->square, out->moment);
}

/* The series at theta = acos r, by Clenshaw's recursion. */
static double maxout_series(size_t terms, const double *coefficient, double r) {
  const double x = 2 * atan2(normal_rest(r), r) / SCL_PI - 1;
  double b = 0, next = 0;
  for (size_t k = terms; k-- > 1;) {
    const double last = b;
    b = coefficient[k] + 2 * x * b - next;
    next = last;
  }
  return coefficient[0] + x * b - next;
}

static double maxout_cut(double r) { return r > 1 ? 1 : r < -1 ? -1 : r; }

double maxout_moment(const maxout_table *table, double correlation) {
  const double r = maxout_cut(correlation);
  if (table->q == 1) return r;
  if (table->q > 2) return maxout_series(table->terms, table->moment, r);
  return (r + 2 / SCL_PI * (normal_rest(r) + r * asin(r))) / 2;
}

double maxout_collision(const maxout_table *table, double correlation) {
  const double r = maxout_cut(correlation);
  if (table->q == 1) return 1;
  if (table->q == 2) return 1 - atan2(normal_rest(r), r) / SCL_PI;
  const double value = maxout_series(table->terms, table->collision, r);
  return value < 0 ? 0 : value > 1 ? 1 : value;
}
