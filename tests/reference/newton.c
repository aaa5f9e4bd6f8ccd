#include "newton.h"
#include "linear.h"

#include <stdlib.h>
#include <string.h>

loss loss_named(const char *name) {
  static const char *const names[] = {"square", "huber", "logistic", "squared_hinge"};
  for (int k = 0; k < 4; k++)
    if (strcmp(names[k], name) == 0) return (loss)k;
  (void)fprintf(stderr, "reference: no smooth loss is called %s\n", name);
  exit(2);
}

/* ------------ the loss of a row */

static quad column_loss(const objective *o, quad f, quad y, quad *slope, quad *bend) {
  const quad r = f - y, u = 1 - y * f;
  quad q;
  *slope = *bend = 0;
  switch (o->loss) {
  case SQUARE:
  case HUBER:
    if (o->loss == HUBER && quad_abs(r) > o->delta) {
      *slope = r > 0 ? o->delta : -o->delta;
      return o->delta * (quad_abs(r) - o->delta / 2);
    }
    *slope = r;
    *bend = 1;
    return r * r / 2;
  case SQUARED_HINGE:
    if (u <= 0) return 0;
    *slope = -y * u;
    *bend = 1;
    return u * u / 2;
  default: /* log(1 + exp(-y f)), without overflow */
    q = quad_exp(-quad_abs(f));
    *bend = q / ((1 + q) * (1 + q));
    *slope = -y * (y * f > 0 ? q : 1) / (1 + q);
    return (y * f > 0 ? 0 : quad_abs(f)) + quad_log(1 + q);
  }
}

/* log sum_j exp f_j - f_truth; bend is c x c. */
static quad softmax_loss(size_t c, const quad *f, const quad *y, quad *slope, quad *bend) {
  size_t truth = 0;
  quad most = f[0], sum = 0;
  for (size_t j = 1; j < c; j++) {
    most = quad_max(most, f[j]);
    if (y[j] > y[truth]) truth = j;
  }
  for (size_t j = 0; j < c; j++)
    sum += slope[j] = quad_exp(f[j] - most);
  for (size_t j = 0; j < c; j++)
    slope[j] /= sum;
  for (size_t j = 0; j < c; j++)
    for (size_t k = 0; k < c; k++)
      bend[j * c + k] = slope[j] * ((j == k) - slope[k]);
  slope[truth] -= 1;
  return most + quad_log(sum) - f[truth];
}

static quad row_loss(const objective *o, const quad *f, const quad *y, quad *slope, quad *bend) {
  const size_t c = o->p->c;
  quad value = 0;
  if (c > 1 && o->loss == LOGISTIC) return softmax_loss(c, f, y, slope, bend);
  memset(bend, 0, c * c * sizeof *bend);
  for (size_t j = 0; j < c; j++)
    value += column_loss(o, f[j], y[j], slope + j, bend + j * c + j);
  return value;
}

/* ------------ sums over rows */

enum { MOST_TARGETS = 4 };

static void scores_of(const problem *p, size_t i, const quad *z, quad *f) {
  for (size_t j = 0; j < p->c; j++)
    f[j] = quad_dot(p->d, row(p, i), z + j * (p->d + 1)) + z[j * (p->d + 1) + p->d];
}

static quad entry(const problem *p, size_t i, size_t t) { return t < p->d ? row(p, i)[t] : 1; }

static void add_slope(const problem *p, size_t i, const quad *slope, quad *gradient) {
  for (size_t j = 0; j < p->c; j++)
    for (size_t t = 0; t <= p->d; t++)
      gradient[j * (p->d + 1) + t] += slope[j] * entry(p, i, t);
}

static void add_bend(const problem *p, size_t i, const quad *bend, quad *hessian) {
  const size_t d = p->d, order = p->c * (d + 1);
  for (size_t j = 0; j < order; j++) {
    const quad x = entry(p, i, j % (d + 1));
    for (size_t k = 0; k <= j; k++) {
      const quad b = bend[j / (d + 1) * p->c + k / (d + 1)];
      if (b != 0) hessian[j * order + k] += b * x * entry(p, i, k % (d + 1));
    }
  }
}

static quad mean_square(const problem *p, size_t t) {
  quad sum = 0;
  for (size_t i = 0; i < p->n; i++)
    sum += entry(p, i, t) * entry(p, i, t);
  return sum / p->n;
}

/* The softmax loss does not change when one vector is added to the coefficients of all classes. At
 * the optimum they sum to 0: half the square of the sum, in units of the scores, holds them there. */
