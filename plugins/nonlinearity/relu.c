/* The rectifier:
 *   phi(z) = max(0, z)
 *
 * Smoothing:      S(m, v) = m F(m/v) + v f(m/v)
 * Gaussian dual:  shared/rectified.h; for means of 0, half the arc-cosine kernel of order 1 (Cho
 *                 and Saul 2009, Kernel methods for deep learning) */
#include "shared/rectified.h"

SCL_LOOPS(z <= 0 ? 0 : z)

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  rectified_smooth(((const scl_base *)self)->host->math, count, m, v, 0.5, 0.5, out);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return rectified_pair(mean_a, mean_b, var_a, var_b, covariance);
}

const scl_plugin scullery_plugin = {
    .name = "relu",
    .summary = "max(0, z), the rectifier",
    .definition = "phi(z) = max(0, z)",
    .doc =
        "phi(z) = max(0, z). One number in, one feature out.\n"
        "On N(0, I) rows it estimates (1/2pi) |x| |y| (sin th + (pi - th) cos th),\n"
        "th the angle of x and y: half the arc-cosine kernel of order 1 (Cho and Saul 2009).\n"
        "arccos{order = 1} is sqrt2 max(0, z) and estimates all of it.\n"
        "With means and biases it is closed too, by the bivariate normal distribution function.\n"
        "In an RKHS weighting it becomes m F(m/v) + v f(m/v), F and f the normal distribution\n"
        "function and density.",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    RECTIFIED_ABILITIES};
