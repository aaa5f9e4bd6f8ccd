/* K(u, w) = 1[u and w have the same support]: on thresholds 1[same column], on dense rows, which
 * all have all columns, 1.
 *
 * Tilt: K(u, .) p is p restricted to the support, so every coordinate keeps its law and c = 1 /
 * C(d, s). */
#include "shared/kernel.h"
#include "shared/kernel_tilt.h"

static void finish(const void *instance, size_t dim, size_t count, double *numbers) {
  (void)instance, (void)dim;
  for (size_t j = 0; j < count; j++)
    numbers[j] = 1;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const kernel form = {.number = KERNEL_NONE, .scale = 1, .finish = finish};
  (void)values;
  return kernel_create(host, sizeof(kernel), form, instance, error);
}

static scl_status tilt(const void *instance, const scl_law *law, scl_tilt *out, scl_error *error) {
  const kernel *self = instance;
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "no closed form for this kernel with this sampler's law");
  for (size_t j = 0; j < law->dim; j++) {
    out->offset[j] = law->mean[j];
    out->spread[j] = out->pair_scale[j] = law->scale[j];
    out->shrink[j] = out->correlation[j] = out->log0[j] = out->log1[j] = out->log2[j] = 0;
  }
  out->log_one = out->log_mass = tilt_indicator(law);
  out->log_diagonal = 0;
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_tilt tilt_table = {SCL_HEAD(scl_ability_tilt), tilt};
  (void)instance;
  return strcmp(id, SCL_ABILITY_TILT) == 0 ? &tilt_table : NULL;
}

static const scl_kernel table = {SCL_HEAD(scl_kernel), KERNEL_EVERYWHERE, kernel_gram,
                                 kernel_diagonal};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_KERNEL,
    "indicator",
    "1.0",
    "The Scullery authors",
    "1[same support]: the same column of thresholds, the same columns of sparse rows",
    "K(u, w) = 1 where u and w have the same support (sparse rows) or column (thresholds), else 0; "
    "on dense rows 1. To be\n"
    "multiplied with other kernels, or summed; positive semidefinite. The other kernels that know "
    "sparse rows and thresholds\n"
    "hold this factor already.",
    NULL,
    0,
    &table,
    create,
    kernel_destroy,
    ability};
