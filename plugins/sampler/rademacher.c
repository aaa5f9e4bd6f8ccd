/* Rademacher rows: w_j = sigma or -sigma with probability 1/2 each, independent. */
#include "shared/independent.h"

enum { SIGMA, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"sigma", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_FREQUENCY, "size of each weight"},
    BIAS_OPTION,
};

static double make(const double *from) {
  return *from < 0.5 ? -1 : 1;
}

static double factor(double z) {
  return cos(z);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const independent like = {.family = SCL_FAMILY_RADEMACHER,
                            .scale = values[SIGMA].number,
                            .make = make,
                            .factor = factor};
  return independent_create(host, &like, &values[BIAS], instance, error);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "rademacher",
    "1.0",
    "The Scullery authors",
    "Rows of random signs: w_j = +-sigma",
    "Draws w_t with independent w_j = +-sigma, each sign with probability 1/2; a row meets it as z "
    "= <w, x> + b.\n"
    "With nonlinearity.fourier the features estimate prod_j cos(sigma d_j), d = x - y.",
    options,
    OPTIONS,
    &independent_table,
    create,
    instance_end,
    independent_ability};
