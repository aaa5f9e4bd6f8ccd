/* Losses with kinks, by the method of multipliers (Hestenes 1969, Powell 1969; Rockafellar 1976: it
 * is the proximal point method on the dual problem). The problem
 *
 *   min_{a,b,p} (1/N) sum_i w_i l(p_i, y_i) + penalty(a)   s.t. p_i = phi_i a + b
 *
 * has the multipliers v_i. A round minimises the augmented Lagrangian over p, row by row (rows.c),
 * and over a and b by a method for smooth losses; then v_i <- v_i + (f_i - p_i)/t, which is a
 * subgradient of l at p_i. At the end of a round the objective is at most
 *
 *   (1/N) sum_i w_i ( l(f_i) - l(p_i) - v_i (f_i - p_i) )
 *
 * above its least, up to the gradient of the round. A smaller t ends in fewer rounds, which are
 * harder: t falls after easy ones. Where rounding ends the rounds the last ones may be far off: the
 * solution is that of the round with the least residual. */
#include "shared/erm.h"
#include "shared/row_total.h"

enum { ROUNDS = 60, EASY_STEPS = 8, PATIENCE = 6 };
/* The smallest t, as a share of the first: float32 features leave noise in the scores, which is
 * divided by t. */
static const double SMALLEST_STEP = 1e-8, SMALLEST_STEP_FLOAT32 = 1e-3, FALL = 0.25;

scl_status erm_excess(erm_machine *m, double *excess, scl_error *error) {
  const scl_loss_service *service = m->loss->service;
  const size_t n = m->problem->rows, c = m->risk.columns, nc = n * c;
  scl_status status = service->value(m->loss->part, nc, m->scores, m->risk.targets, m->room, error);
  if (status == SCL_STATUS_OK)
    status = service->value(m->loss->part, nc, m->near, m->risk.targets, m->other, error);
  for (size_t i = 0; i < n; i++) {
    m->risk.losses[i] = 0;
    for (size_t k = i * c; m->risk.weights[i] > 0 && k < (i + 1) * c; k++)
      m->risk.losses[i] +=
          m->risk.weights[i] *
          fmax(0, m->room[k] - m->other[k] - m->multipliers[k] * (m->scores[k] - m->near[k]));
  }
  if (status == SCL_STATUS_OK) status = row_total(m->problem, m->risk.losses, n, 1, excess, error);
  *excess /= m->risk.total;
  return status;
}

scl_status erm_multipliers(erm_machine *m, erm_method method, scl_error *error) {
  const double tolerance = m->goal, lipschitz = m->loss->facts.lipschitz,
               first = m->spread / (lipschitz > 0 && isfinite(lipschitz) ? lipschitz : 1);
  const size_t nc = m->risk.scores;
  const double least =
      first * (risk_noise(&m->risk, 1) > 0 ? SMALLEST_STEP_FLOAT32 : SMALLEST_STEP);
  double best = INFINITY;
  size_t idle = 0; /* rounds in a row that did not lower the residual */
  scl_status status =
      m->loss->service->slope(m->loss->part, nc, m->scores, m->risk.targets, m->multipliers, error);
  m->step = first;
  for (size_t round = 0; status == SCL_STATUS_OK && round < ROUNDS; round++) {
    const size_t before = m->steps;
    double excess = 0;
    status = method(m, fmax(tolerance, fmin(1e-2, best)) / 4, error);
    if (status == SCL_STATUS_OK) status = erm_differentiate(m, true, error);
    for (size_t k = 0; status == SCL_STATUS_OK && k < nc; k++)
      m->multipliers[k] += (m->scores[k] - m->near[k]) / m->step;
    if (status == SCL_STATUS_OK) status = erm_excess(m, &excess, error);
    if (status != SCL_STATUS_OK) break;
    m->residual = fmax(excess / m->worth, m->norm / m->unit);
    idle = m->residual < best ? 0 : idle + 1;
    if (m->residual < best) memcpy(m->best, m->x, m->risk.size * sizeof *m->x);
    best = fmin(best, m->residual);
    if (m->residual <= tolerance || m->steps >= m->self->max_iterations || idle == PATIENCE) break;
    if (m->steps - before <= EASY_STEPS) m->step = fmax(FALL * m->step, least);
  }
  m->step = 0;
  if (status != SCL_STATUS_OK || !(m->residual > best)) return status;
  memcpy(m->x, m->best, m->risk.size * sizeof *m->x);
  m->residual = best;
  return erm_differentiate(m, true, error);
}
