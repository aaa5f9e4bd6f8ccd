/* The polynomial kernel; on sparse rows and thresholds times 1[same support]:
 *
 *   K(x, y) = (a <x, y> + c)^p */
#include "shared/scaled_kernel.h"

typedef struct polynomial {
  scl_base base;
  size_t degree;
  double scale, offset;
} polynomial;

static const scl_option options[] = {
    SCL_INTEGER(polynomial, degree, "2", "p in (a <x,y> + c)^p", SCL_WITHIN(1, 1000)),
    SCL_NUMBER(polynomial, scale, "1", "a, above 0", SCL_POSITIVE),
    SCL_NUMBER(polynomial, offset, "1", "c, 0 or more; 0: terms of degree p alone",
               SCL_NOT_NEGATIVE)};

static double scale(const void *self) { return sqrt(((const polynomial *)self)->scale); }

/* Power by repeated squaring: p multiplications would add p roundings. */
static double power(double x, size_t p) {
  double result = 1;
  for (; p > 0; p /= 2, x *= x)
    if (p % 2 == 1) result *= x;
  return result;
}

static void finish(const void *instance, const scl_pair_row *row, double *numbers) {
  const polynomial *self = instance;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = power(numbers[j] + self->offset, self->degree);
}

const scl_plugin scullery_plugin = {
    .name = "polynomial",
    .summary = "(scale <x,y> + offset)^degree; on sparse rows and thresholds times 1[same support]",
    .definition = "K(u, v) = (scale*dot(u, v) + offset)^degree",
    .doc = "K(x, y) = (scale <x, y> + offset)^degree, positive semidefinite for scale > 0 and\n"
           "offset >= 0; on sparse rows and thresholds times 1[same support].\n"
           "offset = 0 keeps the monomials of that degree alone.",
    SCALED_KERNEL(SCL_SPACES_KERNEL, SCL_PAIR_DOT),
    SCL_INSTANCE(polynomial, options)};
