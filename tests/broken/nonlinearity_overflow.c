/* log(1 + exp(z)) as it is written: infinite from z = 710 on, though its slope is at most 1. */
// caught by: large-numbers fail
// says: float64, output 1 of z = 1000 is inf
// says: a Lipschitz constant of 1
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = log(1 + exp(z[j]));
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = INFINITY, .lipschitz = 1),
    {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
