/* Newton's method of box, on rows that stream:
 *
 *   min_a sum_i p_i l_i(phi_i a + b)   s.t.  |a_j| <= bound
 *
 * A step minimises the quadratic model in the box (quadratic.c) and goes along it as far as the
 * loss falls; with the scores known, that search takes no pass.
 *
 * A hinge has no curvature. With s in [0, p] the multiplier of a row, it is made smooth around a
 * guess (the proximal point method on the dual, Rockafellar 1976; with Newton's method inside, Li,
 * Sun and Toh 2018):
 *
 *   max_s  s u - (delta / 2 p) (s - guess)^2,   u = 1 - y f,   then guess <- s
 *
 * Each s is feasible in the dual, so that every step has a duality gap. delta is the width of the
 * margin in which rows have curvature: at first most of them, in the end little more than there are
 * coefficients inside the box.
 *
 * H = sum_i w_i phi_i phi_i' is kept, and corrected by the rows whose weight is another by more
 * than a quarter: all steps together cost as much as a few full sums, while Newton's step stays a
 * good one. A constant is eliminated: H less the part of the weighted mean. */
#include "box.h"
#include "shared/hinge_constant.h"
#include "shared/newton_line.h"

#include <float.h>

/* Rows are added to H so many at a time. The method gives up where the best gap has not fallen by
 * half in NEWTON_PATIENCE steps. */
enum { NEWTON_CHUNK = 256, NEWTON_PATIENCE = 25 };

/* ------------ rows */

/* Minus the slope of row i's smoothed loss at score f; *weight receives its curvature. */
static double box_newton_pull(const box_newton *m, size_t i, double f, double *weight) {
  const box_rows *r = m->rows;
  const loss_function *l = loss_of(r->choice);
  const double p = r->p[i], y = r->y[i];
  *weight = 0;
  if (p <= 0) return 0;
  if (r->smooth) {
    double slope;
    (void)l->column(f, y, &slope);
    *weight = p * l->curvature(f, y);
    return -p * slope;
  }
  const double u = loss_shortfall(l, f, y), bend = r->bend + m->delta,
               s = (u + m->delta * m->guess[i]) / bend;
  if (s > r->low && s < r->high) *weight = p / bend;
  return box_rows_sign(r, i) * p * fmax(r->low, fmin(r->high, s));
}

/* Computes v, the weights and the columns at the current scores. The columns are divided by the
 * largest p, so that multipliers at their bound do not all round to the same side in float32. */
static void box_newton_prepare(const box_newton *m) {
  box_rows *r = m->rows;
  for (size_t i = 0; i < r->count; i++) {
    double *out = r->columns + i * ROWS_COLUMNS;
    r->v[i] = box_newton_pull(m, i, r->f[i], &r->weight[i]);
    if (!newton_stale(m->used[i], r->weight[i])) r->weight[i] = m->used[i];
    out[ROWS_DESCENT] = r->v[i] / m->largest;
    out[ROWS_WEIGHT] = 0; /* the mean is summed with H, in float64 */
    out[ROWS_POSITIVE] = fmax(out[ROWS_DESCENT], 0);
    out[ROWS_NEGATIVE] = fmin(out[ROWS_DESCENT], 0);
  }
}

/* Computes v, the weights, Phi' of their columns and the duality gap at the current point, in one
 * pass over the features. */
static scl_status box_newton_evaluate(box_newton *m, scl_error *error) {
  const scl_problem *problem = m->problem;
  box_newton_prepare(m);
  const scl_status status =
      problem->adjoint(problem, m->rows->columns, ROWS_COLUMNS, m->pulled, error);
  for (size_t k = 0; k < m->box->order * ROWS_COLUMNS; k++)
    m->pulled[k] *= m->largest;
  if (status == SCL_STATUS_OK)
    m->gap = box_rows_gap(m->rows, m->pulled, m->box->order, m->box->bound, problem->intercept);
  return status;
}

/* ------------ H */

/* Adds the collected rows to H and subtracts those whose weight fell; both groups are empty
 * afterwards. */
