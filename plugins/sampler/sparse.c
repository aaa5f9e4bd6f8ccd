/* Sparse rows: a support N of s of the d columns, uniform without replacement, and weights on it
 * (Harris 2019, Additive function approximation in the brain). A row meets it as z = <w_N, x_N> +
 * b.
 *
 * Weights, given s: gaussian N(0, sigma^2/s), uniform on +-sqrt(3) sigma/sqrt(s), or rademacher,
 * +-sigma/sqrt(s): E ||w||^2 = sigma^2 for every s. nonnegative: their absolute values.
 *
 * Fourier features estimate sum_s P(s) mean over |N| = s of prod_{j in N} c_s(delta_j), c_s the
 * characteristic function of one weight: a normalised elementary symmetric polynomial of the
 * c_s(delta_j). */
#include "shared/bias.h"
#include "shared/blocks.h"
#include "shared/degrees.h"
#include "shared/instance.h"
#include "shared/subset_means.h"
#include "shared/supports.h"

enum { DEGREE, SIGMA, WEIGHTS, NONNEGATIVE, BIREGULAR, BIAS, OPTIONS };
/* Streams, from the parameters' own on; bias_draw takes the second. */
enum { STREAM_WEIGHTS = 0, STREAM_SUPPORTS = 2, STREAM_DEGREES = 3 };

static const scl_option options[OPTIONS] = {
    DEGREE_OPTION,
    {"sigma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE,
     "root mean square length of a row: E ||w||^2 = sigma^2 whatever the in-degree"},
    {"weights", SCL_FORM_WORD, "gaussian|uniform|rademacher", "gaussian", 0, 0, 0, SCL_WIDTH_NONE,
     "the law of a weight, with variance sigma^2/s: gaussian, uniform on an interval about 0, or "
     "one of two values"},
    {"nonnegative", SCL_FORM_BOOLEAN, NULL, "false", 0, 1, 0, SCL_WIDTH_NONE,
     "true: absolute values of the weights"},
    {"biregular", SCL_FORM_BOOLEAN, NULL, "false", 0, 1, 0, SCL_WIDTH_NONE,
     "true: each column occurs equally often in a block of lcm(d, s)/s parameters; for a fixed "
     "in-degree s"},
    BIAS_OPTION,
};

typedef struct sparse {
  const scl_host *host;
  const scl_random *random;
  const scl_vector_math *math;
  degree_law degree;
  double sigma;
  scl_family family;
  int nonnegative, biregular;
  bias_law bias;
} sparse;

/* ---------------------------------------------------------------- options and layout */

static scl_status read_options(sparse *self, const scl_value *values, scl_error *error) {
  const char *weights = values[WEIGHTS].word;
  self->sigma = values[SIGMA].number;
  self->family = strcmp(weights, "uniform") == 0      ? SCL_FAMILY_UNIFORM
                 : strcmp(weights, "rademacher") == 0 ? SCL_FAMILY_RADEMACHER
                                                      : SCL_FAMILY_GAUSSIAN;
  self->nonnegative = values[NONNEGATIVE].number != 0;
  self->biregular = values[BIREGULAR].number != 0;
  self->math = self->host->service(SCL_SERVICE_VECTOR_MATH);
  if (self->math == NULL)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED, "this host has no vector functions");
  scl_status status = degree_read(self->host, &values[DEGREE], &self->degree, error);
  if (status == SCL_STATUS_OK) status = bias_read(self->host, &values[BIAS], &self->bias, error);
  if (status == SCL_STATUS_OK && self->biregular && self->degree.fixed == 0)
    status = self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'biregular' takes a fixed in-degree, as degree = 3, and 'degree' got a law");
  return status;
}

static void destroy(void *instance) {
  sparse *self = instance;
  degree_release(self->host, &self->degree);
  instance_end(self);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  void *made = NULL;
  scl_status status = instance_new(host, sizeof(sparse), &made, error);
  if (status != SCL_STATUS_OK) return status;
  status = read_options(made, values, error);
  if (status == SCL_STATUS_OK)
    *instance = made;
  else
    destroy(made);
  return status;
}

