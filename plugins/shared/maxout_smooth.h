/* E max_j N(m_j, v_j^2), j = 1 .. q, independent.
 *
 *   q = 2 (Clark 1961):   max(m_1, m_2) + a (f(t) - t Q(t)),   a^2 = v_1^2 + v_2^2,   t = |m_1 - m_2|/a,   Q = 1 - F
 *   one spread v:         max m + v (L - integral_{-L}^{L} prod_j F(t + (max m - m_j)/v) dt)
 *   spreads of their own: high - integral_{low}^{high} prod_j F((t - m_j)/v_j) dt
 * where L and the ends lie so far out that the product is 0 on the left and 1 on the right to rounding. With one spread the integrand has
 * the same smoothness everywhere: the trapezoid rule of step s leaves exp(-2 pi^2/(q s^2)). Else Gauss-Legendre between the
 * places where some factor bends. */
#ifndef SCULLERY_SHARED_MAXOUT_SMOOTH_H
#define SCULLERY_SHARED_MAXOUT_SMOOTH_H

#include "shared/maxout.h"

#include <scullery/plugin.h>

enum { MAXOUT_CHUNK = 128, MAXOUT_EDGES = 8 };

/* How far from its mean a normal is 0 or 1 to rounding, in standard deviations. */
static const double maxout_reach = 8.3;

/* The means of a chunk of one row: mean[j] of plane k at mean + k * plane, in one of two types. */
typedef struct maxout_means {
  const void *data;
  scl_dtype dtype;
  ptrdiff_t plane;
} maxout_means;

static inline double maxout_number(const void *data, scl_dtype dtype, ptrdiff_t at) {
  return dtype == SCL_F64 ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

/* ---------------------------------------------------------------- one spread */

/* top = the largest mean of each entry. */
static inline void maxout_top(const maxout_means *m, size_t q, size_t count, double *top) {
  for (size_t k = 0; k < q; k++)
    for (size_t j = 0; j < count; j++) {
      const double mean = maxout_number(m->data, m->dtype, (ptrdiff_t)k * m->plane + (ptrdiff_t)j);
      top[j] = k == 0 || mean > top[j] ? mean : top[j];
    }
}

/* product *= F(t + (top - m)/v) */
static inline void maxout_factor(const scl_vector_math *math, const maxout_means *m, size_t plane, size_t count, double t,
                                 const double *top, const double *v, double *product) {
  const double root = sqrt(0.5);
  double at[MAXOUT_CHUNK] = {0};
  for (size_t j = 0; j < count; j++)
    at[j] = root * (t + (top[j] - maxout_number(m->data, m->dtype, (ptrdiff_t)plane * m->plane + (ptrdiff_t)j)) / v[j]);
  math->erf(count, at, at);
  for (size_t j = 0; j < count; j++)
    product[j] *= 0.5 + 0.5 * at[j];
}

/* v > 0; entries whose spread is 0 come with any v, and leave with their top. */
static inline void maxout_smooth_equal(const scl_vector_math *math, const maxout_means *m, size_t q, size_t count, const double *top,
                                       const double *v, double *out) {
  const size_t steps = (size_t)ceil(2 * maxout_reach * sqrt(60 * (double)q) / (2 * NORMAL_PI));
  const double step = 2 * maxout_reach / (double)steps;
  double sum[MAXOUT_CHUNK] = {0}, product[MAXOUT_CHUNK];
  /* At the left end the product is 0; at the right one it is 1 and counts half. */
  for (size_t i = 1; i < steps; i++) {
    for (size_t j = 0; j < count; j++)
      product[j] = 1;
    for (size_t k = 0; k < q; k++)
      maxout_factor(math, m, k, count, step * (double)i - maxout_reach, top, v, product);
    for (size_t j = 0; j < count; j++)
      sum[j] += product[j];
  }
  for (size_t j = 0; j < count; j++)
    out[j] = top[j] + v[j] * (maxout_reach - step * (sum[j] + 0.5));
}

/* ---------------------------------------------------------------- two planes */

/* a from two spreads, without overflow. */
static inline double maxout_join(double v, double w) {
  const double large = v > w ? v : w, small = v > w ? w : v;
  return large > 0 ? large * sqrt(1 + (small / large) * (small / large)) : 0;
}

static inline double maxout_clark(double mean, double other, double v, double w) {
  const double a = maxout_join(v, w), top = mean > other ? mean : other;
  if (!(a > 0)) return top;
  const double t = fabs(mean - other) / a;
  return t < 38 ? top + a * (normal_density(t) - t * normal_cdf(-t)) : top;
}

/* ---------------------------------------------------------------- spreads of their own */

static inline double maxout_product(size_t q, const double *mean, const double *v, double t) {
  double product = 1;
  for (size_t k = 0; k < q; k++)
    product *= v[k] > 0 ? normal_cdf((t - mean[k]) / v[k]) : t >= mean[k] ? 1 : 0;
  return product;
}

/* The edges within [low, high] of all planes, ascending, the ends included; how many. */
static inline size_t maxout_edges(size_t q, const double *mean, const double *v, double low, double high, double *edge) {
  static const double place[MAXOUT_EDGES] = {-8.3, -5.5, -3.3, -1.1, 1.1, 3.3, 5.5, 8.3};
  size_t count = 0;
  edge[count++] = low;
  edge[count++] = high;
  for (size_t k = 0; k < q; k++)
    for (size_t e = 0; e < MAXOUT_EDGES; e++) {
      const double at = mean[k] + v[k] * place[e];
      if (at > low && at < high) edge[count++] = at;
    }
  for (size_t i = 1; i < count; i++) {
    const double value = edge[i];
    size_t j = i;
    for (; j > 0 && edge[j - 1] > value; j--)
      edge[j] = edge[j - 1];
    edge[j] = value;
  }
  return count;
}

/* E max of one entry; edge: room for MAXOUT_EDGES q + 2 numbers. */
static inline double maxout_smooth_own(size_t q, const double *mean, const double *v, double *edge) {
  double low = -INFINITY, high = -INFINITY, sum = 0;
  for (size_t k = 0; k < q; k++) {
    low = fmax(low, mean[k] - maxout_reach * v[k]);
    high = fmax(high, mean[k] + maxout_reach * v[k]);
  }
  if (!(high - low > 0) || !isfinite(high - low)) return high;
  const size_t count = maxout_edges(q, mean, v, low, high, edge);
  for (size_t e = 0; e + 1 < count; e++) {
    const double half = (edge[e + 1] - edge[e]) / 2, middle = edge[e] + half;
    if (!(half > 0)) continue;
    for (size_t i = 0; i < MAXOUT_RULE; i++)
      sum += half * maxout_weight(i) * maxout_product(q, mean, v, middle + half * maxout_node(i));
  }
  return high - sum;
}

#endif
