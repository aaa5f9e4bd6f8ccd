/* The Gaussian kernel; on sparse rows and thresholds times 1[same support], the distance taken
 * over the support:
 *
 *   K(u, w) = exp(-||u - w||^2 / (2 g^2))
 *
 * The width is given directly (width = g, or gamma = 1/(2 g^2)), or through the distribution
 * p = N(0, s^2) on d columns (Dube and Marchand 2023):
 *
 *   coefficient c:  (1 + s^2/g^2)^(-d/2) = c
 *   theta c:        (1 + 2 s^2/g^2)^(-d/4) = c, their bound on theta
 *
 * Where a parameter has s < d of the columns, d is s, and the mean over supports is taken where
 * columns differ. theta, the root of E E K(u, w), then has a factor C(d, s)^(-1/2), for two
 * parameters seldom share a support (thresholds: s = 1, factor d^(-1/2)).
 *
 * Tilt, coordinate by coordinate, with v^2 = s^2 g^2/(s^2 + g^2):
 *
 *   K(u, w) N(w; m, s^2) = c(u) N(w; m', v^2)
 *   m'       = (u s^2 + m g^2)/(s^2 + g^2)
 *   log c(u) = -log(1 + s^2/g^2)/2 - (u - m)^2/(2 (s^2 + g^2)) */
#include "shared/kernel_tilt.h"
#include "shared/scaled_kernel.h"
#include <stdio.h>

typedef struct gaussian {
  scl_base base;
  double width, gamma, theta, coefficient; /* as given; NaN where not */
  double length;                           /* g; 0 until it is bound */
} gaussian;

static const scl_option options[] = {
    SCL_NUMBER(gaussian, width, NULL, "the length g in exp(-||u-w||^2/(2 g^2)) (default 1)",
               SCL_POSITIVE, .width = SCL_WIDTH_LENGTH),
    SCL_NUMBER(gaussian, gamma, NULL, "instead: the rate in exp(-gamma ||u-w||^2), 1/(2 g^2)",
               SCL_POSITIVE, .width = SCL_WIDTH_GAMMA),
    SCL_NUMBER(
        gaussian, theta, NULL,
        "instead: the value of the paper's bound on theta, (1 + 2 s^2/g^2)^(-d/4), from which "
        "g follows",
        SCL_BETWEEN(0, 1)),
    SCL_NUMBER(gaussian, coefficient, NULL,
               "instead: the value of (1 + s^2/g^2)^(-d/2), from which g follows",
               SCL_BETWEEN(0, 1))};

/* ------------ the kernel */

static double scale(const void *self) { return 1 / ((const gaussian *)self)->length; }

static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  for (size_t j = 0; j < row->count; j++)
    numbers[j] *= -0.5;
  ((const scl_base *)self)->host->math->exp(row->count, numbers, numbers);
}

/* Sets g; fails where 1/g overflows. */
static scl_status set_length(gaussian *self, double length, scl_error *error) {
  self->length = length;
  if (isfinite(scale(self))) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "the width %g is too small", length);
}

/* Whether the width is set through the law of the sampler. */
static bool needs_law(const gaussian *self) {
  return !isnan(self->theta) || !isnan(self->coefficient);
}

/* At most one option may set the width. theta and coefficient wait for the law of the sampler
 * (gaussian_bind). */
static scl_status gaussian_create(void *instance, scl_error *error) {
  gaussian *self = instance;
  const int given =
      !isnan(self->width) + !isnan(self->gamma) + !isnan(self->theta) + !isnan(self->coefficient);
  if (given > 1)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "width, gamma, theta and coefficient each set the width: give one of them");
  if (needs_law(self)) return SCL_STATUS_OK;
  const double length = !isnan(self->gamma)   ? sqrt(0.5) / sqrt(self->gamma)
                        : !isnan(self->width) ? self->width
                                              : 1;
  return set_length(self, length, error);
}

