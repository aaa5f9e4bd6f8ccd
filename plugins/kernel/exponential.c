/* K(u, w) = exp(<u, w> / g^2); on sparse rows and thresholds times 1[same support].
 *
 * Tilt, for p = N(m, s^2), coordinate by coordinate (Dube and Marchand 2023 for m = 0):
 *   exp(u w/g^2) N(w; m, s^2) = c(u) N(w; m + (s^2/g^2) u, s^2),
 *       log c(u) = (m/g^2) u + (s^2/(2 g^4)) u^2.
 * With q = s^2/g^2:
 *   E K(w, w)      = (1 - 2q)^(-1/2) exp((m^2/g^2) / (1 - 2q)),      finite for 2 s^2 < g^2 alone
 *   E E K(u, w)    = (1 - q^2)^(-1/2) exp((m^2/g^2) / (1 - q))
 *   under K p p    u and w have variance s^2/(1 - q^2) and correlation q. */
#include "shared/kernel.h"
#include "shared/kernel_tilt.h"

enum { GAMMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_LENGTH, "the width g in exp(<u,w>/g^2)"},
};

typedef struct exponential {
  kernel base;
  double gamma;
} exponential;

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const exponential *self = instance;
  (void)dim;
  self->base.math->exp(count, numbers, numbers);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_DOT, .scale = 1 / values[GAMMA].number, .finish = finish};
  if (!isfinite(form.scale))
    return host->fail(error, SCL_STATUS_BAD_OPTION, "'gamma' = %g is too small",
                      values[GAMMA].number);
  const scl_status status = kernel_create(host, sizeof(exponential), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  exponential *self = *instance;
  self->gamma = values[GAMMA].number;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the tilt */

static double log_diagonal_factor(const void *instance, double mean, double scale) {
  const exponential *self = instance;
  const double q = pow(scale / self->gamma, 2), m = mean / self->gamma;
  return m * m / (1 - 2 * q) - 0.5 * log1p(-2 * q);
}

static double log_mass_factor(const void *instance, double mean, double scale) {
  const exponential *self = instance;
  const double q = pow(scale / self->gamma, 2), m = mean / self->gamma;
  return m * m / (1 - q) - 0.5 * log1p(-q * q);
}

static scl_status check_law(const exponential *self, const scl_law *law, scl_error *error) {
  const scl_host *host = self->base.host;
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "no closed form for this kernel with this sampler's law");
  for (size_t j = 0; j < law->dim; j++)
    if (!(2 * pow(law->scale[j] / self->gamma, 2) < 1))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "the sampler's standard deviation s = %g in column %zu and this kernel's "
                        "gamma g = %g do not fit: E exp(||w||^2/g^2) "
                        "is finite for 2 s^2 < g^2 alone, so give gamma above %g",
                        law->scale[j], j + 1, self->gamma, sqrt(2) * law->scale[j]);
  return SCL_STATUS_OK;
}

static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const exponential *self = instance;
  const scl_status status = check_law(self, law, error);
  if (status != SCL_STATUS_OK) return status;
  double *room = self->base.host->allocate((2 * law->dim + 1) * sizeof *room);
  if (room == NULL)
    return self->base.host->fail(error, SCL_STATUS_NO_MEMORY,
                                 "not enough memory for the tilt of %zu columns", law->dim);
  for (size_t j = 0; j < law->dim; j++) {
    const double s = law->scale[j], q = pow(s / self->gamma, 2);
    out->offset[j] = law->mean[j];
    out->shrink[j] = q;
    out->spread[j] = s;
    out->log0[j] = 0;
    out->log1[j] = law->mean[j] / self->gamma / self->gamma;
    out->log2[j] = 0.5 * q / self->gamma / self->gamma;
    out->correlation[j] = q;
    out->pair_scale[j] = s / sqrt(1 - q * q);
  }
  out->log_one = tilt_indicator(law);
  out->log_diagonal = tilt_total(law, log_diagonal_factor, self, room);
  out->log_mass = tilt_indicator(law) + tilt_total(law, log_mass_factor, self, room);
  self->base.host->release(room);
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_tilt tilt_table = {SCL_HEAD(scl_ability_tilt), tilt};
  (void)instance;
  return strcmp(id, SCL_ABILITY_TILT) == 0 ? &tilt_table : NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "exponential",
    "1.0",
    "The Scullery authors",
    "exp(<u,w>/gamma^2); on sparse rows and thresholds times 1[same support]",
    "K(u, w) = exp(<u, w> / gamma^2), positive definite; on sparse rows and thresholds times "
    "1[same support].\n"
    "With a Gaussian sampler of standard deviation s the expectation E K(u, w) phi(w, x) is exact: "
    "w has mean (s^2/gamma^2) u\n"
    "and variance s^2 after the tilt (Dube and Marchand 2023). It needs 2 s^2 < gamma^2, else E "
    "K(w, w) is infinite:\n"
    "kappa = (1 - 2 s^2/gamma^2)^(-d/4), theta <= (1 - s^4/gamma^4)^(-d/4) for |phi| <= 1.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    ability};
