/* Calls a function of the library that is no member of scl_host. */
// caught by: symbols fail
// says: scl_allocated
#include "base.h"

size_t scl_allocated(void);

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = scl_allocated() > 0 ? z[j] : 0;
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