/* ------------ the width through the law */

/* power log(1 + factor s^2/g^2): the logarithm of one coordinate's factor. */
typedef struct width_factor {
  double factor, power, width, scale;
} width_factor;

/* The logarithm of one column's factor, for tilt_total. */
static double log_factor(const void *context, double mean, double spread) {
  const width_factor *self = context;
  const double ratio = spread * self->scale / self->width;
  (void)mean;
  return self->power * log1p(self->factor * ratio * ratio);
}

/* log sum_s P(s)^k mean over supports of the product of the factors, k = 2 with 1 / C(d, s) for the
 * supports of two parameters (`pairs`), else 1. The fan_in rows of a parameter are independent. */
static double log_expectation(const scl_law *law, width_factor factor, bool pairs, double *room) {
  const double rows = law->fan_in > 1 ? (double)law->fan_in : 1;
  factor.scale = 1;
  if (law->space != SCL_SPACE_SPARSE)
    return rows * (tilt_total(law, log_factor, &factor, room) + (pairs ? tilt_indicator(law) : 0));
  double sum = 0;
  scl_law one;
  SCL_COPY(&one, law);
  for (size_t s = 0; s <= law->max_degree && s <= law->dim; s++) {
    one.max_degree = s;
    factor.scale = law->degree_scale[s];
    if (!(law->degree[s] > 0)) continue;
    const double mean =
        exp(tilt_total(&one, log_factor, &factor, room) + (pairs ? tilt_indicator(&one) : 0));
    sum += law->degree[s] * (pairs ? law->degree[s] : 1) * mean;
  }
  return rows * log(sum);
}

/* Solves for the g at which the expectation is `target`. The expectation increases with g:
 * bisection on log g. */
enum { LOG_WIDTH_REACH = 250 };
static double solve_width(const scl_law *law, width_factor factor, bool pairs, double log_target,
                          double *room) {
  double low = -LOG_WIDTH_REACH, high = LOG_WIDTH_REACH;
  for (int i = 0; i < 80; i++) {
    const double middle = (low + high) / 2;
    factor.width = exp(middle);
    if (log_expectation(law, factor, pairs, room) < log_target)
      low = middle;
    else
      high = middle;
  }
  return exp((low + high) / 2);
}

/* The attainable targets lie between the limits g = 0, where only parameters without columns
 * contribute, and g = infinity, where the kernel is the indicator. */
static scl_status find_width(const gaussian *self, const scl_law *law, double *width, double *room,
                             scl_error *error) {
  const bool pairs = !isnan(self->theta);
  const double asked = pairs ? self->theta : self->coefficient, power = pairs ? 0.5 : 1,
               target = log(asked) / power;
  width_factor factor = {.factor = pairs ? 2 : 1, .power = -0.5, .width = exp(-LOG_WIDTH_REACH)};
  const double least = log_expectation(law, factor, pairs, room);
  factor.width = exp(LOG_WIDTH_REACH);
  const double most = log_expectation(law, factor, pairs, room);
  if (!(target > least && target < most))
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "%s = %g is out of reach: on these parameters of %zu columns it "
                                 "is above %.6g and below %.6g",
                                 pairs ? "theta" : "coefficient", asked, law->dim,
                                 exp(least * power), exp(most * power));
  *width = solve_width(law, factor, pairs, target, room);
  return SCL_STATUS_OK;
}

static scl_status gaussian_bind(void *instance, const scl_law *law, scl_error *error) {
  gaussian *self = instance;
  const scl_host *host = self->base.host;
  double width = 0;
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "theta and coefficient choose the width for a Gaussian sampler only: give width");
  double *room = tilt_room(self, law, error);
  if (room == NULL) return SCL_STATUS_NO_MEMORY;
  const scl_status status = find_width(self, law, &width, room, error);
  return status == SCL_STATUS_OK ? set_length(self, width, error) : status;
}

