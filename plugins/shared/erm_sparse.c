/* One target on compressed sparse rows. Penalty l2: Newton's method without a matrix
 * (shared/csr_newton.c). Penalties with ||a||_1, for losses with a curvature: with shares
 * h_i = p_i l''(f_i) and slopes s_i = p_i l'(f_i), p_i = w_i/N, each step solves
 *
 *   min_{a,b} (1/2) sum_i h_i (t_i - x_i'a - b)^2 + l1 ||a||_1 + (l2/2) ||a||^2,
 *   t_i = f_i - s_i/h_i,
 *
 * roughly, by coordinate descent (shared/column_descent.c), and goes towards it as far as the
 * objective falls (Yuan, Ho and Lin 2012). Scores are linear: a step takes no pass over the rows
 * but those of the columns that are not 0. */
#include "shared/erm.h"

/* ------------ l2 */

/* csr_newton's second derivatives. */
static scl_status sparse_bend(const csr_newton *n, const void *context, double *bends,
                              scl_error *error) {
  erm_machine *m = *(erm_machine *const *)context;
  memcpy(m->scores, n->scores, m->risk.scores * sizeof *m->scores);
  const scl_status status = erm_curvatures(m, error);
  for (size_t i = 0; i < m->risk.scores; i++)
    bends[i] = m->weights[i] / m->risk.total;
  return status;
}

scl_status erm_sparse_newton(erm_machine *m, double tolerance, scl_error *error) {
  csr_newton *n = &m->newton;
  const size_t most = m->self->max_iterations;
  scl_status status = SCL_STATUS_OK;
  if (m->steps >= most) return SCL_STATUS_OK;
  if (n->risk == NULL) {
    m->itself = m;
    *n = (csr_newton){.risk = &m->risk, .bend = sparse_bend, .context = &m->itself};
    status = csr_newton_open(n, error);
  }
  if (status != SCL_STATUS_OK) return status;
  memcpy(n->x, m->x, m->risk.size * sizeof *m->x);
  memcpy(n->scores, m->scores, m->risk.scores * sizeof *m->scores);
  status = csr_newton_look(n, false, error);
  if (status == SCL_STATUS_OK)
    status = csr_newton_minimise(n, tolerance * m->unit, most - m->steps, &m->steps, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(m->x, n->x, m->risk.size * sizeof *m->x);
  memcpy(m->scores, n->scores, m->risk.scores * sizeof *m->scores);
  return erm_differentiate(m, false, error);
}

/* ------------ l1 */

/* The least squares problem around m->x, and the norm of the subgradient there. */
static scl_status sparse_model(erm_machine *m, scl_error *error) {
  column_descent *c = &m->columns;
  const size_t n = m->problem->rows, d = m->problem->features;
  const double b = m->risk.intercept ? m->x[d] : 0;
  scl_status status = risk_slopes(&m->risk, 0, n, m->scores, error);
  if (status == SCL_STATUS_OK) status = risk_sums(&m->risk, &m->value, m->slope_sum, error);
  if (status == SCL_STATUS_OK) status = erm_curvatures(m, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++) {
    const double h = m->weights[i] / m->risk.total;
    c->rows[i] = (column_row){h, h > 0 ? b - m->risk.slopes[i] / h : b};
  }
  memcpy(c->a, m->x, d * sizeof *c->a);
  status = column_measure(c, b, error); /* slopes at the point itself */
  for (size_t j = 0; j < d; j++)
    m->gradient[j] = erm_l2(m->self) * m->x[j] - c->slope[j];
  if (m->risk.intercept) m->gradient[d] = m->slope_sum[0];
  m->norm = erm_subgradient_norm(m);
  return status;
}

static double sum_of_sizes(size_t count, const double *a, const double *p, double t) {
  double sum = 0;
  for (size_t j = 0; j < count; j++)
    sum += fabs(a[j] + t * p[j]);
  return sum;
}

/* Goes along m->direction by the first of 1, 1/2, ... that lowers the objective enough. */
static scl_status sparse_move(erm_machine *m, bool *moved, scl_error *error) {
  enum { HALVINGS = 40 };
  const size_t n = m->problem->rows, d = m->problem->features;
  const double l1 = erm_l1(m->self), sizes = sum_of_sizes(d, m->x, m->direction, 0);
  const risk_line line = risk_line_of(&m->risk, m->x, m->direction, m->scores, m->change);
  double start, slope, t = 1;
  scl_status status = risk_at(&line, 0, &start, &slope, error);
  const double promise = slope + l1 * (sum_of_sizes(d, m->x, m->direction, 1) - sizes),
               noise = 1e-15 * fabs(start);
  *moved = false;
  for (int tries = 0; tries < HALVINGS && status == SCL_STATUS_OK && promise < 0; tries++) {
    double value, along;
    status = risk_at(&line, t, &value, &along, error);
    value += l1 * (sum_of_sizes(d, m->x, m->direction, t) - sizes);
    *moved = value - start <= 0.01 * t * promise + noise;
    if (*moved) break;
    t /= 2;
  }
  for (size_t j = 0; j < m->risk.size && *moved; j++)
    m->x[j] += t * m->direction[j];
  for (size_t i = 0; i < n && *moved; i++)
    m->scores[i] += t * m->change[i];
  return status;
}

/* Passes over the columns, until one gains little beside the first; then a step to where they
 * lead. */
static scl_status sparse_step(erm_machine *m, bool *moved, scl_error *error) {
  enum { PASSES = 30 };
  column_descent *c = &m->columns;
  const size_t n = m->problem->rows, d = m->problem->features;
  const double share = 0.1, b = m->risk.intercept ? m->x[d] : 0;
  column_choose(c);
  const double first = column_pass(c);
  for (int pass = 1; pass < PASSES && column_pass(c) > share * first; pass++)
    ;
  for (size_t j = 0; j < d; j++)
    m->direction[j] = c->a[j] - m->x[j];
  if (m->risk.intercept) m->direction[d] = c->shift - b;
  for (size_t i = 0; i < n; i++) /* not from the rests, which are large where h_i is hardly any */
    m->change[i] = c->shift - b;
  for (size_t j = 0; j < d; j++)
    if (m->direction[j] != 0) column_add(c->x, j, m->direction[j], m->change);
  return sparse_move(m, moved, error);
}

scl_status erm_sparse_columns(erm_machine *m, double tolerance, scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t most = m->self->max_iterations;
  column_descent *c = &m->columns;
  scl_status status = SCL_STATUS_OK;
  bool moved = true;
  if (c->host == NULL) {
    scl_const_csr x;
    status = csr_read(problem, &x, error);
    if (status == SCL_STATUS_OK) status = csc_of(problem->host, &x, &m->by_column, error);
    if (status == SCL_STATUS_OK) status = column_open(c, problem->host, &m->by_column, error);
    c->constant = m->risk.intercept;
    c->l1 = erm_l1(m->self);
    c->l2 = erm_l2(m->self);
  }
  if (status == SCL_STATUS_OK) status = sparse_model(m, error);
  while (status == SCL_STATUS_OK && moved && m->norm > tolerance * m->unit && m->steps < most) {
    status =
        problem->progress(problem, "solving", (double)m->steps++ / (double)most, m->value, error);
    if (status == SCL_STATUS_OK) status = sparse_step(m, &moved, error);
    if (status == SCL_STATUS_OK) status = sparse_model(m, error);
  }
  return status;
}
