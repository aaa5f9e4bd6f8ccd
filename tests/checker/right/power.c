/* Each number x becomes sign(x) |x|^p. */
#include <scullery/plugin.h>
#include <stdio.h>

typedef struct power {
  scl_base base;
  double exponent;
  const scl_value *columns;
} power;

static const scl_option options[] = {
    SCL_NUMBER(power, exponent, "0.5", "p in sign(x) |x|^p", SCL_ABOVE(0, 1)),
    SCL_ROW(power, columns, SCL_FORM_LIST, NULL, NULL,
            "columns from 1 on that change; default: all", SCL_WITHIN(1, INT32_MAX))};

static bool has(const power *self, size_t j) {
  bool found = self->columns->form != SCL_FORM_LIST;
  for (size_t k = 0; !found && k < self->columns->length; k++)
    found = self->columns->list[k] == (double)(j + 1);
  return found;
}

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
      scl_stage_out(out, i)[j] = has(instance, j) ? copysign(pow(fabs(x), p), x) : x;
    }
  return SCL_STATUS_OK;
}

static int formula(const void *instance, char *text, size_t size) {
  const power *self = instance;
  const bool all = self->columns->form != SCL_FORM_LIST;
  char list[400] = "1";
  for (size_t k = 0, used = 0; !all && k < self->columns->length && used < 360; k++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%sj == %.17g", k > 0 ? " || " : "",
                             self->columns->list[k] - 1);
  return snprintf(text, size,
                  "int j;\nfor (j = 0; j < cols; j++)\n"
                  "  out[j] = %s ? copysign(pow(fabs(x[j]), %.17g), x[j]) : x[j];",
                  list, self->exponent);
}

const scl_plugin scullery_plugin = {
    .name = "power",
    .version = "1.0",
    .summary = "signed powers of the numbers",
    .doc = "x becomes sign(x) |x|^exponent: the signed square root of Perronnin, Sanchez and\n"
           "Mensink (2010) by default.",
    SCL_STAGE(.flags = SCL_STAGE_BY_COLUMN, .shape = shape, .apply = apply, .formula = formula),
    SCL_INSTANCE(power, options)};
