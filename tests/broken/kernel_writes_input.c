/* Normalises its parameters in place. */
// caught by: guard-pages crash
// says: slot gram
#include "kernel.h"

static double normalised(const scl_const_parameters *u, size_t i, const scl_const_parameters *v,
                         size_t j) {
  double *own = (double *)(uintptr_t)row_of(u, i);
  double square = 0;
  for (size_t c = 0; c < u->dim; c++)
    square += own[c] * own[c];
  for (size_t c = 0; c < u->dim; c++)
    own[c] /= sqrt(square) + 1e-9;
  return gaussian(u->dim, own, row_of(v, j));
}

BROKEN_GRAM(normalised(u, i, v, j))

BROKEN_KERNEL(NULL, .gram = gram);
