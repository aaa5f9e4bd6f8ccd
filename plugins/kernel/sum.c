/* The weighted sum of other kernels, a_k >= 0, positive semidefinite where they are:
 *
 *   K(u, w) = sum_k a_k K_k(u, w) */
#include "shared/kernel_folded.h"
#include "shared/kernel_parts.h"

typedef struct sum {
  kernel_folded folded;
  const scl_value *weights;
} sum;

static const scl_option options[] = {
    KERNEL_PARTS(sum, folded.given, "terms",
                 "the kernels, as { sc.kernel.gaussian{}, sc.kernel.linear{} }"),
    SCL_ROW(sum, weights, SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL,
            "a factor for each term, or one for all, 0 or more (default 1)", SCL_NOT_NEGATIVE)};

/* out = a_0 K_0 for the first term, then out += a_k K_k. */
static void sum_add(const void *self, size_t k, size_t count, const double *values, double *out) {
  const scl_value *weights = ((const sum *)self)->weights;
  const double factor = weights->form == 0               ? 1
                        : weights->form == SCL_FORM_LIST ? weights->list[k]
                                                         : weights->number;
  for (size_t j = 0; j < count; j++)
    out[j] = factor * values[j] + (k == 0 ? 0 : out[j]);
}

/* Checks that a list has one weight for each term. */
static scl_status sum_create(void *instance, scl_error *error) {
  sum *self = instance;
  const size_t terms = self->folded.given->length;
  const size_t given = self->weights->form == SCL_FORM_LIST ? self->weights->length : terms;
  if (given != terms)
    return self->folded.base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'weights' takes one number for each term: got %zu for %zu terms", given, terms);
  return folded_create(&self->folded, sum_add, error);
}

static scl_shift sum_shift(const void *self) { return folded_shift(&((const sum *)self)->folded); }

const scl_plugin scullery_plugin = {
    .name = "sum",
    .summary = "the weighted sum of other kernels",
    .definition = "weight(k) = type(weights) == \"table\" and weights[k] or weights or 1\n"
                  "K(u, v) = sum(#terms, function(k) return weight(k)*terms[k].K(u, v) end)",
    .doc =
        "K(u, w) = weights[1] K_1(u, w) + weights[2] K_2(u, w) + ..., positive semidefinite\n"
        "where the terms are. Defined where all terms are.\n"
        "Widths set from the sampler (theta, coefficient) are computed for each term by itself.\n"
        "Expectations are by Monte Carlo: a sum of tilted laws is a mixture.",
    KERNEL_FOLDED(sum),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = sum_shift)),
    .create = sum_create,
    .ability = folded_binding};
