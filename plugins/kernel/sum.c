/* K(u, w) = sum over the terms of a_k K_k(u, w), a_k >= 0: positive semidefinite where they are. */
#include "shared/kernel.h"
#include "shared/kernel_parts.h"

enum { TERMS, WEIGHTS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"terms", SCL_FORM_PARTS, "kernel", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the kernels, as { sc.kernel.gaussian{}, sc.kernel.linear{} }"},
    {"weights", SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL, 0, INFINITY, SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "a factor for each term, 0 or more (default 1 each)"},
};

typedef struct sum {
  kernel_folded folded;
  size_t count;
  double weights[]; /* one a term */
} sum;

static void fold(const void *instance, size_t k, size_t count, const double *values, double *out) {
  const sum *self = instance;
  const double weight = self->weights[k];
  for (size_t j = 0; j < count; j++)
    out[j] = weight * values[j] + (k == 0 ? 0 : out[j]);
}

static size_t bytes(size_t terms) {
  return sizeof(sum) + terms * sizeof(double);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_value *weights = &values[WEIGHTS];
  const size_t terms = values[TERMS].length, given = weights->form == 0 ? terms
                                                     : weights->form == SCL_FORM_LIST
                                                         ? weights->length
                                                         : 1;
  if (given != terms)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'weights' takes one number a term: %zu came for %zu terms", given,
                      terms);
  sum *self = host->allocate(bytes(terms));
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel");
  self->count = terms;
  self->folded.fold = fold;
  for (size_t k = 0; k < terms; k++)
    self->weights[k] = weights->form == 0               ? 1
                       : weights->form == SCL_FORM_LIST ? weights->list[k]
                                                        : weights->number;
  const scl_status status = parts_read(host, "terms", &values[TERMS], &self->folded.parts, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    host->release(self);
  return status;
}

static scl_status bind(const void *instance, const scl_law *law, void **bound, scl_error *error) {
  const sum *self = instance;
  return folded_bind(instance, bytes(self->count), law, bound, error);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_bind bind_table = {SCL_HEAD(scl_ability_bind), bind, folded_describe};
  (void)instance;
  return strcmp(id, SCL_ABILITY_BIND) == 0 ? &bind_table : NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, folded_gram,
                                 folded_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "sum",
    "1.0",
    "The Scullery authors",
    "the weighted sum of other kernels",
    "K(u, w) = weights[1] K_1(u, w) + weights[2] K_2(u, w) + ..., positive semidefinite where the "
    "terms are. Defined where all\n"
    "terms are. Widths said through the sampler (theta, coefficient) are worked out for each term "
    "by itself. Expectations\n"
    "by Monte Carlo: a sum of tilted laws is a mixture.",
    options,
    OPTIONS,
    &table,
    create,
    folded_destroy,
    ability};
