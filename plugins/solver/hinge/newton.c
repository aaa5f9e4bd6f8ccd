/* One class of the linear support vector machine on some of the rows, those of the others keeping
 * their duals (a decomposition, Osuna, Freund and Girosi 1997):
 *
 *   min_{a,b}  (lambda/2) ||a||^2 - fixed'a - fixed_sum b + sum_i p_i max(0, 1 - y_i f_i)
 *   max_s      sum_i p_i s_i - ||v||^2/(2 lambda),   v = fixed + sum_i p_i s_i y_i phi_i,
 *              0 <= s_i <= 1,  fixed_sum + sum_i p_i s_i y_i = 0 (with a constant)
 *
 * m rows phi_i, D features, f_i = phi_i a + b; `fixed` is what the duals of the other rows pull a
 * with, fixed_sum the same for b. A hinge has no curvature: it is made smooth around a guess of s
 * (the proximal point method on the dual, Rockafellar 1976; with Newton's method inside, Li, Sun
 * and Toh 2018),
 *
 *   max_s  s (1 - y f) - (delta/2) (s - guess)^2,   then guess <- s, and delta becomes less
 *
 * Newton's step is (lambda I + B'WB) da = v - lambda a, with B the rows strictly inside the margin,
 * W = p/delta of them. Few rows: by a system of their size,
 *
 *   (lambda W^-1 + B B') z = B (v - lambda a) + lambda db 1,   da = (v - lambda a - B'z)/lambda
 *
 * with the products of all m rows formed once where m <= D. Else the D x D matrix is kept, and
 * corrected by the rows whose weight has changed. The constant is eliminated from either system;
 * before each step it is set to its minimiser. */
#include "hinge.h"

#include "shared/newton_line.h"
#include <float.h>

enum { PART_STEPS = 100, PART_CHUNK = 256, PART_SLOW = 3 };

void hinge_part_close(hinge_part *m) {
  m->host->symmetric->destroy(m->matrix);
  m->host->release(m->rows);
  m->host->release(m->products);
  m->host->release(m->gathered);
  m->host->release(m->inside);
}

scl_status hinge_part_open(hinge_part *m, scl_error *error) {
  const scl_host *host = m->host;
  const size_t n = m->count, d = m->order, few = n < d ? n : d,
               room = (few > PART_CHUNK ? few : PART_CHUNK) * d;
  m->rows = host->allocate((n * (d + 11) + 7 * d) * sizeof *m->rows);
  m->gathered = host->allocate(room * sizeof *m->gathered);
  m->inside = host->allocate(n * sizeof *m->inside);
  if (m->rows == NULL || m->gathered == NULL || m->inside == NULL) {
    hinge_part_close(m);
    m->count = 0;
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a part of %zu rows", n);
  }
  double *at = m->rows + n * d;
  double **const by_row[] = {&m->y,    &m->p,  &m->s,      &m->f,   &m->guess,
                             &m->best, &m->df, &m->weight, &m->used};
  double **const by_feature[] = {&m->a,    &m->fixed, &m->v,     &m->right,
                                 &m->step, &m->mean,  &m->best_a};
  for (size_t k = 0; k < sizeof by_row / sizeof *by_row; k++, at += n)
    *by_row[k] = at;
  m->solved = at;
  at += 2 * n;
  for (size_t k = 0; k < sizeof by_feature / sizeof *by_feature; k++, at += d)
    *by_feature[k] = at;
  memset(m->used, 0, n * sizeof *m->used);
  memset(m->mean, 0, d * sizeof *m->mean);
  m->gap_before = m->best_gap = INFINITY;
  return SCL_STATUS_OK;
}

/* ------------ where it stands */

/* Minus the derivative of the objective in b at a move of b; it decreases as b rises. */
static double hinge_part_pull(const hinge_part *m, double move) {
  double pull = m->fixed_sum;
  for (size_t i = 0; i < m->count; i++)
    pull += m->p[i] * m->y[i] * hinge_part_cut(hinge_part_share(m, i, m->f[i] + move));
  return pull;
}

