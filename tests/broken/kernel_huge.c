/* A row with a huge number spoils K of all others: it divides by the largest. */
// caught by: hostile fail
#include "kernel.h"

static double largest(const scl_const_parameters *p) {
  double most = 1;
  for (size_t i = 0; i < p->count; i++)
    for (size_t c = 0; c < p->dim; c++)
      most = fmax(most, fabs(row_of(p, i)[c]) > 100 ? fabs(row_of(p, i)[c]) : 1);
  return most;
}

BROKEN_GRAM(gaussian(u->dim, row_of(u, i), row_of(v, j)) / largest(u))

BROKEN_KERNEL(NULL, .gram = gram);
