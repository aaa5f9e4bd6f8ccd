/* Predictions of fitted coefficients and models on rows, and their errors: decisions, counts of
 * wrong labels, losses. Each function makes one walk; the memory that it needs besides its results
 * does not grow with the number of rows. */
#ifndef SCULLERY_SCORE_H
#define SCULLERY_SCORE_H

#include "learn/model.h"

/* out (n x c, float64, made here) = features * coefficients (D x c) + intercept (1 x c or NULL),
 * row i of the source in row i. Where the flow has a pilot, features are those less the pilot. */
scl_status scl_decisions(const scl_flow *flow, const scl_matrix *coefficients,
                         const scl_matrix *intercept, scl_matrix *out, scl_error *error);

/* out (n x D, the flow's dtype, made here) = the features, times exp(-scl_map_left_out) where their
 * true values would be near underflow. */
scl_status scl_features(const scl_flow *flow, scl_matrix *out, scl_error *error);

/* out (n x 1, made here) = the solver's loss of each row, for decisions (n x c) and targets (n x
 * c). */
scl_status scl_losses(const scl_instance *solver, const scl_matrix *decisions,
                      const scl_matrix *targets, scl_matrix *out, scl_error *error);
/* out (n x classes, made here) = probabilities of the classes by the model of the solver's loss
 * (for example logistic). *said = false, and no result, if that loss defines none. */
scl_status scl_loss_probabilities(const scl_instance *solver, const scl_matrix *decisions,
                                  scl_matrix *out, bool *said, scl_error *error);

/* out (n x c, made here) = the means of the targets at the decisions, by the solver's loss. *said =
 * false, and no result, if the decisions are the predictions. */
scl_status scl_loss_means(const scl_instance *solver, const scl_matrix *decisions, scl_matrix *out,
                          bool *said, scl_error *error);

/* Candidates to compare on rows. Each group (fold) has its own version of every candidate, fitted
 * without the rows of that group. Either all candidates are coefficients, or all are models. */
typedef struct scl_candidate {
  const scl_matrix *coefficients, *intercept; /* D x c, 1 x c; NULL where there is a model */
  const scl_matrix *pilot; /* 1 x D: decisions are (phi - pilot) a + intercept; NULL: zeros */
  const scl_model *model;  /* of c targets */
} scl_candidate;
typedef struct scl_tally {
  double rows, wrong; /* wrong: rows whose label differs (argmax of c > 1 targets, sign of one) */
  double strangers;   /* those of the wrong rows whose label is not one of the classes (labels.h) */
  double square;      /* sum over rows and targets of (decision - y)^2 */
  /* Of the first target y: sums of y - shift and (y - shift)^2, shift the y of the first row: the
   * spread of the truth, without cancellation where y is far from 0. */
  double target_shift, target_sum, target_square;
} scl_tally;
/* Tally each row for its own group's candidates. candidates and tallies: groups x count. */
scl_status scl_score(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                     scl_tally *tallies, scl_error *error);

/* decisions (n x (count c)) and targets (n x c), float64, made here, row i of the source in row i.
 * Each row gets the decisions of its own group's candidates, side by side: out-of-fold decisions if
 * these were fitted without the group. candidates: groups x count. */
scl_status scl_decisions_apart(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                               scl_matrix *decisions, scl_matrix *targets, scl_error *error);

#endif
