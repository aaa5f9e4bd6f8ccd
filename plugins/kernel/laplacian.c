/* K(x, y) = exp(-gamma ||x - y||_1); on sparse rows and thresholds times 1[same support], the
 * distance taken over it.
 *
 * The kernel of random bins with pitches Gamma(2, gamma), and of Fourier features with Cauchy
 * weights of scale gamma (Rahimi and Recht 2007, Random features for large-scale kernel
 * machines). */
#include "shared/kernel.h"

enum { GAMMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_RATE, "the rate in exp(-gamma ||x-y||_1)"},
};

typedef struct laplacian {
  kernel base;
  double gamma;
} laplacian;

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const laplacian *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] *= -self->gamma;
  self->base.math->exp(count, numbers, numbers);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_ABSOLUTE, .scale = 1, .finish = finish};
  const scl_status status = kernel_create(host, sizeof(laplacian), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  laplacian *self = *instance;
  self->gamma = values[GAMMA].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "laplacian",
    "1.0",
    "The Scullery authors",
    "exp(-gamma ||x-y||_1); on sparse rows and thresholds times 1[same support]",
    "K(x, y) = exp(-gamma ||x - y||_1), positive definite. On sparse rows and thresholds times "
    "1[same support], the\n"
    "distance taken over the support. The kernel of sc.nonlinearity.bins on sc.sampler.grid{ gamma "
    "= } and of Fourier\n"
    "features on sc.sampler.cauchy{ gamma = } (Rahimi and Recht 2007, Random features for "
    "large-scale kernel machines).",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
