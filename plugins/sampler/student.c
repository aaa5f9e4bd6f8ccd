/* Student rows: w = scale n / sqrt(c / (2 nu)), n ~ N(0, I), c chi-square with 2 nu degrees of
 * freedom, one for all coordinates: the spectrum of the Matern kernel of smoothness nu and length
 * 1/scale (Rasmussen and Williams 2006, section 4.2). */
#include "shared/bias.h"
#include "shared/instance.h"
#include "shared/matern.h"

enum { NU, SCALE, LENGTH, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"nu", SCL_FORM_NUMBER, NULL, "1.5", 0, 1e6, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "smoothness of the kernel; the rows have 2 nu degrees of freedom"},
    {"scale", SCL_FORM_NUMBER, NULL, NULL, 0, 1e250, SCL_RANGE_LOW_OPEN, SCL_WIDTH_FREQUENCY,
     "scale of the weights (default 1)"},
    {"length", SCL_FORM_NUMBER, NULL, NULL, 1e-250, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_LENGTH,
     "instead of scale: the kernel's length, 1/scale"},
    BIAS_OPTION,
};

typedef struct student {
  const scl_host *host;
  const scl_random *random;
  double nu, scale;
  bias_law bias;
} student;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  if (values[SCALE].form != 0 && values[LENGTH].form != 0)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'scale' = %g and 'length' = %g both say the width (scale = 1/length): give one",
        values[SCALE].number, values[LENGTH].number);
  void *made = NULL;
  scl_status status = instance_new(host, sizeof(student), &made, error);
  if (status != SCL_STATUS_OK) return status;
  student *self = made;
  self->nu = values[NU].number;
  self->scale = values[LENGTH].form != 0  ? 1 / values[LENGTH].number
                : values[SCALE].form != 0 ? values[SCALE].number
                                          : 1;
  status = bias_read(host, &values[BIAS], &self->bias, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    instance_end(self);
  return status;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  (void)error;
  const student *self = instance;
  *out = (scl_layout){SCL_SPACE_DENSE, dim, 0, 1, self->bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

enum { STREAM_CHI = 2, STREAM_ACCEPT = 3, MOST_SQUARES = 64 };

/* Gamma(shape, 1) by Marsaglia and Tsang (2000), walking along the item's own numbers. */
static double draw_gamma(const student *self, scl_address address, uint64_t index, double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
  double value = d, u;
  for (uint64_t at = 0; at < 1000; at++) {
    double n;
    self->random->normal(address.seed, address.stream + STREAM_CHI, index, at, 1, &n);
    self->random->uniform(address.seed, address.stream + STREAM_ACCEPT, index, at + 1, 1, &u);
    const double root = 1 + c * n, v = root * root * root;
    if (root <= 0 || !(log(u) < n * n / 2 + d - d * v + d * log(v))) continue;
    value = d * v;
    break;
  }
  if (shape >= 1) return value;
  self->random->uniform(address.seed, address.stream + STREAM_ACCEPT, index, 0, 1, &u);
  return value * pow(u, 1 / shape); /* Gamma(a) = Gamma(a + 1) U^(1/a) */
}

/* c / (2 nu): few degrees of freedom are a sum of squares, which needs no logarithm. */
static double draw_chi(const student *self, scl_address address, uint64_t index) {
  const double freedom = 2 * self->nu;
  if (freedom != floor(freedom) || freedom > MOST_SQUARES)
    return draw_gamma(self, address, index, self->nu) / self->nu;
  double n[MOST_SQUARES], sum = 0;
  const size_t count = (size_t)freedom;
  self->random->normal(address.seed, address.stream + STREAM_CHI, index, 0, count, n);
  for (size_t i = 0; i < count; i++)
    sum += n[i] * n[i];
  return sum / freedom;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)error;
  const student *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    const double chi = draw_chi(self, address, out->first + i),
                 factor = self->scale / sqrt(chi > 1e-100 ? chi : 1e-100);
    self->random->normal(address.seed, address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] *= factor;
  }
  bias_draw(&self->bias, self->random, address, out);
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  (void)error;
  const student *self = instance;
  out->space = SCL_SPACE_DENSE;
  out->family = SCL_FAMILY_STUDENT;
  out->shape = 2 * self->nu;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->scale;
  }
  return SCL_STATUS_OK;
}

static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta,
                                 ptrdiff_t stride, double *out, scl_error *error) {
  (void)error;
  const student *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double length = 0;
    for (size_t j = 0; j < dim; j++)
      length = hypot(length, delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
    out[i] = matern_kernel(self->nu, self->scale * length);
  }
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "student",
    "1.0",
    "The Scullery authors",
    "Student rows of 2 nu degrees of freedom, the spectrum of the Matern kernel",
    "Draws w_t = scale n/sqrt(c/(2 nu)), n ~ N(0, I), c ~ chi-square(2 nu), one c a row; a row of "
    "X meets it as z = <w, x> + b.\n"
    "With nonlinearity.fourier the features estimate the Matern kernel of smoothness nu and length "
    "1/scale:\n"
    "2^(1-nu)/Gamma(nu) (sqrt(2nu) r)^nu K_nu(sqrt(2nu) r), r = scale ||x-y||. Moments of order 2 "
    "nu and more do not exist.",
    options,
    OPTIONS,
    &table,
    create,
    instance_end,
    ability};
