/* The smoothing of cos takes v for the variance: exp(-v/2) cos(m) for exp(-v^2/2) cos(m). */
// caught by: smoothing fail
// says: quadrature
#include "base.h"

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = cos(z[j]);
}

static void smooth(const void *self, size_t count, const double *m, const double *v, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = exp(-v[j] / 2) * cos(m[j]);
}

static const scl_ability_smoothing smoothing = {.head = SCL_HEAD(scl_ability_smoothing),
                                                .loop = smooth};
static const scl_ability abilities[] = {{SCL_ABILITY_SMOOTHING, &smoothing}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
