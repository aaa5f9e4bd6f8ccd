/* The kernel of decision stumps sign(x_i - t), i uniform over the d columns:
 *   t ~ U[-a, a]:       K(x, y) = 1 - ||clip(x) - clip(y)||_1 / (a d),   clip to [-a, a]
 *   t ~ N(0, sigma^2):  K(x, y) = 1 - (2/d) sum_i |F(x_i/sigma) - F(y_i/sigma)|,
 *       F the normal distribution function.
 * For each column a stump tells x_i from y_i where t falls between the two; sign times sign is then
 * -1, else 1. Rahimi and Recht 2008 (Uniform approximation of functions with random bases) print
 * the first without the 1/d. */
#include "shared/kernel.h"

enum { SIGMA, A, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "normal thresholds: their standard deviation (default 1)"},
    {"a", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "uniform thresholds on [-a, a], instead of sigma"},
};

typedef struct stump {
  kernel base;
  double width; /* a, or sigma sqrt(2) */
} stump;

static void move_clip(const void *instance, size_t count, double *x) {
  const stump *self = instance;
  for (size_t i = 0; i < count; i++)
    x[i] = fmin(fmax(x[i] / self->width, -1), 1);
}

/* erf(x / (sigma sqrt 2)) = 2 F(x/sigma) - 1 */
static void move_normal(const void *instance, size_t count, double *x) {
  const stump *self = instance;
  for (size_t i = 0; i < count; i++)
    x[i] /= self->width;
  self->base.math->erf(count, x, x);
}

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  (void)instance;
  for (size_t j = 0; j < count; j++)
    numbers[j] = 1 - numbers[j] / (double)(dim > 0 ? dim : 1);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_value *sigma = &values[SIGMA], *a = &values[A];
  if (sigma->form != 0 && a->form != 0)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'sigma' = %g asks for normal thresholds and 'a' = %g for uniform ones: give one of them",
        sigma->number, a->number);
  const kernel form = {.number = KERNEL_ABSOLUTE,
                       .scale = 1,
                       .finish = finish,
                       .move = a->form != 0 ? move_clip : move_normal};
  const scl_status status = kernel_create(host, sizeof(stump), form, instance, error);
  if (status != SCL_STATUS_OK) return status;
  stump *self = *instance;
  self->width = a->form != 0 ? a->number : sqrt(2) * (sigma->form != 0 ? sigma->number : 1);
  return SCL_STATUS_OK;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), SCL_BIT(SCL_SPACE_DENSE), kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "stump",
    "1.0",
    "The Scullery authors",
    "the kernel of decision stumps: 1 - ||x-y||_1/(a d), or with normal thresholds",
    "The kernel that sign features on sc.sampler.threshold estimate, dense rows only, positive "
    "semidefinite.\n"
    "a: K(x, y) = 1 - ||clip(x) - clip(y)||_1 / (a d), clip to [-a, a]: thresholds uniform on [-a, "
    "a]. Rahimi and Recht\n"
    "(2008, Uniform approximation of functions with random bases) print it without the 1/d, which "
    "would make it the kernel\n"
    "of nothing for d > 1: at opposite corners it would be 1 - 2 d, and a mean of products of "
    "signs is never below -1.\n"
    "sigma: K(x, y) = 1 - (2/d) sum_i |F(x_i/sigma) - F(y_i/sigma)|, F the normal distribution "
    "function.",
    options,
    OPTIONS,
    &table,
    create,
    kernel_destroy,
    kernel_no_ability};
