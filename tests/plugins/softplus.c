/* For plugin_test.lua and the interface's documentation: a third party's nonlinearity, log(1 +
 * exp(z)), in the general form, with nothing optional: no float32, no smoothing, no facts. Option
 * fail = true makes apply fail; nan = true makes it write NaN. */
#include <scullery/plugin.h>

typedef struct softplus {
  scl_base base;
  bool fail, nan;
} softplus;

static const scl_option options[] = {SCL_BOOLEAN(softplus, fail, "false", "apply fails"),
                                     SCL_BOOLEAN(softplus, nan, "false", "apply writes NaN")};

static scl_status apply(const void *instance, const scl_const_block *z, const scl_block *out,
                        scl_error *error) {
  const softplus *self = instance;
  if (self->fail) return self->base.host->fail(error, SCL_STATUS_NUMERIC, "asked to fail");
  for (size_t i = 0; i < z->rows; i++) {
    const double *from = (const double *)z->data + (ptrdiff_t)i * z->row_stride;
    double *to = (double *)out->data + (ptrdiff_t)i * out->row_stride;
    for (size_t j = 0; j < z->cols; j++)
      to[j] = self->nan ? NAN : from[j] > 30 ? from[j] : log1p(exp(from[j]));
  }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {.name = "softplus",
                                    .summary = "log(1 + exp(z))",
                                    .doc = "phi(z) = log(1 + exp(z))",
                                    SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .apply = apply),
                                    SCL_INSTANCE(softplus, options)};
