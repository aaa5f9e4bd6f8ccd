/* A hinge at 0.37, which is not among its breaks. */
// caught by: breaks fail
// says: 0.37
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = fabs(z[j]) + 0.1 * fabs(z[j] - 0.37);
}

static const double breaks[] = {0};
static const scl_ability_facts facts = {SCL_HEAD(scl_ability_facts), INFINITY, 1.1, breaks, 1, 0};
static const scl_ability abilities[] = {{SCL_ABILITY_FACTS, &facts}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
