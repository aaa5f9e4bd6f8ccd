/* Gaussian rows: w ~ N(0, diag(sigma^2)) on R^d, with no bias or b uniform.
 *
 * gamma says the width by the kernel that Fourier features of these rows estimate: exp(-gamma ||x-y||^2), sigma = sqrt(2 gamma)
 * (Rahimi and Recht 2008, weighted sums of random kitchen sinks). */
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

enum { SIGMA, GAMMA, BIAS, OPTIONS };

static const double pi = 3.14159265358979323846;

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_NUMBER | SCL_LIST, NULL, NULL, 0, INFINITY, SCL_LOW_OPEN, SCL_WIDTH_FREQUENCY,
     "standard deviation of each weight, or a list with one for each column (default 1)"},
    {"gamma", SCL_NUMBER, NULL, NULL, 0, INFINITY, SCL_LOW_OPEN, SCL_WIDTH_GAMMA,
     "instead of sigma: the rate in exp(-gamma ||x-y||^2); sigma = sqrt(2 gamma)"},
    {"bias", SCL_WORD | SCL_LIST, "none|uniform", "none", -INFINITY, INFINITY, 0, SCL_NO_WIDTH,
     "none; uniform on [-pi, pi]; or {low, high}: uniform between the two"},
};

typedef struct gaussian {
  const scl_host *host;
  const scl_random *random;
  double sigma;   /* where there is no list */
  double *scales; /* one a column, or NULL */
  size_t columns;
  int has_bias;
  double low, high;
} gaussian;

static scl_status read_bias(gaussian *self, const scl_value *bias, scl_error *error) {
  self->low = -pi;
  self->high = pi;
  self->has_bias = bias->form == SCL_LIST || strcmp(bias->word, "uniform") == 0;
  if (bias->form != SCL_LIST) return SCL_OK;
  if (bias->length != 2 || !(bias->list[0] < bias->list[1]) || !isfinite(bias->list[1] - bias->list[0]))
    return self->host->fail(error, SCL_BAD_OPTION, "option 'bias' as a list takes two numbers {low, high} with low < high");
  self->low = bias->list[0];
  self->high = bias->list[1];
  return SCL_OK;
}

static scl_status read_scales(gaussian *self, const scl_value *values, scl_error *error) {
  const scl_value *sigma = &values[SIGMA], *gamma = &values[GAMMA];
  if (sigma->form != 0 && gamma->form != 0)
    return self->host->fail(error, SCL_BAD_OPTION,
                            "options 'sigma' and 'gamma' both say the width (sigma = sqrt(2 gamma)): give one of them");
  self->sigma = gamma->form != 0 ? sqrt(2 * gamma->number) : sigma->form == SCL_NUMBER ? sigma->number : 1;
  if (!isfinite(self->sigma)) return self->host->fail(error, SCL_BAD_OPTION, "the width must be finite");
  if (sigma->form != SCL_LIST) return SCL_OK;
  if (sigma->length == 0)
    return self->host->fail(error, SCL_BAD_OPTION, "option 'sigma' as a list takes one number for each column, and got none");
  self->scales = self->host->allocate(sigma->length * sizeof *self->scales);
  if (self->scales == NULL) return self->host->fail(error, SCL_NO_MEMORY, "not enough memory for %zu scales", sigma->length);
  memcpy(self->scales, sigma->list, sigma->length * sizeof *self->scales);
  self->columns = sigma->length;
  return SCL_OK;
}

static void destroy(void *instance) {
  gaussian *self = instance;
  const scl_host *host = self->host;
  host->release(self->scales);
  host->release(self);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance, scl_error *error) {
  gaussian *self = host->allocate(sizeof *self);
  if (self == NULL) return host->fail(error, SCL_NO_MEMORY, "not enough memory for a sampler");
  memset(self, 0, sizeof *self);
  self->host = host;
  self->random = host->service(SCL_SERVICE_RANDOM);
  scl_status status = self->random == NULL ? host->fail(error, SCL_UNSUPPORTED, "this host has no random numbers") : SCL_OK;
  if (status == SCL_OK) status = read_scales(self, values, error);
  if (status == SCL_OK) status = read_bias(self, &values[BIAS], error);
  if (status == SCL_OK)
    *instance = self;
  else
    destroy(self);
  return status;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const gaussian *self = instance;
  if (self->scales != NULL && self->columns != dim)
    return self->host->fail(error, SCL_BAD_SHAPE, "option 'sigma' lists %zu numbers, and the data have %zu columns", self->columns, dim);
  *out = (scl_layout){SCL_DENSE, dim, 0, 1, self->has_bias};
  return SCL_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out, scl_error *error) {
  (void)error;
  const gaussian *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    self->random->normal(address.seed, address.stream, index, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] *= self->scales == NULL ? self->sigma : self->scales[j];
    if (out->bias == NULL) continue;
    self->random->uniform(address.seed, address.stream + 1, index, 0, 1, &out->bias[i]);
    out->bias[i] = self->low + (self->high - self->low) * out->bias[i];
  }
  return SCL_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  const gaussian *self = instance;
  scl_layout shape;
  const scl_status status = layout(instance, dim, &shape, error);
  if (status != SCL_OK) return status;
  out->space = SCL_DENSE;
  out->family = SCL_LAW_GAUSSIAN;
  out->bias = self->has_bias ? SCL_BIAS_UNIFORM : SCL_BIAS_NONE;
  out->bias_a = self->low;
  out->bias_b = self->high;
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = 0;
    out->scale[j] = self->scales == NULL ? self->sigma : self->scales[j];
  }
  return SCL_OK;
}

/* E exp(i <w, delta>) = exp(-sum sigma_j^2 delta_j^2 / 2) */
static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta, ptrdiff_t stride, double *out,
                                 scl_error *error) {
  (void)error;
  const gaussian *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t j = 0; j < dim; j++) {
      const double z = delta[(ptrdiff_t)i * stride + (ptrdiff_t)j] * (self->scales == NULL ? self->sigma : self->scales[j]);
      sum += z * z;
    }
    out[i] = exp(-sum / 2);
  }
  return SCL_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {SCL_HEAD(scl_ability_characteristic), characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_SAMPLER,
                                    "gaussian",
                                    "1.0",
                                    "The Scullery authors",
                                    "Gaussian rows w ~ N(0, sigma^2 I), optional uniform bias",
                                    "Draws w_t ~ N(0, diag(sigma^2)) in R^d; a row meets it as z = <w, x> + b.\n"
                                    "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||^2), gamma = sigma^2/2\n"
                                    "(Rahimi and Recht 2008). sigma and gamma also take \"scale\" (gamma = 1/(d var X)) and\n"
                                    "\"median\" (gamma = 1/(median squared distance of a sample)).",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    destroy,
                                    ability};