/* A move of b beyond which that derivative has changed sign; 0 where there is none. */
static double hinge_part_past(const hinge_part *m, double pull) {
  double move = copysign(m->delta, pull);
  for (int tries = 0; tries < 60; tries++, move *= 2)
    if (hinge_part_pull(m, move) * pull <= 0) return move;
  return 0;
}

/* The constant b that minimises the smoothed problem, where its derivative is 0: s then
 * satisfies the constraint. Bisection and regula falsi alternate. */
static void hinge_part_balance(hinge_part *m) {
  double at_low = hinge_part_pull(m, 0), low = 0, high = hinge_part_past(m, at_low),
         at_high = hinge_part_pull(m, high), move = 0, least = fabs(at_low);
  for (int tries = 0; tries < 80 && high != 0 && least > 1e-15 * m->total; tries++) {
    double to = low + (high - low) * at_low / (at_low - at_high);
    if (tries % 3 == 2) to = low + (high - low) / 2;
    const double pull = hinge_part_pull(m, to);
    if (fabs(pull) < least) {
      least = fabs(pull);
      move = to;
    }
    if (pull * at_low > 0) {
      low = to;
      at_low = pull;
    } else {
      high = to;
      at_high = pull;
    }
    if (at_low == at_high || low == high) break;
  }
  m->b += move;
  for (size_t i = 0; i < m->count; i++)
    m->f[i] += move;
}

/* Computes s, the rows inside the margin, v and the gap at the current scores. */
static void hinge_part_evaluate(hinge_part *m) {
  double loss = 0, shares = 0, along = 0, square = 0, length = 0;
  if (m->constant) hinge_part_balance(m);
  m->insiders = 0;
  m->pull = m->fixed_sum;
  memcpy(m->v, m->fixed, m->order * sizeof *m->v);
  for (size_t i = 0; i < m->count; i++) {
    const double share = hinge_part_share(m, i, m->f[i]);
    m->s[i] = hinge_part_cut(share);
    m->weight[i] = share > 0 && share < 1 ? m->p[i] / m->delta : 0;
    if (m->weight[i] > 0) m->inside[m->insiders++] = i;
    loss += m->p[i] * fmax(0, 1 - m->y[i] * m->f[i]);
    shares += m->p[i] * m->s[i];
    m->pull += m->p[i] * m->s[i] * m->y[i];
    if (m->s[i] > 0)
      m->loops.add(m->order, m->p[i] * m->s[i] * m->y[i], m->rows + i * m->order, m->v);
  }
  m->rest = 0;
  for (size_t j = 0; j < m->order; j++) {
    m->right[j] = m->v[j] - m->lambda * m->a[j];
    m->rest += m->right[j] * m->right[j] / (2 * m->lambda);
    along += m->fixed[j] * m->a[j];
    square += m->v[j] * m->v[j];
    length += m->a[j] * m->a[j];
  }
  m->gap = loss + m->lambda / 2 * length - along - shares + square / (2 * m->lambda);
  if (m->constant) m->gap -= m->b * m->fixed_sum;
  if (m->constant && fabs(m->pull) > 1e-10 * m->total) m->gap = INFINITY; /* no such duals */
}

/* ------------ a system of the rows inside */

/* gathered = rows' (D x count) of these rows, NULL: of all. */
static void hinge_part_transpose(const hinge_part *m, const size_t *rows, size_t count) {
  for (size_t at = 0; at < count; at++) {
    const double *row = m->rows + (rows == NULL ? at : rows[at]) * m->order;
    for (size_t j = 0; j < m->order; j++)
      m->gathered[j * count + at] = row[j];
  }
}

/* m->products = the m x m products of all rows of the part; m->gathered is overwritten. */
static scl_status hinge_part_multiply(hinge_part *m, scl_error *error) {
  const scl_symmetric_algebra *algebra = m->host->symmetric;
  scl_symmetric *outer = NULL;
  double *products = m->host->allocate(m->count * m->count * sizeof *products);
  scl_status status =
      products == NULL ? m->host->fail(error, SCL_STATUS_NO_MEMORY,
                                       "not enough memory for the products of %zu rows", m->count)
                       : algebra->create(m->count, &outer, error);
  hinge_part_transpose(m, NULL, m->count);
  if (status == SCL_STATUS_OK)
    status = algebra->rank(outer, 1, m->gathered, m->order, (ptrdiff_t)m->count, error);
  if (status == SCL_STATUS_OK) algebra->dense(outer, products, (ptrdiff_t)m->count);
  algebra->destroy(outer);
  m->products = products;
  return status;
}

