/* K(x, y) = 1 - ||x - y||_1 / l.
 *
 * Where it is positive semidefinite: -||x - y||_1 is so on coefficients that sum to 0
 * (conditionally), and on a box of sides b_1 .. b_d
 *   1 - ||x - y||_1/l = (1 - B/(2 l)) + sum_j (b_j/(2 l) - |x_j - y_j|/l),   B = sum_j b_j,
 * each term of the sum (b_j/(2 l)) E sign(x_j - t) sign(y_j - t), t uniform on side j: positive
 * semidefinite. So B <= 2 l is enough; and where B > 2 l, two opposite corners have K = 1 - B/l <
 * -1 and it is not. */
#include "shared/kernel.h"

enum { LENGTH, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"length", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "l in 1 - ||x-y||_1/l; at least half of the sum of the columns' ranges"},
};

typedef struct hat {
  kernel base;
  double length;
} hat;

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  const hat *self = instance;
  (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] = 1 - numbers[j] / self->length;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_ABSOLUTE, .scale = 1, .finish = finish};
  const scl_status status = kernel_create(host, sizeof(hat), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  hat *self = *instance;
  self->length = values[LENGTH].number;
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_KERNEL,
                                    "hat",
                                    "1.0",
                                    "The Scullery authors",
                                    "1 - ||x-y||_1/length: the stump kernel without the clipping",
                                    "K(x, y) = 1 - ||x - y||_1 / length, dense rows only; nothing "
                                    "is cut off at 0. Conditionally positive definite: for\n"
                                    "coefficients that sum to 0. Positive semidefinite on every "
                                    "box whose sides sum to at most 2 length, and on no larger\n"
                                    "one: opposite corners of a box whose sides sum to B have K = "
                                    "1 - B/length, below -1 from there on. With\n"
                                    "length = a d it is sc.kernel.stump{ a = a } on [-a, a]^d.",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    kernel_destroy,
                                    kernel_no_ability};
