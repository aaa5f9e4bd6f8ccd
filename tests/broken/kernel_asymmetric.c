/* K(u, v) is not K(v, u). */
// caught by: symmetry fail
// says: K(u, w) is not K(w, u)
#include "kernel.h"

BROKEN_GRAM(gaussian(u->dim, row_of(u, i), row_of(v, j)) * (1 + 0.001 * row_of(u, i)[0]))

BROKEN_KERNEL(NULL, .gram = gram);