static scl_status find_range(const sparse *self, size_t dim, degree_range *out, scl_error *error) {
  if (dim == 0 || dim > INT32_MAX)
    return self->host->fail(error, SCL_STATUS_BAD_SHAPE,
                            "sparse rows take 1 to 2^31 - 1 columns, and the data have %zu", dim);
  return degree_find_range(self->host, &self->degree, dim, out, error);
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  const size_t slots =
      range.high > 0 ? range.high : 1; /* an in-degree that is always 0 still has a row */
  *out = (scl_layout){SCL_SPACE_SPARSE, slots, slots,
                      self->biregular ? support_block(dim, range.high) : 1,
                      self->bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- drawing */

/* Slots from the in-degree on hold 0 and -1. */
static void draw_weights(const sparse *self, scl_address address, scl_parameters *out, size_t i,
                         size_t degree, size_t slots) {
  const double scale = self->sigma / sqrt((double)degree), third = 1.7320508075688772;
  double *w = out->weights + (ptrdiff_t)i * out->stride;
  if (self->family == SCL_FAMILY_GAUSSIAN)
    self->random->normal(address.seed, address.stream + STREAM_WEIGHTS, out->first + i, 0, degree,
                         w);
  else
    self->random->uniform(address.seed, address.stream + STREAM_WEIGHTS, out->first + i, 0, degree,
                          w);
  for (size_t j = 0; j < degree; j++) {
    const double value = self->family == SCL_FAMILY_GAUSSIAN  ? w[j]
                         : self->family == SCL_FAMILY_UNIFORM ? third * (2 * w[j] - 1)
                         : w[j] < 0.5                         ? -1
                                                              : 1;
    w[j] = scale * (self->nonnegative ? fabs(value) : value);
  }
  for (size_t j = degree; j < slots; j++) {
    w[j] = 0;
    out->support[(ptrdiff_t)i * out->support_stride + (ptrdiff_t)j] = -1;
  }
}

static int32_t *support_of(const scl_parameters *out, size_t i) {
  return out->support + (ptrdiff_t)i * out->support_stride;
}

static scl_status draw_biregular(const sparse *self, scl_address address, scl_parameters *out,
                                 size_t degree, scl_error *error) {
  uint32_t *order = self->host->allocate(out->dim * sizeof *order);
  int32_t *passed = self->host->allocate(degree * sizeof *passed);
  const int enough = order != NULL && passed != NULL;
  block_part part = {0};
  while (enough && block_next(out, support_block(out->dim, degree), &part)) {
    const scl_address supports = {address.seed, address.stream + STREAM_SUPPORTS};
    support_deal deal = {self->random, supports, part.block, out->dim, degree, order, 0, 0};
    for (size_t i = 0; i < part.from + part.count; i++)
      support_deal_next(&deal, i < part.from ? passed : support_of(out, part.at + i - part.from));
  }
  self->host->release(order);
  self->host->release(passed);
  if (!enough)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for an order of %zu columns", out->dim);
  for (size_t i = 0; i < out->count; i++)
    draw_weights(self, address, out, i, degree, degree);
  return SCL_STATUS_OK;
}

static scl_status draw_free(const sparse *self, scl_address address, scl_parameters *out,
                            degree_range range, scl_error *error) {
  const scl_address supports = {address.seed, address.stream + STREAM_SUPPORTS};
  double *probability = self->host->allocate((range.high - range.low + 1) * sizeof *probability),
         u = 0;
  if (probability == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for the law of the in-degree");
  degree_fill(&self->degree, out->dim, range, probability);
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    if (range.low < range.high)
      self->random->uniform(address.seed, address.stream + STREAM_DEGREES, index, 0, 1, &u);
    const size_t degree = degree_at(range, probability, u);
    support_draw(self->random, supports, index, out->dim, degree, support_of(out, i));
    draw_weights(self, address, out, i, degree, range.high > 0 ? range.high : 1);
  }
  self->host->release(probability);
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  scl_status status = find_range(self, out->dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  bias_draw(&self->bias, self->random, address, out);
  return self->biregular ? draw_biregular(self, address, out, range.high, error)
                         : draw_free(self, address, out, range, error);
}

/* ---------------------------------------------------------------- the law */

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  out->space = SCL_SPACE_SPARSE;
  out->family = self->nonnegative ? SCL_FAMILY_OTHER : self->family;
  out->max_degree = range.high;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->family == SCL_FAMILY_UNIFORM ? sqrt(3) * self->sigma : self->sigma;
  }
  for (size_t s = 0; s <= dim; s++) {
    out->degree[s] = 0;
    out->degree_scale[s] = s == 0 ? 0 : 1 / sqrt((double)s);
  }
  degree_fill(&self->degree, dim, range, out->degree + range.low);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the characteristic function */

/* c_s(delta_j) for all columns. */
static void factors(const sparse *self, size_t dim, size_t degree, const double *delta,
                    double *out) {
  const double scale = self->sigma / sqrt((double)degree);
  if (self->family == SCL_FAMILY_RADEMACHER) {
    for (size_t j = 0; j < dim; j++)
      out[j] = scale * delta[j];
    self->math->cos(dim, out, out);
  } else if (self->family == SCL_FAMILY_GAUSSIAN) {
    for (size_t j = 0; j < dim; j++)
      out[j] = -0.5 * (scale * delta[j]) * (scale * delta[j]);
    self->math->exp(dim, out, out);
  } else {
    for (size_t j = 0; j < dim; j++) {
      const double z = sqrt(3) * scale * delta[j];
      out[j] = z == 0 ? 1 : isfinite(z) ? sin(z) / z : 0;
    }
  }
}

static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta,
                                 ptrdiff_t stride, double *out, scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  const size_t degrees = range.high - range.low + 1;
  double *probability =
      self->host->allocate((degrees + dim + range.high + 1) * sizeof *probability);
  if (probability == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for a kernel of %zu columns", dim);
  double *const c = probability + degrees, *const scratch = c + dim;
  degree_fill(&self->degree, dim, range, probability);
  for (size_t i = 0; i < rows; i++) {
    out[i] = 0;
    for (size_t s = range.low; s <= range.high; s++) {
      const double weight = probability[s - range.low];
      if (weight < 1e-18) continue;
      if (s > 0) factors(self, dim, s, delta + (ptrdiff_t)i * stride, c);
      out[i] += weight * subset_mean(dim, s, c, scratch);
    }
  }
  self->host->release(probability);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the plugin */

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), characteristic};
  const sparse *self = instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0 && !self->nonnegative)
    return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "sparse",
    "1.0",
    "The Scullery authors",
    "Sparse rows: s of the d columns and weights on them",
    "Draws an in-degree s (fixed, binomial or from a table), a support N of s columns, uniform "
    "without\n"
    "replacement, and weights on it with variance sigma^2/s; z = <w_N, x_N> + b, in time O(s).\n"
    "weights: \"gaussian\", \"uniform\" (on +-sqrt(3) sigma/sqrt(s)) or \"rademacher\" "
    "(+-sigma/sqrt(s)).\n"
    "A ridge feature phi estimates sum_s P(s) mean over |N| = s of k_s(x_N, y_N), k_s the kernel "
    "of phi under\n"
    "the weights: an additive kernel of order s. Degree 1: step and +-1 weights give Hamming and "
    "hat kernels.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
