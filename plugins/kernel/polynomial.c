/* K(x, y) = (a <x, y> + c)^p; on sparse rows and thresholds times 1[same support]. */
#include "shared/kernel.h"

enum { DEGREE, SCALE, OFFSET, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"degree", SCL_FORM_INTEGER, NULL, "2", 1, 1000, 0, SCL_WIDTH_NONE, "p in (a <x,y> + c)^p"},
    {"scale", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "a, above 0"},
    {"offset", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "c, 0 or more; 0: terms of degree p alone"},
};

typedef struct polynomial {
  kernel base;
  unsigned degree;
  double offset;
} polynomial;

/* By squaring: p multiplications would be p roundings. */
static double power(double x, unsigned p) {
  double result = 1;
  for (; p > 0; p /= 2, x *= x)
    if (p % 2 == 1) result *= x;
  return result;
}

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const polynomial *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] = power(numbers[j] + self->offset, self->degree);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_DOT, .scale = sqrt(values[SCALE].number), .finish = finish};
  const scl_status status = kernel_create(host, sizeof(polynomial), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  polynomial *self = *instance;
  self->degree = (unsigned)values[DEGREE].number;
  self->offset = values[OFFSET].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "polynomial",
    "1.0",
    "The Scullery authors",
    "(scale <x,y> + offset)^degree; on sparse rows and thresholds times 1[same support]",
    "K(x, y) = (scale <x, y> + offset)^degree, positive semidefinite for scale > 0 and offset >= "
    "0; on sparse rows and\n"
    "thresholds times 1[same support]. offset = 0 keeps the monomials of that degree alone.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
