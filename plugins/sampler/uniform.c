/* Uniform rows: w in R^d with independent coordinates, w_j ~ U[low, high].
 *
 * Fourier features estimate, with m = (low + high)/2, a = (high - low)/2 and delta = x - y,
 *   k(x, y) = cos(m sum_j delta_j) prod_j sin(a delta_j)/(a delta_j). */
#include <scullery/plugin.h>

typedef struct uniform {
  scl_base base;
  double low, high, a;
} uniform;

static const scl_option options[] = {
    SCL_NUMBER(uniform, low, NULL, "lower end of each weight (default -1)", SCL_FINITE),
    SCL_NUMBER(uniform, high, NULL, "upper end of each weight (default 1)", SCL_FINITE),
    SCL_NUMBER(uniform, a, NULL, "instead of both: low = -a, high = a", SCL_POSITIVE),
    SCL_OPTION_BIAS};

/* Defaults: low = -a and high = a, with a = 1. */
static scl_status uniform_create(void *instance, scl_error *error) {
  uniform *self = instance;
  const scl_host *host = self->base.host;
  if (!isnan(self->a) && !(isnan(self->low) && isnan(self->high)))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "'a' = %g sets both ends: give either 'a', or 'low' and 'high'", self->a);
  const double a = isnan(self->a) ? 1 : self->a;
  if (isnan(self->low)) self->low = -a;
  if (isnan(self->high)) self->high = a;
  if (!(self->low < self->high) || !isfinite(self->high - self->low))
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'low' = %g and 'high' = %g: low must be below high, and their distance finite", self->low,
        self->high);
  return SCL_STATUS_OK;
}

/* Uniform on [-1, 1]; the host applies the middle and half the length of the interval. */
static void uniform_make(const void *instance, size_t count, const double *numbers, double *e) {
  (void)instance;
  for (size_t j = 0; j < count; j++)
    e[j] = 2 * numbers[j] - 1;
}

static void moments(const void *instance, double *mean, double *scale) {
  const uniform *self = instance;
  *scale = (self->high - self->low) / 2;
  *mean = self->low + *scale;
}

/* sin(z)/z, by its series near 0; 0 at infinity. */
static double uniform_factor(const void *instance, double z) {
  (void)instance;
  return fabs(z) < 1e-4 ? 1 - z * z / 6 : isinf(z) ? 0 : sin(z) / z;
}

const scl_plugin scullery_plugin = {
    .name = "uniform",
    .summary = "Rows in a box: w_j ~ U[low, high]",
    .definition = "from() = low or -(a or 1)\n"
                  "draw(t, r) = map(range(r.dim), function(j)\n"
                  "  return from() + ((high or a or 1) - from())*r.uniform(0, t, j - 1) end)\n"
                  "half() = ((high or a or 1) - from())/2\n"
                  "characteristic(x) = cos((from() + half())*sum(x))*product(x, function(t)\n"
                  "  return t == 0 and 1 or sin(half()*t)/(half()*t) end)\n"
                  "density(w) = when(w >= (low or -(a or 1)) and w <= (high or a or 1), 1, 0)",
    .doc = "Draws w_t with independent w_j ~ U[low, high]; z = <w, x> + b.\n"
           "With nonlinearity.fourier, low = -a and high = a, the features estimate\n"
           "prod_j sin(a d_j)/(a d_j), d = x - y.",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = uniform_make, .moments = moments,
                .factor = uniform_factor, .family = SCL_FAMILY_UNIFORM),
    SCL_INSTANCE(uniform, options),
    .create = uniform_create};
