/* Gaussian rows: w ~ N(mean, diag(sigma^2)) in R^d.
 *
 * Fourier features of these rows estimate, with delta = x - y,
 *   k(x, y) = exp(-sum_j sigma_j^2 delta_j^2 / 2) cos <mean, delta>,
 * which is exp(-gamma ||x - y||^2), gamma = sigma^2/2, for one sigma and mean 0 (Rahimi and Recht
 * 2008, Weighted sums of random kitchen sinks). */
#include "shared/gaussian_rows.h"

typedef struct gaussian {
  gaussian_rows rows;
  const scl_value *mean, *gamma;
} gaussian;

static const scl_option options[] = {
    GAUSSIAN_ROWS_SIGMA(
        SCL_FORM_NUMBER | SCL_FORM_LIST,
        "standard deviation of each weight, or a list with one for each column (default 1)"),
    SCL_ROW(gaussian, gamma, SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL,
            "instead of sigma: the rate in exp(-gamma ||x-y||^2), or a list with one for each "
            "column; sigma = sqrt(2 gamma)",
            SCL_POSITIVE, .width = SCL_WIDTH_GAMMA),
    SCL_ROW(gaussian, mean, SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL,
            "mean of each weight, or a list with one for each column (default 0)", SCL_FINITE),
    SCL_OPTION_BIAS};

/* sigma_j: options sigma and gamma are one number, or a list with one for each column. */
static double gaussian_scale_of(const gaussian *self, size_t j) {
  if (self->gamma->form == SCL_FORM_LIST) return sqrt(2 * self->gamma->list[j]);
  return self->rows.given->form == SCL_FORM_LIST ? self->rows.given->list[j] : self->rows.sigma;
}

/* The shared rows take a list of gamma as a number, for their check that sigma is not given too. */
static scl_status gaussian_create(void *instance, scl_error *error) {
  gaussian *self = instance;
  const scl_value *gamma = self->gamma;
  double largest = gamma->form == SCL_FORM_NUMBER ? gamma->number : NAN;
  for (size_t j = 0; gamma->form == SCL_FORM_LIST && j < gamma->length; j++)
    largest = fmax(largest, gamma->list[j]);
  self->rows.gamma = largest;
  return gaussian_rows_create(instance, error);
}

static double mean_of(const gaussian *self, size_t j) {
  return self->mean->form == SCL_FORM_LIST ? self->mean->list[j] : self->mean->number;
}

/* Refuses a list whose length is not the number of columns. */
static scl_status check_list(const gaussian *self, const char *name, const scl_value *value,
                             size_t dim, scl_error *error) {
  if (value->form != SCL_FORM_LIST || value->length == dim) return SCL_STATUS_OK;
  return self->rows.base.host->fail(error, SCL_STATUS_BAD_SHAPE,
                                    "option '%s' lists %zu numbers, and the data have %zu columns",
                                    name, value->length, dim);
}

static scl_status check_lists(const gaussian *self, size_t dim, scl_error *error) {
  scl_status status = check_list(self, "sigma", self->rows.given, dim, error);
  if (status == SCL_STATUS_OK) status = check_list(self, "gamma", self->gamma, dim, error);
  return status != SCL_STATUS_OK ? status : check_list(self, "mean", self->mean, dim, error);
}

static scl_status gaussian_layout(const void *instance, size_t dim, scl_layout *out,
                                  scl_error *error) {
  (void)out;
  return check_lists(instance, dim, error);
}

/* The law with mean 0 and scale 1 is the normal law itself; the host applies mean and scale. */
static void gaussian_make(const void *instance, size_t count, const double *normal, double *e) {
  (void)instance;
  memcpy(e, normal, count * sizeof *e);
}

static scl_status gaussian_law(const void *instance, const scl_draw *draw, scl_law *out,
                               scl_error *error) {
  (void)draw;
  const gaussian *self = instance;
  const scl_status status = check_lists(self, out->dim, error);
  if (status != SCL_STATUS_OK) return status;
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++) {
    out->mean[j] = mean_of(self, j);
    out->scale[j] = gaussian_scale_of(self, j);
  }
  return SCL_STATUS_OK;
}

/* Characteristic function with one exponential per row; slot `factor` would need one per
 * coordinate. */
static scl_status gaussian_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                          const double *delta, ptrdiff_t stride, double *out,
                                          scl_error *error) {
  (void)error;
  const gaussian *self = instance;
  for (size_t i = 0; i < rows; i++) {
    const double *gap = delta + (ptrdiff_t)i * stride;
    double sum = 0, turn = 0;
    for (size_t j = 0; j < draw->dim; j++) {
      const double z = gap[j] * gaussian_scale_of(self, j);
      sum += z * z;
      turn += gap[j] * mean_of(self, j);
    }
    out[i] = exp(-sum / 2) * cos(turn);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "gaussian",
    .summary = "Gaussian rows w ~ N(mean, sigma^2 I), optional bias",
    .definition = "at(x, j) = type(x) == \"table\" and x[j] or x\n"
                  "s(j) = gamma and sqrt(2*at(gamma, j)) or at(sigma, j) or 1\n"
                  "density(w, j) = exp(-((w - (at(mean, j) or 0))/s(j))^2/2)\n"
                  "characteristic(x) = exp(-sum(x, function(t, j) return (s(j)*t)^2 end)/2)\n"
                  "  *cos(sum(x, function(t, j) return (at(mean, j) or 0)*t end))\n"
                  /* Each number at its address. */
                  "draw(t, r) = map(range(r.dim), function(_, j)\n"
                  "  return (at(mean, j) or 0) + s(j)*r.normal(0, t, j - 1) end)",
    .doc =
        "Draws w_t ~ N(mean, diag(sigma^2)) in R^d; z = <w, x> + b.\n"
        "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||^2), gamma = "
        "sigma^2/2\n"
        "(Rahimi and Recht 2008). sigma and gamma also take \"scale\" (gamma = 1/(d var X)) and\n"
        "\"median\" (gamma = 1/(median squared distance of a sample)).",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = gaussian_make, .layout = gaussian_layout,
                .normals = 1, .family = SCL_FAMILY_GAUSSIAN),
    SCL_INSTANCE(gaussian, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = gaussian_law),
                  SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
                            .characteristic = gaussian_characteristic)),
    .create = gaussian_create};
