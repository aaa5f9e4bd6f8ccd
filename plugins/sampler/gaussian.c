/* Gaussian rows: w ~ N(mean, diag(sigma^2)) on R^d, with no bias, b uniform or b Gaussian.
 *
 * gamma says the width by the kernel that Fourier features of these rows estimate: exp(-gamma
 * ||x-y||^2), sigma = sqrt(2 gamma) (Rahimi and Recht 2008, weighted sums of random kitchen
 * sinks). */
#include "shared/bias.h"

enum { SIGMA, GAMMA, MEAN, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN,
     SCL_WIDTH_FREQUENCY,
     "standard deviation of each weight, or a list with one for each column (default 1)"},
    {"gamma", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN, SCL_WIDTH_GAMMA,
     "instead of sigma: the rate in exp(-gamma ||x-y||^2); sigma = sqrt(2 gamma)"},
    {"mean", SCL_FORM_NUMBER | SCL_FORM_LIST, NULL, NULL, -INFINITY, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "mean of each weight, or a list with one for each column (default 0)"},
    BIAS_OPTION,
};

typedef struct gaussian {
  const scl_host *host;
  const scl_random *random;
  double sigma, mean;     /* where there is no list */
  double *scales, *means; /* one a column, or NULL */
  size_t n_scales, n_means;
  bias_law bias;
} gaussian;

static scl_status copy_list(const scl_host *host, const char *name, const scl_value *value,
                            double **out, size_t *length, scl_error *error) {
  if (value->length == 0)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option '%s' as a list takes one number for each column, and got none", name);
  *out = host->allocate(value->length * sizeof **out);
  if (*out == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu numbers",
                      value->length);
  memcpy(*out, value->list, value->length * sizeof **out);
  *length = value->length;
  return SCL_STATUS_OK;
}

static scl_status read_scales(gaussian *self, const scl_value *values, scl_error *error) {
  const scl_value *sigma = &values[SIGMA], *gamma = &values[GAMMA];
  if (sigma->form != 0 && gamma->form != 0)
    return self->host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "options 'sigma' and 'gamma' both say the width (sigma = sqrt(2 gamma)): give one of them");
  self->sigma = gamma->form != 0                 ? sqrt(2 * gamma->number)
                : sigma->form == SCL_FORM_NUMBER ? sigma->number
                                                 : 1;
  if (!isfinite(self->sigma))
    return self->host->fail(error, SCL_STATUS_BAD_OPTION, "the width must be finite");
  self->mean = values[MEAN].form == SCL_FORM_NUMBER ? values[MEAN].number : 0;
  scl_status status = SCL_STATUS_OK;
  if (sigma->form == SCL_FORM_LIST)
    status = copy_list(self->host, "sigma", sigma, &self->scales, &self->n_scales, error);
  if (status == SCL_STATUS_OK && values[MEAN].form == SCL_FORM_LIST)
    status = copy_list(self->host, "mean", &values[MEAN], &self->means, &self->n_means, error);
  return status;
}

static double scale_of(const gaussian *self, size_t j) {
  return self->scales == NULL ? self->sigma : self->scales[j];
}
static double mean_of(const gaussian *self, size_t j) {
  return self->means == NULL ? self->mean : self->means[j];
}

static void destroy(void *instance) {
  gaussian *self = instance;
  const scl_host *host = self->host;
  host->release(self->scales);
  host->release(self->means);
  host->release(self);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  gaussian *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a sampler");
  memset(self, 0, sizeof *self);
  self->host = host;
  self->random = host->service(SCL_SERVICE_RANDOM);
  scl_status status = self->random == NULL ? host->fail(error, SCL_STATUS_UNSUPPORTED,
                                                        "this host has no random numbers")
                                           : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = read_scales(self, values, error);
  if (status == SCL_STATUS_OK) status = bias_read(host, &values[BIAS], &self->bias, error);
  if (status == SCL_STATUS_OK)
    *instance = self;
  else
    destroy(self);
  return status;
}

static scl_status layout(const void *instance, size_t dim, scl_layout *out, scl_error *error) {
  const gaussian *self = instance;
  const int scales = self->scales != NULL && self->n_scales != dim,
            means = self->means != NULL && self->n_means != dim;
  if (scales || means)
    return self->host->fail(
        error, SCL_STATUS_BAD_SHAPE, "option '%s' lists %zu numbers, and the data have %zu columns",
        scales ? "sigma" : "mean", scales ? self->n_scales : self->n_means, dim);
  *out = (scl_layout){SCL_SPACE_DENSE, dim, 0, 1, self->bias.law != SCL_BIAS_NONE};
  return SCL_STATUS_OK;
}

static scl_status draw(const void *instance, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)error;
  const gaussian *self = instance;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    self->random->normal(address.seed, address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] = mean_of(self, j) + scale_of(self, j) * w[j];
  }
  bias_draw(&self->bias, self->random, address, out);
  return SCL_STATUS_OK;
}

static scl_status law(const void *instance, size_t dim, scl_law *out, scl_error *error) {
  const gaussian *self = instance;
  scl_layout shape;
  const scl_status status = layout(instance, dim, &shape, error);
  if (status != SCL_STATUS_OK) return status;
  out->space = SCL_SPACE_DENSE;
  out->family = SCL_FAMILY_GAUSSIAN;
  bias_tell(&self->bias, out);
  for (size_t j = 0; j < dim; j++) {
    out->mean[j] = mean_of(self, j);
    out->scale[j] = scale_of(self, j);
  }
  return SCL_STATUS_OK;
}

/* Re E exp(i <w, delta>) = exp(-sum sigma_j^2 delta_j^2 / 2) cos <mean, delta> */
static scl_status characteristic(const void *instance, size_t rows, size_t dim, const double *delta,
                                 ptrdiff_t stride, double *out, scl_error *error) {
  (void)error;
  const gaussian *self = instance;
  for (size_t i = 0; i < rows; i++) {
    double sum = 0, turn = 0;
    for (size_t j = 0; j < dim; j++) {
      const double gap = delta[(ptrdiff_t)i * stride + (ptrdiff_t)j], z = gap * scale_of(self, j);
      sum += z * z;
      turn += gap * mean_of(self, j);
    }
    out[i] = exp(-sum / 2) * cos(turn);
  }
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), characteristic};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LAW) == 0) return &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0) return &characteristic_table;
  return NULL;
}

static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "gaussian",
    "1.0",
    "The Scullery authors",
    "Gaussian rows w ~ N(mean, sigma^2 I), optional bias",
    "Draws w_t ~ N(mean, diag(sigma^2)) in R^d; a row meets it as z = <w, x> + b.\n"
    "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||^2), gamma = sigma^2/2\n"
    "(Rahimi and Recht 2008). sigma and gamma also take \"scale\" (gamma = 1/(d var X)) and\n"
    "\"median\" (gamma = 1/(median squared distance of a sample)).",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
