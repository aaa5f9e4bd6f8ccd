/* Random grids, for binning features: for each column j a pitch and a shift,
 *   delta_j ~ Gamma(shape 2, rate gamma),   u_j ~ U[0, delta_j].
 * A row of data is in the cell floor((x_j - u_j)/delta_j), j = 1 .. d, and
 *   P(x and y share a cell) = exp(-gamma ||x - y||_1)
 * (Rahimi and Recht 2007, Random features for large-scale kernel machines, section 4; 2008, Uniform
 * approximation of functions with random bases).
 *
 * Gamma(2, 1) is half the sum of four squared normal numbers: no logarithm, the same bits on every
 * machine. */
#include <scullery/plugin.h>

typedef struct grid {
  scl_base base;
  double gamma;
} grid;

static const scl_option options[] = {
    SCL_NUMBER(grid, gamma, "1", "the rate in exp(-gamma ||x-y||_1); the mean pitch is 2/gamma",
               SCL_WITHIN(1e-250, 1e250), .width = SCL_WIDTH_RATE)};

static scl_status grid_layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  (void)out;
  const grid *self = instance;
  if (dim > 0) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_SHAPE,
                               "a grid needs a column, and the data have none");
}

enum { STREAM_PITCHES = 0, STREAM_SHIFTS = 1 };

/* Parameter t holds d pitches, followed by d shifts. */
static scl_status draw_grids(const void *instance, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  (void)error;
  const grid *self = instance;
  const scl_random *random = self->base.host->random;
  const uint64_t seed = draw->address.seed, stream = draw->address.stream;
  for (size_t i = 0; i < out->count; i++) {
    double *pitch = out->weights + (ptrdiff_t)i * out->stride, *shift = pitch + out->dim, n[4];
    const uint64_t index = out->first + i;
    random->uniform(seed, stream + STREAM_SHIFTS, index, 0, out->dim, shift);
    for (size_t j = 0; j < out->dim; j++) {
      random->normal(seed, stream + STREAM_PITCHES, index, 4 * j, 4, n);
      pitch[j] = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]) / (2 * self->gamma);
      if (!(pitch[j] > 0)) pitch[j] = 0x1p-1022; /* four zeros: one draw in 2^212 */
      shift[j] *= pitch[j];
    }
  }
  return SCL_STATUS_OK;
}

/* Mean and standard deviation of the pitches, of law Gamma(2, gamma). */
static void moments(const void *instance, double *mean, double *deviation) {
  const grid *self = instance;
  *mean = 2 / self->gamma;
  *deviation = SCL_SQRT2 / self->gamma;
}

/* out_i = P(rows at this difference share a cell). */
static scl_status grid_collision(const void *instance, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  (void)error;
  const grid *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < draw->dim; j++)
      sum += fabs(delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
    out[i] = exp(-self->gamma * sum);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "grid",
    .summary = "Random grids for binning features; cells estimate exp(-gamma ||x-y||_1)",
    .doc = "Draws for each column a pitch delta ~ Gamma(shape 2, rate gamma) and a shift "
           "u ~ U[0, delta];\n"
           "a row's cell is floor((x_j - u_j)/delta_j).\n"
           "With nonlinearity.bins, one-hot features of the cells, the estimate is of\n"
           "P(same cell) = exp(-gamma ||x-y||_1) (Rahimi and Recht 2008, random bases).",
    SCL_SAMPLER(.space = SCL_SPACE_GRID, .draw = draw_grids, .layout = grid_layout,
                .moments = moments),
    SCL_INSTANCE(grid, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_COLLISION, scl_ability_collision, .collision = grid_collision))};
