/* phi = sin 2z, and its Lipschitz constant says 1. */
// caught by: lipschitz fail
// says: above its Lipschitz constant
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = sin(2 * z[j]);
}

static const scl_ability_facts facts = {SCL_HEAD(scl_ability_facts), 1, 1, NULL, 0, 0};
static const scl_ability abilities[] = {{SCL_ABILITY_FACTS, &facts}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
