/* One target by dual coordinates (Shalev-Shwartz and Zhang 2013), for the penalty l2. With shares
 * p_i = w_i/N and a = -(1/l2) sum_i p_i v_i phi_i the dual problem is
 *
 *   max_v  - sum_i p_i l*(v_i, y_i) - (l2/2) ||a||^2,   sum_i p_i v_i = 0 with a free constant b.
 *
 * A step takes the best v_i for all others. That needs no conjugate, but the proximal step:
 *
 *   q = p_i (||phi_i||^2/l2 + r),  z_i = argmin_f q l(f, y_i) + (f - f_i - q v_i)^2/2,
 *   v_i <- (f_i + q v_i - z_i)/q,  a subgradient of l at z_i.
 *
 * The constraint is met by the method of multipliers: b = c - r sum_i p_i v_i, and c <- b after
 * each pass. As v_i is a subgradient at z_i, the objective is at most
 *
 *   sum_i p_i ( l(f_i) - l(z_i) - v_i (f_i - z_i) )
 *
 * above its least where the constraint holds. The first pass takes the rows in their order, the
 * others draw them: in one order that repeats some problems take ten times as many passes. Before
 * they end the objective may be above that of a = 0: where iterations are exhausted, the solution is
 * the best (a, b) of those looked at, each with the best b for its a. */
#include "shared/csr_rows.h"
#include "shared/erm.h"
#include "shared/row_total.h"

#include <float.h>

/* What the passes of a problem share. */
typedef struct dual_pass {
  erm_machine *m;
  double r, floor;     /* floor: of q, for rows of zeros */
  double *best, least; /* (a, b) of the least objective so far */
} dual_pass;

static size_t index_of(const scl_rows *rows, size_t i) {
  return rows->index == NULL ? rows->first + i : rows->index[i];
}

/* The sizes of rows, and their numbers in the data. */
static scl_status dual_look(void *context, const scl_rows *rows, scl_error *error) {
  erm_machine *m = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    m->squares[rows->first + i] = erm_row_square(rows, i, m->problem->features);
    m->index[rows->first + i] = index_of(rows, i);
  }
  return SCL_STATUS_OK;
}

static scl_status dual_rows(void *context, const scl_rows *rows, scl_error *error) {
  const dual_pass *pass = context;
  erm_machine *m = pass->m;
  const scl_loss_service *service = m->loss->service;
  const size_t d = m->problem->features;
  for (size_t k = 0; k < rows->count; k++) {
    const size_t i = m->place[index_of(rows, k)];
    const double p = m->risk.weights[i] / m->risk.total, v = m->multipliers[i];
    if (!(p > 0)) continue;
    const double f = erm_row_dot(rows, k, d, m->x) + m->constant,
                 q = fmax(p * (m->squares[i] / m->risk.lambda + pass->r), pass->floor),
                 z = f + q * v;
    const scl_status status =
        service->proximal(m->loss->part, 1, &z, &m->risk.targets[i], &q, &m->near[i], error);
    if (status != SCL_STATUS_OK) return status;
    m->multipliers[i] = (z - m->near[i]) / q;
    const double by = p * (m->multipliers[i] - v);
    if (by != 0) csr_add_row(rows, k, d, -by / m->risk.lambda, m->x);
    m->constant -= pass->r * by;
    m->pull += by;
  }
  return SCL_STATUS_OK;
}

/* The primal point of a, and the residual: what its objective is above the dual's, and how far the
 * constraint is from holding. */
static scl_status dual_measure(erm_machine *m, scl_error *error) {
  const size_t n = m->problem->rows;
  double excess = 0;
  if (m->risk.intercept) m->x[m->problem->features] = m->constant;
  scl_status status = m->problem->product(m->problem, m->x, 1, m->scores, error);
  for (size_t i = 0; i < n; i++) {
    m->scores[i] += m->constant;
    if (!(m->risk.weights[i] > 0)) m->near[i] = m->scores[i];
  }
  if (status == SCL_STATUS_OK) status = erm_excess(m, &excess, error);
  m->residual = fmax(excess / m->worth, m->risk.intercept ? fabs(m->pull) / m->unit : 0);
  return status;
}

