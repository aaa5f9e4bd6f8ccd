/* E max_j N(m_j, v_j^2), j = 1 .. q, independent.
 *
 *   q = 2 (Clark 1961):   max(m_1, m_2) + a (f(t) - t Q(t)),   a^2 = v_1^2 + v_2^2,
 *       t = |m_1 - m_2|/a,   Q = 1 - F
 *   one spread v:         max m + v (L - integral_{-L}^{L} prod_j F(t + (max m - m_j)/v) dt)
 *   spreads of their own: high - integral_{low}^{high} prod_j F((t - m_j)/v_j) dt
 * where L and the ends lie so far out that the product is 0 on the left and 1 on the right to
 * rounding. With one spread the integrand has the same smoothness everywhere: the trapezoid rule of
 * step s leaves exp(-2 pi^2/(q s^2)). Else Gauss-Legendre between the places where some factor
 * bends. */
#ifndef SCULLERY_SHARED_MAXOUT_SMOOTH_H
#define SCULLERY_SHARED_MAXOUT_SMOOTH_H

#include "shared/maxout.h"

#include <scullery/plugin.h>

enum { MAXOUT_CHUNK = 128, MAXOUT_EDGES = 8 };

/* How far out a rule goes, in standard deviations, and the size of the error that its step may
 * leave, exp(-2 pi^2/(q s^2)) = exp(-digits): some 1e-12 in float64, 1e-7 in float32. */
typedef struct maxout_rule {
  double reach, digits;
} maxout_rule;

static inline maxout_rule maxout_rule_for(scl_dtype dtype) {
  return dtype == SCL_DTYPE_FLOAT64 ? (maxout_rule){7.5, 28} : (maxout_rule){5.5, 16};
}

/* The means of a chunk of one row: number j of plane k at data + k * plane + j. */
typedef struct maxout_means {
  const void *data;
  scl_dtype dtype;
  ptrdiff_t plane;
} maxout_means;

static inline double maxout_number(const void *data, scl_dtype dtype, ptrdiff_t at) {
  return dtype == SCL_DTYPE_FLOAT64 ? ((const double *)data)[at]
                                    : (double)((const float *)data)[at];
}

/* Plane k of the chunk in float64. */
static inline void maxout_plane(const maxout_means *m, size_t k, size_t count, double *out) {
  const ptrdiff_t from = (ptrdiff_t)k * m->plane;
  for (size_t j = 0; m->dtype == SCL_DTYPE_FLOAT64 && j < count; j++)
    out[j] = ((const double *)m->data)[from + (ptrdiff_t)j];
  for (size_t j = 0; m->dtype == SCL_DTYPE_FLOAT32 && j < count; j++)
    out[j] = ((const float *)m->data)[from + (ptrdiff_t)j];
}

/* top = the largest mean of each entry. */
static inline void maxout_top(const maxout_means *m, size_t q, size_t count, double *top) {
  double mean[MAXOUT_CHUNK];
  maxout_plane(m, 0, count, top);
  for (size_t k = 1; k < q; k++) {
    maxout_plane(m, k, count, mean);
    for (size_t j = 0; j < count; j++)
      top[j] = mean[j] > top[j] ? mean[j] : top[j];
  }
}

/* product *= (1 + erf(at))/2; in float32's own precision where that is all that is asked. */
static inline void maxout_factor(const scl_vector_math *math, scl_dtype dtype, size_t count,
                                 double *at, double *product) {
  if (dtype == SCL_DTYPE_FLOAT64) {
    math->erf(count, at, at);
  } else {
    float narrow[MAXOUT_CHUNK] = {0};
    for (size_t j = 0; j < count; j++)
      narrow[j] = (float)at[j];
    math->erff(count, narrow, narrow);
    for (size_t j = 0; j < count; j++)
      at[j] = narrow[j];
  }
  for (size_t j = 0; j < count; j++)
    product[j] *= 0.5 + 0.5 * at[j];
}

/* ---------------------------------------------------------------- one spread */

/* v > 0. */
static inline void maxout_smooth_equal(const scl_vector_math *math, const maxout_means *m, size_t q,
                                       size_t count, const double *top, const double *v,
                                       double *out) {
  const maxout_rule rule = maxout_rule_for(m->dtype);
  const size_t steps =
      (size_t)ceil(2 * rule.reach * sqrt(2 * rule.digits * (double)q) / (2 * NORMAL_PI));
  const double step = 2 * rule.reach / (double)steps, root = sqrt(0.5);
  double sum[MAXOUT_CHUNK] = {0}, mean[MAXOUT_CHUNK], product[MAXOUT_CHUNK], at[MAXOUT_CHUNK] = {0};
  /* At the left end the product is 0; at the right one it is 1 and counts half. */
  for (size_t i = 1; i < steps; i++) {
    const double t = step * (double)i - rule.reach;
    for (size_t j = 0; j < count; j++)
      product[j] = 1;
    for (size_t k = 0; k < q; k++) {
      maxout_plane(m, k, count, mean);
      for (size_t j = 0; j < count; j++)
        at[j] = root * (t + (top[j] - mean[j]) / v[j]);
      maxout_factor(math, m->dtype, count, at, product);
    }
    for (size_t j = 0; j < count; j++)
      sum[j] += product[j];
  }
  for (size_t j = 0; j < count; j++)
    out[j] = top[j] + v[j] * (rule.reach - step * (sum[j] + 0.5));
}

/* ---------------------------------------------------------------- two planes */

