/* Dual coordinate descent of a class on sparse rows: passes, and the gap. The problem and its
 * symbols are in sparse.c. */
#include "sparse.h"

/* Rows whose entries are asked for early. */
enum { AHEAD = 6 };

/* What a pass saw: the range of the projected gradients, and the sums of the gap's terms and of
 * the losses. */
typedef struct sparse_pass {
  double high, low, gap, loss;
} sparse_pass;

double sparse_dot(size_t count, const double *x, const double *y) {
  double sum[4] = {0};
  size_t j = 0;
  for (; j + 4 <= count; j += 4)
    for (size_t l = 0; l < 4; l++)
      sum[l] += x[j + l] * y[j + l];
  for (; j < count; j++)
    sum[0] += x[j] * y[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void sparse_wake(const sparse_machine *m, sparse_class *k) {
  k->count = 0;
  for (size_t i = 0; i < m->problem->rows; i++)
    if (k->rows[i].upper > 0) k->active[k->count++] = (uint32_t)i;
  k->high = INFINITY;
  k->low = -INFINITY;
  k->since = 0;
}

/* ------------ a pass */

/* Fisher and Yates by the numbers of (seed, column, pass). */
static void sparse_shuffle(const sparse_machine *m, sparse_class *k) {
  enum { DRAWN = 512 };
  uint64_t bits[DRAWN];
  for (size_t i = 0; i < k->count; i++) {
    if (i % DRAWN == 0)
      m->host->random->bits(m->self->seed, 0, k->column, ((uint64_t)k->passes << 32) + i, DRAWN,
                            bits);
    const size_t other = i + (size_t)(((bits[i % DRAWN] >> 32) * (k->count - i)) >> 32);
    const uint32_t row = k->active[i];
    k->active[i] = k->active[other];
    k->active[other] = row;
  }
}

/* Moves the dual of row i to its best value, the others being fixed. Returns false where the row
 * can be left out. */
static bool sparse_move(const sparse_machine *m, sparse_class *k, size_t i, sparse_pass *pass) {
  sparse_row *row = &k->rows[i];
  const double upper = row->upper, dual = row->dual,
               slope = row->y * (csr_dot(&m->x, i, k->a) + k->b) - 1,
               loss = upper * fmax(0, -slope);
  pass->loss += loss;
  if ((dual <= 0 && slope > k->high) || (dual >= upper && slope < k->low)) return false;
  pass->gap += loss + dual * slope;
  const double projected = dual <= 0 ? fmin(slope, 0) : dual >= upper ? fmax(slope, 0) : slope;
  pass->high = fmax(pass->high, projected);
  pass->low = fmin(pass->low, projected);
  if (projected == 0) return true;
  const double to = row->square > 0 ? fmax(0, fmin(upper, dual - slope / row->square)) : upper,
               by = (to - dual) * row->y;
  if (by == 0) return true;
  row->dual = to;
  csr_add(&m->x, i, by, k->a);
  k->pull += by;
  k->b += m->spread * by;
  return true;
}

static sparse_pass sparse_pass_over(const sparse_machine *m, sparse_class *k) {
  sparse_pass pass = {.high = -INFINITY, .low = INFINITY};
  sparse_shuffle(m, k);
  for (size_t at = 0; at < k->count;) {
    if (at + AHEAD < k->count) {
      csr_prefetch(&m->x, k->active[at + AHEAD]);
      CSR_PREFETCH(&k->rows[k->active[at + AHEAD]]);
    }
    if (sparse_move(m, k, k->active[at], &pass))
      at++;
    else
      k->active[at] = k->active[--k->count];
  }
  k->high = pass.high > 0 ? pass.high : INFINITY;
  k->low = pass.low < 0 ? pass.low : -INFINITY;
  k->b += m->spread * k->pull;
  k->passes++;
  return pass;
}

/* ------------ the gap */

/* The derivative of the loss in b, at the scores f. */
static double sparse_slope(const sparse_machine *m, const sparse_class *k, double b) {
  double sum = 0;
  for (size_t i = 0; i < m->problem->rows; i++) {
    const sparse_row *row = &k->rows[i];
    sum -= row->y * (k->f[i] + b) < 1 ? row->upper * row->y : 0;
  }
  return sum;
}

/* The best constant for the scores, by bisection around the descent's. */
static double sparse_constant(const sparse_machine *m, const sparse_class *k) {
  enum { WIDENINGS = 60, HALVINGS = 30 };
  const double sign = sparse_slope(m, k, k->b) > 0 ? -1 : 1;
  double near = k->b, width = 1e-4 * (1 + fabs(k->b)), far = near + sign * width;
  for (int tries = 0; tries < WIDENINGS && sparse_slope(m, k, far) * sign < 0; tries++) {
    near = far;
    width *= 4;
    far = near + sign * width;
  }
  for (int tries = 0; tries < HALVINGS && fabs(far - near) > 1e-14 * (1 + fabs(near)); tries++) {
    const double middle = near + (far - near) / 2;
    if (sparse_slope(m, k, middle) * sign < 0)
      near = middle;
    else
      far = middle;
  }
  return far;
}

/* How far the dual of a row can go in the direction that makes |S| less. */
static double sparse_room(const sparse_row *row, double pull) {
  return row->y * pull > 0 ? row->dual : row->upper - row->dual;
}

/* The distance of row i from the margin. */
static double sparse_apart(const sparse_class *k, size_t i) {
  return fabs(k->rows[i].y * (k->f[i] + k->b) - 1);
}

/* S = 0: each dual of a row next to the margin takes a part of the move. */
static void sparse_balance(const sparse_machine *m, sparse_class *k) {
  const size_t n = m->problem->rows;
  double pull = 0, near = 1e-6, room = 0, mass = 0;
  for (size_t i = 0; i < n; i++) {
    pull += k->rows[i].dual * k->rows[i].y;
    mass += k->rows[i].dual;
  }
  for (int tries = 0; tries < 40 && room < fabs(pull); tries++) {
    room = 0;
    near *= 2;
    for (size_t i = 0; i < n; i++)
      room += sparse_apart(k, i) <= near ? sparse_room(&k->rows[i], pull) : 0;
  }
  const double share = room > 0 ? fmin(1, fabs(pull) / room) : 0;
  for (size_t i = 0; i < n && fabs(pull) > 1e-15 * mass; i++) {
    sparse_row *row = &k->rows[i];
    const double by = -copysign(share * sparse_room(row, pull), pull);
    if (by == 0 || sparse_apart(k, i) > near) continue;
    row->dual = fmax(0, fmin(row->upper, row->dual + by * row->y));
    csr_add(&m->x, i, by, k->a);
  }
  k->pull = 0;
}

/* Measures the gap over all rows. The primal point is that of the duals before they are
 * balanced. */
static scl_status sparse_measure(const sparse_machine *m, sparse_class *k, scl_error *error) {
  const size_t n = m->problem->rows, d = m->problem->features;
  const bool intercept = m->self->risk->intercept;
  const scl_status status = csr_product(m->host, &m->x, k->a, 1, k->f, error);
  if (status != SCL_STATUS_OK) return status;
  double primal = sparse_dot(d, k->a, k->a) / 2;
  memcpy(k->best, k->a, d * sizeof *k->best);
  k->best_b = intercept ? sparse_constant(m, k) : 0;
  if (intercept) sparse_balance(m, k);
  double dual = -sparse_dot(d, k->a, k->a) / 2;
  for (size_t i = 0; i < n; i++) {
    const sparse_row *row = &k->rows[i];
    primal += row->upper * fmax(0, 1 - row->y * (k->f[i] + k->best_b));
    dual += row->dual;
  }
  k->gap = primal > 0 ? fmax(0, (primal - dual) / primal) : 0;
  if (isnan(k->gap)) k->gap = INFINITY; /* of numbers that overflow */
  k->done = k->gap <= m->self->tolerance;
  if (!k->done) sparse_wake(m, k);
  return SCL_STATUS_OK;
}

/* ------------ the method */

scl_status sparse_descend(const sparse_machine *m, sparse_class *k, scl_error *error) {
  enum { FIRST = 10, BETWEEN = 5, LONGEST = 200, MEASURE = 20 };
  const sparse_pass pass = sparse_pass_over(m, k);
  const double primal = pass.loss + sparse_dot(m->problem->features, k->a, k->a) / 2,
               terms = primal > 0 ? pass.gap / primal : 0;
  const bool ready = terms <= k->goal || k->count == 0;
  const bool slow = k->passes > FIRST && terms > 0.7 * k->terms;
  k->terms = terms;
  k->since++;
  if (!ready && slow && k->since % BETWEEN == 0) sparse_face(m, k, LONGEST);
  if (!ready && k->since < MEASURE && k->passes < m->self->most) return SCL_STATUS_OK;
  if (ready) k->goal /= 2;
  return sparse_measure(m, k, error);
}
