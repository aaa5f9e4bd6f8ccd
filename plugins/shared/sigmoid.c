/* E g(a) g(b) of smooth sigmoids, for logistic and tanh. */
#include "shared/sigmoid.h"

#include "shared/normal.h"

static const double sigmoid_reach = 7, sigmoid_most = 20;

/* Number of quadrature steps from -reach to reach for a factor s of u. */
static size_t sigmoid_steps(double pole, double factor) {
  const double digits = 25, furthest = 5, y = pole < furthest * factor ? pole / factor : furthest;
  return (size_t)ceil(2 * sigmoid_reach * (digits + y * y / 2) / (2 * SCL_PI * y));
}

/* E g(m + s N(0, 1)) by the trapezoid rule with that many steps. */
static double sigmoid_mean(const sigmoid *g, size_t steps, double mean, double spread) {
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

double sigmoid_dual(const sigmoid *g, double mean_a, double mean_b, double var_a, double var_b,
                    double covariance) {
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
