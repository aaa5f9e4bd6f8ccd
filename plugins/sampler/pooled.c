/* Rows shared by pools: R rows w_1 .. w_R are drawn by another sampler and projected once, and each
 * parameter of fan_in q reads q different ones of them, chosen uniformly (Mroueh, Rennie and Goel
 * 2015, Random maxout features, table 3). X W' costs R products a row of data, not T q.
 *
 * The rows that one parameter reads are independent with the base's law, so each feature has the
 * law and the map the kernel that it would have with rows of its own; features that share rows are
 * correlated, so that the error stops falling with T at what R rows give. */
#include "shared/instance.h"
#include "shared/supports.h"
#include <string.h>

enum { BASE, PROJECTIONS, OPTIONS };
/* Far from the streams that samplers use, which begin at 0. */
enum { STREAM_POOL = 15 };

static const scl_option options[OPTIONS] = {
    {"base", SCL_FORM_PARTS, "sampler", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the sampler of the shared rows: dense and independent ones, as sc.sampler.gaussian{}"},
    {"projections", SCL_FORM_INTEGER, NULL, "1000", 1, 2147483647, 0, SCL_WIDTH_NONE,
     "R, how many rows are shared; at least fan_in"},
};

typedef struct pooled {
  const scl_host *host;
  const scl_random *random;
  scl_part base;
  size_t projections;
} pooled;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_value *base = &values[BASE];
  if (base->parts == NULL || base->length != 1 || base->parts[0].plugin->kind != SCL_KIND_SAMPLER)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'base' takes one sampler, as sc.sampler.gaussian{}");
  if (strcmp(base->parts[0].plugin->name, "qmc") == 0)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "the points of sampler.qmc depend on each other, and a pool takes "
                      "independent rows, as sampler.gaussian draws them");
  const scl_status status = instance_new(host, sizeof(pooled), instance, error);
  if (status != SCL_STATUS_OK) return status;
  pooled *self = *instance;
  self->base = base->parts[0];
  self->projections = (size_t)values[PROJECTIONS].number;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the rows are the base's */

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const pooled *self = instance;
  const scl_sampler *base = self->base.plugin->vtable;
  const char *name = self->base.plugin->name;
  const scl_status status = base->layout(self->base.self, dim, out, error);
  if (status != SCL_STATUS_OK) return status;
  if (out->space != SCL_SPACE_DENSE)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "option 'base': sampler.%s draws no dense rows; sampler.gaussian does",
                            name);
  if (out->block != 1)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "option 'base': sampler.%s draws rows that depend on each other, %zu "
                            "at a time, and a pool takes independent ones",
                            name, out->block);
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  const pooled *self = instance;
  const scl_sampler *base = self->base.plugin->vtable;
  return base->draw(self->base.self, address, out, error);
}

static const void *base_ability(const pooled *self, const char *id) {
  return self->base.plugin->ability(self->base.self, id);
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  const pooled *self = instance;
  const scl_ability_law *base = base_ability(self, SCL_ABILITY_LAW);
  return base->law(self->base.self, dim, out, error);
}

static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta,
                                 ptrdiff_t stride, double *out, scl_error *error) {
  const pooled *self = instance;
  const scl_ability_characteristic *base = base_ability(self, SCL_ABILITY_CHARACTERISTIC);
  return base->characteristic(self->base.self, rows, dim, delta, stride, out, error);
}

/* ---------------------------------------------------------------- who reads which */

static size_t shared_rows(const void *instance, size_t count, size_t fan_in) {
  (void)count, (void)fan_in;
  const pooled *self = instance;
  return self->projections;
}

static scl_status pool(const void *instance, scl_address address, size_t first, size_t count,
                       size_t fan_in, int32_t *out, scl_error *error) {
  const pooled *self = instance;
  const scl_address stream = {address.seed, address.stream + STREAM_POOL};
  if (fan_in > self->projections)
    return self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'projections' = %zu rows are shared, and each parameter reads %zu different ones",
        self->projections, fan_in);
  for (size_t i = 0; i < count; i++)
    support_draw(self->random, stream, first + i, self->projections, fan_in, out + i * fan_in);
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), characteristic};
  static const scl_ability_pool pool_table = {SCL_HEAD(scl_ability_pool), shared_rows, pool};
  if (strcmp(id, SCL_ABILITY_POOL) == 0) return &pool_table;
  if (base_ability(instance, id) == NULL) return NULL;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "pooled",
    "1.0",
    "The Scullery authors",
    "R rows of another sampler, shared by all pools",
    "Draws R = projections rows by the base; parameter t of a nonlinearity with fan_in q (maxout) "
    "reads q\n"
    "different ones of them, chosen uniformly by (seed, t). R products a row of data instead of T "
    "q.\n"
    "The kernel is that of pools with rows of their own; features that share rows are correlated, "
    "so the\n"
    "error no longer falls once T q is well above R (Mroueh, Rennie and Goel 2015, Random maxout\n"
    "features, table 3).",
    options,
    OPTIONS,
    &table,
    create,
    instance_end,
    ability};
