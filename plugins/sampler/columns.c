/* The columns themselves: w_t = e_t, t = 1 .. d, so that
 *
 *   z_t = <e_t, x> = x_t
 *
 * and a nonlinearity of one number becomes an additive map, phi(x_1), ..., phi(x_d), of the kernel
 *
 *   k(x, y) = sum_t phi(x_t) phi(y_t)
 *
 * (Vedaldi and Zisserman 2012, Efficient additive kernels via explicit feature maps). Nothing is
 * random, and features are a sum over columns, no mean: their factor is 1. */
#include <scullery/plugin.h>

static scl_status unit_scales(const void *self, const scl_draw *draw,
                              const scl_const_parameters *parameters, double *out,
                              scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t t = 0; t < parameters->count; t++)
    out[t] = 1;
  return SCL_STATUS_OK;
}

/* T = d, with one number and one column per parameter. Refuses a T of another value. */
static scl_status columns_layout(const void *instance, size_t dim, scl_layout *out,
                                 scl_error *error) {
  const scl_host *host = ((const scl_base *)instance)->host;
  if (dim > INT32_MAX)
    return host->fail(error, SCL_STATUS_BAD_SHAPE, "takes up to %ld columns, and the data have %zu",
                      (long)INT32_MAX, dim);
  if (out->count != 0 && out->count != dim)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "T = %zu was given, but this sampler takes each of the %zu columns of the "
                      "data once: leave T out",
                      out->count, dim);
  out->count = dim;
  out->reals = out->integers = 1;
  out->tag = "columns";
  return SCL_STATUS_OK;
}

/* Parameter t: weight 1 on column t. */
static scl_status draw_columns(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  (void)self, (void)draw, (void)error;
  for (size_t i = 0; i < out->count; i++) {
    out->weights[(ptrdiff_t)i * out->stride] = 1;
    out->support[(ptrdiff_t)i * out->support_stride] = (int32_t)(out->first + i);
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "columns",
    .summary = "each column of the data once: T = d, nothing is random",
    .definition = "draw(t) = { t, 1 }\n"
                  "scale(w) = 1",
    .doc = "w_t = e_t, z_t = x_t, t = 1 .. d. T is the number of columns: leave it out.\n"
           "It goes with nonlinearities that map one column at a time (tag \"columns\"):\n"
           "nonlinearity.chi_square makes the additive chi-square map of Vedaldi and Zisserman\n"
           "(2012, Efficient additive kernels via explicit feature maps).\n"
           "Features carry the factor 1.",
    SCL_SAMPLER(.space = SCL_SPACE_SPARSE, .draw = draw_columns, .layout = columns_layout),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = unit_scales))};
