/* cos without its factor sqrt 2: the amplitude is 1/2, and it says 1. */
// caught by: harmonic fail
// says: amplitude
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = cos(z[j]);
}

static const scl_ability_harmonic harmonic = {SCL_HEAD(scl_ability_harmonic), 1};
static const scl_ability abilities[] = {{SCL_ABILITY_HARMONIC, &harmonic}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop, .flags = SCL_SHAPE_PHASE);
