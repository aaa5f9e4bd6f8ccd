/* Parameters of samplers column by column, for maps of very many columns of which rows have few. */
#include "plugin/sampler.h"

#include "base/random.h"
#include "plugin/blocks.h"
#include "plugin/call.h"
#include <math.h>

enum { CHUNK = 256 }; /* parameters that are made at a time */

bool scl_sampler_draws_columns(const scl_instance *sampler, bool has_bias) {
  const scl_sampler *table = scl_instance_vtable(sampler);
  scl_law law = {0};
  bool by_host; /* a bias that the sampler draws itself comes with its weights */
  if (!scl_instance_has(sampler, SCL_ABILITY_COLUMNS) && table->draw != NULL) return false;
  return scl_sampler_bias(sampler, &law, &by_host, NULL) == SCL_STATUS_OK &&
         (by_host || !has_bias || table->draw == NULL);
}

scl_status scl_sampler_column_law(const scl_instance *sampler, const scl_draw *draw,
                                  scl_column_law *out, scl_error *error) {
  const scl_sampler *table = scl_instance_vtable(sampler);
  const size_t dim = draw->dim;
  scl_law law;
  *out = (scl_column_law){0};
  if (table->draw != NULL) return SCL_STATUS_OK;
  const scl_status status = scl_sampler_open_law(sampler, draw, dim, &law, error);
  bool alike = true;
  for (size_t j = 1; status == SCL_STATUS_OK && alike && j < dim; j++)
    alike = law.mean[j] == law.mean[0] && law.scale[j] == law.scale[0];
  if (status == SCL_STATUS_OK && dim > 0) {
    out->mean = law.mean[0];
    out->scale = law.scale[0];
  }
  if (status == SCL_STATUS_OK && !alike)
    out->each = law.mean; /* the scales follow it */
  else
    scl_release(law.mean);
  return status;
}

void scl_sampler_release_column_law(scl_column_law *law) {
  scl_release(law->each);
  law->each = NULL;
}

/* Column `column` of at most CHUNK parameters by slot `make`, of the random numbers that draw_simple
 * takes for it. */
static scl_status make_column(const scl_instance *sampler, const scl_draw *draw,
                              const scl_column_law *law, size_t column, size_t first, size_t count,
                              double *out, scl_error *error) {
  const scl_sampler *table = scl_instance_vtable(sampler);
  const size_t each = scl_max(table->normals, 1);
  const double mean = law->each == NULL ? law->mean : law->each[column],
               scale = law->each == NULL ? law->scale : law->each[draw->dim + column];
  double numbers[8 * CHUNK];
  for (size_t t = 0; t < count; t++)
    (table->normals == 0 ? scl_random_uniform
                         : scl_random_normal)(draw->address.seed, draw->address.stream, first + t,
                                              column * each, each, numbers + t * each);
  SCL_TRY(scl_sampler_make(sampler, count, numbers, out, error));
  for (size_t t = 0; t < count; t++)
    out[t] = mean + scale * out[t];
  return SCL_STATUS_OK;
}

scl_status scl_sampler_draw_column(const scl_instance *sampler, const scl_draw *draw,
                                   const scl_column_law *law, size_t column, size_t first,
                                   size_t count, double *out, scl_error *error) {
  const scl_ability_columns *ability = scl_instance_ability(sampler, SCL_ABILITY_COLUMNS);
  if (ability != NULL) {
    scl_call call;
    scl_call_enter(&call, sampler->component, "column", error);
    SCL_TRY(scl_call_leave(&call,
                           ability->column(sampler->self, draw, column, first, count, out, error)));
  } else {
    for (size_t at = 0; at < count; at += CHUNK)
      SCL_TRY(make_column(sampler, draw, law, column, first + at, scl_min(CHUNK, count - at),
                          out + at, error));
  }
  for (size_t t = 0; t < count; t++)
    if (!isfinite(out[t]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s drew a weight that is not finite (parameter %zu): the width is "
                      "too large",
                      scl_instance_name(sampler), first + t + 1);
  return SCL_STATUS_OK;
}
