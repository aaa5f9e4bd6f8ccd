/* For plugin_test.lua and the interface's documentation: a third party's nonlinearity, log(1 +
 * exp(z)), with nothing optional: no float32, no smoothing, no facts. option fail = true makes
 * apply fail; nan = true makes it write NaN. */
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

enum { FAIL, WRITE_NAN, OPTIONS };
static const scl_option options[OPTIONS] = {
    {"fail", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE, "apply fails"},
    {"nan", SCL_FORM_BOOLEAN, NULL, "false", 0, 0, 0, SCL_WIDTH_NONE, "apply writes NaN"},
};

typedef struct softplus {
  const scl_host *host;
  int fail, nan;
} softplus;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  softplus *self = host->allocate(sizeof *self);
  if (self == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory");
  *self = (softplus){host, values[FAIL].number != 0, values[WRITE_NAN].number != 0};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  softplus *self = instance;
  self->host->release(self);
}

static scl_status shape(const void *instance, scl_shape *out, scl_error *error) {
  (void)instance;
  (void)error;
  *out = (scl_shape){.fan_in = 1, .fan_out = 1, .spaces = SCL_SPACES_RIDGE};
  return SCL_STATUS_OK;
}

static scl_status apply(const void *instance, const scl_block *z, scl_block *out,
                        scl_error *error) {
  const softplus *self = instance;
  if (self->fail) return self->host->fail(error, SCL_STATUS_NUMERIC, "asked to fail");
  for (size_t i = 0; i < z->rows; i++)
    for (size_t j = 0; j < z->cols; j++) {
      const double x = ((const double *)z->data)[(ptrdiff_t)i * z->row_stride + (ptrdiff_t)j];
      ((double *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j] = self->nan ? NAN
                                                                             : x > 30
                                                                                 ? x
                                                                                 : log1p(exp(x));
    }
  return SCL_STATUS_OK;
}

static const void *ability(const void *instance, const char *id) {
  (void)instance;
  (void)id;
  return NULL;
}

static const scl_nonlinearity table = {SCL_HEAD(scl_nonlinearity), shape, apply};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_NONLINEARITY,
                                    "softplus",
                                    "1.0",
                                    "a test",
                                    "log(1 + exp(z))",
                                    "log(1 + exp(z))",
                                    options,
                                    OPTIONS,
                                    &table,
                                    create,
                                    destroy,
                                    ability};
