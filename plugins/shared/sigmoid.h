/* E g(a) g(b) for a smooth sigmoid g without a closed form, (a, b) normal, by the trapezoid rule in
 * two independent standard normals u and w:
 *
 *   a = m_a + s_a u,   b = m_b + s_b (r u + sqrt(1 - r^2) w)
 *
 * g has its nearest poles at +-i pole. With s the largest factor of u, a step h in u leaves the
 * error
 *
 *   exp(-2 pi y/h + y^2/2),   y = pole/s
 *
 * some 1e-11. The work grows with s^2: beyond `sigmoid_most` no value is given. */
#ifndef SCULLERY_SHARED_SIGMOID_H
#define SCULLERY_SHARED_SIGMOID_H

#include "shared/normal.h"

typedef struct sigmoid {
  const scl_base *base; /* the nonlinearity's instance */
  void (*loop)(const void *self, size_t count, const double *z, double *out);
  double pole;
} sigmoid;

static const double sigmoid_reach = 7, sigmoid_most = 20;

/* How many steps from -reach to reach for a factor s of u. */
static inline size_t sigmoid_steps(double pole, double factor) {
  const double digits = 25, furthest = 5, y = pole < furthest * factor ? pole / factor : furthest;
  return (size_t)ceil(2 * sigmoid_reach * (digits + y * y / 2) / (2 * SCL_PI * y));
}

/* E g(m + s N(0, 1)) by that many steps. */
static inline double sigmoid_mean(const sigmoid *g, size_t steps, double mean, double spread) {
  enum { CHUNK = 256 };
  const double step = 2 * sigmoid_reach / (double)steps;
  double sum = 0, value[CHUNK] = {0}, weight[CHUNK] = {0};
  for (size_t from = 0; from <= steps; from += CHUNK) {
    const size_t count = steps + 1 - from < CHUNK ? steps + 1 - from : CHUNK;
    for (size_t i = 0; i < count; i++) {
      const double w = step * (double)(from + i) - sigmoid_reach;
      value[i] = mean + spread * w;
      weight[i] = -w * w / 2;
    }
    g->loop(g->base, count, value, value);
    g->base->host->math->exp(count, weight, weight);
    for (size_t i = 0; i < count; i++)
      sum += value[i] * weight[i];
  }
  return step * sum / sqrt(2 * SCL_PI);
}

static inline double sigmoid_dual(const sigmoid *g, double mean_a, double mean_b, double var_a,
                                  double var_b, double covariance) {
  /* The wider one outside, so that both orders give the same number. */
  if (var_a < var_b || (var_a == var_b && mean_a < mean_b))
    return sigmoid_dual(g, mean_b, mean_a, var_b, var_a, covariance);
  const double sa = sqrt(var_a), sb = sqrt(var_b), scale = SCL_PI / 2 / g->pole;
  if (!(sa * scale < sigmoid_most) || !(sb * scale < sigmoid_most)) return NAN;
  const double r = sa > 0 && sb > 0 ? normal_correlation(var_a, var_b, covariance) : 0,
               shared = sb * r, own = sb * normal_rest(r);
  const size_t steps = sigmoid_steps(g->pole, fmax(sa, fabs(shared))),
               inner = sigmoid_steps(g->pole, own);
  const double step = 2 * sigmoid_reach / (double)steps;
  double sum = 0;
  for (size_t i = 0; i <= steps; i++) {
    const double u = step * (double)i - sigmoid_reach;
    double value = mean_a + sa * u;
    g->loop(g->base, 1, &value, &value);
    sum += normal_density(u) * value * sigmoid_mean(g, inner, mean_b + shared * u, own);
  }
  return step * sum;
}

/* The `dual` of the sigmoid with this `loop`; the nonlinearity by both, with values in [-1, 1]. */
#define SIGMOID_DUAL(pole_)                                                                        \
  static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,   \
                     double covariance) {                                                          \
    const sigmoid g = {.base = self, .loop = loop, .pole = pole_};                                 \
    return sigmoid_dual(&g, mean_a, mean_b, var_a, var_b, covariance);                             \
  }
#define SIGMOID(slope)                                                                             \
  SCL_NONLINEARITY(SCL_RIDGE_LOOPS),                                                               \
      SCL_ABILITIES(                                                                               \
          SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual),           \
          SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = slope))

#endif
