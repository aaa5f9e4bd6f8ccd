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

#include <scullery/plugin.h>

typedef struct sigmoid {
  const scl_base *base; /* the nonlinearity's instance */
  void (*loop)(const void *self, size_t count, const double *z, double *out);
  double pole;
} sigmoid;

double sigmoid_dual(const sigmoid *g, double mean_a, double mean_b, double var_a, double var_b,
                    double covariance);

/* The `dual` of the sigmoid with this `loop`; the nonlinearity by both, with values in [-1, 1]. */
#define SIGMOID_DUAL(pole_) \
  static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b, \
                     double covariance) { \
    const sigmoid g = {.base = self, .loop = loop, .pole = pole_}; \
    return sigmoid_dual(&g, mean_a, mean_b, var_a, var_b, covariance); \
  }
#define SIGMOID(slope) \
  SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula), \
      SCL_ABILITIES( \
          SCL_OFFER(SCL_ABILITY_GAUSSIAN_DUAL, scl_ability_gaussian_dual, .dual = dual), \
          SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = slope))

#endif
