/* The absolute value:
 *   phi(z) = |z|
 *
 * Smoothing:      S(m, v) = v sqrt(2/pi) exp(-m^2/(2 v^2)) + m erf(m/(sqrt2 v))
 * Gaussian dual:  |a| |b| is the sum of a_+ b_+ over the four signs (shared/rectified.h) */
#include "shared/rectified.h"

SCL_LOOPS(fabs(z))

/* |z| itself: size 1, drift 0. */
static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  rectified_smooth(((const scl_base *)self)->host->math, count, m, v, 1, 0, out);
}

static double dual(const void *self, double mean_a, double mean_b, double var_a, double var_b,
                   double covariance) {
  (void)self;
  return rectified_pair(mean_a, mean_b, var_a, var_b, covariance) +
         rectified_pair(-mean_a, -mean_b, var_a, var_b, covariance) +
         rectified_pair(mean_a, -mean_b, var_a, var_b, -covariance) +
         rectified_pair(-mean_a, mean_b, var_a, var_b, -covariance);
}

const scl_plugin scullery_plugin = {
    .name = "abs",
    .summary = "|z|, the absolute value",
    .definition = "phi(z) = abs(z)",
    .doc = "phi(z) = |z|. One number in, one feature out.\n"
           "On N(0, I) rows it estimates (2/pi) |x| |y| (sqrt(1 - r^2) + r asin r),\n"
           "r the cosine of x and y; with means and biases it is closed too, by the bivariate\n"
           "normal distribution function.\n"
           "In an RKHS weighting it becomes v sqrt(2/pi) exp(-m^2/(2 v^2)) + m erf(m/(sqrt2 v)).",
    SCL_NONLINEARITY(SCL_RIDGE_LOOPS, .formula = loop_formula),
    RECTIFIED_ABILITIES};
