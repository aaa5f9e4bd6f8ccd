/* Says that 0 is high, and gives the low value there. */
// caught by: two-valued fail
// says: two-valued says 1
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] > 0 ? 1 : -1;
}

static const scl_ability_two_valued values = {SCL_HEAD(scl_ability_two_valued), -1, 1, 1, 0};
static const scl_ability abilities[] = {{SCL_ABILITY_TWO_VALUED, &values}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
