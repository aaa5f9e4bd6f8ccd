/* Each row x becomes x / ||x||. A row of zeros stays. */
#include <scullery/plugin.h>

/* Scaled by the largest entry first, so that no square overflows or vanishes. */
static void normalize_row(size_t cols, const double *x, double *out) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < cols; j++)
    largest = fmax(largest, fabs(x[j]));
  if (largest == 0) {
    memcpy(out, x, cols * sizeof *x);
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

const scl_plugin scullery_plugin = {
    .name = "normalize",
    .summary = "each row over its Euclidean norm",
    .doc = "x becomes x / ||x||. A row of zeros stays. Nothing is learnt from rows.",
    SCL_STAGE(.flags = SCL_STAGE_SCALE_FREE, .apply = normalize)};
