/* K(x, y) = (2/pi) asin(2 s^2 <x,y> / sqrt((1 + 2 s^2 ||x||^2)(1 + 2 s^2 ||y||^2))): the kernel of
 * erf(<w, x>), w ~ N(0, s^2 I) (Williams 1998, Computation with infinite neural networks). With h =
 * sqrt2 s ||x|| and q(x) = h / sqrt(1 + h^2) the argument is cos q(x) q(y), which holds for rows of
 * any size. */
#include "shared/kernel_angles.h"

enum { SIGMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "standard deviation s of the Gaussian weights"},
};

typedef struct arcsine {
  kernel_angle angle;
  double sigma;
} arcsine;

static double shrink(const arcsine *self, double length) {
  const double h = sqrt(2) * self->sigma * length;
  return h < 1e150 ? h / sqrt(1 + h * h) : 1;
}

static void join(const void *instance, double length_u, size_t count, const double *length_v,
                 double *values) {
  const arcsine *self = instance;
  const double pi = 3.14159265358979323846, left = shrink(self, length_u);
  for (size_t j = 0; j < count; j++)
    values[j] = 2 / pi * asin(fmax(-1, fmin(1, values[j] * left * shrink(self, length_v[j]))));
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_status status =
      angle_create(host, sizeof(arcsine), (kernel_angle){.join = join}, instance, error);
  if (status != SCL_STATUS_OK) return status;
  arcsine *self = *instance;
  self->sigma = values[SIGMA].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), angle_gram,
                                 angle_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "erf",
    "1.0",
    "The Scullery authors",
    "the arc-sine kernel: that of erf features on Gaussian rows",
    "K(x, y) = (2/pi) asin(2 s^2 <x,y> / sqrt((1 + 2 s^2 ||x||^2)(1 + 2 s^2 ||y||^2))), s = sigma, "
    "on dense rows, positive\n"
    "semidefinite: the kernel of erf(<w, x>) with w ~ N(0, s^2 I) (Williams 1998, Computation with "
    "infinite neural networks).",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
