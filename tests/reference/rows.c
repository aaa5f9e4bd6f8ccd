/* Solvers that compare rows: nearest neighbours, and AdaBoost on stumps. */
#include "problem.h"

#include <stdlib.h>
#include <string.h>

/* ------------ knn */

/* The mean target of the k nearest, each found by a walk over those that are left. */
static void vote(const problem *p, size_t i, size_t k, quad *distance, quad *out) {
  for (size_t j = 0; j < p->n; j++)
    distance[j] = quad_square_distance(p->d, row(p, i), row(p, j));
  for (size_t taken = 0; taken < k; taken++) {
    size_t nearest = p->n;
    for (size_t j = 0; j < p->n; j++)
      if (distance[j] >= 0 && (nearest == p->n || distance[j] < distance[nearest])) nearest = j;
    distance[nearest] = -1;
    for (size_t t = 0; t < p->c; t++)
      out[t] += p->y[nearest * p->c + t] / k;
  }
}

/* Options: k. */
void solve_knn(problem *p) {
  quad *distance = quads(p->n), *out = answer(p);
  for (size_t i = 0; i < p->n + p->m; i++)
    vote(p, i, (size_t)option_number(p, "k"), distance, out + i * p->c);
  free(distance);
}

/* ------------ adaboost, of two classes */

/* `left` (+-1) where the column is at most `threshold`, else -left. */
typedef struct stump {
  size_t column;
  quad threshold, error;
  int left;
} stump;

static int side(const stump *s, const quad *x) {
  return x[s->column] <= s->threshold ? s->left : -s->left;
}

static quad error_of(const problem *p, const quad *weight, const stump *s) {
  quad wrong = 0;
  for (size_t i = 0; i < p->n; i++)
    if (side(s, row(p, i)) * p->y[i] < 0) wrong += weight[i];
  return wrong;
}

/* The middle of value x of the column and the next larger; false: there is none. */
static bool split_after(const problem *p, size_t column, quad x, quad *threshold) {
  bool found = false;
  quad next = 0;
  for (size_t i = 0; i < p->n; i++) {
    const quad other = row(p, i)[column];
    if (other <= x || (found && other >= next)) continue;
    next = other;
    found = true;
  }
  *threshold = (x + next) / 2;
  return found;
}

/* Of the least error; within 1e-12 the first column, and there the lowest threshold. */
static bool replaces(const stump *one, const stump *best) {
  if (one->error < best->error - (quad)1e-12) return true;
  return one->error < best->error + (quad)1e-12 && one->column == best->column &&
         one->threshold < best->threshold;
}

static stump best_stump(const problem *p, const quad *weight) {
  stump best = {.error = 2}, one;
  for (one.column = 0; one.column < p->d; one.column++)
    for (size_t i = 0; i < p->n; i++) {
      if (!split_after(p, one.column, row(p, i)[one.column], &one.threshold)) continue;
      for (one.left = -1; one.left <= 1; one.left += 2) {
        one.error = error_of(p, weight, &one);
        if (replaces(&one, &best)) best = one;
      }
    }
  return best;
}

static void reweigh(const problem *p, const stump *s, quad factor, quad *weight) {
  quad total = 0;
  for (size_t i = 0; i < p->n; i++) {
    if (side(s, row(p, i)) * p->y[i] < 0) weight[i] *= factor;
    total += weight[i];
  }
  for (size_t i = 0; i < p->n; i++)
    weight[i] /= total;
}

/* Options: stumps. The classes are not to be separable by one stump. */
void solve_adaboost(problem *p) {
  const size_t rounds = (size_t)option_number(p, "stumps");
  quad *weight = quads(p->n), *out = answer(p);
  for (size_t i = 0; i < p->n; i++)
    weight[i] = 1 / (quad)p->n;
  for (size_t t = 0; t < rounds; t++) {
    const stump s = best_stump(p, weight);
    const quad odds = (1 - s.error) / s.error, alpha = quad_log(odds);
    for (size_t i = 0; i < p->n + p->m; i++)
      out[i] += alpha / 2 * side(&s, row(p, i));
    reweigh(p, &s, odds, weight);
  }
  free(weight);
}