static scl_status box_newton_flush(box_newton *m, scl_error *error) {
  const scl_symmetric_algebra *algebra = m->problem->host->symmetric;
  const size_t order = m->box->order;
  scl_status status = SCL_STATUS_OK;
  if (m->gains > 0)
    status = algebra->rank(m->hessian, 1, m->gained, m->gains, (ptrdiff_t)order, error);
  if (status == SCL_STATUS_OK && m->losses > 0)
    status = algebra->rank(m->hessian, -1, m->lost, m->losses, (ptrdiff_t)order, error);
  m->gains = m->losses = 0;
  return status;
}

/* Collects the rows whose weight has changed, scaled by the root of the change, and adds them to
 * H (or subtracts them) in groups of NEWTON_CHUNK. */
static scl_status box_newton_visit(void *context, const scl_rows *rows, scl_error *error) {
  box_newton *m = context;
  const size_t order = m->box->order;
  for (size_t i = 0; i < rows->count; i++) {
    const double change = m->rows->weight[rows->first + i] - m->used[rows->first + i],
                 root = sqrt(fabs(change));
    if (change == 0) continue;
    double *to = change > 0 ? m->gained + m->gains++ * order : m->lost + m->losses++ * order;
    box_wide_row(rows, i, order, to);
    for (size_t j = 0; j < order; j++) {
      m->mean[j] += change * to[j];
      to[j] *= root;
    }
    if (m->gains < NEWTON_CHUNK && m->losses < NEWTON_CHUNK) continue;
    const scl_status status = box_newton_flush(m, error);
    if (status != SCL_STATUS_OK) return status;
  }
  return SCL_STATUS_OK;
}

/* Updates H to the current row weights, and writes it, less the part of the constant, to
 * box->matrix. */
static scl_status box_newton_form(box_newton *m, double total, scl_error *error) {
  const scl_problem *problem = m->problem;
  const scl_symmetric_algebra *algebra = problem->host->symmetric;
  interior_box *b = m->box;
  scl_status status = problem->walk(problem, box_newton_visit, m, error);
  if (status == SCL_STATUS_OK) status = box_newton_flush(m, error);
  if (status != SCL_STATUS_OK) return status;
  memcpy(m->used, m->rows->weight, m->rows->count * sizeof *m->used);
  algebra->copy(m->hessian, b->matrix);
  if (!problem->intercept || !(total > 0)) return SCL_STATUS_OK;
  return algebra->rank(b->matrix, -1 / total, m->mean, 1, (ptrdiff_t)b->order, error);
}

/* ------------ one step */

/* The shift added to H: it covers rounding, and is small enough that a move across the whole box
 * changes the objective by less than the gap. */
static double box_newton_shift(const box_newton *m) {
  const interior_box *b = m->box;
  /* Of the trace: with scores and slopes rounded to float32, smaller curvature is noise. */
  const double rounding = m->problem->dtype == SCL_DTYPE_FLOAT32 ? 1e-8 : 1e-12;
  double trace = 0;
  b->host->symmetric->diagonal(b->matrix, b->work);
  for (size_t j = 0; j < b->order; j++)
    trace += fmax(b->work[j], 0);
  return fmax(rounding * trace + 0.1 * m->gap / ((double)b->order * b->bound * b->bound), DBL_MIN);
}

/* Computes the step in a, the move of the constant, and their change of the scores. */
static scl_status box_newton_direct(box_newton *m, double *by, scl_error *error) {
  const scl_problem *problem = m->problem;
  interior_box *b = m->box;
  box_rows *r = m->rows;
  double total = 0, descent = 0;
  for (size_t i = 0; i < r->count; i++) {
    total += r->weight[i];
    descent += r->v[i];
  }
  const bool constant = problem->intercept && total > 0;
  scl_status status = box_newton_form(m, total, error);
  if (status != SCL_STATUS_OK) return status;
  *by = constant ? descent / total : 0;
  for (size_t j = 0; j < b->order; j++)
    b->descent[j] = m->pulled[j * ROWS_COLUMNS + ROWS_DESCENT] - *by * m->mean[j];
  m->quadratic.shift = box_newton_shift(m);
  m->quadratic.goal = 0.01 * m->gap;
  status = box_quadratic_minimise(&m->quadratic, error);
  for (size_t j = 0; constant && j < b->order; j++)
    *by -= m->mean[j] / total * b->step[j];
  if (status == SCL_STATUS_OK) status = problem->product(problem, b->step, 1, r->df, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < r->count; i++)
    r->df[i] += *by;
  return status;
}

