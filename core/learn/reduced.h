/* Least squares in as few coordinates as the features span. If all features are combinations of few
 * codes, Phi = Z T (Z n x C, T C x D; rows/sums_levels.c), then an objective with the penalty a'a
 * or a'Ga depends on a only through T a and the penalty. With G + delta I = L L' (a'a: L = I) and
 *
 *   Q = L^-1 T',   Q'Q = V diag(s) V'   (s_i above 1e-13 of the largest),   R = diag(s)^(1/2) V'
 *
 * it is the same problem in b of k <= C numbers, with features Z R', penalty b'b, and
 *
 *   a = L^-T Q V diag(s)^(-1/2) b
 *
 * This is done for the codes of levels. Codes that are features themselves remain coordinates, with
 * their part of G, which must be 0 between them and the other features. One factorisation of order
 * D serves all folds and all values of lambda. delta is the least of 1e-12, 1e-11, 1e-10 and 1e-9
 * of the mean diagonal of G for which the factorisation succeeds. */
#ifndef SCULLERY_REDUCED_H
#define SCULLERY_REDUCED_H

#include "rows/sums.h"

typedef struct scl_reduced {
  scl_sums *sums;         /* of the features Z R', k of them */
  scl_symmetric *gram;    /* of order k */
  double *back;           /* D x k: a = back b */
  size_t features, order; /* D, k */
} scl_reduced;

/* From sums that have codes. gram: G for the penalty a'Ga, NULL for a'a. *out = NULL, without an
 * error, if no such coordinates exist: G is not 0 where it must be, or does not factor. */
scl_status scl_reduced_create(const scl_sums *sums, const scl_symmetric *gram, scl_reduced **out,
                              scl_error *error);
void scl_reduced_destroy(scl_reduced *reduced);
/* a (D x c) = back b, b k x c. */
void scl_reduced_restore(const scl_reduced *reduced, const double *b, size_t c, double *a);
/* out (k x c) = back' r, r D x c. */
void scl_reduced_adjoint(const scl_reduced *reduced, const double *r, size_t c, double *out);

#endif
