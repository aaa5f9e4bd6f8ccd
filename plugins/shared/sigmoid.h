/* E g(a) g(b) for a smooth sigmoid g that has no closed form, (a, b) normal: with a = m_a + s_a u,
 * b = m_b + s_b (r u + sqrt(1 - r^2) w), u and w independent, by the trapezoid rule in both. g has
 * its nearest poles at +-i pole, so a step h in u leaves exp(-2 pi y/h + y^2/2), y = pole/s, s the
 * largest factor of u: some 1e-11. The work grows with the square of s: beyond `sigmoid_most` no
 * value is given. */
#ifndef SCULLERY_SHARED_SIGMOID_H
#define SCULLERY_SHARED_SIGMOID_H

#include "shared/normal.h"
#include "shared/pointwise.h"

static const double sigmoid_reach = 7, sigmoid_most = 20;

/* How many steps from -reach to reach: with y = pole/factor, or less, the error is exp(-2 pi y/h +
 * y^2/2). */
static inline size_t sigmoid_steps(double pole, double factor) {
  const double digits = 25, furthest = 5, y = pole < furthest * factor ? pole / factor : furthest;
  return (size_t)ceil(2 * sigmoid_reach * (digits + y * y / 2) / (2 * NORMAL_PI * y));
}

/* E g(m + s N(0, 1)) by that many steps. */
static inline double sigmoid_mean(const pointwise *self, size_t steps, double mean, double spread) {
  const double step = 2 * sigmoid_reach / (double)steps;
  double sum = 0, value[POINTWISE_CHUNK] = {0}, weight[POINTWISE_CHUNK] = {0};
  for (size_t from = 0; from <= steps; from += POINTWISE_CHUNK) {
    const size_t count = steps + 1 - from < POINTWISE_CHUNK ? steps + 1 - from : POINTWISE_CHUNK;
    for (size_t i = 0; i < count; i++) {
      const double w = step * (double)(from + i) - sigmoid_reach;
      value[i] = mean + spread * w;
      weight[i] = -w * w / 2;
    }
    self->loops->apply_f64(self, count, value, value);
    self->math->exp(count, weight, weight);
    for (size_t i = 0; i < count; i++)
      sum += value[i] * weight[i];
  }
  return step * sum / sqrt(2 * NORMAL_PI);
}

static inline double sigmoid_dual(const pointwise *self, double pole, double mean_a, double mean_b,
                                  double var_a, double var_b, double covariance) {
  /* The wider one outside, so that both orders give the same number. */
  if (var_a < var_b || (var_a == var_b && mean_a < mean_b))
    return sigmoid_dual(self, pole, mean_b, mean_a, var_b, var_a, covariance);
  const double sa = sqrt(var_a), sb = sqrt(var_b), scale = NORMAL_PI / 2 / pole;
  if (!(sa * scale < sigmoid_most) || !(sb * scale < sigmoid_most)) return NAN;
  const double r = sa > 0 && sb > 0 ? normal_correlation(var_a, var_b, covariance) : 0,
               shared = sb * r, own = sb * normal_rest(r);
  const size_t steps = sigmoid_steps(pole, fmax(sa, fabs(shared))),
               inner = sigmoid_steps(pole, own);
  const double step = 2 * sigmoid_reach / (double)steps;
  double sum = 0;
  for (size_t i = 0; i <= steps; i++) {
    const double u = step * (double)i - sigmoid_reach;
    double value = mean_a + sa * u;
    self->loops->apply_f64(self, 1, &value, &value);
    sum += normal_density(u) * value * sigmoid_mean(self, inner, mean_b + shared * u, own);
  }
  return step * sum;
}

#endif
