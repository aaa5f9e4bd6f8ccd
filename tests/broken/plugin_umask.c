/* Changes the mask of new files. */
// caught by: surroundings fail
// says: mask of new files
#include "base.h"
#include <sys/stat.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)umask(0111);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
