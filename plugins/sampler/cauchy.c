/* Cauchy rows: w_j of density gamma/(pi (gamma^2 + w^2)), independent: the spectrum of the
 * Laplacian kernel exp(-gamma ||x-y||_1) (Rahimi and Recht 2007). The ratio of two normal numbers
 * has this law for gamma = 1: one division, the same bits on every machine. */
#include "shared/independent.h"

enum { GAMMA, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"gamma", SCL_FORM_NUMBER, NULL, "1", 0, 1e250, SCL_RANGE_LOW_OPEN, SCL_WIDTH_RATE,
     "the rate in exp(-gamma ||x-y||_1), the scale of each weight"},
    BIAS_OPTION,
};

/* The second is 0 for one uniform number in 2^53 alone. */
static double make(const double *from) {
  return from[1] == 0 ? from[0] * 0x1p53 : from[0] / from[1];
}

static double factor(double z) {
  return exp(-fabs(z));
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const independent like = {.family = SCL_FAMILY_CAUCHY,
                            .scale = values[GAMMA].number,
                            .normals = 2,
                            .make = make,
                            .factor = factor};
  return independent_create(host, &like, &values[BIAS], instance, error);
}

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SAMPLER,
    "cauchy",
    "1.0",
    "The Scullery authors",
    "Cauchy rows, the spectrum of the Laplacian kernel exp(-gamma ||x-y||_1)",
    "Draws w_t with independent Cauchy w_j of scale gamma; a row meets it as z = <w, x> + b. Its "
    "moments do not exist.\n"
    "With nonlinearity.fourier the features estimate exp(-gamma ||x-y||_1) (Rahimi and Recht "
    "2007).",
    options,
    OPTIONS,
    &independent_table,
    create,
    instance_end,
    independent_ability};