/* E max(N(m, v^2), N(n, w^2)), out may be m: top + a (f(t) - t (1 - erf(t/sqrt2))/2). Where a = 0,
 * the larger mean. */
static inline void maxout_clark(const scl_vector_math *math, size_t count, const double *m,
                                const double *n, const double *v, const double *w, double *out) {
  const double root = sqrt(0.5);
  double a[MAXOUT_CHUNK], odd[MAXOUT_CHUNK] = {0}, even[MAXOUT_CHUNK] = {0};
  for (size_t j = 0; j < count; j++) {
    const double large = v[j] > w[j] ? v[j] : w[j],
                 ratio = large > 0 ? (v[j] > w[j] ? w[j] : v[j]) / large : 0;
    a[j] = large * sqrt(1 + ratio * ratio);
    odd[j] = large > 0 ? root * fabs(m[j] - n[j]) / a[j] : 0;
    even[j] = -odd[j] * odd[j];
  }
  math->erf(count, odd, odd);
  math->exp(count, even, even);
  for (size_t j = 0; j < count; j++) {
    const double top = m[j] > n[j] ? m[j] : n[j], gap = fabs(m[j] - n[j]);
    out[j] = top + (a[j] > 0 && odd[j] < 1
                        ? a[j] * even[j] / sqrt(2 * NORMAL_PI) - gap * (1 - odd[j]) / 2
                        : 0);
  }
}

/* ---------------------------------------------------------------- spreads of their own, one entry
 */

/* The nodes of a rule on [low, high] and room for the product there; MAXOUT_RULE (MAXOUT_EDGES q +
 * 1) of each. */
typedef struct maxout_nodes {
  size_t count;
  double *at, *weight, *edge;
} maxout_nodes;

static inline size_t maxout_most_nodes(size_t q) {
  return MAXOUT_RULE * (MAXOUT_EDGES * q + 1);
}

/* The places within (low, high) where some factor bends, ascending, the ends included; how many. */
static inline size_t maxout_edges(size_t q, const double *mean, const double *v, double low,
                                  double high, double *edge) {
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

/* The trapezoid rule where the narrowest factor still lets its step be wide; else Gauss-Legendre
 * between the edges. */
static inline void maxout_place(size_t q, const double *mean, const double *v, double low,
                                double high, maxout_nodes *nodes) {
  double sharpness =
      0; /* infinite where a plane of spread 0 makes the integrand begin with a jump */
  for (size_t k = 0; k < q; k++)
    if (mean[k] + maxout_rule_for(SCL_DTYPE_FLOAT64).reach * v[k] >= low)
      sharpness += (high - low) / v[k] * ((high - low) / v[k]);
  const double steps =
      ceil(sqrt(2 * maxout_rule_for(SCL_DTYPE_FLOAT64).digits * sharpness) / (2 * NORMAL_PI));
  nodes->count = 0;
  if (steps <= MAXOUT_CHUNK) {
    for (double i = 1; i <= steps; i++, nodes->count++) {
      nodes->at[nodes->count] = low + (high - low) * (i / steps);
      nodes->weight[nodes->count] = (high - low) / steps * (i < steps ? 1 : 0.5);
    }
    return;
  }
  const size_t edges = maxout_edges(q, mean, v, low, high, nodes->edge);
  for (size_t e = 0; e + 1 < edges; e++) {
    const double half = (nodes->edge[e + 1] - nodes->edge[e]) / 2, middle = nodes->edge[e] + half;
    for (size_t i = 0; half > 0 && i < MAXOUT_RULE; i++, nodes->count++) {
      nodes->at[nodes->count] = middle + half * maxout_node(i);
      nodes->weight[nodes->count] = half * maxout_weight(i);
    }
  }
}

/* product of F((t - m_k)/v_k) at count <= MAXOUT_CHUNK nodes t. */
static inline void maxout_product(const scl_vector_math *math, size_t q, const double *mean,
                                  const double *v, size_t count, const double *t, double *product) {
  const double root = sqrt(0.5);
  double at[MAXOUT_CHUNK] = {0};
  for (size_t i = 0; i < count; i++)
    product[i] = 1;
  for (size_t k = 0; k < q; k++) {
    for (size_t i = 0; i < count; i++)
      at[i] = v[k] > 0 ? root * ((t[i] - mean[k]) / v[k]) : t[i] < mean[k] ? -9 : 9;
    maxout_factor(math, SCL_DTYPE_FLOAT64, count, at, product);
  }
}

/* E max of one entry. */
static inline double maxout_smooth_own(const scl_vector_math *math, size_t q, const double *mean,
                                       const double *v, maxout_nodes *nodes) {
  const double reach = maxout_rule_for(SCL_DTYPE_FLOAT64).reach;
  double low = -INFINITY, high = -INFINITY, sum = 0, product[MAXOUT_CHUNK];
  for (size_t k = 0; k < q; k++) {
    low = fmax(low, mean[k] - reach * v[k]);
    high = fmax(high, mean[k] + reach * v[k]);
  }
  if (!(high - low > 0) || !isfinite(high - low)) return high;
  maxout_place(q, mean, v, low, high, nodes);
  for (size_t from = 0; from < nodes->count; from += MAXOUT_CHUNK) {
    const size_t left = nodes->count - from, count = left < MAXOUT_CHUNK ? left : MAXOUT_CHUNK;
    maxout_product(math, q, mean, v, count, nodes->at + from, product);
    for (size_t i = 0; i < count; i++)
      sum += nodes->weight[from + i] * product[i];
  }
  return high - sum;
}

#endif
