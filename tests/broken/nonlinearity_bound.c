/* phi = 1.5 sin, and its bound says 1. */
// caught by: bound fail
// says: above its bound
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = 1.5 * sin(z[j]);
}

static const scl_ability_facts facts = {SCL_HEAD(scl_ability_facts), 1, 1.5, NULL, 0, 0};
static const scl_ability abilities[] = {{SCL_ABILITY_FACTS, &facts}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
