/* Random grids, for binning features: for each column j a pitch and a shift,
 *   delta_j ~ Gamma(shape 2, rate gamma), or of another law,   u_j ~ U[0, delta_j].
 * A row of data is in the cell floor((x_j - u_j)/delta_j), j = 1 .. d, and
 *   P(x and y share a cell) = prod_j E max(0, 1 - |x_j - y_j|/delta_j),
 * which is exp(-gamma ||x - y||_1) for the Gamma law (Rahimi and Recht 2007, Random features for
 * large-scale kernel machines, section 4; 2008, Uniform approximation of functions with random
 * bases, equations 14 and 15).
 *
 * Gamma(2, 1) is half the sum of four squared normal numbers: no logarithm, the same bits on every
 * machine. */
#include <scullery/plugin.h>

typedef struct grid {
  scl_base base;
  double gamma;
  const scl_value *pitch;
} grid;

static const scl_option options[] = {
    SCL_NUMBER(grid, gamma, NULL,
               "the rate in exp(-gamma ||x-y||_1), 1 by default; the mean pitch is 2/gamma",
               SCL_WITHIN(1e-250, 1e250), .width = SCL_WIDTH_RATE),
    SCL_ROW(
        grid, pitch, SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL,
        "in place of gamma: the pitch of all grids, or a list of equally likely ones (quantiles "
        "of a law stand for it)",
        SCL_WITHIN(1e-250, 1e250))};

/* The number of given pitches, 0 for the law Gamma(2, gamma); *pitches: the first of them. */
static size_t given_pitches(const grid *self, const double **pitches) {
  const scl_value *given = self->pitch;
  *pitches = given->form == SCL_FORM_LIST ? given->list : &given->number;
  return given->form == 0 ? 0 : given->form == SCL_FORM_LIST ? given->length : 1;
}

static scl_status grid_create(void *instance, scl_error *error) {
  grid *self = instance;
  const scl_host *host = self->base.host;
  if (self->pitch->form == SCL_FORM_LIST && self->pitch->length == 0)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'pitch' takes at least one pitch, and got none");
  if (self->pitch->form != 0 && !isnan(self->gamma))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "options 'gamma' and 'pitch' both set the pitches: give one of them");
  if (isnan(self->gamma)) self->gamma = 1;
  return SCL_STATUS_OK;
}

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
  const double *given;
  const size_t count = given_pitches(self, &given);
  for (size_t i = 0; i < out->count; i++) {
    double *pitch = out->weights + (ptrdiff_t)i * out->stride, *shift = pitch + out->dim, n[4];
    const uint64_t index = out->first + i;
    random->uniform(seed, stream + STREAM_SHIFTS, index, 0, out->dim, shift);
    for (size_t j = 0; j < out->dim; j++) {
      if (count == 0) {
        random->normal(seed, stream + STREAM_PITCHES, index, 4 * j, 4, n);
        pitch[j] = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]) / (2 * self->gamma);
        if (!(pitch[j] > 0)) pitch[j] = 0x1p-1022; /* four zeros: one draw in 2^212 */
      } else {                                     /* uniform numbers are below 1 */
        random->uniform(seed, stream + STREAM_PITCHES, index, j, 1, n);
        pitch[j] = given[(size_t)(n[0] * (double)count)];
      }
      shift[j] *= pitch[j];
    }
  }
  return SCL_STATUS_OK;
}

/* Mean and standard deviation of the pitches. */
static void moments(const void *instance, double *mean, double *deviation) {
  const grid *self = instance;
  const double *given;
  const size_t count = given_pitches(self, &given);
  double sum = 0, square = 0;
  for (size_t k = 0; k < count; k++)
    sum += given[k] / (double)count;
  for (size_t k = 0; k < count; k++)
    square += (given[k] - sum) * (given[k] - sum) / (double)count;
  *mean = count == 0 ? 2 / self->gamma : sum;
  *deviation = count == 0 ? SCL_SQRT2 / self->gamma : sqrt(square);
}

/* out_i = P(rows at this difference share a cell). */
static scl_status grid_collision(const void *instance, const scl_draw *draw, size_t rows,
                                 const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  (void)error;
  const grid *self = instance;
  const double *given;
  const size_t count = given_pitches(self, &given);
  for (size_t i = 0; i < rows; i++) {
    double sum = 0, product = 1;
    for (size_t j = 0; j < draw->dim; j++) {
      const double d = fabs(delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]);
      double share = 0; /* E max(0, 1 - d/pitch) over the given pitches */
      for (size_t k = 0; k < count; k++)
        share += fmax(0, 1 - d / given[k]) / (double)count;
      product *= share;
      sum += d;
    }
    out[i] = count > 0 ? product : exp(-self->gamma * sum);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "grid",
    .summary = "Random grids for binning features; cells estimate exp(-gamma ||x-y||_1)",
    .definition =
        "pitches() = type(pitch) == \"table\" and pitch or { pitch }\n"
        /* Twice a number of the law Gamma(2, 1). */
        "square(t, j, r) = sum(4, function(k) return r.normal(0, t, 4*j - 5 + k)^2 end)\n"
        "delta(t, j, r) = pitch and pitches()[1 + floor(r.uniform(0, t, j - 1)*#pitches())] or\n"
        "  square(t, j, r)/(2*(gamma or 1))\n"
        /* Pitches, then shifts. */
        "draw(t, r) = join(map(range(r.dim), function(j) return delta(t, j, r) end),\n"
        "  map(range(r.dim), function(j) return r.uniform(1, t, j - 1)*delta(t, j, r) end))\n"
        /* Of one column at the difference d. */
        "share(d) = mean(pitches(), function(p) return max(0, 1 - abs(d)/p) end)\n"
        "collision(x) = pitch and product(x, share) or exp(-(gamma or 1)*sum(x, abs))",
    .doc =
        "Draws for each column a pitch delta ~ Gamma(shape 2, rate gamma) and a shift "
        "u ~ U[0, delta];\n"
        "a row's cell is floor((x_j - u_j)/delta_j).\n"
        "With nonlinearity.bins, one-hot features of the cells, the estimate is of\n"
        "P(same cell) = exp(-gamma ||x-y||_1) (Rahimi and Recht 2008, random bases). With `pitch`\n"
        "it is of prod_j max(0, 1 - |x_j - y_j|/pitch), the hat kernel, or with a list of the\n"
        "product of its means over the list.",
    SCL_SAMPLER(.space = SCL_SPACE_GRID, .draw = draw_grids, .layout = grid_layout,
                .moments = moments),
    SCL_INSTANCE(grid, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_COLLISION, scl_ability_collision, .collision = grid_collision)),
    .create = grid_create};