/* outer = B B' of the rows inside the margin; overwrites `gathered`. */
static scl_status hinge_part_outer(const hinge_part *m, scl_symmetric *outer, scl_error *error) {
  const size_t k = m->insiders;
  if (m->products == NULL) {
    hinge_part_transpose(m, m->inside, k);
    return m->host->symmetric->rank(outer, 1, m->gathered, m->order, (ptrdiff_t)k, error);
  }
  for (size_t at = 0; at < k; at++)
    for (size_t to = 0; to <= at; to++)
      m->gathered[at * k + to] = m->products[m->inside[at] * m->count + m->inside[to]];
  m->host->symmetric->set(outer, 0, k, 0, k, m->gathered, (ptrdiff_t)k);
  return SCL_STATUS_OK;
}

/* m->solved = (lambda W^-1 + B B')^-1 of itself */
static scl_status hinge_part_solve_rows(const hinge_part *m, scl_error *error) {
  const scl_symmetric_algebra *algebra = m->host->symmetric;
  const size_t k = m->insiders;
  scl_symmetric *outer = NULL;
  size_t pivot;
  scl_status status = algebra->create(k, &outer, error);
  if (status == SCL_STATUS_OK) status = hinge_part_outer(m, outer, error);
  if (status == SCL_STATUS_OK) {
    double *diagonal = m->gathered; /* no longer needed */
    algebra->diagonal(outer, diagonal);
    for (size_t at = 0; at < k; at++) {
      const double entry =
          diagonal[at] * (1 + 1e-14) + m->lambda / m->weight[m->inside[at]] + DBL_MIN;
      algebra->set(outer, at, 1, at, 1, &entry, 1);
    }
    status = algebra->factor(outer, &pivot, error);
  }
  if (status == SCL_STATUS_OK) status = algebra->solve(outer, m->solved, 2, error);
  algebra->destroy(outer);
  return status;
}

/* Newton's step by the system of the rows inside the margin. Its second right-hand side, 1,
 * gives the move m->by of the constant, from the condition that the multipliers keep the
 * constraint. */
static scl_status hinge_part_direct_rows(hinge_part *m, scl_error *error) {
  double first = m->constant ? m->pull : 0, second = 0;
  scl_status status = SCL_STATUS_OK;
  if (m->products == NULL && m->count <= m->order) status = hinge_part_multiply(m, error);
  for (size_t at = 0; at < m->insiders; at++) {
    const double *row = m->rows + m->inside[at] * m->order;
    m->solved[2 * at] = m->loops.dot(m->order, row, m->right);
    m->solved[2 * at + 1] = m->constant ? 1 : 0;
  }
  if (status == SCL_STATUS_OK && m->insiders > 0) status = hinge_part_solve_rows(m, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t at = 0; at < m->insiders; at++) {
    first -= m->solved[2 * at];
    second += m->lambda * m->solved[2 * at + 1];
  }
  m->by = second > 0 ? first / second : 0;
  memcpy(m->step, m->right, m->order * sizeof *m->step);
  for (size_t at = 0; at < m->insiders; at++)
    m->loops.add(m->order, -(m->solved[2 * at] + m->lambda * m->by * m->solved[2 * at + 1]),
                 m->rows + m->inside[at] * m->order, m->step);
  for (size_t j = 0; j < m->order; j++)
    m->step[j] /= m->lambda;
  return SCL_STATUS_OK;
}

/* ------------ a system of the features */

