/* The exponential kernel; on sparse rows and thresholds times 1[same support]:
 *
 *   K(u, w) = exp(<u, w> / g^2)
 *
 * Tilt, for p = N(m, s^2), coordinate by coordinate (Dube and Marchand 2023 for m = 0):
 *
 *   exp(u w/g^2) N(w; m, s^2) = c(u) N(w; m + (s^2/g^2) u, s^2)
 *   log c(u) = (m/g^2) u + (s^2/(2 g^4)) u^2
 *
 * With q = s^2/g^2:
 *
 *   E K(w, w)   = (1 - 2q)^(-1/2) exp((m^2/g^2) / (1 - 2q)),   finite for 2 s^2 < g^2 alone
 *   E E K(u, w) = (1 - q^2)^(-1/2) exp((m^2/g^2) / (1 - q))
 *
 * and under K p p, u and w have variance s^2/(1 - q^2) and correlation q. */
#include "shared/kernel_tilt.h"
#include "shared/scaled_kernel.h"

typedef struct exponential {
  scl_base base;
  double width; /* g */
} exponential;

static const scl_option options[] = {SCL_NUMBER(exponential, width, "1",
                                                "the length g in exp(<u,w>/g^2)", SCL_POSITIVE,
                                                .width = SCL_WIDTH_LENGTH)};

static double scale(const void *self) { return 1 / ((const exponential *)self)->width; }

static scl_status exponential_create(void *instance, scl_error *error) {
  const exponential *self = instance;
  if (isfinite(scale(self))) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "'width' = %g is too small",
                               self->width);
}

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  ((const scl_base *)self)->host->math->exp(row->count, numbers, numbers);
}

/* ------------ the tilt */

/* log E K(w, w) of one column. */
static double log_diagonal_factor(const void *instance, double mean, double spread) {
  const exponential *self = instance;
  const double q = pow(spread / self->width, 2), m = mean / self->width;
  return m * m / (1 - 2 * q) - 0.5 * log1p(-2 * q);
}

/* log E E K(u, w) of one column. */
static double log_mass_factor(const void *instance, double mean, double spread) {
  const exponential *self = instance;
  const double q = pow(spread / self->width, 2), m = mean / self->width;
  return m * m / (1 - q) - 0.5 * log1p(-q * q);
}

/* The tilt needs a Gaussian law with E K(w, w) finite in every column. */
static scl_status exponential_check_law(const exponential *self, const scl_law *law,
                                        scl_error *error) {
  const scl_status status = tilt_check(self, law, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < law->dim; j++)
    if (!(2 * pow(law->scale[j] / self->width, 2) < 1))
      return self->base.host->fail(
          error, SCL_STATUS_BAD_OPTION,
          "the sampler's standard deviation s = %g in column %zu and this kernel's width g = %g do "
          "not fit: E exp(||w||^2/g^2) is finite only for 2 s^2 < g^2, so give width above %g",
          law->scale[j], j + 1, self->width, SCL_SQRT2 * law->scale[j]);
  return status;
}

static scl_status exponential_tilt(const void *instance, const scl_law *law, scl_tilt *out,
                                   scl_error *error) {
  const exponential *self = instance;
  const scl_status status = exponential_check_law(self, law, error);
  if (status != SCL_STATUS_OK) return status;
  double *room = tilt_room(self, law, error);
  if (room == NULL) return SCL_STATUS_NO_MEMORY;
  for (size_t j = 0; j < law->dim; j++) {
    const double s = law->scale[j], q = pow(s / self->width, 2);
    out->offset[j] = law->mean[j];
    out->shrink[j] = q;
    out->spread[j] = s;
    out->log0[j] = 0;
    out->log1[j] = law->mean[j] / self->width / self->width;
    out->log2[j] = 0.5 * q / self->width / self->width;
    out->correlation[j] = q;
    out->pair_scale[j] = s / sqrt(1 - q * q);
  }
  out->log_one = tilt_indicator(law);
  out->log_diagonal = tilt_total(law, log_diagonal_factor, self, room);
  out->log_mass = tilt_indicator(law) + tilt_total(law, log_mass_factor, self, room);
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

const scl_plugin scullery_plugin = {
    .name = "exponential",
    .summary = "exp(<u,w>/width^2); on sparse rows and thresholds times 1[same support]",
    .definition = "K(u, v) = exp(dot(u, v)/width^2)",
    .doc =
        "K(u, w) = exp(<u, w> / width^2), positive definite; on sparse rows and thresholds times\n"
        "1[same support].\n"
        "With a Gaussian sampler of standard deviation s the expectation E K(u, w) phi(w, x) is\n"
        "exact: after the tilt w has mean (s^2/width^2) u and variance s^2 (Dube and Marchand\n"
        "2023). It needs 2 s^2 < width^2, otherwise E K(w, w) is infinite:\n"
        "  kappa = (1 - 2 s^2/width^2)^(-d/4)\n"
        "  theta <= (1 - s^4/width^4)^(-d/4) for |phi| <= 1",
    SCALED_KERNEL(SCL_SPACES_KERNEL, SCL_PAIR_DOT),
    SCL_INSTANCE(exponential, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = exponential_tilt)),
    .create = exponential_create};
