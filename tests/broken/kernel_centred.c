/* Takes parameters from their mean, so that K of two depends on the others. */
// caught by: rectangles fail
#include "kernel.h"

/* A product of rows about the mean of v. */
static double centred(const scl_const_parameters *u, size_t i, const scl_const_parameters *v,
                      size_t j) {
  double sum = 0;
  for (size_t c = 0; c < u->dim; c++) {
    double mean = 0;
    for (size_t k = 0; k < v->count; k++)
      mean += row_of(v, k)[c] / (double)v->count;
    sum += (row_of(u, i)[c] - mean) * (row_of(v, j)[c] - mean);
  }
  return sum;
}

BROKEN_GRAM(centred(u, i, v, j))

BROKEN_KERNEL(NULL, .gram = gram);