/* Adds to the matrix the rows whose weight rose, or subtracts those whose weight fell. */
static scl_status hinge_part_correct(hinge_part *m, double sign, scl_error *error) {
  const scl_symmetric_algebra *algebra = m->host->symmetric;
  scl_status status = SCL_STATUS_OK;
  size_t filled = 0;
  for (size_t i = 0; i < m->count && status == SCL_STATUS_OK; i++) {
    const double change = sign * (m->weight[i] - m->used[i]), root = sqrt(fmax(change, 0));
    const double *row = m->rows + i * m->order;
    if (!(change > 0) || !newton_stale(m->used[i], m->weight[i])) continue;
    double *to = m->gathered + filled++ * m->order;
    for (size_t j = 0; j < m->order; j++)
      to[j] = root * row[j];
    if (m->constant) m->loops.add(m->order, sign * change, row, m->mean);
    m->used[i] = m->weight[i];
    if (filled < PART_CHUNK) continue;
    status = algebra->rank(m->matrix, sign, m->gathered, filled, (ptrdiff_t)m->order, error);
    filled = 0;
  }
  if (status == SCL_STATUS_OK && filled > 0)
    status = algebra->rank(m->matrix, sign, m->gathered, filled, (ptrdiff_t)m->order, error);
  return status;
}

/* Forms the matrix afresh where that is cheaper than corrections. */
static scl_status hinge_part_form(hinge_part *m, scl_error *error) {
  size_t stale = 0;
  scl_status status = SCL_STATUS_OK;
  if (m->matrix == NULL) status = m->host->symmetric->create(m->order, &m->matrix, error);
  for (size_t i = 0; i < m->count; i++)
    stale += (size_t)newton_stale(m->used[i], m->weight[i]);
  if (status == SCL_STATUS_OK && stale >= m->insiders) {
    m->host->symmetric->scale(0, m->matrix);
    memset(m->used, 0, m->count * sizeof *m->used);
    memset(m->mean, 0, m->order * sizeof *m->mean);
  }
  if (status == SCL_STATUS_OK) status = hinge_part_correct(m, 1, error);
  return status == SCL_STATUS_OK ? hinge_part_correct(m, -1, error) : status;
}

/* m->step = (H + (lambda + jitter) I - mean mean'/total)^-1 of itself */
static scl_status hinge_part_solve(const hinge_part *m, double total, double jitter,
                                   scl_error *error) {
  const scl_symmetric_algebra *algebra = m->host->symmetric;
  scl_symmetric *factor = NULL;
  size_t pivot;
  scl_status status = algebra->create(m->order, &factor, error);
  if (status == SCL_STATUS_OK) {
    algebra->copy(m->matrix, factor);
    algebra->shift(m->lambda + jitter, factor);
    if (m->constant && total > 0)
      status = algebra->rank(factor, -1 / total, m->mean, 1, (ptrdiff_t)m->order, error);
  }
  if (status == SCL_STATUS_OK) status = algebra->factor(factor, &pivot, error);
  if (status == SCL_STATUS_OK) status = algebra->solve(factor, m->step, 1, error);
  algebra->destroy(factor);
  return status;
}

/* Newton's step by the D x D matrix, less the part of the constant. Jitter is increased until
 * the matrix factors. */
static scl_status hinge_part_direct_features(hinge_part *m, scl_error *error) {
  double total = 0, trace = 0;
  scl_status status = hinge_part_form(m, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t i = 0; i < m->count; i++)
    total += m->constant ? m->used[i] : 0;
  m->host->symmetric->diagonal(m->matrix, m->step);
  for (size_t j = 0; j < m->order; j++)
    trace += m->step[j];
  double jitter = 1e-15 * trace;
  for (status = SCL_STATUS_NUMERIC; status == SCL_STATUS_NUMERIC && jitter <= 1e-6 * trace;
       jitter *= 100) {
    for (size_t j = 0; j < m->order; j++)
      m->step[j] = m->right[j] - (total > 0 ? m->mean[j] * m->pull / total : 0);
    status = hinge_part_solve(m, total, jitter, error);
  }
  m->by = total > 0 ? m->pull / total : 0;
  for (size_t j = 0; total > 0 && j < m->order; j++)
    m->by -= m->mean[j] / total * m->step[j];
  return status;
}

/* ------------ the method */

