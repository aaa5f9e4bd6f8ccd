/* Each column x becomes x / m, m the largest absolute value in the rows of the fit. A number that
 * is 0 stays 0, so that sparse rows stay sparse. */
#include <scullery/plugin.h>

/* ------------ learning */

typedef struct reading {
  double *most; /* of each of d columns */
  size_t d;
} reading;

/* Visit: raise the largest absolute values to those of a block. */
static scl_status read_block(void *context, const scl_rows *rows, scl_error *error) {
  const reading *r = context;
  const scl_const_csr *csr = rows->csr;
  (void)error;
  if (csr != NULL)
    for (int64_t k = csr->starts[0]; k < csr->starts[csr->rows]; k++)
      r->most[csr->columns[k]] = fmax(r->most[csr->columns[k]], fabs(scl_csr_number(csr, k)));
  else
    for (size_t i = 0; i < rows->count; i++) {
      const double *x = scl_stage_row(&rows->features, i);
      for (size_t j = 0; j < r->d; j++)
        r->most[j] = fmax(r->most[j], fabs(x[j]));
    }
  return SCL_STATUS_OK;
}

/* The array: what rows are divided by. A column of zeros stays as it is. */
static scl_status fit(const void *instance, const scl_fitting *fitting, scl_error *error) {
  const size_t d = fitting->rows->dim;
  reading r = {fitting->host->scratch((d + 1) * sizeof *r.most), d};
  (void)instance;
  if (r.most == NULL)
    return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu columns", d);
  memset(r.most, 0, (d + 1) * sizeof *r.most);
  const scl_status status = fitting->rows->walk(fitting->rows, read_block, &r, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < d; j++)
    if (r.most[j] == 0) r.most[j] = 1;
  const scl_array array = scl_matrix_array(r.most, 1, d);
  return fitting->put(fitting, "divisor", &array, error);
}

static scl_status shape(const void *instance, scl_stage_state *fitted, scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  const scl_array *a = &fitted->arrays[0];
  if (a->dtype != SCL_DTYPE_FLOAT64 || a->rank != 2 || a->sizes[0] != 1 ||
      a->sizes[1] != fitted->cols)
    return host->fail(error, SCL_STATUS_BAD_DATA, "the array 'divisor' is not a row of %zu numbers",
                      fitted->cols);
  for (size_t j = 0; j < fitted->cols; j++)
    if (!(scl_stage_numbers(fitted, 0)[j] > 0))
      return host->fail(error, SCL_STATUS_BAD_DATA, "column %zu is divided by %g", j + 1,
                        scl_stage_numbers(fitted, 0)[j]);
  return SCL_STATUS_OK;
}

/* ------------ applying */

static scl_status apply(const void *self, const scl_stage_state *fitted, const scl_const_block *in,
                        const scl_block *out, scl_error *error) {
  const double *divisor = scl_stage_numbers(fitted, 0);
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++)
    for (size_t j = 0; j < fitted->cols; j++)
      scl_stage_out(out, i)[j] = scl_stage_row(in, i)[j] / divisor[j];
  return SCL_STATUS_OK;
}

static scl_status apply_csr(const void *self, const scl_stage_state *fitted,
                            const scl_const_csr *in, const scl_csr_block *out, scl_error *error) {
  const double *divisor = scl_stage_numbers(fitted, 0);
  const int64_t base = in->starts[0];
  (void)self, (void)error;
  for (size_t i = 0; i <= in->rows; i++)
    out->starts[i] = in->starts[i] - base;
  for (int64_t k = base; k < in->starts[in->rows]; k++) {
    out->columns[k - base] = in->columns[k];
    out->values[k - base] = scl_csr_number(in, k) / divisor[in->columns[k]];
  }
  return SCL_STATUS_OK;
}

SCL_FORMULA(formula, "int j;\n"
                     "for (j = 0; j < cols; j++)\n"
                     "  out[j] = x[j] / divisor[j];")
SCL_FORMULA(operators, "out = x / divisor;")

const scl_plugin scullery_plugin = {
    .name = "scale",
    .summary = "each column over its largest absolute value, so that zeros stay zeros",
    .definition = "over(x, m) = when(m > 0, x/m, x)\n"
                  "row(X) = by_columns(X, function(x, c) return over(x, largest(c, abs)) end)",
    .doc =
        "x becomes x/m by column, m the largest absolute value in the rows of the fit: numbers in\n"
        "[-1, 1], and 0 stays 0. Sparse rows stay sparse, where standardize would make every\n"
        "number of them nonzero. A column of zeros stays. Other rows may go beyond [-1, 1].",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE | SCL_STAGE_BY_COLUMN, .arrays = "divisor", .fit = fit,
              .shape = shape, .apply = apply, .formula = formula, .operators = operators,
              .apply_csr = apply_csr)};
