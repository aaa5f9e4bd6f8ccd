/* The Matern kernel of smoothness nu: with a = sqrt(2 nu) ||x - y|| / l,
 *   K(x, y) = 2^(1-nu)/Gamma(nu) a^nu K_nu(a),
 *       K_nu the modified Bessel function of the second kind,
 * on sparse rows and thresholds times 1[same support], the distance taken over it (Rasmussen and
 * Williams 2006, equation 4.14). For nu = p + 1/2 it is exp(-a) times a polynomial (4.16), sum_m
 * c_m a^m, c_0 = 1, c_m = c_(m-1) 2 (p - m + 1) / ((2 p - m + 1) m). */
#include "shared/matern.h"
#include "shared/kernel.h"

enum { NU, LENGTH, OPTIONS };
enum { MOST_HALVES = 20 };

static const scl_option options[OPTIONS] = {
    {"nu", SCL_FORM_NUMBER, NULL, "1.5", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "smoothness: 0.5 is exp(-||x-y||/length), infinity would be Gaussian"},
    {"length", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_LENGTH, "the length l by which distances are divided"},
};

typedef struct matern {
  kernel base;
  double nu;
  int closed;                           /* nu = p + 1/2 */
  size_t power;                         /* p */
  double coefficients[MOST_HALVES + 1]; /* c_0 .. c_p */
} matern;

static void set_coefficients(matern *self) {
  const double p = floor(self->nu);
  self->closed = self->nu == p + 0.5 && p <= MOST_HALVES;
  if (!self->closed) return;
  self->power = (size_t)p;
  self->coefficients[0] = 1;
  for (size_t m = 1; m <= self->power; m++)
    self->coefficients[m] =
        self->coefficients[m - 1] * 2 * (p - (double)m + 1) / ((2 * p - (double)m + 1) * (double)m);
}

/* From squared distances over l^2. From a = 800 on exp(-a) is 0, whatever the polynomial would
 * be. */
static void finish_closed(const matern *self, size_t count, double *numbers) {
  enum { CHUNK = 256 };
  double a[CHUNK] = {0};
  for (size_t first = 0; first < count; first += CHUNK) {
    const size_t some = count - first < CHUNK ? count - first : CHUNK;
    double *to = numbers + first;
    for (size_t j = 0; j < some; j++) {
      const double distance = sqrt(2 * self->nu) * sqrt(to[j]);
      a[j] = distance < 800 ? distance : 800;
      to[j] = -a[j];
    }
    self->base.math->exp(some, to, to);
    for (size_t j = 0; j < some; j++) {
      double polynomial = 0;
      for (size_t m = self->power + 1; m-- > 0;)
        polynomial = polynomial * a[j] + self->coefficients[m];
      to[j] *= polynomial;
    }
  }
}

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const matern *self = instance;
  (void)dim;
  if (self->closed) {
    finish_closed(self, count, numbers);
    return;
  }
  for (size_t j = 0; j < count; j++)
    numbers[j] = matern_kernel(self->nu, sqrt(numbers[j]));
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {
      .number = KERNEL_SQUARE, .scale = 1 / values[LENGTH].number, .finish = finish};
  if (!isfinite(form.scale))
    return host->fail(error, SCL_STATUS_BAD_OPTION, "'length' = %g is too small",
                      values[LENGTH].number);
  const scl_status status = kernel_create(host, sizeof(matern), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  matern *self = *instance;
  self->nu = values[NU].number;
  set_coefficients(self);
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "matern",
    "1.0",
    "The Scullery authors",
    "the Matern kernel of smoothness nu; on sparse rows and thresholds times 1[same support]",
    "K(x, y) = 2^(1-nu)/Gamma(nu) a^nu K_nu(a), a = sqrt(2 nu) ||x - y||/length, positive "
    "definite; on sparse rows and\n"
    "thresholds times 1[same support], the distance taken over the support. nu = 0.5: exp(-a), "
    "1.5: (1 + a) exp(-a),\n"
    "2.5: (1 + a + a^2/3) exp(-a); it tends to exp(-||x-y||^2/(2 length^2)) as nu grows. The "
    "kernel of Fourier features on\n"
    "sc.sampler.student{ nu = } with length = 1/scale (Rasmussen and Williams 2006, Gaussian "
    "processes for machine\n"
    "learning, equation 4.14). nu = 0.5, 1.5, 2.5, ... are fast; others evaluate a Bessel function "
    "for each pair.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
