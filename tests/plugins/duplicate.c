/* For plugin_test.lua: a sampler under a name that is taken. */
#include <scullery/plugin.h>

static void make(const void *self, size_t count, const double *normal, double *e) {
  (void)self;
  memcpy(e, normal, count * sizeof *e);
}
static void moments(const void *self, double *mean, double *scale) {
  (void)self, (void)mean, (void)scale; /* 0 and 1, as they come */
}

const scl_plugin scullery_plugin = {
    .name = "gaussian",
    .summary = "a second gaussian",
    .doc = "a second gaussian",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = moments, .normals = 1),
};
