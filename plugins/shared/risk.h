/* The regularised mean of a loss, over rows that stream:
 *
 *   F(x) = sum_i w_i l(f_i, y_i) / sum_i w_i + (lambda/2) ||a||^2,   f = Phi a + 1 b'
 *
 * x holds a (D x c) and, where there is an intercept, b as one more row; w are the row weights. A
 * value and its gradient cost one sweep. Scores are linear in x: with those of a point and of a
 * direction (n x c each) a line search takes no pass. */
#ifndef SCULLERY_SHARED_RISK_H
#define SCULLERY_SHARED_RISK_H

#include "shared/losses.h"

#include <scullery/plugin.h>

/* Losses (a number for each row, the sum over its columns) and slopes (count x c; may be f) of rows
 * first .. first+count-1 at scores f (count x c). */
typedef scl_status (*risk_rows)(const void *context, size_t first, size_t count, const double *f,
                                double *values, double *slopes, scl_error *error);

typedef struct risk {
  const scl_problem *problem;
  risk_rows rows; /* in place of the loss that `choice` says; NULL: that one */
  const void *context;
  const loss_choice *choice;
  double lambda;
  bool intercept;
  size_t columns, size, scores; /* c, numbers of x, n c */
  double *targets, *weights;    /* n x c, n */
  double *slopes, *losses;      /* n x c, n */
  double total;
} risk;

scl_status risk_open(risk *r, const scl_problem *problem, const loss_choice *choice, double lambda,
                     scl_error *error);

double risk_dot(size_t count, const double *x, const double *y);

/* (lambda/2) ||a||^2; b is not penalised */
static inline double risk_penalty(const risk *r, const double *x) {
  const size_t count = r->problem->features * r->columns;
  return r->lambda / 2 * risk_dot(count, x, x);
}

/* The metric of number i of x: about 1 / (d^2F/dx_i^2) where columns are of very different size,
 * scale^2 + lambda, else 1. By 1 / scale^2 alone a column that is nearly constant, whose curvature
 * is lambda, would outweigh all others. */
static inline double risk_metric(const risk *r, size_t i) {
  const size_t feature = i / r->columns;
  if (!SCL_HAS(r->problem, scale) || r->problem->scale == NULL || feature >= r->problem->features)
    return 1;
  return 1 / (r->problem->scale[feature] * r->problem->scale[feature] + r->lambda);
}

/* What rounding of float32 features may change a value by; 0 for float64. */
static inline double risk_noise(const risk *r, double value) {
  const scl_problem *problem = r->problem;
  const double rounding = SCL_HAS(problem, rounding) ? problem->rounding : 0;
  return rounding > 1e-12 ? rounding / 10 * fabs(value) : 0;
}

/* r->slopes and r->losses (times weight over total) of rows first .. first+count-1, whose scores
 * these are. */
scl_status risk_slopes(const risk *r, size_t first, size_t count, const double *scores,
                       scl_error *error);

/* The sums of the losses, and of the slopes (c; zeros without an intercept), over all rows. */
scl_status risk_sums(const risk *r, double *value, double *slope_sum, scl_error *error);

/* value, gradient (as x) and scores (n x c) at x, in one pass. slope_sum: c numbers of scratch. */
scl_status risk_evaluate(const risk *r, const double *x, double *value, double *gradient,
                         double *scores, double *slope_sum, scl_error *error);

/* The same where the scores at x are known already: half a pass. */
scl_status risk_from_scores(const risk *r, const double *x, const double *scores, double *value,
                            double *gradient, double *slope_sum, scl_error *error);

/* F(x + t p), from the scores of x and of p, and the penalty, a parabola:
 *
 *   value + slope t + (bend/2) t^2 */
typedef struct risk_line {
  const risk *risk;
  const double *scores, *change;
  double value, slope, bend;
} risk_line;

risk_line risk_line_of(const risk *r, const double *x, const double *p, const double *scores,
                       const double *change);

/* Value at t, and the derivative. */
scl_status risk_at(const risk_line *line, double t, double *value, double *derivative,
                   scl_error *error);

/* *length = a t > 0 where the derivative is at most `fraction` of the one at 0 (F is convex: the
 * value is below the start, up to rounding), by bracketing, secants and halving. 0: none was found,
 * as where only rounding is left. Near the minimum slopes still tell where values no longer do. */
scl_status risk_search(const risk_line *line, double fraction, double start, double *length,
                       scl_error *error);

/* *length = the change of all scores, by a constant, that makes the risk least. change: n numbers
 * of scratch; unit: how far to look first. One column. */
scl_status risk_best_constant(const risk *r, const double *scores, double *change, double unit,
                              double *length, scl_error *error);

/* What the instance of a solver begins with that minimises a mean loss with an l2 penalty. */
typedef struct risk_solver {
  loss_choice loss;
  double lambda;
} risk_solver;

scl_status risk_objective(const void *instance, const scl_problem *problem,
                          const double *coefficients, const double *intercept, double *value,
                          scl_error *error);

#endif
