/* The rows' side of an interior point method for  sum_i p_i l(y_i f_i),  f = Phi a + b, y_i = +-1,
 * sum p = 1:
 *
 *   logistic  l(m) = log(1 + exp(-m)):   alpha_i = p_i / (1 + exp(y f)) is minus its slope
 *   hinge     l(m) = max(0, 1 - m), as sum p xi with xi >= 0 and t = xi - 1 + y f >= 0,
 *             whose multipliers are beta = p - alpha and alpha:
 *             alpha t = beta xi = mu
 *
 * Either way Newton's step has Hessian Phi'W Phi and descent Phi'(y (alpha + e)), and the dual
 * value sum d(alpha) - bound ||Phi'(y alpha)||_1. The scores are kept, so that judging a step takes
 * no pass over the features. */
#ifndef SCULLERY_MARGIN_ROWS_H
#define SCULLERY_MARGIN_ROWS_H

#include "shared/interior_box.h"

typedef enum margin_loss { MARGIN_HINGE, MARGIN_LOGISTIC } margin_loss;

/* log(1 + exp(-m)) without overflow */
static inline double logistic_loss(double m) {
  return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
}

/* 1 / (1 + exp(m)) */
static inline double logistic_share(double m) {
  return m > 0 ? exp(-m) / (1 + exp(-m)) : 1 / (1 + exp(m));
}

static inline double margin_value(margin_loss loss, double m) {
  return loss == MARGIN_LOGISTIC ? logistic_loss(m) : m >= 1 ? 0 : 1 - m;
}

enum { MARGIN_DESCENT, MARGIN_WEIGHT, MARGIN_POSITIVE, MARGIN_NEGATIVE, MARGIN_COLUMNS };

typedef struct margin_rows {
  margin_loss loss;
  size_t count;
  double *y, *p, *f, *df, *alpha, *beta, *xi, *t, *weight, *alpha_goal,
      *beta_goal;  /* count numbers each */
  double *columns; /* count x MARGIN_COLUMNS: what is to be multiplied by Phi' */
} margin_rows;

static inline size_t margin_rows_numbers(size_t count) {
  return count * (11 + MARGIN_COLUMNS);
}

/* Lay them out in margin_rows_numbers(count) numbers. */
static inline margin_rows margin_rows_in(double *memory, size_t count, margin_loss loss) {
  margin_rows r = {.loss = loss, .count = count};
  double **const arrays[] = {&r.y,  &r.p, &r.f,      &r.df,         &r.alpha,     &r.beta,
                             &r.xi, &r.t, &r.weight, &r.alpha_goal, &r.beta_goal, &r.columns};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    *arrays[k] = memory + k * count;
  return r;
}

/* f = 0, and for the hinge a point in the middle. y and p are set. */
static inline void margin_rows_start(margin_rows *r) {
  for (size_t i = 0; i < r->count; i++) {
    r->f[i] = r->df[i] = 0;
    r->alpha[i] = r->beta[i] = r->p[i] / 2;
    r->xi[i] = 2;
    r->t[i] = 1;
  }
}

/* How many products the rows have. */
static inline size_t margin_rows_number(const margin_rows *r) {
  size_t number = 0;
  for (size_t i = 0; r->loss == MARGIN_HINGE && i < r->count; i++)
    number += r->p[i] > 0 ? 2 : 0;
  return number;
}

/* All products are to become mu. */
static inline void margin_rows_aim(margin_rows *r, double mu) {
  for (size_t i = 0; i < r->count; i++)
    r->alpha_goal[i] = r->beta_goal[i] = mu;
}

/* beta t + alpha xi, not 0 even where they underflow */
static inline double margin_rows_below(const margin_rows *r, size_t i) {
  return fmax(r->beta[i] * r->t[i] + r->alpha[i] * r->xi[i], DBL_MIN);
}

/* Hinge: where alpha goes if y f rises by `rise`. */
static inline double margin_rows_alpha_step(const margin_rows *r, size_t i, double rise) {
  const double a = r->alpha[i], b = r->beta[i];
  return (b * r->alpha_goal[i] - a * r->beta_goal[i] + a * b * (r->xi[i] - r->t[i] - rise)) /
         margin_rows_below(r, i);
}

/* Fill `columns` and `weight` for a step towards the goals. */
static inline void margin_rows_prepare(margin_rows *r) {
  for (size_t i = 0; i < r->count; i++) {
    double e = 0, w = 0, *out = r->columns + i * MARGIN_COLUMNS;
    if (r->p[i] > 0 && r->loss == MARGIN_LOGISTIC) {
      const double share = logistic_share(r->y[i] * r->f[i]);
      r->alpha[i] = r->p[i] * share;
      w = r->p[i] * share * (1 - share);
    } else if (r->p[i] > 0) {
      e = margin_rows_alpha_step(r, i, 0);
      w = r->alpha[i] * r->beta[i] / margin_rows_below(r, i);
    }
    r->weight[i] = w;
    out[MARGIN_DESCENT] = r->y[i] * (r->alpha[i] + e);
    out[MARGIN_WEIGHT] = w;
    out[MARGIN_POSITIVE] = r->y[i] > 0 ? r->alpha[i] : 0;
    out[MARGIN_NEGATIVE] = r->y[i] > 0 ? 0 : -r->alpha[i];
  }
}

