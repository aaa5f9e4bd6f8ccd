/* Decision stumps' parameters: a column i, uniform over the d columns, and a threshold t, normal or
 * uniform; a row meets them as z = x_i - t.
 *
 * t ~ N(0, sigma^2): Rahimi and Recht 2008 (kitchen sinks), Dube and Marchand 2023 (RKHS
 * weightings, instantiation 2); t ~ U[-a, a]: Rahimi and Recht 2008 (random bases), the stump
 * kernel. */
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

enum { SIGMA, A, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE,
     "normal thresholds: their standard deviation, in the data's units (default 1)"},
    {"a", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "uniform thresholds on [-a, a], instead of sigma"},
};

typedef struct threshold {
  const scl_host *host;
  const scl_random *random;
  int uniform;
  double scale; /* sigma or a */
} threshold;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  if (values[SIGMA].form != 0 && values[A].form != 0)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'sigma' asks for normal thresholds and 'a' for uniform ones: give one of them");
  threshold *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a sampler");
  const int uniform = values[A].form != 0;
  *self = (threshold){host, host->service(SCL_SERVICE_RANDOM), uniform,
                      uniform                   ? values[A].number
                      : values[SIGMA].form != 0 ? values[SIGMA].number
                                                : 1};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  threshold *self = instance;
  self->host->release(self);
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const threshold *self = instance;
  if (dim == 0 || dim > INT32_MAX)
    return self->host->fail(error, SCL_STATUS_BAD_SHAPE,
                            "thresholds need 1 to 2^31 - 1 columns, and the data have %zu", dim);
  *out = (scl_layout){SCL_SPACE_THRESHOLD, 1, 1, 1, 0};
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)error;
  const threshold *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    double place, t;
    self->random->uniform(address.seed, address.stream, index, 0, 1, &place);
    if (self->uniform) {
      self->random->uniform(address.seed, address.stream, index, 1, 1, &t);
      t = 2 * t - 1;
    } else {
      self->random->normal(address.seed, address.stream, index, 1, 1, &t);
    }
    out->support[(ptrdiff_t)i * out->support_stride] = (int32_t)(place * (double)out->dim);
    out->weights[(ptrdiff_t)i * out->stride] = self->scale * t;
  }
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  (void)error;
  const threshold *self = instance;
  out->space = SCL_SPACE_THRESHOLD;
  out->family = self->uniform ? SCL_FAMILY_UNIFORM : SCL_FAMILY_GAUSSIAN;
  out->bias = SCL_BIAS_NONE;
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->scale;
  }
  return SCL_STATUS_OK;
}

static double distribution(const void *instance, size_t column, double x) {
  (void)column;
  const threshold *self = instance;
  if (!self->uniform) return 0.5 * erfc(-x / (self->scale * sqrt(2)));
  const double p = (x / self->scale + 1) / 2;
  return p < 0 ? 0 : p > 1 ? 1 : p;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_distribution distribution_table = {SCL_HEAD(scl_ability_distribution),
                                                              distribution};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_DISTRIBUTION) == 0) return &distribution_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "threshold",
    "1.0",
    "The Scullery authors",
    "Stumps: a column drawn uniformly and a threshold, normal or uniform",
    "Draws (i, t): i uniform over the columns, t ~ N(0, sigma^2) or U[-a, a]; z = x_i - t.\n"
    "With nonlinearity.sign the features estimate 1 - (2/d) sum_i |F(x_i) - F(y_i)|, F the\n"
    "distribution function of t; for U[-a, a] that is 1 - ||x-y||_1/(a d) on [-a, a]^d\n"
    "(Rahimi and Recht 2008, who print it without the 1/d).",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
