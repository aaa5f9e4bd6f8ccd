/* The skewed chi-square kernel, x_j, y_j > -c (Li, Ionescu and Sminchisescu 2010, Random Fourier
 * approximations for skewed multiplicative histogram kernels):
 *
 *   K(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c)
 *           = prod_j 2 s_j t_j/(s_j^2 + t_j^2),   s_j = sqrt(x_j + c), t_j = sqrt(y_j + c)
 *
 * No factor is above 1, so the product of the first ones is at least K: it underflows where K
 * itself does, and never overflows. */
#include "shared/column_kernel.h"

typedef struct skewed {
  scl_base base;
  double c;
} skewed;

static const scl_option options[] = {SCL_NUMBER(
    skewed, c, "1", "the shift c, above 0; entries of rows must be above -c", SCL_POSITIVE)};

static double prepare(const void *instance, double x) {
  const skewed *self = instance;
  return x > -self->c ? sqrt(x + self->c) : NAN;
}

static scl_status refuse(const void *instance, size_t column, double x, scl_error *error) {
  const skewed *self = instance;
  return self->base.host->fail(
      error, SCL_STATUS_BAD_DATA,
      "the skewed chi-square kernel with c = %g takes numbers above %g, and column %zu has %g",
      self->c, -self->c, column, x);
}

static void gather(double s, size_t count, const double *t, double *out) {
  for (size_t j = 0; j < count; j++)
    out[j] *= 2 * s * t[j] / (s * s + t[j] * t[j]);
}

static const column_kernel form = {
    .start = 1, .prepare = prepare, .gather = gather, .refuse = refuse};

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  return column_gram(&form, self, u, v, out, stride, error);
}

static scl_status diagonal(const void *self, const scl_const_parameters *u, double *out,
                           scl_error *error) {
  return column_diagonal(&form, self, u, out, error);
}

const scl_plugin scullery_plugin = {
    .name = "skewed_chi_square",
    .summary = "prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c), for rows above -c",
    .doc = "K(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c), x_j, y_j > -c.\n"
           "Dense rows only, positive definite, K(x, x) = 1; a function of log(x_j + c) - log(y_j "
           "+ c)\n"
           "(Li, Ionescu and Sminchisescu 2010, Random Fourier approximations for skewed\n"
           "multiplicative histogram kernels).",
    SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram, .diagonal = diagonal),
    SCL_INSTANCE(skewed, options)};
