/* Losses of a row with c scores f and targets y, as value and slope (a subgradient in f). Classes
 * are coded +-1: one column for two classes, else one a class with +1 at the true one. */
#ifndef SCULLERY_SHARED_LOSSES_H
#define SCULLERY_SHARED_LOSSES_H

#include <math.h>
#include <stddef.h>

/* Returns the value and fills in the slope; context is the loss's own (NULL where it has no
 * parameter). slope may be f itself: a score is read before its slope is written. */
typedef double (*loss_of_row)(const void *context, size_t c, const double *f, const double *y,
                              double *slope);

/* log(1 + exp(x)) without overflow */
static inline double loss_softplus(double x) {
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static inline double loss_sigmoid(double x) {
  return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* (1/2) sum (f - y)^2 */
static inline double loss_square(const void *context, size_t c, const double *f, const double *y,
                                 double *slope) {
  double value = 0;
  (void)context;
  for (size_t j = 0; j < c; j++) {
    slope[j] = f[j] - y[j];
    value += slope[j] * slope[j] / 2;
  }
  return value;
}

/* log sum exp f */
static inline double loss_log_sum(size_t c, const double *f) {
  double most = f[0], sum = 0;
  for (size_t j = 1; j < c; j++)
    most = fmax(most, f[j]);
  for (size_t j = 0; j < c; j++)
    sum += exp(f[j] - most);
  return most + log(sum);
}

/* out = softmax of f; returns log sum exp f. out may be f. */
static inline double loss_softmax(size_t c, const double *f, double *out) {
  const double all = loss_log_sum(c, f);
  for (size_t j = 0; j < c; j++)
    out[j] = exp(f[j] - all);
  return all;
}

/* The column of the true class. */
static inline size_t loss_truth(size_t c, const double *y) {
  size_t truth = 0;
  for (size_t j = 1; j < c; j++)
    if (y[j] > y[truth]) truth = j;
  return truth;
}

/* log(1 + exp(-y f)); with a column a class, log sum exp f - f of the true one */
static inline double loss_logistic(const void *context, size_t c, const double *f, const double *y,
                                   double *slope) {
  (void)context;
  if (c == 1) {
    const double margin = y[0] * f[0];
    slope[0] = -y[0] * loss_sigmoid(-margin);
    return loss_softplus(-margin);
  }
  const size_t truth = loss_truth(c, y);
  const double at_truth = f[truth], value = loss_softmax(c, f, slope) - at_truth;
  slope[truth] -= 1;
  return value;
}

/* Probabilities of the classes that go with the logistic loss, one number a class. */
static inline void loss_logistic_probabilities(size_t c, const double *f, double *out) {
  if (c > 1) {
    (void)loss_softmax(c, f, out);
    return;
  }
  out[0] = loss_sigmoid(-f[0]);
  out[1] = loss_sigmoid(f[0]);
}

/* sum max(0, 1 - y f) */
static inline double loss_hinge(const void *context, size_t c, const double *f, const double *y,
                                double *slope) {
  double value = 0;
  (void)context;
  for (size_t j = 0; j < c; j++) {
    const double margin = y[j] * f[j];
    slope[j] = margin < 1 ? -y[j] : 0;
    value += fmax(0, 1 - margin);
  }
  return value;
}

/* sum r^2/2 where |r| <= delta, else delta |r| - delta^2/2, for r = f - y; context: delta of each
 * column */
static inline double loss_huber(const void *context, size_t c, const double *f, const double *y,
                                double *slope) {
  const double *delta = context;
  double value = 0;
  for (size_t j = 0; j < c; j++) {
    const double r = f[j] - y[j];
    slope[j] = fmax(-delta[j], fmin(delta[j], r));
    value += slope[j] * (r - slope[j] / 2);
  }
  return value;
}

#endif