static quad add_gauge(const problem *p, const quad *z, quad *gradient, quad *hessian) {
  const size_t step = p->d + 1, order = p->c * step;
  quad value = 0;
  for (size_t t = 0; t < step; t++) {
    const quad unit = mean_square(p, t);
    quad sum = 0;
    for (size_t j = 0; j < p->c; j++)
      sum += z[j * step + t];
    value += unit * sum * sum / 2;
    for (size_t j = 0; gradient != NULL && j < p->c; j++)
      gradient[j * step + t] += unit * sum;
    for (size_t j = 0; hessian != NULL && j < p->c; j++)
      for (size_t k = 0; k <= j; k++)
        hessian[(j * step + t) * order + k * step + t] += unit;
  }
  return value;
}

static quad add_penalty(const objective *o, const quad *z, quad *gradient, quad *hessian) {
  const size_t d = o->p->d, c = o->p->c, order = c * (d + 1);
  quad value = 0;
  for (size_t t = 0; t < order; t++) {
    const quad l2 = t % (d + 1) < d ? o->l2 : 0, linear = o->linear != NULL ? o->linear[t] : 0;
    value += l2 / 2 * z[t] * z[t] + linear * z[t];
    if (gradient != NULL) gradient[t] += l2 * z[t] + linear;
    if (hessian != NULL) hessian[t * order + t] += l2;
  }
  return c > 1 && o->loss == LOGISTIC ? value + add_gauge(o->p, z, gradient, hessian) : value;
}

/* The objective at z; gradient and hessian (lower triangle) where they are wanted. */
static quad evaluate(const objective *o, const quad *z, quad *gradient, quad *hessian) {
  const problem *p = o->p;
  const size_t c = p->c, order = c * (p->d + 1);
  quad f[MOST_TARGETS], slope[MOST_TARGETS], bend[MOST_TARGETS * MOST_TARGETS], value = 0,
                                                                                total = 0;
  if (gradient != NULL) memset(gradient, 0, order * sizeof *gradient);
  if (hessian != NULL) memset(hessian, 0, order * order * sizeof *hessian);
  for (size_t i = 0; i < p->n; i++)
    total += o->weight != NULL ? o->weight[i] : 1;
  for (size_t i = 0; i < p->n; i++) {
    const quad share = (o->weight != NULL ? o->weight[i] : 1) / total;
    scores_of(p, i, z, f);
    value += share * row_loss(o, f, p->y + i * c, slope, bend);
    for (size_t j = 0; j < c; j++)
      slope[j] *= share;
    for (size_t j = 0; j < c * c; j++)
      bend[j] *= share;
    if (gradient != NULL) add_slope(p, i, slope, gradient);
    if (hessian != NULL) add_bend(p, i, bend, hessian);
  }
  return value + add_penalty(o, z, gradient, hessian);
}

void newton_gradient(const objective *o, const quad *z, quad *gradient) {
  (void)evaluate(o, z, gradient, NULL);
}

/* ------------ steps */

static void hold_fixed(const objective *o, size_t order, quad *gradient, quad *hessian) {
  for (size_t t = 0; o->fixed != NULL && t < order; t++) {
    if (!o->fixed[t]) continue;
    gradient[t] = 0;
    for (size_t k = 0; k < order; k++)
      hessian[(k < t ? t * order + k : k * order + t)] = 0;
  }
}

/* z + step, halved until the objective falls. */
static void walk(const objective *o, size_t order, quad value, quad decrement, const quad *step,
                 quad *z) {
  enum { HALVINGS = 80 };
  quad *to = quads(order), length = 1;
  for (int k = 0; k < HALVINGS; k++, length /= 2) {
    for (size_t t = 0; t < order; t++)
      to[t] = z[t] - length * step[t];
    if (evaluate(o, to, NULL, NULL) <= value - length * decrement / 100) break;
  }
  memcpy(z, to, order * sizeof *z);
  free(to);
}

/* Once the decrease is below what the objective's digits show, whole steps end it. */
void newton(const objective *o, quad *z) {
  enum { STEPS = 300, LAST = 3 };
  const size_t order = o->p->c * (o->p->d + 1);
  quad *gradient = quads(order), *hessian = quads(order * order), *step = quads(order);
  for (int taken = 0, last = 0; taken < STEPS && last < LAST; taken++) {
    const quad value = evaluate(o, z, gradient, hessian);
    hold_fixed(o, order, gradient, hessian);
    memcpy(step, gradient, order * sizeof *step);
    factor(order, hessian);
    factor_solve(order, hessian, step);
    const quad decrement = quad_dot(order, gradient, step);
    if (decrement > 1e-22 * (quad_abs(value) + 1e-6)) {
      walk(o, order, value, decrement, step, z);
      continue;
    }
    for (size_t t = 0; t < order; t++)
      z[t] -= step[t];
    last++;
  }
  free(gradient);
  free(hessian);
  free(step);
}

void newton_answer(problem *p, const quad *z) {
  quad *out = answer(p);
  for (size_t i = 0; i < p->n + p->m; i++)
    scores_of(p, i, z, out + i * p->c);
}
