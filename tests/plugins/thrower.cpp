// For plugin_faults_test.lua: a plugin in C++, whose slot throws above `most`.
#include <scullery/plugin.h>

#include <stdexcept>

struct thrower {
  scl_base base;
  double most;
};

static void loop(const void *self, size_t count, const double *z, double *out) {
  for (size_t j = 0; j < count; j++) {
    if (z[j] > static_cast<const thrower *>(self)->most) throw std::runtime_error("nobody catches");
    out[j] = z[j];
  }
}

static const scl_option options[] = {{.name = "most",
                                      .help = "the largest number that it takes",
                                      .fallback = "1e300",
                                      .forms = SCL_FORM_NUMBER,
                                      SCL_AT(thrower, most),
                                      SCL_FINITE}};

static const scl_nonlinearity table = {.head = SCL_HEAD(scl_nonlinearity),
                                       .kind = SCL_KIND_NONLINEARITY,
                                       .spaces = SCL_SPACES_RIDGE,
                                       .loop = loop};

const scl_plugin scullery_plugin = {.head = SCL_HEAD(scl_plugin),
                                    .kind = SCL_KIND_NONLINEARITY,
                                    .name = "thrower",
                                    .summary = "z, or an exception",
                                    .doc = "z, or an exception",
                                    .vtable = &table,
                                    SCL_OPTIONS(options),
                                    .instance_size = sizeof(thrower)};
