/* Random grids (binning features; Rahimi and Recht 2007, 2008 Allerton): for each column a pitch
 * delta_j ~ Gamma(2, gamma) and a shift u_j ~ U[0, delta_j]; a row lies in the cell floor((x_j -
 * u_j)/delta_j). P(x and y share a cell) = exp(-gamma ||x-y||_1).
 *
 * Gamma(2, 1) is half the sum of four squared normal numbers: no logarithm, the same bits on every
 * machine. */
#include "shared/instance.h"
#include <math.h>

enum { GAMMA, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_FORM_NUMBER, NULL, "1", 1e-250, 1e250, 0, SCL_WIDTH_RATE,
     "the rate in exp(-gamma ||x-y||_1); the mean pitch is 2/gamma"},
};

typedef struct grid {
  const scl_host *host;
  const scl_random *random;
  double gamma;
} grid;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const scl_status status = instance_new(host, sizeof(grid), instance, error);
  if (status == SCL_STATUS_OK) ((grid *)*instance)->gamma = values[GAMMA].number;
  return status;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const grid *self = instance;
  if (dim == 0)
    return self->host->fail(error, SCL_STATUS_BAD_SHAPE,
                            "a grid needs a column, and the data have none");
  *out = (scl_layout){SCL_SPACE_GRID, 2 * dim, 0, 1, 0};
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)error;
  const grid *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    double *pitch = out->weights + (ptrdiff_t)i * out->stride, *shift = pitch + out->dim, n[4];
    const uint64_t index = out->first + i;
    self->random->uniform(address.seed, address.stream + 1, index, 0, out->dim, shift);
    for (size_t j = 0; j < out->dim; j++) {
      self->random->normal(address.seed, address.stream, index, 4 * j, 4, n);
      pitch[j] = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]) / (2 * self->gamma);
      if (!(pitch[j] > 0)) pitch[j] = 0x1p-1022; /* four zeros: one draw in 2^212 */
      shift[j] *= pitch[j];
    }
  }
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  (void)error;
  const grid *self = instance;
  out->space = SCL_SPACE_GRID;
  out->family = SCL_FAMILY_OTHER;
  out->bias = SCL_BIAS_NONE;
  for (size_t j = 0; j < dim; j++) { /* of the pitch */
    out->mean[j] = 2 / self->gamma;
    out->scale[j] = sqrt(2) / self->gamma;
  }
  return SCL_STATUS_OK;
}

static scl_status collision(const void *instance, size_t rows, size_t dim, const double *delta,
                            ptrdiff_t stride, double *out, scl_error *error) {
  (void)error;
  const grid *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < dim; j++)
      sum += fabs(delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
    out[i] = exp(-self->gamma * sum);
  }
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_collision collision_table = {SCL_HEAD(scl_ability_collision), collision};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_COLLISION) == 0) return &collision_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "grid",
    "1.0",
    "The Scullery authors",
    "Random grids for binning features; cells estimate exp(-gamma ||x-y||_1)",
    "Draws for each column a pitch delta ~ Gamma(shape 2, rate gamma) and a shift u ~ U[0, delta]; "
    "a row's cell is\n"
    "floor((x_j - u_j)/delta_j). With nonlinearity.bins, one-hot features of the cells, the "
    "estimate is of\n"
    "P(same cell) = exp(-gamma ||x-y||_1) (Rahimi and Recht 2008, random bases).",
    options,
    OPTIONS,
    &table,
    create,
    instance_end,
    ability};