static void gaussian_describe(const void *self, char *text, size_t size) {
  (void)snprintf(text, size, "width = %.6g", ((const gaussian *)self)->length);
}

/* ------------ the tilt */

/* Uses the ratio s/g and h = sqrt(s^2 + g^2), so that no square overflows or underflows. */
static void tilt_column(double width, double m, double s, size_t j, scl_tilt *out) {
  const double ratio = fmin(s / width, 1e150), h = hypot(s, width), inverse = width / h;
  out->shrink[j] = out->correlation[j] = (s / h) * (s / h);
  out->offset[j] = m * inverse * inverse;
  out->spread[j] = s * inverse;
  out->log0[j] = -0.5 * log1p(ratio * ratio) - 0.5 * (m / h) * (m / h);
  out->log1[j] = m / h / h;
  out->log2[j] = -0.5 / h / h;
  out->pair_scale[j] = s * hypot(1, ratio) / hypot(1, SCL_SQRT2 * ratio);
}

/* The tilt of every column; fails where squares of widths are not normal numbers. */
static scl_status tilt_columns(const gaussian *self, const scl_law *law, scl_tilt *out,
                               scl_error *error) {
  for (size_t j = 0; j < law->dim; j++) {
    tilt_column(self->length, law->mean[j], law->scale[j], j, out);
    if (!isnormal(out->log2[j]))
      return self->base.host->fail(error, SCL_STATUS_NUMERIC,
                                   "width = %g and rows of scale %g at column %zu: their squares "
                                   "overflow or underflow double precision",
                                   self->length, law->scale[j], j + 1);
  }
  return SCL_STATUS_OK;
}

static scl_status gaussian_tilt(const void *instance, const scl_law *law, scl_tilt *out,
                                scl_error *error) {
  const gaussian *self = instance;
  const width_factor factor = {.factor = 2, .power = -0.5, .width = self->length, .scale = 1};
  scl_status status = tilt_check(self, law, error);
  if (status == SCL_STATUS_OK) status = tilt_columns(self, law, out, error);
  if (status != SCL_STATUS_OK) return status;
  double *room = tilt_room(self, law, error);
  if (room == NULL) return SCL_STATUS_NO_MEMORY;
  out->log_one = tilt_indicator(law);
  out->log_diagonal = 0;
  out->log_mass = tilt_indicator(law) + tilt_total(law, log_factor, &factor, room);
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

static const void *gaussian_ability(const void *self, const char *id) {
  static const scl_ability_bind binding = {SCL_HEAD(scl_ability_bind), .bind = gaussian_bind,
                                           .describe = gaussian_describe};
  return strcmp(id, SCL_ABILITY_BIND) == 0 && needs_law(self) ? &binding : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "gaussian",
    .summary = "exp(-||u-w||^2/(2 width^2)); on sparse rows and thresholds times 1[same support]",
    .definition = "rate() = gamma or 1/(2*(width or 1)^2)\n"
                  "K(u, v) = exp(-rate()*squared_distance(u, v))",
    .doc =
        "K(u, w) = exp(-||u-w||^2 / (2 width^2)) = exp(-gamma ||u-w||^2).\n"
        "On sparse rows and thresholds times 1[same support], the distance taken over the\n"
        "support: for thresholds 1[i = j] exp(-(t-t')^2 / (2 width^2)).\n"
        "Give one of width, gamma, theta and coefficient. theta and coefficient set the width\n"
        "through the sampler; Dube and Marchand (2023) use coefficient in the text and theta in\n"
        "the published tables.\n"
        "With a Gaussian sampler the expectation E K(u, w) phi(w, x) is exact:\n"
        "c(u) S(<u', x>, v).",
    SCALED_KERNEL(SCL_SPACES_KERNEL, SCL_PAIR_SQUARED_DISTANCE),
    SCL_INSTANCE(gaussian, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = gaussian_tilt)),
    .create = gaussian_create,
    .ability = gaussian_ability};
