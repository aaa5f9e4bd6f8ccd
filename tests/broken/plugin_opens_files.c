/* Opens a file in each run and closes none. */
// caught by: uses fail
// says: files open
#include "base.h"
#include <fcntl.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)open("/dev/null", O_RDONLY);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