/* Computes the step in a, the move of the constant, and the change df of the scores. */
static scl_status hinge_part_direct(hinge_part *m, scl_error *error) {
  const bool few = m->insiders < m->order;
  const scl_status status =
      few ? hinge_part_direct_rows(m, error) : hinge_part_direct_features(m, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->count; i++)
    m->df[i] = m->by + m->loops.dot(m->order, m->rows + i * m->order, m->step);
  return status;
}

/* Directional derivative of the smoothed objective at step length t, and the penalty's part of
 * it. */
typedef struct hinge_line {
  const hinge_part *part;
  double slope, bend;
} hinge_line;

static double hinge_line_slope(const void *context, double t) {
  const hinge_line *line = context;
  const hinge_part *m = line->part;
  double sum = line->slope + t * line->bend;
  for (size_t i = 0; i < m->count; i++)
    sum -= m->df[i] * m->p[i] * m->y[i] *
           hinge_part_cut(hinge_part_share(m, i, m->f[i] + t * m->df[i]));
  return sum;
}

/* Line search and update. Returns the step length taken. */
static double hinge_part_move(hinge_part *m) {
  hinge_line line = {.part = m, .slope = -m->by * m->fixed_sum};
  for (size_t j = 0; j < m->order; j++) {
    line.slope += (m->lambda * m->a[j] - m->fixed[j]) * m->step[j];
    line.bend += m->lambda * m->step[j] * m->step[j];
  }
  const double t = newton_length(hinge_line_slope, &line);
  m->loops.add(m->order, t, m->step, m->a);
  for (size_t i = 0; i < m->count; i++)
    m->f[i] += t * m->df[i];
  m->b += t * m->by;
  return t;
}

/* Multiplies delta by a factor, and scales the matrix accordingly. */
static void hinge_part_widen(hinge_part *m, double factor) {
  m->delta *= factor;
  if (m->matrix != NULL) m->host->symmetric->scale(1 / factor, m->matrix);
  for (size_t i = 0; i < m->count; i++)
    m->used[i] /= factor;
  for (size_t j = 0; j < m->order; j++)
    m->mean[j] /= factor;
}

/* Next guess: guess <- s. Shrinks delta while too many rows lie within it or the gap stalls,
 * except directly after an increase. */
static void hinge_part_guess(hinge_part *m) {
  const double wanted = (double)m->order / (double)(m->insiders + 1),
               most = m->gap > m->gap_before / 4 ? 0.5 : 1;
  if (!m->widened) hinge_part_widen(m, fmax(0.25, fmin(wanted, most)));
  m->widened = false;
  memcpy(m->guess, m->s, m->count * sizeof *m->guess);
  m->gap_before = m->gap;
}

static void hinge_part_note(hinge_part *m) {
  if (!(m->gap < m->best_gap)) return;
  m->best_gap = m->gap;
  m->best_b = m->b;
  memcpy(m->best_a, m->a, m->order * sizeof *m->a);
  memcpy(m->best, m->s, m->count * sizeof *m->best);
}

scl_status hinge_part_follow(hinge_part *m, double goal, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  memcpy(m->guess, m->s, m->count * sizeof *m->guess);
  m->total = 0;
  for (size_t i = 0; i < m->count; i++)
    m->total += m->p[i];
  for (size_t step = 0, idle = 0, slow = 0; step < PART_STEPS && idle < 3; step++) {
    hinge_part_evaluate(m);
    hinge_part_note(m);
    if (m->gap <= goal || !isfinite(m->gap)) break;
    if (step > 0 && (idle > 0 || m->rest <= m->gap / 20)) {
      hinge_part_guess(m);
      hinge_part_evaluate(m);
    }
    status = hinge_part_direct(m, error);
    if (status != SCL_STATUS_OK) break;
    const double t = hinge_part_move(m);
    idle = t > 0 ? 0 : idle + 1;
    slow = t < 0.3 ? slow + 1 : 0;
    if (slow < PART_SLOW) continue;
    hinge_part_widen(m, 8); /* delta is too small: rows enter and leave the margin at every step */
    m->widened = true;
    slow = 0;
  }
  return status == SCL_STATUS_NUMERIC ? SCL_STATUS_OK : status;
}
