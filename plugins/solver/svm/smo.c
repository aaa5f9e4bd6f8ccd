/* Sequential minimal optimisation on a few rows whose kernel matrix is in memory (Platt 1999), with
 * the second-order choice of pairs of Fan, Chen and Lin (2005):
 *
 *   max_b  sum_i y_i b_i - epsilon |b_i| - (1/2) b'K b,   sum_i b_i = 0, lo_i <= b_i <= hi_i
 *
 * Growing b_i by a little gains up_i - f_i each, shrinking b_j costs low_j - f_j, with f = K b and
 * up, low = y -+ epsilon by the sign of b. A step grows b_i and shrinks b_j by the same amount,
 * which is the best for this pair alone, or ends at 0 or at a bound. */
#include "svm.h"

/* Writes up and low of row i, from which the loops choose pairs. */
static void svm_smo_show(svm_smo *s, size_t i) {
  s->up[i] = svm_up(&s->row[i], s->epsilon);
  s->low[i] = svm_low(&s->row[i], s->epsilon);
}

/* Increases b_i and decreases b_j by the same amount; returns that amount. */
static double svm_smo_step(svm_smo *s, size_t i, size_t j, double most, double least) {
  svm_row *grows = &s->row[i], *shrinks = &s->row[j];
  const double bent = s->diagonal[i] + s->diagonal[j] - 2 * (double)s->k[i * s->stride + j];
  /* A coefficient stops at 0 at the latest, where its up and low change. */
  const double above = grows->b < 0 ? 0 : grows->hi, below = shrinks->b > 0 ? 0 : shrinks->lo;
  double step = (most - (s->low[j] - s->f[j])) / (bent > least ? bent : least);
  step = fmin(step, fmin(above - grows->b, shrinks->b - below));
  grows->b = step < above - grows->b ? grows->b + step : above;
  shrinks->b = step < shrinks->b - below ? shrinks->b - step : below;
  svm_smo_show(s, i);
  svm_smo_show(s, j);
  return step;
}

size_t svm_smo_solve(svm_smo *s, double tolerance, size_t most_steps) {
  svm_ends ends;
  size_t steps = 0;
  for (size_t i = 0; i < s->stride; i++) {
    const bool is_row = i < s->count;
    s->diagonal[i] = is_row ? (double)s->k[i * s->stride + i] : 1;
    s->up[i] = -INFINITY;
    s->low[i] = INFINITY;
    if (is_row) svm_smo_show(s, i);
  }
  s->loops.advance(s->stride, 0, s->k, s->k, s->up, s->low, s->f, &ends);
  for (; steps < most_steps && ends.most - ends.least > tolerance; steps++) {
    const size_t i = ends.first;
    const float *ki = s->k + i * s->stride;
    const double least = fmax(1e-12 * fabs(s->diagonal[i]), 1e-290);
    const size_t j = s->loops.partner(s->stride, ends.most, least, s->diagonal[i], ki, s->diagonal,
                                      s->low, s->f);
    if (j >= s->count) break;
    const double step = svm_smo_step(s, i, j, ends.most, least);
    s->loops.advance(s->stride, step, ki, s->k + j * s->stride, s->up, s->low, s->f, &ends);
  }
  return steps;
}
