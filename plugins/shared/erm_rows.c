/* The loss of rows, and its augmented Lagrangian. */
#include "shared/erm.h"

/* Larger numbers become these, so that sums over rows stay finite where a trial step is far too
 * long. */
static const double MOST_VALUE = 1e250, MOST_SLOPE = 1e150;

scl_status erm_open(erm_machine *m, const erm *self, const erm_loss *loss, const risk *all,
                    size_t columns, scl_error *error) {
  const scl_problem *problem = all->problem;
  const size_t n = problem->rows, nc = n * columns;
  *m = (erm_machine){.self = self, .loss = loss, .problem = problem, .risk = *all};
  m->risk.rows = erm_rows;
  m->risk.context = m;
  m->risk.columns = columns;
  m->risk.size = (problem->features + (size_t)all->intercept) * columns;
  m->risk.scores = nc;
  const size_t numbers = 4 * m->risk.size + 8 * nc + 2 * n + columns;
  double *at = problem->host->scratch((numbers + 1) * sizeof *at);
  if (at == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                               "not enough memory for the scores of %zu rows", n);
  memset(at, 0, numbers * sizeof *at);
  double **const by_row[] = {&m->near,   &m->room,         &m->other,       &m->scores,
                             &m->change, &m->risk.targets, &m->risk.slopes, &m->multipliers};
  double **const by_feature[] = {&m->x, &m->gradient, &m->direction, &m->best};
  for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++, at += nc)
    *by_row[k] = at;
  for (size_t k = 0; k < sizeof by_feature / sizeof *by_feature; k++, at += m->risk.size)
    *by_feature[k] = at;
  m->weights = at;
  m->risk.losses = at + n;
  m->slope_sum = at + 2 * n;
  return SCL_STATUS_OK;
}

static void clamp(double *numbers, size_t count, double most) {
  for (size_t i = 0; i < count; i++)
    numbers[i] = fmax(-most, fmin(most, numbers[i]));
}

/* near = the proximal points of f + t v; room = the values there. */
static scl_status erm_near(const erm_machine *m, size_t first, size_t count, const double *f,
                           scl_error *error) {
  const scl_loss_service *service = m->loss->service;
  const double *v = m->multipliers + first, *y = m->risk.targets + first;
  double *z = m->room + first, *t = m->other + first, *near = m->near + first;
  for (size_t i = 0; i < count; i++) {
    z[i] = f[i] + m->step * v[i];
    t[i] = m->step;
  }
  const scl_status status = service->proximal(m->loss->part, count, z, y, t, near, error);
  if (status != SCL_STATUS_OK) return status;
  return service->value(m->loss->part, count, near, y, z, error);
}

scl_status erm_rows(const void *machine, size_t first, size_t count, const double *f,
                    double *values, double *slopes, scl_error *error) {
  const erm_machine *m = machine;
  const scl_loss_service *service = m->loss->service;
  const size_t c = m->risk.columns, at = first * c, all = count * c;
  const double *y = m->risk.targets + at;
  double *room = m->room + at;
  scl_status status;
  if (m->step > 0) {
    status = erm_near(m, at, all, f, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < all; i++) {
      const double apart = f[i] - m->near[at + i], v = m->multipliers[at + i];
      room[i] += apart * (v + apart / (2 * m->step));
      slopes[i] = v + apart / m->step;
    }
  } else {
    status = service->value(m->loss->part, all, f, y, room, error);
    if (status == SCL_STATUS_OK) status = service->slope(m->loss->part, all, f, y, slopes, error);
  }
  if (status != SCL_STATUS_OK) return status;
  clamp(room, all, MOST_VALUE);
  clamp(slopes, all, MOST_SLOPE);
  for (size_t i = 0; i < count; i++) {
    values[i] = 0;
    for (size_t j = 0; j < c; j++)
      values[i] += room[i * c + j];
  }
  return SCL_STATUS_OK;
}

/* Of the augmented Lagrangian (1 - dp/dz)/t, p the proximal point of z: by a difference, as p is
 * linear in z between kinks. */
static scl_status smoothed_curvatures(erm_machine *m, scl_error *error) {
  const scl_loss_service *service = m->loss->service;
  const size_t n = m->problem->rows;
  const double lipschitz = m->loss->facts.lipschitz,
               h = 1e-3 * m->step * (lipschitz > 0 && isfinite(lipschitz) ? lipschitz : 1);
  scl_status status = erm_near(m, 0, n, m->scores, error);
  for (size_t i = 0; i < n; i++) {
    m->room[i] = m->scores[i] + m->step * m->multipliers[i] + h;
    m->other[i] = m->step;
  }
  if (status == SCL_STATUS_OK)
    status =
        service->proximal(m->loss->part, n, m->room, m->risk.targets, m->other, m->weights, error);
  for (size_t i = 0; i < n; i++) {
    const double moved = m->room[i] - (m->scores[i] + m->step * m->multipliers[i]);
    const double rate = moved > 0 ? (m->weights[i] - m->near[i]) / moved : 1;
    m->weights[i] = fmax(0, fmin(1, 1 - rate)) / m->step;
  }
  return status;
}

scl_status erm_curvatures(erm_machine *m, scl_error *error) {
  const size_t n = m->problem->rows;
  double most = 0;
  size_t curved = 0;
  const scl_status status = m->step > 0
                                ? smoothed_curvatures(m, error)
                                : m->loss->service->curvature(m->loss->part, n, m->scores,
                                                              m->risk.targets, m->weights, error);
  if (status != SCL_STATUS_OK) return status;
  clamp(m->weights, n, MOST_SLOPE);
  for (size_t i = 0; i < n; i++) {
    if (!(m->risk.weights[i] > 0)) continue;
    most = fmax(most, m->weights[i]);
    curved += m->weights[i] > 0;
  }
  /* Where few rows have a curvature Newton's step is long in directions that these do not tell:
   * every other one gives the other rows some. */
  const bool few = most == 0 || (2 * curved < n && m->steps % 2 == 1);
  for (size_t i = 0; i < n; i++)
    m->weights[i] = m->risk.weights[i] *
                    (most == 0 ? 1 : fmax(fmax(m->weights[i], 0), few ? most / 10 : 1e-12 * most));
  return SCL_STATUS_OK;
}

double erm_norm(const erm_machine *m, const double *gradient) {
  double sum = 0;
  for (size_t i = 0; i < m->risk.size; i++)
    sum += risk_metric(&m->risk, i) * gradient[i] * gradient[i];
  return sqrt(sum);
}

scl_status erm_differentiate(erm_machine *m, bool pass, scl_error *error) {
  const scl_status status =
      pass ? risk_evaluate(&m->risk, m->x, &m->value, m->gradient, m->scores, m->slope_sum, error)
           : risk_from_scores(&m->risk, m->x, m->scores, &m->value, m->gradient, m->slope_sum,
                              error);
  m->norm = erm_l1(m->self) > 0 ? erm_subgradient_norm(m) : erm_norm(m, m->gradient);
  return status;
}
