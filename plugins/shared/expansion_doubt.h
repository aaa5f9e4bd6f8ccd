/* Whether rounding of kernel values spoils an expansion: rows far from 0 with a kernel that cannot
 * be told from a point near them have values that are almost the same for all pairs, and what tells
 * the rows apart is in their last digits. */
#ifndef SCULLERY_SHARED_EXPANSION_DOUBT_H
#define SCULLERY_SHARED_EXPANSION_DOUBT_H

#include "shared/expansion.h"

/* Where predictions do not hold to 1e-6, the outcome is not "converged", and the note says why.
 * diagonal: K(x_i, x_i) of the rows of e; y: their targets. */
scl_status expansion_doubt(const void *self, expansion_gram gram, const expansion *e,
                           const double *diagonal, const double *y, scl_solution *out,
                           scl_error *error);

#endif
