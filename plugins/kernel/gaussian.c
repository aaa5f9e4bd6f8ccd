/* K(u, w) = exp(-||u - w||^2 / (2 g^2)); on sparse rows and thresholds times 1[same support], the
 * distance taken over it.
 *
 * The width is said outright (gamma = g), or through the distribution p = N(0, s^2) on d columns
 * (Dube and Marchand 2023):
 *   coefficient c: (1 + s^2/g^2)^(-d/2) = c
 *       theta c: (1 + 2 s^2/g^2)^(-d/4) = c, their bound on theta
 * Where a parameter has s < d of the columns d is s, the mean over supports is taken where columns
 * differ, and theta, the root of E E K(u, w), has a factor C(d, s)^(-1/2), for two parameters
 * seldom share a support (thresholds: s = 1, factor d^(-1/2)).
 *
 * Tilt: K(u, w) N(w; m, s^2) = c(u) N(w; m', v^2), coordinate by coordinate, with v^2 = s^2
 * g^2/(s^2 + g^2),
 *   m' = (u s^2 + m g^2)/(s^2 + g^2),   log c(u) = -log(1 + s^2/g^2)/2 - (u - m)^2/(2 (s^2 +
 * g^2)). */
#include "shared/kernel.h"
#include "shared/kernel_tilt.h"
#include <stdio.h>

enum { GAMMA, THETA, COEFFICIENT, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_LENGTH, "the width g in exp(-||u-w||^2/(2 g^2)) (default 1)"},
    {"theta", SCL_FORM_NUMBER, NULL, NULL, 0, 1, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE,
     "instead: the value of the paper's bound on theta, (1 + 2 s^2/g^2)^(-d/4), from which g "
     "follows"},
    {"coefficient", SCL_FORM_NUMBER, NULL, NULL, 0, 1, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "instead: the value of (1 + s^2/g^2)^(-d/2), from which g follows"},
};

typedef struct gaussian {
  kernel base;
  double width;              /* g; 0 until it is bound */
  double theta, coefficient; /* 0: not asked for */
} gaussian;

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const gaussian *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] *= -0.5;
  self->base.math->exp(count, numbers, numbers);
}

static scl_status set_width(gaussian *self, double width, scl_error *error) {
  self->width = width;
  self->base.scale = width > 0 ? 1 / width : 1;
  if (isfinite(self->base.scale)) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "the width gamma = %g is too small",
                               width);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_SQUARE, .scale = 1, .finish = finish};
  const int given =
      (values[GAMMA].form != 0) + (values[THETA].form != 0) + (values[COEFFICIENT].form != 0);
  if (given > 1)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "gamma, theta and coefficient each say the width: give one of them");
  scl_status status = kernel_create(host, sizeof(gaussian), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  gaussian *self = *instance;
  if (values[THETA].form != 0) self->theta = values[THETA].number;
  if (values[COEFFICIENT].form != 0) self->coefficient = values[COEFFICIENT].number;
  status = set_width(self,
                     given == 0                ? 1
                     : values[GAMMA].form != 0 ? values[GAMMA].number
                                               : 0,
                     error);
  if (status != SCL_STATUS_OK) kernel_destroy(self);
  return status;
}

/* ---------------------------------------------------------------- the width */

/* power log(1 + factor s^2/g^2): the logarithm of what one coordinate gives. */
typedef struct width_factor {
  double factor, power, width, scale;
} width_factor;

static double log_factor(const void *context, double mean, double scale) {
  const width_factor *self = context;
  const double ratio = scale * self->scale / self->width;
  (void)mean;
  return self->power * log1p(self->factor * ratio * ratio);
}

/* log sum_s P(s)^k mean over supports of the product of the factors, k = 2 with 1 / C(d, s) for the
 * supports of two parameters, else 1. The fan_in rows of a parameter are independent. */
static double log_expectation(const scl_law *law, width_factor factor, int pairs, double *room) {
  const double rows = law->fan_in > 1 ? (double)law->fan_in : 1;
  factor.scale = 1;
  if (law->space != SCL_SPACE_SPARSE)
    return rows * (tilt_total(law, log_factor, &factor, room) + (pairs ? tilt_indicator(law) : 0));
  double sum = 0;
  for (size_t s = 0; s <= law->max_degree && s <= law->dim; s++) {
    scl_law one = *law;
    one.max_degree = s;
    factor.scale = law->degree_scale[s];
    if (!(law->degree[s] > 0)) continue;
    const double mean =
        exp(tilt_total(&one, log_factor, &factor, room) + (pairs ? tilt_indicator(&one) : 0));
    sum += law->degree[s] * (pairs ? law->degree[s] : 1) * mean;
  }
  return rows * log(sum);
}

/* The g at which the expectation is `target`: it grows with g, so halve an interval on log g. */
enum { LOG_WIDTH_REACH = 250 };
static double solve_width(const scl_law *law, width_factor factor, int pairs, double log_target,
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

/* Between g = 0, where parameters without columns are all that is left, and g = infinity, where the
 * indicator is. */
static scl_status find_width(const gaussian *self, const scl_law *law, double *width, double *room,
                             scl_error *error) {
  const int pairs = self->theta > 0;
  const double asked = pairs ? self->theta : self->coefficient, power = pairs ? 0.5 : 1,
               target = log(asked) / power;
  width_factor factor = {.factor = pairs ? 2 : 1, .power = -0.5, .width = exp(-LOG_WIDTH_REACH)};
  const double least = log_expectation(law, factor, pairs, room);
  factor.width = exp(LOG_WIDTH_REACH);
  const double most = log_expectation(law, factor, pairs, room);
  if (!(target > least && target < most))
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "%s = %g cannot be reached: on these parameters of %zu columns it "
                                 "is above %.6g and below %.6g",
                                 pairs ? "theta" : "coefficient", asked, law->dim,
                                 exp(least * power), exp(most * power));
  *width = solve_width(law, factor, pairs, target, room);
  return SCL_STATUS_OK;
}

