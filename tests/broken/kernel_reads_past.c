/* Reads one column more than parameters have. */
// caught by: guard-pages crash
// says: slot gram
#include "kernel.h"

BROKEN_GRAM(gaussian(u->dim + 1, row_of(u, i), row_of(v, j)))

BROKEN_KERNEL(NULL, .gram = gram);
