/* The duality gap. With p_i = w_i/N, slopes v_i of the loss, u = sum_i p_i v_i phi_i and the
 * penalty l1 ||a||_1 + (l2/2) ||a||^2, for each target
 *
 *   gap = sum_i p_i (l(f_i, y_i) + l*(v_i, y_i)) + l1 ||a||_1 + (l2/2) ||a||^2 + R*(-u)
 *   R*(u) = sum_j max(0, |u_j| - l1)^2/(2 l2);  l2 = 0: 0 where all |u_j| <= l1
 *
 * A free intercept asks for sum_i p_i v_i = 0: slopes of the larger sign are made smaller by a
 * factor; and l2 = 0 asks for |u_j| <= l1: all slopes are. Slopes 0 and v_i are in the domain of
 * the conjugate, which is convex. */
#include "shared/erm.h"
#include "shared/row_total.h"

/* m->change: v of the two signs, weighted, a column each (n x 2c in change and other). */
typedef struct erm_sides {
  double plus, minus;
} erm_sides;

/* The factors of positive and negative slopes of each column. */
static scl_status balance(erm_machine *m, double *split, erm_sides *factor, scl_error *error) {
  const size_t n = m->problem->rows, c = m->risk.columns;
  double *sums = m->problem->host->scratch(2 * c * sizeof *sums);
  if (sums == NULL)
    return m->problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu sums",
                                  2 * c);
  for (size_t i = 0; i < n * c; i++) {
    const double v = m->risk.weights[i / c] / m->risk.total * m->risk.slopes[i];
    split[2 * i] = fmax(v, 0);
    split[2 * i + 1] = fmax(-v, 0);
  }
  const scl_status status = row_total(m->problem, split, n, 2 * c, sums, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    const double plus = sums[2 * j], minus = sums[2 * j + 1];
    factor[j] = (erm_sides){1, 1};
    if (!m->risk.intercept) continue;
    if (plus > minus) factor[j].plus = minus / plus;
    if (minus > plus) factor[j].minus = plus / minus;
  }
  return status;
}

/* Adds what the penalty has at a and -u, u = plus part - minus part of `pulled` (D x 2c). Where
 * l2 = 0 the factors shrink so that |u_j| <= l1. */
static void penalties(const erm_machine *m, const double *pulled, erm_sides *factor, double *gap) {
  const size_t d = m->problem->features, c = m->risk.columns;
  const double l1 = erm_l1(m->self), l2 = m->risk.lambda;
  for (size_t j = 0; j < c; j++) {
    double largest = 0;
    for (size_t k = 0; k < d; k++) {
      const double *two = pulled + (k * c + j) * 2, a = m->x[k * c + j],
                   u = fabs(factor[j].plus * two[0] - factor[j].minus * two[1]);
      const double beyond = fmax(0, u - l1);
      largest = fmax(largest, u);
      *gap += l1 * fabs(a) + l2 / 2 * a * a + (l2 > 0 ? beyond * beyond / (2 * l2) : 0);
    }
    const double shrink = l2 == 0 && largest > l1 ? l1 / largest : 1;
    factor[j].plus *= shrink;
    factor[j].minus *= shrink;
  }
}

scl_status erm_gap(erm_machine *m, double *gap, scl_error *error) {
  const scl_problem *problem = m->problem;
  const scl_loss_service *service = m->loss->service;
  const size_t n = problem->rows, d = problem->features, c = m->risk.columns;
  *gap = NAN;
  if (!m->loss->conjugate || !(m->self->lambda > 0)) return SCL_STATUS_OK;
  double *split = problem->host->scratch((2 * n + 2 * d) * c * sizeof *split);
  erm_sides *factor = problem->host->scratch(c * sizeof *factor);
  if (split == NULL || factor == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the dual point of %zu rows", n);
  double *pulled = split + 2 * n * c, sum = 0, penalty = 0;
  scl_status status = balance(m, split, factor, error);
  if (status == SCL_STATUS_OK) status = problem->adjoint(problem, split, 2 * c, pulled, error);
  if (status != SCL_STATUS_OK) return status;
  penalties(m, pulled, factor, &penalty);
  for (size_t i = 0; i < n * c; i++) {
    const double v = m->risk.slopes[i];
    m->change[i] = v * (v > 0 ? factor[i % c].plus : factor[i % c].minus);
  }
  status = service->conjugate(m->loss->part, n * c, m->change, m->risk.targets, m->other, error);
  if (status == SCL_STATUS_OK)
    status = service->value(m->loss->part, n * c, m->scores, m->risk.targets, m->room, error);
  for (size_t i = 0; i < n; i++) {
    m->risk.losses[i] = 0;
    for (size_t k = i * c; m->risk.weights[i] > 0 && k < (i + 1) * c; k++)
      m->risk.losses[i] += m->risk.weights[i] * (m->room[k] + m->other[k]);
  }
  if (status == SCL_STATUS_OK) status = row_total(problem, m->risk.losses, n, 1, &sum, error);
  const double bound = sum / m->risk.total + penalty;
  *gap = isfinite(bound) ? fmax(0, bound) : NAN;
  return status;
}
