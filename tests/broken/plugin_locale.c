/* Changes the locale. */
// caught by: surroundings fail
// says: locale
#include "base.h"
#include <locale.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)setlocale(LC_ALL, "C.UTF-8");
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