/* Derivative of the smoothed loss at step length t. */
static double box_newton_slope(const void *context, double t) {
  const box_newton *m = context;
  const box_rows *r = m->rows;
  double sum = 0, weight;
  for (size_t i = 0; i < r->count; i++)
    sum -= r->df[i] * box_newton_pull(m, i, r->f[i] + t * r->df[i], &weight);
  return sum;
}

/* Takes the step of length t. Scores and constant move with it; a is cut to the box, which rounding
 * alone can leave. */
static void box_newton_move(box_newton *m, double t, double by) {
  interior_box *b = m->box;
  for (size_t j = 0; j < b->order; j++)
    b->a[j] = fmax(-b->bound, fmin(b->bound, b->a[j] + t * b->step[j]));
  for (size_t i = 0; i < m->rows->count; i++)
    m->rows->f[i] += t * m->rows->df[i];
  b->constant += t * by;
}

/* ------------ the guess */

/* The part of the duality gap that is due to the smoothed problem not being solved yet. */
static double box_newton_rest(const box_newton *m) {
  const interior_box *b = m->box;
  double rest = 0;
  for (size_t i = 0; m->problem->intercept && i < m->rows->count; i++)
    rest += m->rows->v[i];
  rest = fabs(rest);
  for (size_t j = 0; j < b->order; j++) {
    const double v = m->pulled[j * ROWS_COLUMNS + ROWS_DESCENT];
    rest += b->bound * fabs(v) - v * b->a[j];
  }
  return rest;
}

/* Next guess: guess <- s, the multipliers in units of p. Shrinks delta when many more rows have
 * curvature than there are coefficients, or when the gap has stalled. */
static void box_newton_guess(box_newton *m) {
  box_rows *r = m->rows;
  size_t inside = 0;
  for (size_t i = 0; i < r->count; i++) {
    if (r->p[i] <= 0) continue;
    m->guess[i] = box_rows_sign(r, i) * r->v[i] / r->p[i];
    inside += m->guess[i] > r->low && m->guess[i] < r->high;
  }
  const double wanted = (double)m->box->order / (double)(inside + 1),
               most = m->gap > m->gap_before / 4 ? 0.5 : 1;
  m->delta = fmax(m->delta * fmax(0.25, fmin(wanted, most)), m->least_delta);
  m->gap_before = m->gap;
  m->guessed = true;
}

/* Adapts delta after a step of length t. A short step directly after delta fell means that delta
 * fell too far: it doubles, which also becomes its lower limit. Any other step after a new guess
 * halves that limit. */
static void box_newton_widen(box_newton *m, double t) {
  if (m->guessed && t < 0.1)
    m->least_delta = m->delta *= 2;
  else if (m->guessed)
    m->least_delta /= 2;
  m->guessed = false;
}

/* ------------ the method */

void box_newton_close(box_newton *m) {
  const scl_host *host = m->problem->host;
  host->release(m->gained);
  host->symmetric->destroy(m->hessian);
  box_quadratic_close(&m->quadratic);
}

