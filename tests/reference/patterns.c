/* Problems whose solution follows from a pattern of its coefficients: each is negative, free or
 * positive (lasso: which sign, 0 between; box: at which bound, free between).
 *
 *   lasso   mean (f - y)^2/2 + lambda (l1_ratio ||a||_1 + (1 - l1_ratio)/2 ||a||^2)
 *   box     mean l(f, y)   s.t. |a_t| <= bound
 *
 * Newton's method finds the optimum of a pattern. While one of its coefficients breaks the conditions
 * of optimality, the first that does takes another place (Murty 1974): for strictly convex quadratics
 * this ends. The answer is none where it does not. */
#include "newton.h"

#include <stdlib.h>
#include <string.h>

typedef struct patterns {
  objective o;
  bool lasso;
  quad l1, bound;
  int *place; /* d: -1, 0, 1 */
  quad *z, *linear, *gradient;
  bool *fixed;
} patterns;

static void open_patterns(patterns *s, problem *p) {
  const size_t order = p->d + 1;
  *s = (patterns){.o = {.p = p}, .lasso = strcmp(p->solver, "lasso") == 0};
  s->place = numbers(order, sizeof *s->place);
  s->fixed = numbers(order, sizeof *s->fixed);
  s->z = quads(order);
  s->linear = quads(order);
  s->gradient = quads(order);
  s->o.linear = s->linear;
  s->o.fixed = s->fixed;
  if (s->lasso) {
    const quad lambda = option_number(p, "lambda"), ratio = option_number(p, "l1_ratio");
    s->l1 = lambda * ratio;
    s->o.l2 = lambda * (1 - ratio);
    return;
  }
  s->bound = option_number(p, "bound");
  s->o.loss = loss_named(option_word(p, "loss"));
  if (s->o.loss == HUBER) s->o.delta = option_number(p, "delta");
}

static void close_patterns(patterns *s) {
  free(s->place);
  free(s->fixed);
  free(s->z);
  free(s->linear);
  free(s->gradient);
}

static void solve_pattern(patterns *s) {
  for (size_t t = 0; t < s->o.p->d; t++) {
    s->fixed[t] = s->lasso == (s->place[t] == 0);
    s->linear[t] = s->lasso ? s->place[t] * s->l1 : 0;
    if (s->fixed[t]) s->z[t] = s->place[t] * s->bound;
  }
  newton(&s->o, s->z);
  newton_gradient(&s->o, s->z, s->gradient);
}

/* Where coefficient t belongs instead, at this optimum of the pattern. */
static int better_place(const patterns *s, size_t t) {
  const quad a = s->z[t], g = s->gradient[t], slack = (quad)1e-25;
  const int place = s->place[t];
  if (s->lasso && place == 0)
    return g > s->l1 * (1 + slack) ? -1 : g < -s->l1 * (1 + slack) ? 1 : 0;
  if (s->lasso) return place * a < 0 ? 0 : place;
  if (place == 0) return a > s->bound * (1 + slack) ? 1 : a < -s->bound * (1 + slack) ? -1 : 0;
  return place * g > 0 ? 0 : place;
}

static bool improve(patterns *s) {
  for (size_t t = 0; t < s->o.p->d; t++) {
    const int place = better_place(s, t);
    if (place == s->place[t]) continue;
    s->place[t] = place;
    return true;
  }
  return false;
}

/* One target. Options: lambda and l1_ratio; or loss, bound, and delta of huber. */
void solve_patterns(problem *p) {
  enum { MOST = 5000 };
  patterns s;
  bool found = false;
  centre(p);
  open_patterns(&s, p);
  for (int k = 0; k < MOST && !found; k++) {
    solve_pattern(&s);
    found = !improve(&s);
  }
  if (found) newton_answer(p, s.z);
  close_patterns(&s);
}
