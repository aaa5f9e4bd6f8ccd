/* The linear support vector machine on n sparse rows x_i of D columns, one column of targets
 * against all others:
 *
 *   min_{a,b} P = sum_i u_i max(0, 1 - y_i (x_i'a + b)) + ||a||^2/2,   u_i = w_i/(lambda sum w)
 *   max_s     D = sum_i s_i - ||a||^2/2,   a = sum_i s_i y_i x_i,   0 <= s_i <= u_i,
 *
 * and sum_i s_i y_i = 0 where there is a constant b: objective and dual over lambda.
 *
 * Descent on single duals (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008), in a random order of
 * the rows, those that stay at a bound being left out ("shrinking", as there). The constraint of
 * the constant, which no move of a single dual keeps, is met by multipliers: with S = sum_i s_i y_i
 * the descent is on the augmented Lagrangian
 *
 *   D(s) - b0 S - (r/2) S^2,   b = b0 + r S,   and after each pass b0 <- b
 *
 * r is the mean ||x_i||^2, as if the rows had one more column of that size. For the gap, duals of
 * rows next to the margin, which change D least, are moved until S = 0: D is then that of a
 * feasible point, and P is that of a before those moves, at the best constant for it.
 *
 * By rows the gap of a and duals that belong to each other is a sum of numbers from 0,
 *
 *   P - D = sum_i u_i max(0, z_i) - s_i z_i,   z_i = 1 - y_i (x_i'a + b)
 *
 * whose terms as a pass meets them say when it is worth while to measure it, and how fast it falls:
 * where that is slowly, steps on many duals at a time go between (sparse_face.c). Several lambdas,
 * largest first: each begins with the duals of the one before. */
#include "sparse.h"
#include "hinge.h"

static scl_status sparse_open(sparse_machine *m, const sparse_hinge *self, scl_error *error) {
  const scl_problem *problem = self->risk->problem;
  const scl_host *host = problem->host;
  const size_t n = problem->rows, d = problem->features,
               places = problem->targets < SPARSE_GROUP ? problem->targets : SPARSE_GROUP;
  *m = (sparse_machine){.self = self, .problem = problem, .host = host};
  scl_status status = csr_read(problem, &m->x, error);
  if (status != SCL_STATUS_OK) return status;
  m->squares = host->scratch((n + 1) * sizeof *m->squares);
  bool room = n < UINT32_MAX && m->squares != NULL;
  for (size_t j = 0; j < places && room; j++) {
    sparse_class *k = &m->class[j];
    k->rows = host->scratch((n + 1) * sizeof *k->rows);
    k->active = host->scratch((n + 1) * sizeof *k->active);
    k->face = host->scratch((n + 1) * sizeof *k->face);
    k->a = host->scratch((3 * d + 5 * n + 1) * sizeof *k->a);
    room = k->rows != NULL && k->active != NULL && k->face != NULL && k->a != NULL;
    if (!room) break;
    double **const by_row[] = {&k->f, &k->step, &k->rest, &k->turn, &k->image};
    k->best = k->a + d;
    k->move = k->best + d;
    for (size_t at = 0; at < sizeof by_row / sizeof *by_row; at++)
      *by_row[at] = k->move + d + at * n;
  }
  if (!room)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the duals of %zu rows",
                      n);
  csr_squares(&m->x, m->squares);
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += self->risk->weights[i] / self->risk->total * m->squares[i];
  if (self->risk->intercept) m->spread = sum > 0 ? sum : 1;
  return SCL_STATUS_OK;
}

/* A class begins with a = 0. With a constant and rows of one side alone a = 0 and b = -1 or 1 leave
 * no loss. */
static void sparse_begin(const sparse_machine *m, sparse_class *k, size_t column) {
  const risk *r = m->self->risk;
  const size_t c = r->columns;
  bool positive = false, negative = false;
  k->column = column;
  k->b = k->pull = k->gap = 0;
  for (size_t i = 0; i < m->problem->rows; i++) {
    const double y = r->targets[i * c + column];
    k->rows[i] = (sparse_row){.y = y, .square = m->squares[i] + m->spread};
    positive = positive || (y > 0 && r->weights[i] > 0);
    negative = negative || (y < 0 && r->weights[i] > 0);
  }
  memset(k->a, 0, m->problem->features * sizeof *k->a);
  memset(k->best, 0, m->problem->features * sizeof *k->best);
  k->done = r->intercept && !(positive && negative);
  k->best_b = k->done ? (positive ? 1 : -1) : 0;
  k->count = 0;
}