static scl_status bind(const void *instance, const scl_law *law, void **bound, scl_error *error) {
  const gaussian *self = instance;
  const scl_host *host = self->base.host;
  double width = self->width;
  if (width == 0 && law->family != SCL_FAMILY_GAUSSIAN)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "theta and coefficient choose the width for a Gaussian sampler only: give gamma");
  gaussian *made = host->allocate(sizeof *made);
  double *room = host->allocate((2 * law->dim + 1) * sizeof *room);
  scl_status status = made == NULL || room == NULL ? host->fail(error, SCL_STATUS_NO_MEMORY,
                                                                "not enough memory for a kernel")
                                                   : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK && width == 0) status = find_width(self, law, &width, room, error);
  if (status == SCL_STATUS_OK) {
    *made = *self;
    status = set_width(made, width, error);
  }
  host->release(room);
  if (status == SCL_STATUS_OK)
    *bound = made;
  else
    host->release(made);
  return status;
}

static void describe(const void *bound, char *text, size_t size) {
  const gaussian *self = bound;
  (void)snprintf(text, size, "gamma = %.6g", self->width);
}

/* ---------------------------------------------------------------- the kernel and its tilt */

static scl_status check_width(const gaussian *self, scl_error *error) {
  if (self->width > 0) return SCL_STATUS_OK;
  return self->base.host->fail(
      error, SCL_STATUS_UNSUPPORTED,
      "theta and coefficient say the width through a distribution; here there is none: give gamma");
}

static scl_status gram(const void *instance, const scl_parameters *u, const scl_parameters *v,
                       double *out, ptrdiff_t stride, scl_error *error) {
  const scl_status status = check_width(instance, error);
  return status == SCL_STATUS_OK ? kernel_gram(instance, u, v, out, stride, error) : status;
}

/* By the ratio s/g and h = sqrt(s^2 + g^2), so that no square leaves the range of a double. */
static void tilt_column(double width, double m, double s, size_t j, scl_tilt *out) {
  const double ratio = fmin(s / width, 1e150), h = hypot(s, width), inverse = width / h;
  out->shrink[j] = out->correlation[j] = (s / h) * (s / h);
  out->offset[j] = m * inverse * inverse;
  out->spread[j] = s * inverse;
  out->log0[j] = -0.5 * log1p(ratio * ratio) - 0.5 * (m / h) * (m / h);
  out->log1[j] = m / h / h;
  out->log2[j] = -0.5 / h / h;
  out->pair_scale[j] = s * hypot(1, ratio) / hypot(1, sqrt(2) * ratio);
}

static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const gaussian *self = instance;
  const scl_host *host = self->base.host;
  const width_factor factor = {.factor = 2, .power = -0.5, .width = self->width, .scale = 1};
  scl_status status = check_width(self, error);
  if (status != SCL_STATUS_OK) return status;
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "no closed form for this kernel with this sampler's law");
  double *room = host->allocate((2 * law->dim + 1) * sizeof *room);
  if (room == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the tilt of %zu columns",
                      law->dim);
  for (size_t j = 0; j < law->dim && status == SCL_STATUS_OK; j++) {
    tilt_column(self->width, law->mean[j], law->scale[j], j, out);
    if (!isnormal(out->log2[j]))
      status = host->fail(
          error, SCL_STATUS_NUMERIC,
          "gamma = %g with rows of scale %g at column %zu: their squares leave double precision",
          self->width, law->scale[j], j + 1);
  }
  out->log_one = tilt_indicator(law);
  out->log_diagonal = 0;
  out->log_mass = tilt_indicator(law) + tilt_total(law, log_factor, &factor, room);
  host->release(room);
  return status;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_bind bind_table = {SCL_HEAD(scl_ability_bind), bind, describe};
  static const scl_ability_tilt tilt_table = {SCL_HEAD(scl_ability_tilt), tilt};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_BIND) == 0) return &bind_table;
  if (strcmp(id, SCL_ABILITY_TILT) == 0) return &tilt_table;
  return NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, gram, kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "gaussian",
    "1.0",
    "The Scullery authors",
    "exp(-||u-w||^2/(2 gamma^2)); on sparse rows and thresholds times 1[same support]",
    "K(u, w) = exp(-||u-w||^2 / (2 gamma^2)). On the threshold space K = 1[i = j] exp(-(t-t')^2 / "
    "(2 gamma^2)), on sparse\n"
    "rows K = 1[same support] exp(-||u-w||^2 / (2 gamma^2)) over the support.\n"
    "Give one of gamma (the width), theta or coefficient (widths said through the sampler; Dube "
    "and Marchand 2023 use\n"
    "coefficient in the text and theta in the published tables). With a Gaussian sampler the "
    "expectation\n"
    "E K(u, w) phi(w, x) is exact: c(u) S(<u', x>, v).",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    ability};
