/* One-hot of the grid cell (Rahimi and Recht 2008, random binning): the category of a row is the d
 * integers floor((x_j - u_j)/delta_j).
 *
 * With pitches delta_j ~ Gamma(2, gamma) and shifts u_j ~ U[0, delta_j], P(x and y share a cell) =
 * exp(-gamma |x - y|_1). */
#include "shared/pointwise.h"

#include <math.h>

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  (void)values;
  return pointwise_create(host, NULL, 0, instance, error);
}

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)instance;
  (void)error;
  *out = (scl_shape){.fan_in = 0, .fan_out = 1, .spaces = SCL_BIT(SCL_SPACE_GRID), .one_hot = 1};
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_block *z, scl_block *out,
                        scl_error *error) {
  (void)z;
  (void)out;
  const pointwise *self = instance;
  return self->host->fail(
      error, SCL_STATUS_UNSUPPORTED,
      "a cell is a category, not a number: its features are one-hot, from categories");
}

static scl_status key(const void *instance, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  (void)instance;
  (void)error;
  *words = planes;
  *levels = 0;
  return SCL_STATUS_OK;
}

/* From planes to words: one coordinate of `count` cells, which lie `words` apart. */
static void scatter(size_t count, size_t words, const double *z, int32_t *out) {
  for (size_t j = 0; j < count; j++)
    out[j * words] = (int32_t)z[j];
}

static scl_status categories(const void *instance, const scl_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  (void)instance;
  (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t k = 0; k < z->planes; k++)
      scatter(z->cols, z->planes,
              (const double *)z->data + (ptrdiff_t)i * z->row_stride +
                  (ptrdiff_t)k * z->plane_stride,
              out + (ptrdiff_t)i * row_stride + k);
  return SCL_STATUS_OK;
}

static void facts(const void *instance, scl_facts *out) {
  (void)instance;
  *out = (scl_facts){.bound = 1, .lipschitz = INFINITY};
}

static const scl_nonlinearity table = {SCL_HEAD(scl_nonlinearity), shape, apply};
static const scl_ability_facts facts_table = {SCL_HEAD(scl_ability_facts), facts};
static const scl_ability_categories categories_table = {SCL_HEAD(scl_ability_categories), key,
                                                        categories};

static const void *ability(const void *instance, const char *id) {
  static const ability_entry list[] = {
      {SCL_ABILITY_FACTS, &facts_table}, {SCL_ABILITY_CATEGORIES, &categories_table}, {NULL, NULL}};
  (void)instance;
  return ability_find(list, id);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_NONLINEARITY,
    "bins",
    "1.0",
    "The Scullery authors",
    "One-hot of the grid cell: random binning features",
    "phi(w, x) is 1 at the column of x's cell in grid w, 0 elsewhere: all d coordinates in, one "
    "sparse entry a grid out.\n"
    "The cell is floor((x_j - u_j)/delta_j), j = 1 .. d; cells never seen in fitting contribute "
    "nothing.\n"
    "With sampler.grid{gamma=} (pitches Gamma(2, gamma), shifts uniform) it estimates exp(-gamma "
    "|x-y|_1)\n"
    "(Rahimi and Recht 2008, random binning).",
    NULL,
    0,
    &table,
    create,
    pointwise_destroy,
    ability};
