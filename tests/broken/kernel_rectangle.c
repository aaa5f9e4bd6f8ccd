/* Adds to every entry whose places are alike, whatever parameters stand there. */
// caught by: rectangles fail
#include "kernel.h"

BROKEN_GRAM(gaussian(u->dim, row_of(u, i), row_of(v, j)) + (i == j ? 0.01 : 0))

BROKEN_KERNEL(NULL, .gram = gram);
