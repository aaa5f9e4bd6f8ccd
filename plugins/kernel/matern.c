/* The Matern kernel of smoothness nu and width g, K_nu the modified Bessel function of the second
 * kind; on sparse rows and thresholds times 1[same support], the distance taken over the support
 * (Rasmussen and Williams 2006, equation 4.14):
 *
 *   K(x, y) = 2^(1-nu)/Gamma(nu) a^nu K_nu(a),   a = sqrt(2 nu) ||x - y|| / g
 *
 * For nu = p + 1/2 it is exp(-a) times a polynomial (4.16):
 *
 *   sum_m c_m a^m,   c_0 = 1,   c_m = c_(m-1) 2 (p - m + 1) / ((2 p - m + 1) m) */
#include "shared/matern.h"
#include "shared/scaled_kernel.h"

enum { MOST_HALVES = 20 };

typedef struct matern {
  scl_base base;
  double nu, width;
  bool closed;                          /* nu = p + 1/2 */
  size_t power;                         /* p */
  double coefficients[MOST_HALVES + 1]; /* c_0 .. c_p */
} matern;

static const scl_option options[] = {
    SCL_NUMBER(matern, nu, "1.5",
               "smoothness: 0.5 is exp(-||x-y||/width), infinity would be Gaussian", SCL_POSITIVE),
    SCL_NUMBER(matern, width, "1", "the length g by which distances are divided", SCL_POSITIVE,
               .width = SCL_WIDTH_LENGTH)};

static double scale(const void *self) { return 1 / ((const matern *)self)->width; }

/* Chooses the form: nu = p + 1/2 with p <= MOST_HALVES has the closed form, whose coefficients
 * c_0 .. c_p are computed here; other nu use the integral of shared/matern.h. */
static scl_status matern_create(void *instance, scl_error *error) {
  matern *self = instance;
  const double p = floor(self->nu);
  if (!isfinite(scale(self)))
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "'width' = %g is too small",
                                 self->width);
  self->closed = self->nu == p + 0.5 && p <= MOST_HALVES;
  if (!self->closed) return SCL_STATUS_OK;
  self->power = (size_t)p;
  self->coefficients[0] = 1;
  for (size_t m = 1; m <= self->power; m++)
    self->coefficients[m] =
        self->coefficients[m - 1] * 2 * (p - (double)m + 1) / ((2 * p - (double)m + 1) * (double)m);
  return SCL_STATUS_OK;
}

/* Maps squared distances over g^2 to kernel values. For a >= 800, exp(-a) is 0 and the
 * polynomial is not evaluated. */
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
    self->base.host->math->exp(some, to, to);
    for (size_t j = 0; j < some; j++) {
      double polynomial = 0;
      for (size_t m = self->power + 1; m-- > 0;)
        polynomial = polynomial * a[j] + self->coefficients[m];
      to[j] *= polynomial;
    }
  }
}

static void finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const matern *self = instance;
  if (self->closed)
    finish_closed(self, row->count, numbers);
  else
    for (size_t j = 0; j < row->count; j++)
      numbers[j] = matern_kernel(self->nu, sqrt(numbers[j]));
}

const scl_plugin scullery_plugin = {
    .name = "matern",
    .summary =
        "the Matern kernel of smoothness nu; on sparse rows and thresholds times 1[same support]",
    .definition = "a(u, v) = sqrt(2*nu*squared_distance(u, v))/width\n"
                  "wave(a, c) = integral(function(t) return (exp(c + nu*t - a*cosh(t))\n"
                  "  + exp(c - nu*t - a*cosh(t)))/2 end, 0, log((1500 + 20*nu)/a + 3))\n"
                  "K(u, v) = when(a(u, v) == 0, 1, wave(a(u, v), (1 - nu)*log(2) - lgamma(nu)\n"
                  "  + nu*log(a(u, v))))",
    .doc =
        "K(x, y) = 2^(1-nu)/Gamma(nu) a^nu K_nu(a), a = sqrt(2 nu) ||x - y||/width, positive\n"
        "definite; on sparse rows and thresholds times 1[same support], the distance taken over\n"
        "the support.\n"
        "nu = 0.5: exp(-a);  1.5: (1 + a) exp(-a);  2.5: (1 + a + a^2/3) exp(-a).\n"
        "As nu grows it tends to exp(-||x-y||^2/(2 width^2)), sc.kernel.gaussian{ width = }.\n"
        "It is the kernel of Fourier features on sc.sampler.student{ nu = } with\n"
        "width = 1/scale (Rasmussen and Williams 2006, Gaussian processes for machine learning,\n"
        "equation 4.14).\n"
        "nu = 0.5, 1.5, 2.5, ... are fast; others evaluate a Bessel function for each pair.",
    SCALED_KERNEL(SCL_SPACES_KERNEL, SCL_PAIR_SQUARED_DISTANCE),
    SCL_INSTANCE(matern, options),
    .create = matern_create};
