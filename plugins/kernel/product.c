/* K(u, w) = product over the factors of K_k(u, w): positive semidefinite where they are (Schur).
 *
 * Tilt: that of the one factor that has any effect where all others leave p as it is on the support
 * (indicators), for then K p is this factor's; products of two Gaussian kernels are one Gaussian
 * kernel, to be said as such. */
#include "shared/kernel.h"
#include "shared/kernel_parts.h"

enum { FACTORS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"factors", SCL_FORM_PARTS, "kernel", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the kernels, as { sc.kernel.gaussian{}, sc.kernel.polynomial{} }"},
};

static void fold(const void *instance, size_t k, size_t count, const double *values, double *out) {
  (void)instance;
  for (size_t j = 0; j < count; j++)
    out[j] = k == 0 ? values[j] : out[j] * values[j];
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  kernel_folded *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel");
  self->fold = fold;
  const scl_status status = parts_read(host, "factors", &values[FACTORS], &self->parts, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    host->release(self);
  return status;
}

static scl_status bind(const void *instance, const scl_law *law, void **bound, scl_error *error) {
  return folded_bind(instance, sizeof(kernel_folded), law, bound, error);
}

/* ---------------------------------------------------------------- the tilt */

/* Whether K p is p on the support: the mark of an indicator. */
static int leaves_law(const scl_law *law, const scl_tilt *tilt) {
  for (size_t j = 0; j < law->dim; j++)
    if (tilt->shrink[j] != 0 || tilt->offset[j] != law->mean[j] ||
        tilt->spread[j] != law->scale[j] || tilt->log0[j] != 0 || tilt->log1[j] != 0 ||
        tilt->log2[j] != 0)
      return 0;
  return 1;
}

static scl_status tilt_of(const kernel_part *part, const scl_law *law, scl_tilt *out,
                          scl_error *error) {
  const scl_ability_tilt *ability = part_ability(part, SCL_ABILITY_TILT);
  return ability->tilt(part->self, law, out, error);
}

static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const kernel_folded *self = instance;
  const kernel_part *chosen = &self->parts.list[0];
  size_t effective = 0;
  for (size_t k = 0; k < self->parts.count; k++) {
    const scl_status status = tilt_of(&self->parts.list[k], law, out, error);
    if (status != SCL_STATUS_OK) return status;
    if (leaves_law(law, out)) continue;
    chosen = &self->parts.list[k];
    effective++;
  }
  if (effective > 1)
    return self->parts.host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "no closed form for a product of %zu kernels that each tilt the parameters", effective);
  return tilt_of(chosen, law, out, error);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_bind bind_table = {SCL_HEAD(scl_ability_bind), bind, folded_describe};
  static const scl_ability_tilt tilt_table = {SCL_HEAD(scl_ability_tilt), tilt};
  const kernel_folded *self = instance;
  if (strcmp(id, SCL_ABILITY_BIND) == 0) return &bind_table;
  if (strcmp(id, SCL_ABILITY_TILT) != 0) return NULL;
  for (size_t k = 0; k < self->parts.count; k++)
    if (part_ability(&self->parts.list[k], id) == NULL) return NULL;
  return &tilt_table;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, folded_gram,
                                 folded_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "product",
    "1.0",
    "The Scullery authors",
    "the product of other kernels",
    "K(u, w) = K_1(u, w) K_2(u, w) ..., positive semidefinite where the factors are (Schur's "
    "product theorem). Defined where\n"
    "all factors are. Widths said through the sampler (theta, coefficient) are worked out for each "
    "factor by itself.\n"
    "Exact expectations where all factors but one are sc.kernel.indicator{}; otherwise by Monte "
    "Carlo.",
    options,
    OPTIONS,
    &table,
    create,
    folded_destroy,
    ability};
