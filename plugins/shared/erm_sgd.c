/* All targets by stochastic steps on single rows, each drawn at random: a stream is read once for
 * as many of them as the host holds rows. With step sizes e_t and weights w_i over their mean
 *
 *   (a, b) <- argmin  e_t w_i l(phi_i a + b, y_i) + (||a - a_t||^2 + (b - b_t)^2)/2,
 *   a <- a/(1 + e_t lambda),
 *
 * the implicit or proximal form of stochastic gradients (Toulis and Airoldi 2017; Asi and Duchi
 * 2019): a step is a proximal step of the loss, so that slopes that jump or grow without a bound do
 * no harm. e_t falls as 1/sqrt(1 + t/n). The result is the mean over the second half of the
 * steps. */
#include "shared/erm.h"
#include "shared/state.h"

static const double LEAST_SIZE = 1e-200; /* the least ||phi||^2 for which first steps are finite */

typedef struct sgd_run {
  erm_machine *m;
  double first, rate;       /* e_0, and e_t over it */
  double share;             /* 1 over the mean weight of a row */
  double *average, *shift;  /* as m->x; c */
  double *f, *q, *y, *near; /* c each, of a row */
} sgd_run;

double erm_reach(const erm_machine *m) {
  const scl_loss_facts *facts = &m->loss->facts;
  if (facts->curvature > 0 && isfinite(facts->curvature)) return 1 / facts->curvature;
  return facts->lipschitz > 0 && isfinite(facts->lipschitz) ? m->spread / facts->lipschitz
                                                            : m->spread;
}

/* out (c) = the scores of a row. */
static void sgd_scores(const erm_machine *m, const scl_rows *rows, size_t i, double *out) {
  const size_t d = m->problem->features, c = m->risk.columns;
  const double *phi =
      (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
  for (size_t j = 0; j < c; j++)
    out[j] = m->risk.intercept ? m->x[d * c + j] : 0;
  if (c == 1) out[0] += erm_row_dot(rows, i, d, m->x);
  for (size_t k = 0; c > 1 && k < d; k++)
    for (size_t j = 0; j < c; j++)
      out[j] += phi[k] * m->x[k * c + j];
}

/* One row: near = the scores after the step, and what it adds to the coefficients. A row without
 * weight, or of zeros, adds nothing; the penalty counts for it as for the others. */
static scl_status sgd_step(sgd_run *run, const scl_rows *rows, size_t i, scl_error *error) {
  erm_machine *m = run->m;
  const size_t d = m->problem->features, c = m->risk.columns;
  const double weight = rows->weights == NULL ? 1 : rows->weights[i], free = m->risk.intercept,
               step = run->rate * run->first * weight * run->share,
               square = erm_row_square(rows, i, d) + free,
               shrink = 1 / (1 + run->rate * run->first * m->risk.lambda);
  const double *phi =
      (const double *)rows->features.data + (ptrdiff_t)i * rows->features.row_stride;
  const bool adds = step * square > 0;
  scl_status status = SCL_STATUS_OK;
  sgd_scores(m, rows, i, run->f);
  for (size_t j = 0; j < c; j++) {
    run->q[j] = step * square;
    run->y[j] = rows->targets[i * m->problem->targets + m->target + j] + run->shift[j];
  }
  if (adds)
    status = m->loss->service->proximal(m->loss->part, c, run->f, run->y, run->q, run->near, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < c; j++)
    run->f[j] = adds ? (run->near[j] - run->f[j]) / square : 0;
  for (size_t k = 0; k < d; k++)
    for (size_t j = 0; j < c; j++)
      m->x[k * c + j] = shrink * (m->x[k * c + j] + phi[k] * run->f[j]);
  for (size_t j = 0; m->risk.intercept && j < c; j++)
    m->x[d * c + j] += run->f[j];
  return SCL_STATUS_OK;
}

static scl_status sgd_rows(void *context, const scl_rows *rows, scl_error *error) {
  sgd_run *run = context;
  const size_t d = run->m->problem->features;
  scl_status status = SCL_STATUS_OK;
  if (run->first == 0) {
    double size = run->m->risk.intercept;
    for (size_t i = 0; i < rows->count; i++)
      size += erm_row_square(rows, i, d) / (double)rows->count;
    run->first = erm_reach(run->m) / (4 * fmax(size, LEAST_SIZE));
  }
  for (size_t i = 0; i < rows->count && status == SCL_STATUS_OK; i++)
    status = sgd_step(run, rows, i, error);
  return status;
}

static scl_status sgd_open(sgd_run *run, erm_machine *m, scl_error *error) {
  const size_t c = m->risk.columns;
  *run = (sgd_run){.m = m, .share = (double)m->problem->rows / m->risk.total};
  run->average = m->problem->host->scratch((m->risk.size + 5 * c) * sizeof(double));
  if (run->average == NULL)
    return m->problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                  "not enough memory for %zu coefficients", m->risk.size);
  memset(run->average, 0, m->risk.size * sizeof *run->average);
  run->shift = run->average + m->risk.size;
  run->f = run->shift + c;
  run->q = run->f + c;
  run->y = run->q + c;
  run->near = run->y + c;
  for (size_t j = 0; j < c; j++)
    run->shift[j] = erm_shift_of(m->problem, m->target + j);
  return SCL_STATUS_OK;
}

scl_status erm_sgd(erm_machine *m, double tolerance, scl_error *error) {
  const scl_problem *problem = m->problem;
  const size_t n = problem->rows, batch = n < ERM_BATCH ? n : ERM_BATCH, d = problem->features,
               steps = (size_t)ceil(fmin(m->self->epochs * (double)n / (double)batch, 0x1p53)),
               half = steps / 2;
  sgd_run run;
  state kept = {0};
  size_t t = 0;
  (void)tolerance;
  scl_status status = sgd_open(&run, m, error);
  if (status != SCL_STATUS_OK) return status;
  STATE_ADD(&kept, t);
  STATE_ADD(&kept, run.first);
  state_add(&kept, m->x, m->risk.size * sizeof *m->x);
  state_add(&kept, run.average, m->risk.size * sizeof *run.average);
  for (; t < steps; t++) {
    /* A state does not say of which output it is. */
    if (erm_outputs(m->self) == 1) status = state_keep(problem, &kept, error);
    if (status != SCL_STATUS_OK) return status;
    run.rate = 1 / sqrt(1 + (double)t * (double)batch / (double)n);
    status = problem->progress(problem, "descending", (double)t / (double)steps, NAN, error);
    if (status == SCL_STATUS_OK)
      status = problem->minibatch(problem, m->self->seed + m->target, t, batch, 0, d, 0, sgd_rows,
                                  &run, error);
    if (status != SCL_STATUS_OK) return status;
    for (size_t i = 0; t >= half && i < m->risk.size; i++)
      run.average[i] += (m->x[i] - run.average[i]) / (double)(t - half + 1);
  }
  memcpy(m->x, run.average, m->risk.size * sizeof *m->x);
  m->steps += steps;
  status = erm_differentiate(m, true, error);
  m->residual = m->norm / m->unit;
  if (status != SCL_STATUS_OK || !(m->loss->facts.flags & SCL_LOSS_KINKS)) return status;
  m->residual = NAN; /* no subgradient says how far it is */
  memcpy(m->near, m->scores, m->risk.scores * sizeof *m->near);
  return m->loss->service->slope(m->loss->part, m->risk.scores, m->scores, m->risk.targets,
                                 m->multipliers, error);
}
