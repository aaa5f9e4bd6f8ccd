/* Each row x becomes x / ||x||. A row of zeros stays. */
#include <scullery/plugin.h>

/* Scaled by the largest entry first, so that no square overflows or vanishes; out may be x. */
static void normalize_row(size_t cols, const double *x, double *out) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < cols; j++)
    largest = fmax(largest, fabs(x[j]));
  if (largest == 0) {
    memmove(out, x, cols * sizeof *x);
    return;
  }
  for (size_t j = 0; j < cols; j++)
    sum += (x[j] / largest) * (x[j] / largest);
  const double size = sqrt(sum);
  for (size_t j = 0; j < cols; j++)
    out[j] = x[j] / largest / size;
}

static scl_status normalize(const void *self, const scl_stage_state *fitted,
                            const scl_const_block *in, const scl_block *out, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < in->rows; i++)
    normalize_row(fitted->cols, scl_stage_row(in, i), scl_stage_out(out, i));
  return SCL_STATUS_OK;
}

/* Numbers that are 0 change neither the largest entry nor the sum: to the bits of the dense row. */
static scl_status normalize_csr(const void *self, const scl_stage_state *fitted,
                                const scl_const_csr *in, const scl_csr_block *out,
                                scl_error *error) {
  const int64_t base = in->starts[0];
  (void)self, (void)fitted, (void)error;
  out->starts[0] = 0;
  for (size_t i = 0; i < in->rows; i++) {
    const int64_t first = in->starts[i] - base, end = in->starts[i + 1] - base;
    out->starts[i + 1] = end;
    for (int64_t k = first; k < end; k++) {
      out->columns[k] = in->columns[k + base];
      out->values[k] = scl_csr_number(in, k + base);
    }
    normalize_row((size_t)(end - first), out->values + first, out->values + first);
  }
  return SCL_STATUS_OK;
}

SCL_FORMULA(formula, "double largest = 0, sum = 0;\n"
                     "int j;\n"
                     "for (j = 0; j < cols; j++)\n"
                     "  largest = fmax(largest, fabs(x[j]));\n"
                     "for (j = 0; j < cols && largest > 0; j++)\n"
                     "  sum += (x[j] / largest) * (x[j] / largest);\n"
                     "for (j = 0; j < cols; j++)\n"
                     "  out[j] = largest > 0 ? x[j] / largest / sqrt(sum) : x[j];")
SCL_FORMULA(operators, "rows largest = row_max(fabs(x));\n"
                       "rows u = largest > 0 ? x / largest : x;\n"
                       "rows sum = row_sum(u * u);\n"
                       "out = sum > 0 ? u / sqrt(sum) : u;")

const scl_plugin scullery_plugin = {
    .name = "normalize",
    .summary = "each row over its Euclidean norm",
    .definition =
        "row(X) = function(x) return map(x, function(t) return t/max(length(x), 1e-300) end) end",
    .doc =
        "x becomes x / ||x||. A row of zeros stays. Nothing is learnt from rows; sparse rows stay\n"
        "sparse.",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE, .apply = normalize, .formula = formula,
              .operators = operators, .apply_csr = normalize_csr)};
