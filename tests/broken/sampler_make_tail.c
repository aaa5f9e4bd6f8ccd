/* The simple form works on pairs of numbers, and forgets the odd one. */
// caught by: simple-form fail
#include "sampler.h"

static void make(const void *self, size_t count, const double *numbers, double *e) {
  (void)self;
  for (size_t j = 0; j + 1 < count; j += 2) {
    e[j] = numbers[j];
    e[j + 1] = numbers[j + 1];
  }
}

static void moments(const void *self, double *mean, double *scale) {
  (void)self, (void)mean, (void)scale;
}

BROKEN_SAMPLER(NULL, .space = SCL_SPACE_DENSE, .make = make, .moments = moments, .normals = 1,
               .family = SCL_FAMILY_GAUSSIAN);
