/* Width, law and characteristic function of rows that are each N(0, sigma^2 I). */
#include "shared/gaussian_rows.h"

/* Sets sigma from one of the options `sigma` and `gamma`; both at once are refused. */
scl_status gaussian_rows_create(void *instance, scl_error *error) {
  gaussian_rows *self = instance;
  const scl_host *host = self->base.host;
  const bool sigma = self->given->form != 0, gamma = !isnan(self->gamma);
  if (sigma && gamma)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "options 'sigma' and 'gamma' both set the width (sigma = sqrt(2 gamma)): "
                      "give one of them");
  self->sigma = gamma                                  ? sqrt(2 * self->gamma)
                : self->given->form == SCL_FORM_NUMBER ? self->given->number
                                                       : 1;
  if (!isfinite(self->sigma))
    return host->fail(error, SCL_STATUS_BAD_OPTION, "'gamma' = %g is too large", self->gamma);
  return SCL_STATUS_OK;
}

void gaussian_rows_moments(const void *self, double *mean, double *scale) {
  *mean = 0;
  *scale = ((const gaussian_rows *)self)->sigma;
}

scl_status gaussian_rows_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                        const double *delta, ptrdiff_t stride, double *out,
                                        scl_error *error) {
  (void)error;
  const gaussian_rows *self = instance;
  for (size_t i = 0; i < rows; i++) {
    const double *gap = delta + (ptrdiff_t)i * stride;
    double sum = 0;
    for (size_t j = 0; j < draw->dim; j++)
      sum += (self->sigma * gap[j]) * (self->sigma * gap[j]);
    out[i] = exp(-sum / 2);
  }
  return SCL_STATUS_OK;
}
