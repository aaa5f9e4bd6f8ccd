/* What the samplers have in common whose rows are, each by itself, w ~ N(0, sigma^2 I): orthogonal,
 * Hadamard and quasi-Monte Carlo rows differ from independent ones in how they depend on each
 * other, so options, law and characteristic function are the same. A sampler's instance begins with
 * a gaussian_rows. Include it in one sampler's file. */
#ifndef SCULLERY_SHARED_GAUSSIAN_ROWS_H
#define SCULLERY_SHARED_GAUSSIAN_ROWS_H

#include "shared/bias.h"
#include "shared/instance.h"
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef struct gaussian_rows {
  const scl_host *host;
  const scl_random *random;
  scl_space space;
  double sigma;
  bias_law bias;
} gaussian_rows;

/* Streams, from the parameters' own on. bias_draw takes the second. */
enum { GAUSSIAN_ROWS_WEIGHTS = 0, GAUSSIAN_ROWS_RADII = 2, GAUSSIAN_ROWS_ORDER = 3 };

/* The first rows of the options table; a sampler's own follow. */
enum { GAUSSIAN_ROWS_SIGMA, GAUSSIAN_ROWS_GAMMA, GAUSSIAN_ROWS_BIAS, GAUSSIAN_ROWS_OPTIONS };
#define GAUSSIAN_ROWS_TABLE                                                                        \
  {"sigma",                                                                                        \
   SCL_FORM_NUMBER,                                                                                \
   NULL,                                                                                           \
   NULL,                                                                                           \
   0,                                                                                              \
   INFINITY,                                                                                       \
   SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,                                                       \
   SCL_WIDTH_FREQUENCY,                                                                            \
   "standard deviation of each weight (default 1)"},                                               \
      {"gamma",                                                                                    \
       SCL_FORM_NUMBER,                                                                            \
       NULL,                                                                                       \
       NULL,                                                                                       \
       0,                                                                                          \
       INFINITY,                                                                                   \
       SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,                                                   \
       SCL_WIDTH_GAMMA,                                                                            \
       "instead of sigma: the rate in exp(-gamma ||x-y||^2); sigma = sqrt(2 gamma)"},              \
      BIAS_OPTION

static inline scl_status gaussian_rows_read(gaussian_rows *self, const scl_value *values,
                                            scl_error *error) {
  const scl_value *sigma = &values[GAUSSIAN_ROWS_SIGMA], *gamma = &values[GAUSSIAN_ROWS_GAMMA];
  if (sigma->form != 0 && gamma->form != 0)
    return self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'sigma' = %g and 'gamma' = %g both say the width (sigma = sqrt(2 gamma)): give one",
        sigma->number, gamma->number);
  self->sigma = gamma->form != 0 ? sqrt(2 * gamma->number) : sigma->form != 0 ? sigma->number : 1;
  if (!isfinite(self->sigma))
    return self->host->fail(error, SCL_STATUS_BAD_OPTION, "'gamma' = %g is too large",
                            gamma->number);
  return bias_read(self->host, &values[GAUSSIAN_ROWS_BIAS], &self->bias, error);
}

/* An instance of `bytes` bytes, zero but for its gaussian_rows; the sampler reads its own options
 * afterwards. */
static inline scl_status gaussian_rows_create(const scl_host *host, const scl_value *values,
                                              scl_space space, size_t bytes, void **out,
                                              scl_error *error) {
  void *made = NULL;
  scl_status status = instance_new(host, bytes, &made, error);
  if (status != SCL_STATUS_OK) return status;
  ((gaussian_rows *)made)->space = space;
  status = gaussian_rows_read(made, values, error);
  if (status == SCL_STATUS_OK)
    *out = made;
  else
    instance_end(made);
  return status;
}

static inline scl_status gaussian_rows_law(const void *instance, size_t dim, scl_law *out,
                                           scl_error *error) {
  (void)error;
  const gaussian_rows *self = instance;
  out->space = self->space;
  out->family = SCL_FAMILY_GAUSSIAN;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->sigma;
  }
  return SCL_STATUS_OK;
}

/* Re E exp(i <w, delta>) = exp(-sigma^2 ||delta||^2 / 2) */
static inline scl_status gaussian_rows_characteristic(const void *instance, size_t rows, size_t dim,
                                                      const double *delta, ptrdiff_t stride,
                                                      double *out, scl_error *error) {
  (void)error;
  const gaussian_rows *self = instance;
  for (size_t i = 0; i < rows; i++) {
    const double *gap = delta + (ptrdiff_t)i * stride;
    double sum = 0;
    for (size_t j = 0; j < dim; j++)
      sum += (self->sigma * gap[j]) * (self->sigma * gap[j]);
    out[i] = exp(-sum / 2);
  }
  return SCL_STATUS_OK;
}

static inline const void *gaussian_rows_ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), gaussian_rows_law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), gaussian_rows_characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

#endif
