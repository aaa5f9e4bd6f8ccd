/* The product of other kernels, positive semidefinite where they are (Schur):
 *
 *   K(u, w) = prod_k K_k(u, w)
 *
 * Tilt: where all factors but one leave p as it is on the support (indicators), K p is the tilt of
 * that one. A product of two Gaussian kernels is one Gaussian kernel and should be given as
 * such. */
#include "shared/kernel_folded.h"
#include "shared/kernel_parts.h"

static const scl_option options[] = {
    KERNEL_PARTS(kernel_folded, given, "factors",
                 "the kernels, as { sc.kernel.gaussian{}, sc.kernel.polynomial{} }")};

static void product_multiply(const void *self, size_t k, size_t count, const double *values,
                             double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = k == 0 ? values[j] : out[j] * values[j];
}

static scl_status product_create(void *self, scl_error *error) {
  return folded_create(self, product_multiply, error);
}

/* ------------ the tilt */

/* Whether K p equals p on the support, as for an indicator. */
static bool leaves_law(const scl_law *law, const scl_tilt *tilt) {
  for (size_t j = 0; j < law->dim; j++)
    if (tilt->shrink[j] != 0 || tilt->offset[j] != law->mean[j] ||
        tilt->spread[j] != law->scale[j] || tilt->log0[j] != 0 || tilt->log1[j] != 0 ||
        tilt->log2[j] != 0)
      return false;
  return true;
}

/* The tilt of the one factor that changes the law; fails if several factors do. `out` holds the
 * tilt of each factor in turn. */
static scl_status product_tilt(const void *instance, const scl_law *law, scl_tilt *out,
                               scl_error *error) {
  const kernel_folded *self = instance;
  const scl_host *host = self->base.host;
  size_t chosen = 0, effective = 0;
  for (size_t k = 0; k < self->given->length; k++) {
    const scl_status status = host->parts->tilt(&self->parts[k], law, out, error);
    if (status != SCL_STATUS_OK) return status;
    if (leaves_law(law, out)) continue;
    chosen = k;
    effective++;
  }
  if (effective > 1)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "no closed form for a product of %zu kernels that each tilt the parameters",
                      effective);
  return host->parts->tilt(&self->parts[chosen], law, out, error);
}

static const void *product_ability(const void *instance, const char *id) {
  static const scl_ability_tilt tilting = {SCL_HEAD(scl_ability_tilt), .tilt = product_tilt};
  const kernel_folded *self = instance;
  if (strcmp(id, SCL_ABILITY_TILT) != 0) return folded_binding(self, id);
  return folded_count(self, id) == self->given->length ? &tilting : NULL;
}

static scl_shift product_shift(const void *self) {
  return folded_shift(self) == SCL_SHIFT_KEEPS ? SCL_SHIFT_KEEPS : SCL_SHIFT_CHANGES;
}

const scl_plugin scullery_plugin = {
    .name = "product",
    .summary = "the product of other kernels",
    .definition = "K(u, v) = product(factors, function(factor) return factor.K(u, v) end)",
    .doc =
        "K(u, w) = K_1(u, w) K_2(u, w) ..., positive semidefinite where the factors are (Schur's\n"
        "product theorem). Defined where all factors are.\n"
        "Widths set from the sampler (theta, coefficient) are computed for each factor by\n"
        "itself. Expectations are exact where all factors but one are sc.kernel.indicator{},\n"
        "otherwise by Monte Carlo.",
    KERNEL_FOLDED(kernel_folded),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = product_shift)),
    .create = product_create,
    .ability = product_ability};
