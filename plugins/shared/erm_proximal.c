/* Penalties with ||a||_1, by the accelerated proximal gradient method (Beck and Teboulle 2009), for
 * F(x) + l1 ||a||_1, F the mean loss with (l2/2) ||a||^2:
 *
 *   x+ = S( y - M grad F(y)/L ),   S shrinks a_j towards 0 by l1 M_j/L,
 *   y+ = x+ + beta (x+ - x)
 *
 * M is the metric of the features' scales (risk_metric), L is found by doubling, and beta begins anew where the
 * step turns back (O'Donoghue and Candes 2015). Scores are linear in x: an iteration is a product
 * and an adjoint. The residual is that of the subgradient of least norm. */
#include "shared/erm.h"

/* One solve: points (size numbers) and their scores (n c). */
typedef struct descent {
  erm_machine *m;
  double *y, *next, *y_scores, *next_scores, *y_gradient;
  double curvature, momentum;
} descent;

double erm_subgradient_norm(const erm_machine *m) {
  const size_t count = m->problem->features * m->risk.columns;
  const double l1 = erm_l1(m->self);
  double sum = 0;
  for (size_t i = 0; i < m->risk.size; i++) {
    const double a = m->x[i], g = m->gradient[i];
    const double least = i >= count ? g
                         : a > 0    ? g + l1
                         : a < 0    ? g - l1
                                    : copysign(fmax(0, fabs(g) - l1), g);
    sum += risk_metric(&m->risk, i) * least * least;
  }
  return sqrt(sum);
}

/* next = the proximal step from y, and its scores without the intercept's part. */
static scl_status descent_point(descent *d, scl_error *error) {
  const erm_machine *m = d->m;
  const size_t c = m->risk.columns, count = m->problem->features * c;
  for (size_t i = 0; i < m->risk.size; i++) {
    const double length = risk_metric(&m->risk, i) / d->curvature,
                 to = d->y[i] - length * d->y_gradient[i];
    d->next[i] = i < count ? copysign(fmax(0, fabs(to) - length * erm_l1(m->self)), to) : to;
  }
  const scl_status status = m->problem->product(m->problem, d->next, c, d->next_scores, error);
  for (size_t i = 0; m->risk.intercept && i < m->risk.scores; i++)
    d->next_scores[i] += d->next[count + i % c];
  return status;
}

/* Whether F(next) is at most its upper model at y, which value is F(y) of; up to rounding. */
static scl_status descent_bounded(descent *d, double value, bool *good, scl_error *error) {
  const erm_machine *m = d->m;
  double here = 0, model = value, square = 0;
  scl_status status = risk_slopes(&m->risk, 0, m->problem->rows, d->next_scores, error);
  if (status == SCL_STATUS_OK) status = risk_sums(&m->risk, &here, m->slope_sum, error);
  here += risk_penalty(&m->risk, d->next);
  for (size_t i = 0; i < m->risk.size; i++) {
    const double by = d->next[i] - d->y[i];
    model += d->y_gradient[i] * by;
    square += by * by / risk_metric(&m->risk, i);
  }
  *good = here <= model + d->curvature / 2 * square +
                      fmax(1e-14 * fabs(value), risk_noise(&m->risk, value));
  return status;
}

/* The next y, or the last point again where the step turns back. */
static void descent_accelerate(descent *d) {
  erm_machine *m = d->m;
  double back = 0;
  for (size_t i = 0; i < m->risk.size; i++)
    back += (d->y[i] - d->next[i]) * (d->next[i] - m->x[i]) / risk_metric(&m->risk, i);
  const double before = back > 0 ? 1 : d->momentum, now = (1 + sqrt(1 + 4 * before * before)) / 2,
               beta = back > 0 ? 0 : (before - 1) / now;
  d->momentum = now;
  for (size_t i = 0; i < m->risk.size; i++)
    d->y[i] = d->next[i] + beta * (d->next[i] - m->x[i]);
  for (size_t i = 0; i < m->risk.scores; i++)
    d->y_scores[i] = d->next_scores[i] + beta * (d->next_scores[i] - m->scores[i]);
  memcpy(m->x, d->next, m->risk.size * sizeof *m->x);
  memcpy(m->scores, d->next_scores, m->risk.scores * sizeof *m->scores);
}

static scl_status descent_step(descent *d, scl_error *error) {
  erm_machine *m = d->m;
  double value;
  bool good = false;
  scl_status status =
      risk_from_scores(&m->risk, d->y, d->y_scores, &value, d->y_gradient, m->slope_sum, error);
  d->curvature *= 0.95;
  for (int tries = 0; status == SCL_STATUS_OK && !good && tries < 100; tries++) {
    if (tries > 0) d->curvature *= 2;
    status = descent_point(d, error);
    if (status == SCL_STATUS_OK) status = descent_bounded(d, value, &good, error);
  }
  if (status == SCL_STATUS_OK) descent_accelerate(d);
  return status;
}

scl_status erm_proximal(erm_machine *m, double tolerance, scl_error *error) {
  enum { BETWEEN = 10 };
  const size_t size = m->risk.size, scores = m->risk.scores, most = m->self->max_iterations;
  descent d = {.m = m, .momentum = 1};
  d.y = m->problem->host->scratch((3 * size + 2 * scores) * sizeof *d.y);
  if (d.y == NULL)
    return m->problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                  "not enough memory for %zu coefficients", size);
  d.next = d.y + size;
  d.y_gradient = d.next + size;
  d.y_scores = d.y_gradient + size;
  d.next_scores = d.y_scores + scores;
  memset(d.next_scores, 0, scores * sizeof *d.next_scores); /* of rows of other processes */
  memcpy(d.y, m->x, size * sizeof *d.y);
  memcpy(d.y_scores, m->scores, scores * sizeof *d.y_scores);
  scl_status status = erm_differentiate(m, false, error);
  m->norm = erm_subgradient_norm(m);
  d.curvature = fmax(m->norm / fmax(m->spread, 1e-300) * 1e-3, 1e-300);
  while (status == SCL_STATUS_OK && m->norm > tolerance * m->unit && m->steps < most) {
    status = m->problem->progress(m->problem, "solving", (double)m->steps / (double)most, m->value,
                                  error);
    for (int k = 0; status == SCL_STATUS_OK && k < BETWEEN && m->steps < most; k++, m->steps++)
      status = descent_step(&d, error);
    if (status == SCL_STATUS_OK) status = erm_differentiate(m, false, error);
    m->norm = erm_subgradient_norm(m);
  }
  return status;
}
