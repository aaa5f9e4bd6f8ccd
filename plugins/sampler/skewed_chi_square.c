/* Features of the skewed chi-square kernel (Li, Ionescu and Sminchisescu 2010, Random Fourier
 * approximations for skewed multiplicative histogram kernels, section 3.2), x_j, y_j > -c:
 *
 *   k(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c)
 *           = prod_j sech((u_j - v_j)/2),   u_j = log(x_j + c), v_j = log(y_j + c)
 *
 * The spectrum of sech(t/2) is the hyperbolic secant law of density sech(pi w), with the
 * distribution function and the quantile
 *
 *   F(w) = (2/pi) atan(exp(pi w))
 *   w    = (1/pi) log tan(pi r/2),   r uniform on (0, 1)
 *
 * so that Fourier features of
 *
 *   z_t = <w_t, log(x + c)>,   the w_tj independent
 *
 * estimate k. A parameter is the d numbers w_t; a batch of z is one product of log(X + c), n x d,
 * with W', d x T. */
#include "shared/skewed_chi_square.h"
#include <stdio.h>

static scl_status skewed_chi_square_layout(const void *instance, size_t dim, scl_layout *out,
                                           scl_error *error) {
  (void)instance, (void)error;
  out->reals = dim;
  out->tag = "phase";
  return SCL_STATUS_OK;
}

/* w = (1/pi) log tan(pi r/2), the quantile of the hyperbolic secant law. */
static scl_status skewed_chi_square_draw_rows(const void *instance, const scl_draw *draw,
                                              const scl_parameters *out, scl_error *error) {
  (void)error;
  const scl_random *random = ((const skewed *)instance)->base.host->random;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    random->uniform(draw->address.seed, draw->address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] = log(tan(SCL_PI / 2 * w[j])) / SCL_PI;
  }
  return SCL_STATUS_OK;
}

/* ------------ z */

/* out (packed) = log(x + c) */
static void log_rows(const skewed *self, const scl_const_block *x, double *out) {
  for (size_t i = 0; i < x->rows; i++) {
    const double *row = (const double *)x->data + (ptrdiff_t)i * x->row_stride;
    for (size_t j = 0; j < x->cols; j++)
      out[i * x->cols + j] = row[j] + self->c;
  }
  self->base.host->math->log(x->rows * x->cols, out, out);
}

/* z = log(X + c) W' */
static scl_status skewed_chi_square_apply(const void *instance, const scl_draw *draw,
                                          const scl_const_parameters *parameters,
                                          const scl_const_block *x, const scl_block *z,
                                          scl_error *error) {
  (void)draw;
  const skewed *self = instance;
  const scl_host *host = self->base.host;
  double *logs = host->scratch((x->rows * x->cols + 1) * sizeof *logs);
  if (logs == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for logarithms of %zu rows",
                      x->rows);
  log_rows(self, x, logs);
  host->dense->gemm(0, 1, x->rows, z->cols, x->cols, 1, logs, (ptrdiff_t)x->cols,
                    parameters->weights, parameters->stride, 0, z->data, z->row_stride);
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

/* The kernel belongs to nonlinearities that estimate the characteristic function itself. */
static scl_status skewed_chi_square_pair_kernel(const void *instance, const scl_part *partner,
                                                char *text, size_t size, scl_error *error) {
  const skewed *self = instance;
  const scl_ability_harmonic *harmonic =
      self->base.host->parts->ability(partner, SCL_ABILITY_HARMONIC);
  (void)error;
  if (harmonic != NULL && harmonic->amplitude == 1)
    (void)snprintf(text, size, "skewed_chi_square{c = %.17g}", self->c);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "skewed_chi_square",
    .summary =
        "hyperbolic secant rows on log(x + c): Fourier features of the skewed chi-square kernel",
    .definition =
        /* By the quantile of the hyperbolic secant law. */
    "draw(t, r) = map(range(r.dim), function(j)\n"
    "  return log(tan(pi/2*r.uniform(0, t, j - 1)))/pi end)\n"
    "z(x, W) = map(W, function(w)\n"
    "  return sum(w, function(v, j) return v*log(x[j] + c) end) end)",
    .doc = "z = <w, log(x + c)>, w_j independent with density sech(pi w), for x_j > -c.\n"
           "With nonlinearity.fourier the features estimate\n"
           "  prod_j 2 sqrt(x_j + c) sqrt(y_j + c)/(x_j + y_j + 2 c),\n"
           "kernel.skewed_chi_square (Li, Ionescu and Sminchisescu 2010, Random Fourier\n"
           "approximations for skewed multiplicative histogram kernels).",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = skewed_chi_square_draw_rows,
                .layout = skewed_chi_square_layout),
    SCL_INSTANCE(skewed, options),
    SCL_ABILITIES(
        SKEWED_DOMAIN,
        SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = skewed_chi_square_apply),
        SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                  .kernel = skewed_chi_square_pair_kernel))};
