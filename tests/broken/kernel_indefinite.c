/* exp(-||u - v||^4) is no positive definite function. */
// caught by: definite fail
// says: eigenvalue
#include "kernel.h"

BROKEN_GRAM(exp(-squared_distance(u->dim, row_of(u, i), row_of(v, j)) *
                squared_distance(u->dim, row_of(u, i), row_of(v, j))))

BROKEN_KERNEL(NULL, .gram = gram);
