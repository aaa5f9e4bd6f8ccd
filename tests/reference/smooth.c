/* Smooth losses with a ridge penalty, and least trimmed squares. */
#include "newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Options: lambda, and delta of huber. The square loss is where huber begins. */
void solve_smooth(problem *p) {
  quad *z = quads(p->c * (p->d + 1));
  objective o = {.p = p, .loss = SQUARE, .l2 = option_number(p, "lambda")};
  centre(p);
  if (strcmp(p->solver, "logistic") != 0) newton(&o, z);
  if (strcmp(p->solver, "ridge") != 0) {
    o.loss = loss_named(p->solver);
    if (o.loss == HUBER) o.delta = option_number(p, "delta");
    newton(&o, z);
  }
  newton_answer(p, z);
  free(z);
}

/* ------------ trimmed */

typedef struct place {
  quad square;
  size_t row;
} place;

static int by_square(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->square != y->square) return x->square < y->square ? -1 : 1;
  return x->row < y->row ? -1 : x->row > y->row;
}

/* Weight 1 for the `kept` rows of the smallest residuals; returns whether a row is another. */
static bool concentrate(const problem *p, const quad *z, size_t kept, place *order, quad *weight) {
  bool changed = false;
  for (size_t i = 0; i < p->n; i++) {
    const quad r = quad_dot(p->d, row(p, i), z) + z[p->d] - p->y[i];
    order[i] = (place){r * r, i};
  }
  qsort(order, p->n, sizeof *order, by_square);
  for (size_t k = 0; k < p->n; k++) {
    const quad now = k < kept;
    changed = changed || weight[order[k].row] != now;
    weight[order[k].row] = now;
  }
  return changed;
}

/* Concentration steps from all rows. Options: lambda, fraction. One target. */
void solve_trimmed(problem *p) {
  enum { STEPS = 1000 };
  const size_t dropped = (size_t)floor(option_number(p, "fraction") * (double)p->n);
  quad *z = quads(p->d + 1), *weight = quads(p->n);
  place *order = numbers(p->n, sizeof *order);
  const objective o = {.p = p, .loss = SQUARE, .l2 = option_number(p, "lambda"), .weight = weight};
  bool changed = true;
  centre(p);
  for (size_t i = 0; i < p->n; i++)
    weight[i] = 1;
  for (int step = 0; step < STEPS && changed; step++) {
    newton(&o, z);
    changed = concentrate(p, z, p->n - dropped, order, weight);
  }
  newton_answer(p, z);
  free(z);
  free(weight);
  free(order);
}
