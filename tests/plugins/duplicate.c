/* For plugin_test.lua: a sampler under a name that is taken. */
#include <scullery/plugin.h>
#include <stddef.h>

static scl_status create(const scl_host *host, const scl_value *values, void **self,
                         scl_error *error) {
  (void)host;
  (void)values;
  (void)error;
  *self = NULL;
  return SCL_STATUS_OK;
}
static void destroy(void *self) {
  (void)self;
}
static const void *ability(const void *self, const char *id) {
  (void)self;
  (void)id;
  return NULL;
}
static scl_status layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  (void)self;
  (void)error;
  *out = (scl_layout){SCL_SPACE_DENSE, dim, 0, 1, 0};
  return SCL_STATUS_OK;
}
static scl_status draw(const void *self, scl_address address, scl_parameters *out,
                       scl_error *error) {
  (void)self;
  (void)address;
  (void)out;
  (void)error;
  return SCL_STATUS_OK;
}
static const scl_sampler table = {SCL_HEAD(scl_sampler), layout, draw};

const scl_plugin scullery_plugin = {SCL_HEAD(scl_plugin),
                                    SCL_KIND_SAMPLER,
                                    "gaussian",
                                    "1.0",
                                    "a test",
                                    "a second gaussian",
                                    "a second gaussian",
                                    NULL,
                                    0,
                                    &table,
                                    create,
                                    destroy,
                                    ability};
