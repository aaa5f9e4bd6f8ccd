/* Laplace rows: w_j of density exp(-|w|/s)/(2 s), independent. With four normal numbers, n1 n2 + n3
 * n4 has this law for s = 1: products and sums alone, the same bits on every machine. */
#include "shared/independent.h"

enum { SCALE, BIAS, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"scale", SCL_FORM_NUMBER, NULL, "1", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE,
     "s in the density exp(-|w|/s)/(2 s) of each weight; its standard deviation is sqrt2 s"},
    BIAS_OPTION,
};

static double make(const double *from) {
  return from[0] * from[1] + from[2] * from[3];
}

static double factor(double z) {
  return 1 / (1 + z * z);
}

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  const independent like = {.family = SCL_FAMILY_LAPLACE,
                            .scale = values[SCALE].number,
                            .normals = 4,
                            .make = make,
                            .factor = factor};
  return independent_create(host, &like, &values[BIAS], instance, error);
}

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_SAMPLER,
                                    "laplace",
                                    "1.0",
                                    "The Scullery authors",
                                    "Rows of Laplace numbers, density exp(-|w|/scale)/(2 scale)",
                                    "Draws w_t with independent w_j of density exp(-|w|/scale)/(2 "
                                    "scale); a row meets it as z = <w, x> + b.\n"
                                    "With nonlinearity.fourier the features estimate prod_j 1/(1 + "
                                    "scale^2 d_j^2), d = x - y, the Cauchy kernel\n"
                                    "(Rahimi and Recht 2007).",
                                    options,
                                    OPTIONS,
                                    &independent_table,
                                    create,
                                    instance_end,
                                    independent_ability};
