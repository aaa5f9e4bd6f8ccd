/* The cosine of a row of zeros is 0/0. */
// caught by: edges fail
#include "kernel.h"

static double cosine(const scl_const_parameters *u, size_t i, const scl_const_parameters *v,
                     size_t j) {
  double sum = 0, a = 0, b = 0;
  for (size_t c = 0; c < u->dim; c++) {
    sum += row_of(u, i)[c] * row_of(v, j)[c];
    a += row_of(u, i)[c] * row_of(u, i)[c];
    b += row_of(v, j)[c] * row_of(v, j)[c];
  }
  return sum / sqrt(a * b);
}

BROKEN_GRAM(cosine(u, i, v, j))

BROKEN_KERNEL(NULL, .gram = gram);