/* Hinge: where alpha, xi and t of row i go, once df is known. */
static inline void margin_rows_change(const margin_rows *r, size_t i, double *d_alpha, double *d_xi,
                                      double *d_t) {
  const double a = r->alpha[i], t = r->t[i], xi = r->xi[i], rise = r->y[i] * r->df[i];
  *d_alpha = margin_rows_alpha_step(r, i, rise);
  *d_xi =
      (t * (r->beta_goal[i] - r->beta[i] * xi) + xi * (r->alpha_goal[i] - a * t) - a * xi * rise) /
      margin_rows_below(r, i);
  *d_t = *d_xi + rise;
}

/* As aim, less what the step that was found (towards 0) would add at second order. */
static inline void margin_rows_correct(margin_rows *r, double mu) {
  for (size_t i = 0; r->loss == MARGIN_HINGE && i < r->count; i++) {
    double d_alpha, d_xi, d_t;
    if (r->p[i] <= 0) continue;
    margin_rows_change(r, i, &d_alpha, &d_xi, &d_t);
    r->alpha_goal[i] = mu - d_alpha * d_t;
    r->beta_goal[i] = mu + d_alpha * d_xi;
  }
}

/* Sum of the rows' products after steps of these lengths (both 0: as they are). */
static inline double margin_rows_products(const margin_rows *r, double primal, double dual) {
  double sum = 0;
  for (size_t i = 0; r->loss == MARGIN_HINGE && i < r->count; i++) {
    double d_alpha = 0, d_xi = 0, d_t = 0;
    if (r->p[i] <= 0) continue;
    if (primal > 0 || dual > 0) margin_rows_change(r, i, &d_alpha, &d_xi, &d_t);
    sum += (r->alpha[i] + dual * d_alpha) * (r->t[i] + primal * d_t) +
           (r->beta[i] - dual * d_alpha) * (r->xi[i] + primal * d_xi);
  }
  return sum;
}

static inline void margin_rows_limit(const margin_rows *r, double *primal, double *dual) {
  for (size_t i = 0; r->loss == MARGIN_HINGE && i < r->count; i++) {
    double d_alpha, d_xi, d_t;
    if (r->p[i] <= 0) continue;
    margin_rows_change(r, i, &d_alpha, &d_xi, &d_t);
    interior_limit(r->alpha[i], d_alpha, dual);
    interior_limit(r->beta[i], -d_alpha, dual);
    interior_limit(r->xi[i], d_xi, primal);
    interior_limit(r->t[i], d_t, primal);
  }
}

static inline void margin_rows_move(margin_rows *r, double primal, double dual) {
  for (size_t i = 0; i < r->count; i++) {
    double d_alpha, d_xi, d_t;
    if (r->loss == MARGIN_HINGE && r->p[i] > 0) {
      margin_rows_change(r, i, &d_alpha, &d_xi, &d_t);
      r->alpha[i] += dual * d_alpha;
      r->beta[i] -= dual * d_alpha;
      r->xi[i] += primal * d_xi;
      r->t[i] += primal * d_t;
    }
    r->f[i] += primal * r->df[i];
  }
}

/* The mean loss after a step of this length. */
static inline double margin_rows_loss(const margin_rows *r, double length) {
  double sum = 0;
  for (size_t i = 0; i < r->count; i++)
    if (r->p[i] > 0)
      sum += r->p[i] * margin_value(r->loss, r->y[i] * (r->f[i] + length * r->df[i]));
  return sum;
}

/* The two factors, at most 1, that make alpha of either class weigh the same: what a free intercept
 * asks of a dual point. */
static inline void margin_rows_balance(const margin_rows *r, double *positive, double *negative) {
  double plus = 0, minus = 0;
  for (size_t i = 0; i < r->count; i++)
    *(r->y[i] > 0 ? &plus : &minus) += r->alpha[i];
  *positive = plus > minus ? minus / plus : 1;
  *negative = minus > plus ? plus / minus : 1;
}

static inline double entropy_term(double x) {
  return x > 0 ? -x * log(x) : 0;
}

/* sum d(alpha): the dual value but for the norm. */
static inline double margin_rows_dual(const margin_rows *r, double positive, double negative) {
  double sum = 0;
  for (size_t i = 0; i < r->count; i++) {
    const double alpha = r->alpha[i] * (r->y[i] > 0 ? positive : negative);
    if (r->p[i] <= 0) continue;
    sum += r->loss == MARGIN_HINGE
               ? alpha
               : r->p[i] * (entropy_term(alpha / r->p[i]) + entropy_term(1 - alpha / r->p[i]));
  }
  return sum;
}

#endif
