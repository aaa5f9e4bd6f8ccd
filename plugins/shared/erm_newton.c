/* Newton's method for one target, by the normal equations with the curvatures as row weights V:
 *
 *   (Phi'V Phi + N lambda I) p = -N gradient,   N the sum of the row weights
 *
 * and an exact search along p, which looks at no features. With an intercept Phi is centred by its
 * mean under V, and the constant is set to its minimiser before each step. */
#include "shared/erm.h"
#include "shared/row_total.h"

/* The minimiser b for this a. */
static scl_status newton_constant(erm_machine *m, scl_error *error) {
  double length;
  if (!m->risk.intercept) return SCL_STATUS_OK;
  const scl_status status =
      risk_best_constant(&m->risk, m->scores, m->change, m->spread, &length, error);
  if (status != SCL_STATUS_OK) return status;
  m->x[m->problem->features] += length;
  for (size_t i = 0; i < m->problem->rows; i++)
    m->scores[i] += length;
  return SCL_STATUS_OK;
}

/* direction, and m->change: what it does to the scores. */
static scl_status newton_direct(erm_machine *m, scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t n = problem->rows, d = problem->features;
  scl_normal normal = {.head = SCL_HEAD(scl_normal)};
  refined_account account = {0};
  double sum = 0;
  scl_status status = erm_curvatures(m, error);
  if (status == SCL_STATUS_OK) status = problem->reweighted(problem, m->weights, &normal, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < d; i++)
    m->gradient[i] *= -m->risk.total;
  m->system.base = normal.moment;
  m->system.weight = m->risk.total * m->risk.lambda;
  status = refined_solve(&m->system, m->gradient, m->direction, &account, error);
  if (status == SCL_STATUS_OK)
    status = problem->product(problem, m->direction, 1, m->change, error);
  for (size_t i = 0; i < n; i++)
    m->weights[i] *= m->change[i];
  if (status == SCL_STATUS_OK && m->risk.intercept)
    status = row_total(problem, m->weights, n, 1, &sum, error);
  if (status != SCL_STATUS_OK || !m->risk.intercept) return status;
  m->direction[d] = -sum / normal.total;
  for (size_t i = 0; i < n; i++)
    m->change[i] += m->direction[d];
  return SCL_STATUS_OK;
}

/* One step; *moved = false where rounding leaves no descent. */
static scl_status newton_step(erm_machine *m, bool *moved, scl_error *error) {
  double length;
  scl_status status = newton_direct(m, error);
  if (status != SCL_STATUS_OK) return status;
  const risk_line line = risk_line_of(&m->risk, m->x, m->direction, m->scores, m->change);
  status = risk_search(&line, 0.01, 1, &length, error);
  if (status != SCL_STATUS_OK) return status;
  *moved = length > 0;
  for (size_t i = 0; i < m->risk.size; i++)
    m->x[i] += length * m->direction[i];
  for (size_t i = 0; i < m->problem->rows; i++)
    m->scores[i] += length * m->change[i];
  status = newton_constant(m, error);
  return status == SCL_STATUS_OK ? erm_differentiate(m, false, error) : status;
}

scl_status erm_newton(erm_machine *m, double tolerance, scl_error *error) {
  const size_t most = m->self->max_iterations;
  const bool opened = m->system.host != NULL;
  scl_status status = SCL_STATUS_OK;
  bool moved = true;
  if (!opened) {
    m->system =
        (refined_system){.host = m->problem->host, .order = m->problem->features, .columns = 1};
    status = refined_open(&m->system, error);
  }
  if (status == SCL_STATUS_OK) status = newton_constant(m, error);
  if (status == SCL_STATUS_OK) status = erm_differentiate(m, false, error);
  while (status == SCL_STATUS_OK && moved && m->norm > tolerance * m->unit && m->steps < most) {
    status = m->problem->progress(m->problem, "Newton steps", (double)m->steps++ / (double)most,
                                  m->value - risk_penalty(&m->risk, m->x), error);
    if (status == SCL_STATUS_OK) status = newton_step(m, &moved, error);
  }
  return status;
}