/* Keeps (a, b) for the best b, by m->scores, if its objective is the least so far. */
static scl_status dual_keep(dual_pass *pass, scl_error *error) {
  erm_machine *m = pass->m;
  const size_t n = m->problem->rows, d = m->problem->features;
  double by = 0, value;
  scl_status status = SCL_STATUS_OK;
  if (m->risk.intercept)
    status = risk_best_constant(&m->risk, m->scores, m->change, m->spread, &by, error);
  for (size_t i = 0; i < n; i++)
    m->other[i] = m->scores[i] + by;
  if (status == SCL_STATUS_OK)
    status = m->loss->service->value(m->loss->part, n, m->other, m->risk.targets, m->room, error);
  for (size_t i = 0; i < n; i++) /* rows without weight may have an infinite loss */
    m->room[i] = m->risk.weights[i] > 0 ? m->risk.weights[i] * m->room[i] : 0;
  if (status == SCL_STATUS_OK) status = row_total(m->problem, m->room, n, 1, &value, error);
  if (status != SCL_STATUS_OK) return status;
  value /= m->risk.total;
  for (size_t j = 0; j < d; j++)
    value += m->risk.lambda / 2 * m->x[j] * m->x[j];
  if (!(value < pass->least)) return SCL_STATUS_OK;
  pass->least = value;
  memcpy(pass->best, m->x, m->risk.size * sizeof *m->x);
  if (m->risk.intercept) pass->best[d] += by;
  return SCL_STATUS_OK;
}

scl_status erm_dual_open(erm_machine *m, scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t n = problem->rows;
  size_t most = 0;
  m->squares = problem->host->scratch((n + 1) * sizeof *m->squares);
  m->index = problem->host->scratch((n + 1) * sizeof *m->index);
  if (m->squares == NULL || m->index == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the sizes of %zu rows", n);
  const scl_status status = problem->walk(problem, dual_look, m, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < n; i++)
    most = m->index[i] > most ? m->index[i] : most;
  m->place = problem->host->scratch((most + 1) * sizeof *m->place);
  if (m->place == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the places of %zu rows", n);
  for (size_t i = 0; i < n; i++) {
    m->place[m->index[i]] = i;
    m->mean_square += m->risk.weights[i] / m->risk.total * m->squares[i];
  }
  return SCL_STATUS_OK;
}

/* a = 0, where every v_i = 0 is, and the first pass, behind which every v_i is a subgradient. */
static scl_status dual_begin(dual_pass *pass, scl_error *error) {
  erm_machine *m = pass->m;
  const scl_problem *problem = m->problem;
  const size_t n = problem->rows, d = problem->features;
  memset(m->multipliers, 0, n * sizeof *m->multipliers);
  memset(m->x, 0, d * sizeof *m->x);
  m->constant = m->risk.intercept ? m->x[d] : 0;
  m->pull = 0;
  m->begun = true;
  return problem->walk(problem, dual_rows, pass, error);
}

/* n rows that are drawn. */
static scl_status dual_draw(dual_pass *pass, scl_error *error) {
  const scl_problem *problem = pass->m->problem;
  const size_t n = problem->rows, batch = n < ERM_BATCH ? n : ERM_BATCH,
               each = (n + batch - 1) / batch;
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; k < each && status == SCL_STATUS_OK; k++)
    status = problem->minibatch(problem, pass->m->self->seed, pass->m->steps * each + k, batch, 0,
                                problem->features, 0, dual_rows, pass, error);
  return status;
}

scl_status erm_dual(erm_machine *m, double tolerance, scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t n = problem->rows, most = m->self->max_iterations;
  dual_pass pass = {.m = m, .best = m->gradient, .least = INFINITY};
  scl_status status = m->squares == NULL ? erm_dual_open(m, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = dual_keep(&pass, error);
  if (status != SCL_STATUS_OK) return status;
  pass.r = m->risk.intercept ? 10 * erm_reach(m) : 0;
  pass.floor = fmax(1e-6 * (m->mean_square / m->risk.lambda + pass.r) / (double)n, DBL_MIN);
  if (!m->begun) m->residual = INFINITY;
  for (size_t next = m->steps; m->steps < most && m->residual > tolerance; m->steps++) {
    status =
        problem->progress(problem, "solving", (double)m->steps / (double)most, m->value, error);
    if (status == SCL_STATUS_OK)
      status = m->begun ? dual_draw(&pass, error) : dual_begin(&pass, error);
    m->constant -= pass.r * m->pull; /* c <- b */
    if (status != SCL_STATUS_OK) return status;
    if (m->steps < next && m->steps + 1 < most) continue;
    status = dual_measure(m, error);
    if (status == SCL_STATUS_OK) status = dual_keep(&pass, error);
    if (status != SCL_STATUS_OK) return status;
    next = m->steps + 1 + m->steps / 4; /* each look is two passes more */
  }
  if (!(m->residual > tolerance) || !isfinite(pass.least)) return status;
  memcpy(m->x, pass.best, m->risk.size * sizeof *m->x);
  status = problem->product(problem, m->x, 1, m->scores, error);
  for (size_t i = 0; i < n && m->risk.intercept; i++)
    m->scores[i] += m->x[problem->features];
  return status;
}
