/* K(x, y) = <x, y> + c; on sparse rows and thresholds times 1[same support]. */
#include "shared/kernel.h"

enum { OFFSET, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"offset", SCL_FORM_NUMBER, NULL, "0", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "c in <x,y> + c, 0 or more"},
};

typedef struct linear {
  kernel base;
  double offset;
} linear;

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const linear *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] += self->offset;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_DOT, .scale = 1, .finish = finish};
  const scl_status status = kernel_create(host, sizeof(linear), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  linear *self = *instance;
  self->offset = values[OFFSET].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "linear",
    "1.0",
    "The Scullery authors",
    "<x,y> + offset; on sparse rows and thresholds times 1[same support]",
    "K(x, y) = <x, y> + offset, positive semidefinite of rank at most d + 1; on sparse rows and "
    "thresholds times\n"
    "1[same support]. With offset = 0 the kernel of the identity on Gaussian rows of unit "
    "variance.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
