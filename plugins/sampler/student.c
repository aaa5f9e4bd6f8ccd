/* Student rows, the spectrum of the Matern kernel of smoothness nu and length 1/scale (Rasmussen
 * and Williams 2006, Gaussian processes for machine learning, section 4.2):
 *   w = scale n / sqrt(c / (2 nu)),   n ~ N(0, I),   c ~ chi-square with 2 nu degrees of freedom,
 * one c for all coordinates of a row. */
#include "shared/matern.h"
#include "shared/radial_rows.h"

typedef struct student {
  scl_base base;
  double nu, scale, length;
} student;

static const scl_option options[] = {
    SCL_NUMBER(student, nu, "1.5",
               "smoothness of the kernel; the rows have 2 nu degrees of freedom",
               SCL_ABOVE(0, 1e6)),
    SCL_NUMBER(student, scale, NULL, "scale of the weights (default 1)", SCL_ABOVE(0, 1e250),
               .width = SCL_WIDTH_FREQUENCY),
    SCL_NUMBER(student, length, NULL, "instead of scale: the kernel's length, 1/scale",
               SCL_BETWEEN(1e-250, INFINITY), .width = SCL_WIDTH_LENGTH),
    SCL_OPTION_BIAS};

/* Sets scale from one of `scale` and `length`; both at once are refused. */
static scl_status student_create(void *instance, scl_error *error) {
  student *self = instance;
  const bool scale = !isnan(self->scale), length = !isnan(self->length);
  if (scale && length)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'scale' = %g and 'length' = %g both set the width (scale = 1/length): give one",
        self->scale, self->length);
  if (!scale) self->scale = length ? 1 / self->length : 1;
  return SCL_STATUS_OK;
}

/* ------------ drawing */

enum { STREAM_CHI = 2, STREAM_ACCEPT = 3, MOST_SQUARES = 64 };

/* Gamma(shape, 1) by rejection (Marsaglia and Tsang 2000, A simple method for generating gamma
 * variables). Attempt a takes normal number a and uniform number a + 1 of the item. */
static double draw_gamma(const scl_random *random, scl_address address, uint64_t index,
                         double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);
  double value = d, u;
  for (uint64_t at = 0; at < 1000; at++) {
    double n;
    random->normal(address.seed, address.stream + STREAM_CHI, index, at, 1, &n);
    random->uniform(address.seed, address.stream + STREAM_ACCEPT, index, at + 1, 1, &u);
    const double root = 1 + c * n, v = root * root * root;
    if (root <= 0 || !(log(u) < n * n / 2 + d - d * v + d * log(v))) continue;
    value = d * v;
    break;
  }
  if (shape >= 1) return value;
  random->uniform(address.seed, address.stream + STREAM_ACCEPT, index, 0, 1, &u);
  return value * pow(u, 1 / shape); /* Gamma(a) = Gamma(a + 1) U^(1/a) */
}

/* c / (2 nu). A few whole degrees of freedom are a sum of squares, which needs no logarithm. */
static double draw_chi(const student *self, scl_address address, uint64_t index) {
  const scl_random *random = self->base.host->random;
  const double freedom = 2 * self->nu;
  if (freedom != floor(freedom) || freedom > MOST_SQUARES)
    return draw_gamma(random, address, index, self->nu) / self->nu;
  double n[MOST_SQUARES], sum = 0;
  const size_t count = (size_t)freedom;
  random->normal(address.seed, address.stream + STREAM_CHI, index, 0, count, n);
  for (size_t i = 0; i < count; i++)
    sum += n[i] * n[i];
  return sum / freedom;
}

/* scale / sqrt(c/(2 nu)). The divisor is kept above 1e-50, so that no weight is infinite. */
static double draw_factor(const student *self, scl_address address, uint64_t index) {
  const double chi = draw_chi(self, address, index);
  return self->scale / sqrt(chi > 1e-100 ? chi : 1e-100);
}

/* A normal row times the factor of its parameter. */
static scl_status draw_rows(const void *instance, const scl_draw *draw, const scl_parameters *out,
                            scl_error *error) {
  (void)error;
  const student *self = instance;
  const scl_address address = draw->address;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    const double factor = draw_factor(self, address, out->first + i);
    self->base.host->random->normal(address.seed, address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] *= factor;
  }
  return SCL_STATUS_OK;
}

static scl_status draw_column(const void *instance, const scl_draw *draw, size_t column,
                              size_t first, size_t count, double *out, scl_error *error) {
  (void)error;
  const student *self = instance;
  const scl_address address = draw->address;
  for (size_t t = 0; t < count; t++) {
    self->base.host->random->normal(address.seed, address.stream, first + t, column, 1, &out[t]);
    out[t] *= draw_factor(self, address, first + t);
  }
  return SCL_STATUS_OK;
}

/* ------------ the law */

static scl_status law(const void *instance, const scl_draw *draw, scl_law *out, scl_error *error) {
  (void)draw, (void)error;
  const student *self = instance;
  out->family = SCL_FAMILY_STUDENT;
  out->shape = 2 * self->nu;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = self->scale;
  return SCL_STATUS_OK;
}

static double of_distance(const void *instance, size_t d, double distance) {
  (void)d;
  const student *self = instance;
  return matern_kernel(self->nu, self->scale * distance);
}

RADIAL_CHARACTERISTIC

const scl_plugin scullery_plugin = {
    .name = "student",
    .summary = "Student rows of 2 nu degrees of freedom, the spectrum of the Matern kernel",
    .definition = /* A number of the law Gamma(nu, 1), by rejection, and c/(2 nu). */
    "kept(t, at, d, r) = (function(n, v)\n"
    "  if v > 0 and log(r.uniform(3, t, at + 1)) < n^2/2 + d - d*v + d*log(v) then return d*v end\n"
    "  return kept(t, at + 1, d, r)\n"
    "end)(r.normal(2, t, at), (1 + r.normal(2, t, at)/sqrt(9*d))^3)\n"
    "G(t, r) = nu < 1 and kept(t, 0, nu + 2/3, r)*r.uniform(3, t, 0)^(1/nu) or\n"
    "  kept(t, 0, nu - 1/3, r)\n"
    "chi(t, r) = (2*nu ~= floor(2*nu) or nu > 32) and G(t, r)/nu or\n"
    "  sum(2*nu//1, function(k) return r.normal(2, t, k - 1)^2 end)/(2*nu)\n"
    "draw(t, r) = map(range(r.dim), function(j)\n"
    "  return (length and 1/length or scale or 1)*r.normal(0, t, j - 1)/sqrt(max(chi(t, r), "
    "1e-100)) end)\n"
    "density(w) = (1 + (w/(length and 1/length or scale or 1))^2/(2*nu))^(-nu - 1/2)",
    .doc =
        "Draws w_t = scale n/sqrt(c/(2 nu)), n ~ N(0, I), c ~ chi-square(2 nu), one c for each "
        "row;\n"
        "z = <w, x> + b. Moments of order 2 nu and more do not exist.\n"
        "With nonlinearity.fourier the features estimate the Matern kernel of smoothness nu and\n"
        "length 1/scale:\n"
        "  2^(1-nu)/Gamma(nu) (sqrt(2nu) r)^nu K_nu(sqrt(2nu) r), r = scale ||x-y||",
    RADIAL_ROWS,
    SCL_ABILITIES(RADIAL_ABILITIES,
                  SCL_OFFER(SCL_ABILITY_COLUMNS, scl_ability_columns, .column = draw_column)),
    SCL_INSTANCE(student, options),
    .create = student_create};