/* The class goes on with another lambda: duals at the bound stay there, the others keep their
 * size. */
static void sparse_rescale(const sparse_machine *m, sparse_class *k) {
  const risk *r = m->self->risk;
  const bool one_sided = k->done && k->count == 0;
  k->passes = 0;
  if (one_sided) return;
  for (size_t i = 0; i < m->problem->rows; i++) {
    sparse_row *row = &k->rows[i];
    const double before = row->upper;
    row->upper = r->weights[i] / (m->lambda * r->total);
    const double to = before > 0 && row->dual >= before ? row->upper : fmin(row->dual, row->upper);
    if (to == row->dual) continue;
    csr_add(&m->x, i, (to - row->dual) * row->y, k->a);
    k->pull += (to - row->dual) * row->y;
    row->dual = to;
  }
  k->done = false;
  k->gap = INFINITY;
  k->terms = INFINITY;
  k->share = 0.1;
  k->goal = 1.5 * m->self->tolerance;
  sparse_wake(m, k);
}

/* A task of the pool: a pass of a class. */
static scl_status sparse_turn(void *context, size_t index, scl_error *error) {
  sparse_machine *m = context;
  sparse_class *k = &m->class[index];
  return k->done ? SCL_STATUS_OK : sparse_descend(m, k, error);
}

static scl_status sparse_tell(const sparse_machine *m, size_t pass, scl_error *error) {
  return m->problem->progress(m->problem, "solving", (double)pass / (double)m->self->most, NAN,
                              error);
}

/* Passes until all classes are done. */
static scl_status sparse_passes(sparse_machine *m, scl_error *error) {
  for (size_t pass = 0, open = 1; open > 0 && pass < m->self->most; pass++) {
    scl_status status = sparse_tell(m, pass, error);
    if (status == SCL_STATUS_OK)
      status = m->classes == 1 ? sparse_turn(m, 0, error)
                               : m->host->parallel(m->classes, sparse_turn, m, error);
    if (status != SCL_STATUS_OK) return status;
    open = 0;
    for (size_t j = 0; j < m->classes; j++)
      open += !m->class[j].done && m->class[j].passes < m->self->most;
  }
  return SCL_STATUS_OK;
}

/* The group's classes at one lambda. */
static scl_status sparse_solve(sparse_machine *m, scl_solution *out, scl_error *error) {
  const size_t c = m->problem->targets;
  for (size_t j = 0; j < m->classes; j++)
    sparse_rescale(m, &m->class[j]);
  scl_status status = sparse_passes(m, error);
  for (size_t j = 0; j < m->classes && status == SCL_STATUS_OK; j++) {
    const sparse_class *k = &m->class[j];
    for (size_t t = 0; t < m->problem->features; t++)
      out->coefficients[t * c + k->column] = k->best[t];
    if (out->intercept != NULL) out->intercept[k->column] = k->best_b;
    if (k->passes > out->iterations) out->iterations = k->passes;
    if (!(k->gap <= out->gap)) out->gap = k->gap;
  }
  return status;
}

scl_status sparse_hinge_path(const sparse_hinge *self, const double *lambdas, size_t count,
                             scl_solution *const *out, scl_error *error) {
  sparse_machine m;
  scl_status status = sparse_open(&m, self, error);
  const size_t c = self->risk->columns;
  for (size_t l = 0; l < count; l++) {
    out[l]->gap = 0;
    out[l]->iterations = 0;
    out[l]->tolerance = self->tolerance;
  }
  for (size_t first = 0; status == SCL_STATUS_OK && first < c; first += SPARSE_GROUP) {
    m.classes = c - first < SPARSE_GROUP ? c - first : SPARSE_GROUP;
    for (size_t j = 0; j < m.classes; j++)
      sparse_begin(&m, &m.class[j], first + j);
    for (size_t l = 0; status == SCL_STATUS_OK && l < count; l++) {
      m.lambda = lambdas[l];
      status = sparse_solve(&m, out[l], error);
    }
  }
  for (size_t l = 0; status == SCL_STATUS_OK && l < count; l++) {
    out[l]->outcome = out[l]->gap <= self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
    if (out[l]->outcome == SCL_OUTCOME_LIMIT) hinge_note_limit(out[l], self->tolerance);
  }
  return status;
}