scl_status box_newton_open(box_newton *m, const scl_problem *problem, interior_box *b,
                           box_rows *rows, double *pulled, scl_error *error) {
  const size_t order = b->order;
  *m = (box_newton){.problem = problem,
                    .box = b,
                    .rows = rows,
                    .pulled = pulled,
                    .guess = rows->under,
                    .used = rows->over,
                    .gap_before = INFINITY};
  scl_status status = box_quadratic_open(&m->quadratic, problem, b, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->host->symmetric->create(order, &m->hessian, error);
  m->gained = problem->host->allocate((2 * NEWTON_CHUNK + 1) * order * sizeof *m->gained);
  if (status == SCL_STATUS_OK && m->gained == NULL)
    status = problem->host->fail(error, SCL_STATUS_NO_MEMORY,
                                 "not enough memory for rows of %zu features", order);
  if (status != SCL_STATUS_OK) {
    box_newton_close(m);
    return status;
  }
  m->lost = m->gained + NEWTON_CHUNK * order;
  m->mean = m->lost + NEWTON_CHUNK * order;
  memset(m->mean, 0, order * sizeof *m->mean);
  m->delta = rows->smooth || rows->bend > 0 ? 0 : 4;
  for (size_t i = 0; i < rows->count; i++) {
    m->guess[i] = m->delta > 0 ? (rows->low + rows->high) / 2 : 0;
    m->used[i] = rows->f[i] = rows->df[i] = 0;
    m->largest = fmax(m->largest, rows->p[i]);
  }
  return SCL_STATUS_OK;
}

/* One Newton step, with a new guess first where the smoothed problem is solved. *done: rounding
 * or a singular system allows no further step. */
static scl_status box_newton_step(box_newton *m, bool *done, scl_error *error) {
  double by = 0;
  scl_status status = SCL_STATUS_OK;
  if (m->delta > 0 && (m->idle > 0 || box_newton_rest(m) <= m->gap / 2)) {
    box_newton_guess(m);
    status = box_newton_evaluate(m, error);
  }
  if (status == SCL_STATUS_OK) status = box_newton_direct(m, &by, error);
  if (status != SCL_STATUS_OK) return status;
  const double t = newton_length(box_newton_slope, m);
  m->idle = t > 0 ? 0 : m->idle + 1;
  *done = m->idle > (m->delta > 0 ? 2 : 0);
  box_newton_move(m, t, by);
  box_newton_widen(m, t);
  return SCL_STATUS_OK;
}

/* The scores without a constant go into rows->df, which is free after the last step. */
scl_status box_newton_centre(const box_newton *m, scl_error *error) {
  const scl_problem *problem = m->problem;
  const box_rows *r = m->rows;
  hinge_kink *kinks = problem->host->allocate(r->count * sizeof *kinks);
  double *room = problem->host->allocate(r->count * sizeof *room);
  scl_status status = SCL_STATUS_OK;
  if (kinks == NULL || room == NULL)
    status = problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows",
                                 r->count);
  if (status == SCL_STATUS_OK) status = problem->product(problem, m->box->best, 1, r->df, error);
  const hinge_column column = {
      .count = r->count, .stride = 1, .f = r->df, .y = r->y, .weights = r->p};
  if (status == SCL_STATUS_OK)
    status = hinge_best_constant(problem, &column, kinks, room, &m->box->best_constant, error);
  problem->host->release(room);
  problem->host->release(kinks);
  return status;
}

/* Ends at the goal, at the limit of steps, when no further step is possible, or when the best gap
 * has not halved in NEWTON_PATIENCE steps. A system that does not factor ends it too, without an
 * error: the caller goes on with the interior point method. */
scl_status box_newton_follow(box_newton *m, double goal, size_t most, size_t *steps,
                             scl_error *error) {
  interior_box *b = m->box;
  double mark = INFINITY;
  size_t idle = 0;
  bool done = false;
  interior_box_start(b, 0);
  for (;; ++*steps) {
    scl_status status = m->problem->progress(m->problem, "solving", (double)*steps / (double)most,
                                             box_rows_loss(m->rows, 0), error);
    if (status == SCL_STATUS_OK) status = box_newton_evaluate(m, error);
    if (status != SCL_STATUS_OK) return status;
    (void)interior_box_note(b, m->gap);
    idle = b->best_gap < mark / 2 ? 0 : idle + 1;
    if (idle == 0) mark = b->best_gap;
    done = done || !isfinite(m->gap) || m->gap <= goal || *steps >= most;
    if (done || idle > NEWTON_PATIENCE) return SCL_STATUS_OK;
    status = box_newton_step(m, &done, error);
    if (status == SCL_STATUS_NUMERIC) return SCL_STATUS_OK;
    if (status != SCL_STATUS_OK) return status;
  }
}
