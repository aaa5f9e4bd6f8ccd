/* What fitted coefficients say of rows: decisions, labels' errors and losses, in one walk and flat
 * memory. */
#ifndef SCULLERY_SCORE_H
#define SCULLERY_SCORE_H

#include "learn/model.h"

/* out (n x c, float64, made here) = features * coefficients (D x c) + intercept (1 x c or NULL),
 * row i of the source in row i. */
scl_status scl_decisions(const scl_flow *flow, const scl_matrix *coefficients,
                         const scl_matrix *intercept, scl_matrix *out, scl_error *error);

/* out (n x D, the flow's dtype, made here): the features themselves; factor multiplies them. */
scl_status scl_features(const scl_flow *flow, double factor, scl_matrix *out, scl_error *error);

/* Candidates judged on rows: for each group (fold) and candidate its own coefficients, or its own
 * model: all of them one or the other. */
typedef struct scl_candidate {
  const scl_matrix *coefficients, *intercept; /* D x c, 1 x c; NULL where there is a model */
  const scl_model *model;                     /* of c targets */
} scl_candidate;
typedef struct scl_tally {
  double rows, wrong; /* wrong: rows whose label differs (argmax of c > 1 targets, sign of one) */
  double square;      /* sum over rows and targets of (decision - y)^2 */
  double target_sum, target_square; /* sums of y and y^2, over targets too: with one target the
                                       spread of the truth */
} scl_tally;
/* candidates: groups x count; tallies likewise, summed into (the caller zeroes them). */
scl_status scl_score(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                     scl_tally *tallies, scl_error *error);

/* decisions and targets (n x c, float64, made here), row i of the source in row i: each row is
 * decided by its own group's candidate, one a group: out of fold where that has not seen the
 * group. */
scl_status scl_decisions_apart(const scl_flow *flow, const scl_candidate *candidates,
                               scl_matrix *decisions, scl_matrix *targets, scl_error *error);

#endif
