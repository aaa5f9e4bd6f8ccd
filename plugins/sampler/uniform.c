/* Uniform rows: w_j ~ U[low, high], independent. */
#include "shared/independent.h"

enum { LOW, HIGH, A, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"low", SCL_FORM_NUMBER, NULL, NULL, -INFINITY, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE,
     "lower end of each weight (default -1)"},
    {"high", SCL_FORM_NUMBER, NULL, NULL, -INFINITY, INFINITY,
     SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN, SCL_WIDTH_NONE, "upper end (default 1)"},
    {"a", SCL_FORM_NUMBER, NULL, NULL, 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "instead of both: low = -a, high = a"},
    BIAS_OPTION,
};

static double make(const double *from) {
  return 2 * *from - 1;
}

static double factor(double z) {
  return fabs(z) < 1e-4 ? 1 - z * z / 6 : isinf(z) ? 0 : sin(z) / z;
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  if (values[A].form != 0 && (values[LOW].form != 0 || values[HIGH].form != 0))
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "'a' = %g says both ends: give it, or 'low' and 'high'", values[A].number);
  const double a = values[A].form != 0 ? values[A].number : 1;
  const double low = values[LOW].form != 0 ? values[LOW].number : -a,
               high = values[HIGH].form != 0 ? values[HIGH].number : a;
  if (!(low < high) || !isfinite(high - low))
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'low' = %g and 'high' = %g: low must be below high, and their distance finite", low, high);
  const independent like = {.family = SCL_FAMILY_UNIFORM,
                            .mean = low + (high - low) / 2,
                            .scale = (high - low) / 2,
                            .make = make,
                            .factor = factor};
  return independent_create(host, &like, &values[BIAS], instance, error);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "uniform",
    "1.0",
    "The Scullery authors",
    "Rows in a box: w_j ~ U[low, high]",
    "Draws w_t with independent w_j ~ U[low, high]; a row meets it as z = <w, x> + b.\n"
    "With nonlinearity.fourier the features estimate prod_j sin(a d_j)/(a d_j), d = x - y, for low "
    "= -a, high = a.",
    options,
    OPTIONS,
    &independent_table,
    create,
    instance_end,
    independent_ability};
