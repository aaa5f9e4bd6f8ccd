/* Each number x becomes sign(x) |x|^p. */
#include <scullery/plugin.h>
#include <stdio.h>

typedef struct power {
  scl_base base;
  double exponent;
} power;

static const scl_option options[] = {
    SCL_NUMBER(power, exponent, "0.5", "p in sign(x) |x|^p", SCL_ABOVE(0, 1))};

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  (void)instance, (void)fitted, (void)error; /* the width stays */
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_stage_state *fitted,
                        const scl_const_block *in, const scl_block *out, scl_error *error) {
  const double p = ((const power *)instance)->exponent;
  (void)error;
  for (size_t i = 0; i < in->rows; i++)
    for (size_t j = 0; j < fitted->cols; j++) {
      const double x = scl_stage_row(in, i)[j];
      scl_stage_out(out, i)[j] = copysign(pow(fabs(x), p), x);
    }
  return SCL_STATUS_OK;
}

static int formula(const void *instance, char *text, size_t size) {
  return snprintf(text, size,
                  "int j;\nfor (j = 0; j < cols; j++)\n"
                  "  out[j] = copysign(pow(fabs(x[j]), %.17g), x[j]);",
                  ((const power *)instance)->exponent);
}

const scl_plugin scullery_plugin = {
    .name = "power",
    .version = "1.0",
    .summary = "signed powers of the numbers",
    .doc = "x becomes sign(x) |x|^exponent: the signed square root of Perronnin, Sanchez and\n"
           "Mensink (2010) by default.",
    SCL_STAGE(.flags = SCL_STAGE_BY_COLUMN, .shape = shape, .apply = apply, .formula = formula),
    SCL_INSTANCE(power, options)};
