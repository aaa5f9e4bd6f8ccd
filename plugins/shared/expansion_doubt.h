/* Checks whether rounding of kernel values spoils an expansion. For rows far from 0 and a kernel
 * that is not shift-invariant, kernel values are nearly equal for all pairs, and their last
 * digits alone distinguish the rows. */
#ifndef SCULLERY_SHARED_EXPANSION_DOUBT_H
#define SCULLERY_SHARED_EXPANSION_DOUBT_H

#include "shared/expansion.h"

/* Where predictions are not exact to 1e-6, sets an outcome other than "converged" and a note
 * with the reason. diagonal: K(x_i, x_i) of the rows of e; y: their targets. */
scl_status expansion_doubt(const void *self, expansion_gram gram, const expansion *e,
                           const double *diagonal, const double *y, scl_solution *out,
                           scl_error *error);

#endif
