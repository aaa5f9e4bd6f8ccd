/* The rows' side of box, for sum_i p_i l(f_i, y_i), f = Phi a + b, sum p = 1, of one target. A row
 * pulls its score with v_i, minus its slope.
 *
 * Losses of the form of shared/losses.h are constraints and multipliers: with u_i the shortfall,
 * sign_i = y_i for losses of classes, else 1, and v = sign s,
 *
 *   p_i l = max { s u_i - (bend/2 p_i) s^2 : p_i low <= s <= p_i high }
 *   u_i - bend s/p_i = over - under,
 *   (s - p_i low) under = (p_i high - s) over = mu,   mu -> 0
 *
 * (`over` is missing where high is infinite). Other losses are smooth: v = -p l'.
 *
 * Either way Newton's step has Hessian Phi'W Phi and descent Phi'(v + e), and the dual value is
 * that of v, less bound ||Phi'v||_1. The scores are kept, so that judging a step takes no pass over
 * the features. */
#include "box.h"

#include <float.h>

enum { ROWS_ARRAYS = 12 };

size_t box_rows_numbers(size_t count) { return count * (ROWS_ARRAYS + ROWS_COLUMNS); }

box_rows box_rows_in(double *memory, size_t count, const loss_choice *choice) {
  const loss_function *l = loss_of(choice);
  const double unit = l->scaled ? choice->delta : 1;
  box_rows r = {.choice = choice,
                .smooth = l->column != NULL,
                .capped = l->high < INFINITY,
                .low = unit * l->low,
                .high = unit * l->high,
                .bend = l->bend,
                .count = count};
  double **const arrays[] = {&r.y,          &r.p,          &r.f,      &r.df,   &r.v,
                             &r.below,      &r.above,      &r.under,  &r.over, &r.weight,
                             &r.below_goal, &r.above_goal, &r.columns};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    *arrays[k] = memory + k * count;
  return r;
}

double box_rows_sign(const box_rows *r, size_t i) {
  return loss_of(r->choice)->classes ? r->y[i] : 1;
}

/* bend/p: the rate at which u falls as s rises. */
static double box_rows_bend(const box_rows *r, size_t i) { return r->bend / r->p[i]; }

/* s starts at the unconstrained maximiser u/bend (without curvature in the middle), but at least a
 * quarter of the width from its bounds; `over` and `under` are then positive and satisfy their
 * equation. Where high is infinite, `above` is the constant 1 and `over` 0, which removes both from
 * every formula. */
void box_rows_start(box_rows *r) {
  const loss_function *l = loss_of(r->choice);
  const double width = r->capped ? r->high - r->low : 4, room = r->bend > 0 ? width / 2 : 1;
  for (size_t i = 0; i < r->count; i++) {
    const double u = loss_shortfall(l, 0, r->y[i]);
    const double nearest = r->bend > 0 ? u / r->bend : r->low + width / 2;
    const double s = fmax(r->low + width / 4,
                          r->capped ? fmin(r->high - width / 4, nearest) : nearest + width / 4);
    const double rest = u - r->bend * s;
    r->f[i] = r->df[i] = 0;
    r->below[i] = r->p[i] * (s - r->low);
    r->above[i] = r->capped ? r->p[i] * (r->high - s) : 1;
    r->over[i] = r->capped ? fmax(rest, 0) + room : 0;
    r->under[i] = r->over[i] - rest;
  }
}

/* Whether row i has constraints. */
static bool box_rows_bound(const box_rows *r, size_t i) { return !r->smooth && r->p[i] > 0; }

size_t box_rows_number(const box_rows *r) {
  size_t number = 0;
  for (size_t i = 0; i < r->count; i++)
    number += !box_rows_bound(r, i) ? 0 : r->capped ? 2 : 1;
  return number;
}

void box_rows_aim(box_rows *r, double mu) {
  for (size_t i = 0; i < r->count; i++) {
    r->below_goal[i] = mu;
    r->above_goal[i] = r->capped ? mu : 0;
  }
}

/* The denominator of Newton's step, kept above 0 even where it underflows:
 *
 *   above under + below over + (bend/p) below above */
static double box_rows_divisor(const box_rows *r, size_t i) {
  return fmax(r->above[i] * r->under[i] + r->below[i] * r->over[i] +
                  box_rows_bend(r, i) * r->below[i] * r->above[i],
              DBL_MIN);
}

/* The new multiplier of a constrained row if sign f rises by `rise`. */
static double box_rows_multiplier_step(const box_rows *r, size_t i, double rise) {
  const double a = r->below[i], b = r->above[i];
  return (b * r->below_goal[i] - a * r->above_goal[i] + a * b * (r->over[i] - r->under[i] - rise)) /
         box_rows_divisor(r, i);
}

void box_rows_prepare(box_rows *r) {
  const loss_function *l = loss_of(r->choice);
  for (size_t i = 0; i < r->count; i++) {
    double e = 0, w = 0, *out = r->columns + i * ROWS_COLUMNS;
    r->v[i] = 0;
    if (r->p[i] > 0 && r->smooth) {
      double slope;
      (void)l->column(r->f[i], r->y[i], &slope);
      r->v[i] = -r->p[i] * slope;
      w = r->p[i] * l->curvature(r->f[i], r->y[i]);
    } else if (r->p[i] > 0) {
      const double sign = box_rows_sign(r, i);
      r->v[i] = sign * (r->p[i] * r->low + r->below[i]); /* sign s */
      e = sign * box_rows_multiplier_step(r, i, 0);
      w = r->below[i] * r->above[i] / box_rows_divisor(r, i);
    }
    r->weight[i] = w;
    out[ROWS_DESCENT] = r->v[i] + e;
    out[ROWS_WEIGHT] = w;
    out[ROWS_POSITIVE] = r->v[i] > 0 ? r->v[i] : 0;
    out[ROWS_NEGATIVE] = r->v[i] > 0 ? 0 : r->v[i];
  }
}

