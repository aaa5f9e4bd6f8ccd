/* Each row x becomes (x, 1). */
#include <scullery/plugin.h>

static scl_status one_more(const void *self, scl_stage_state *fitted, scl_error *error) {
  (void)self, (void)error;
  fitted->width = fitted->cols + 1;
  return SCL_STATUS_OK;
}

static scl_status append_one(const void *self, const scl_stage_state *fitted,
                             const scl_const_block *in, const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++) {
    double *row = scl_stage_out(out, i);
    memcpy(row, scl_stage_row(in, i), fitted->cols * sizeof *row);
    row[fitted->cols] = 1;
  }
  return SCL_STATUS_OK;
}

SCL_FORMULA(formula, "int j;\n"
                     "for (j = 0; j < cols; j++)\n"
                     "  out[j] = x[j];\n"
                     "out[cols] = 1;")
SCL_FORMULA(operators, "out = append(x, 1);")

const scl_plugin scullery_plugin = {
    .name = "add_bias",
    .summary = "one more column, of ones",
    .definition = "row(X) = function(x) return join(x, { 1 }) end",
    .doc = "x becomes (x, 1): weights of the new column are a bias. Nothing is learnt from rows.",
    SCL_STAGE(.shape = one_more, .apply = append_one, .formula = formula, .operators = operators)};