/* The changes of s, over and under of a constrained row, for a known change df of its score. */
typedef struct row_step {
  double s, over, under;
} row_step;

/* Solves the linearised equations of one row: the two products with their goals, and u - bend s/p =
 * over - under. */
static row_step box_rows_step(const box_rows *r, size_t i) {
  const double a = r->below[i], b = r->above[i], over = r->over[i], under = r->under[i],
               bend = box_rows_bend(r, i), rise = box_rows_sign(r, i) * r->df[i];
  row_step step = {.s = box_rows_multiplier_step(r, i, rise)};
  step.over = ((under + bend * a) * (r->above_goal[i] - b * over) +
               over * (r->below_goal[i] - a * under) - a * over * rise) /
              box_rows_divisor(r, i);
  step.under = step.over + rise + bend * step.s;
  return step;
}

void box_rows_correct(box_rows *r, double mu) {
  for (size_t i = 0; i < r->count; i++) {
    if (!box_rows_bound(r, i)) continue;
    const row_step step = box_rows_step(r, i);
    r->below_goal[i] = mu - step.s * step.under;
    r->above_goal[i] = r->capped ? mu + step.s * step.over : 0;
  }
}

double box_rows_products(const box_rows *r, double primal, double dual) {
  double sum = 0;
  for (size_t i = 0; i < r->count; i++) {
    row_step step = {.s = 0};
    if (!box_rows_bound(r, i)) continue;
    if (primal > 0 || dual > 0) step = box_rows_step(r, i);
    sum += (r->below[i] + dual * step.s) * (r->under[i] + primal * step.under);
    if (r->capped) sum += (r->above[i] - dual * step.s) * (r->over[i] + primal * step.over);
  }
  return sum;
}

void box_rows_limit(const box_rows *r, double *primal, double *dual) {
  for (size_t i = 0; i < r->count; i++) {
    if (!box_rows_bound(r, i)) continue;
    const row_step step = box_rows_step(r, i);
    interior_limit(r->below[i], step.s, dual);
    interior_limit(r->under[i], step.under, primal);
    if (!r->capped) continue;
    interior_limit(r->above[i], -step.s, dual);
    interior_limit(r->over[i], step.over, primal);
  }
}

void box_rows_move(box_rows *r, double primal, double dual) {
  for (size_t i = 0; i < r->count; i++) {
    if (box_rows_bound(r, i)) {
      const row_step step = box_rows_step(r, i);
      r->below[i] += dual * step.s;
      if (r->capped) r->above[i] -= dual * step.s;
      r->over[i] += primal * step.over;
      r->under[i] += primal * step.under;
    }
    r->f[i] += primal * r->df[i];
  }
}

double box_rows_loss(const box_rows *r, double length) {
  double sum = 0, slope;
  for (size_t i = 0; i < r->count; i++)
    if (r->p[i] > 0)
      sum += r->p[i] * loss_column(r->choice, r->f[i] + length * r->df[i], r->y[i], &slope);
  return sum;
}

/* The two factors, at most 1, that scale positive and negative v to equal sums: with a free
 * intercept a dual point must satisfy sum v = 0. */
static void box_rows_balance(const box_rows *r, double *positive, double *negative) {
  double plus = 0, minus = 0;
  for (size_t i = 0; i < r->count; i++)
    *(r->v[i] > 0 ? &plus : &minus) += fabs(r->v[i]);
  *positive = plus > minus ? minus / plus : 1;
  *negative = minus > plus ? plus / minus : 1;
}

/* The dual value without its norm term: minus the sum of the conjugates of the losses at -v,
 * where v is scaled by a factor. */
static double box_rows_dual(const box_rows *r, double positive, double negative) {
  const loss_function *l = loss_of(r->choice);
  double sum = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (r->p[i] <= 0) continue;
    const double v = r->v[i] * (r->v[i] > 0 ? positive : negative), s = box_rows_sign(r, i) * v;
    sum += r->smooth ? -r->p[i] * l->conjugate(-v / r->p[i], r->y[i])
                     : s * loss_shortfall(l, 0, r->y[i]) - box_rows_bend(r, i) / 2 * s * s;
  }
  return sum;
}

double box_rows_gap(const box_rows *r, const double *pulled, size_t order, double bound,
                    bool intercept) {
  double positive = 1, negative = 1, norm = 0;
  if (intercept) box_rows_balance(r, &positive, &negative);
  for (size_t j = 0; j < order; j++) {
    const double *v = pulled + j * ROWS_COLUMNS;
    norm += fabs(positive * v[ROWS_POSITIVE] + negative * v[ROWS_NEGATIVE]);
  }
  const double gap = box_rows_loss(r, 0) - box_rows_dual(r, positive, negative) + bound * norm;
  return gap < 0 ? 0 : gap; /* by rounding */
}
