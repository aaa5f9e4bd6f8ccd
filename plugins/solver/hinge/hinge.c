/* The linear support vector machine on features, one column against all others for several classes:
 *
 *   min_a P(a) = sum_i w_i max(0, 1 - y_i phi_i a)/sum w + (lambda/2) ||a||^2
 *   max_b D(b) = lambda (sum_i b_i - (1/2) ||a||^2),   a = sum_i b_i y_i phi_i,
 *                0 <= b_i <= u_i = w_i/(lambda sum w)
 *
 * Phi n x D, a D x c, duals b n x c. A few passes of dual coordinate descent (Hsieh, Chang, Lin,
 * Keerthi and Sundararajan 2008) tell most rows' duals, which lie at a bound. Then the rows near
 * the margin are gathered (working.c), and their duals found by Newton's method while the others
 * keep theirs (newton.c), until the duality gap P(a) - D(b) over all rows, relative to P(a), is
 * `tolerance`: that is measured at one a, in a pass of its own. Every move raises D. Where they do
 * not get far, passes of descent go between. Classes are solved side by side, rows in an order
 * drawn by (seed, chunk, pass). With an intercept (shared/hinge_constant.c) the gap is between P at
 * the best constant for a, and D of duals that keep the constraint. */
#include "hinge.h"
#include "shared/lambda_order.h"
#include "shared/solver_options.h"
#include "sparse.h"

typedef struct hinge {
  risk_solver risk;
  double tolerance;
  size_t max_iterations;
  uint64_t seed;
  int32_t loss;
} hinge;

enum { HINGE_PLAIN, HINGE_SQUARED };

static const scl_option options[] = {
    SCL_WORD(hinge, loss, "hinge|squared_hinge", "hinge",
             "hinge: max(0, 1 - y f); squared_hinge: max(0, 1 - y f)^2/2"),
    SOLVER_LAMBDA(risk_solver, "1e-4", "regularisation of the mean loss, more than 0",
                  SCL_POSITIVE),
    SOLVER_TOLERANCE(hinge, "1e-5", "duality gap relative to the objective"),
    SOLVER_MAX_ITERATIONS(hinge, "2000", "passes over the rows at most"),
    SOLVER_SEED(hinge, "seed for the order of rows"),
    SCL_OPTION_INTERCEPT};

static scl_status hinge_create(void *self, scl_error *error) {
  hinge *made = self;
  (void)error;
  made->risk.loss.loss = made->loss == HINGE_SQUARED ? LOSS_SQUARED_HINGE : LOSS_HINGE;
  made->risk.loss.apart = true;
  return SCL_STATUS_OK;
}

/* Rows of a chunk; passes over each while it is at hand; passes over all before the first gap, and
 * between working sets that are cut to WORKING_BYTES. */
enum { CHUNK_ROWS = 128, ROUNDS = 2, FIRST_PASSES = 4, PASSES_BETWEEN = 3, PART_LEAST = 256 };
static const size_t WORKING_BYTES = 384000000;

/* One solve. Duals and upper bounds are n x c and n. */
typedef struct machine {
  const hinge *self;
  const scl_problem *problem;
  const scl_host *host;
  hinge_loops loops;
  risk risk;
  double *duals, *upper, *squares; /* squares: ||phi_i||^2 */
  double *coefficients;            /* the solution's, D x c */
  double *a, *x;                   /* c x D: of the duals, and the primal point, here or near */
  double *phi;                     /* a chunk: CHUNK_ROWS x D */
  double *all_scores;              /* n x c, for the gap */
  double *keys;                    /* n */
  double *b, *best;                /* c each: the constants (0 without an intercept): of the
                                      descent, and the best for a */
  double *gaps, *values;           /* c each: relative gaps, and P */
  double spread, longest;          /* r, 0 without an intercept; the largest ||phi_i||^2 */
  hinge_kink *kinks;               /* n, with an intercept */
  hinge_part *parts;               /* c */
  hinge_working *working;          /* c */
  size_t *chosen, *next;           /* n x c, and c: the working sets, and how many are gathered */
  bool *done;                      /* c: the gap is small enough */
  double loss;                     /* mean over all rows when the gap was measured; NaN before */
  size_t filled, iteration;        /* rows in phi */
  size_t from, until;              /* classes whose working sets are at hand */
  uint16_t *order;                 /* ROUNDS x CHUNK_ROWS */
} machine;

/* Where rows of one side alone need no coefficients the duals stay 0. */
static scl_status skip_one_sided(machine *m, scl_error *error) {
  for (size_t j = 0; m->risk.intercept && j < m->problem->targets; j++) {
    double side;
    const scl_status status = hinge_only_side(&m->risk, j, m->keys, &side, error);
    if (status != SCL_STATUS_OK) return status;
    m->done[j] = side != 0;
  }
  return SCL_STATUS_OK;
}

/* Allocates scratch memory; the arrays of doubles are one block, zero at first. */
static scl_status hinge_reserve(machine *m, scl_error *error) {
  const scl_host *host = m->host;
  const size_t n = m->problem->rows, c = m->problem->targets, d = m->problem->features;
  const size_t numbers = 2 * n * c + 3 * n + 2 * d * c + 4 * c;
  m->duals = host->scratch(numbers * sizeof *m->duals);
  m->phi = host->scratch(CHUNK_ROWS * d * sizeof *m->phi);
  m->order = host->scratch(ROUNDS * CHUNK_ROWS * sizeof *m->order);
  m->done = host->scratch(c * sizeof *m->done);
  m->kinks = host->scratch((m->risk.intercept ? n : 1) * sizeof *m->kinks);
  m->parts = host->scratch(c * sizeof *m->parts);
  m->working = host->scratch(c * sizeof *m->working);
  m->chosen = host->scratch((n * c + c) * sizeof *m->chosen);
  if (m->duals == NULL || m->phi == NULL || m->order == NULL || m->done == NULL ||
      m->kinks == NULL || m->parts == NULL || m->working == NULL || m->chosen == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the duals of %zu rows",
                      n);
  memset(m->duals, 0, numbers * sizeof *m->duals);
  return SCL_STATUS_OK;
}

/* Prepares a solve: reads targets and weights, lays out the arrays, and sets u_i = w_i/(lambda
 * sum w). */
static scl_status open_machine(machine *m, const hinge *self, const scl_problem *problem,
                               scl_solution *out, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  *m = (machine){.self = self,
                 .problem = problem,
                 .host = problem->host,
                 .loops = hinge_loops_of_machine(),
                 .coefficients = out->coefficients,
                 .loss = NAN};
  scl_status status = risk_open(&m->risk, problem, &self->risk.loss, self->risk.lambda, error);
  if (status == SCL_STATUS_OK) status = hinge_reserve(m, error);
  if (status != SCL_STATUS_OK) return status;
  double **const arrays[] = {&m->best, &m->gaps, &m->values};
  m->all_scores = m->duals + n * c;
  m->upper = m->all_scores + n * c;
  m->squares = m->upper + n;
  m->keys = m->squares + n;
  m->a = m->keys + n;
  m->x = m->a + problem->features * c;
  m->b = m->x + problem->features * c;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
    *arrays[k] = m->b + (k + 1) * c;
  m->next = m->chosen + n * c;
  memset(m->done, 0, c * sizeof *m->done);
  for (size_t j = 0; j < c; j++)
    m->working[j] = (hinge_working){.gap = INFINITY};
  for (size_t i = 0; i < n; i++)
    m->upper[i] = m->risk.weights[i] / (self->risk.lambda * m->risk.total);
  return skip_one_sided(m, error);
}

/* ------------ dual coordinate descent */

typedef struct chunk {
  machine *m;
  size_t first, count;
} chunk;

/* Sets the dual of row i of the chunk to its maximiser, the other duals being fixed. */
static void move_dual(const chunk *k, size_t i, size_t class, double *b) {
  const machine *m = k->m;
  const size_t c = m->problem->targets, d = m->problem->features, row = k->first + i;
  const double *phi = m->phi + i * d, y = m->risk.targets[row * c + class];
  double *a = m->a + class * d, *dual = &m->duals[row * c + class];
  const double square = m->squares[row] + m->spread, upper = m->upper[row];
  if (!(upper > 0)) return;
  const double slope = y * (m->loops.dot(d, phi, a) + *b) - 1;
  const double to = square > 0 ? fmax(0, fmin(upper, *dual - slope / square)) : upper;
  if (to == *dual) return;
  m->loops.add(d, (to - *dual) * y, phi, a);
  *b += m->spread * (to - *dual) * y;
  *dual = to;
}

/* A task of the pool: one class. */
static scl_status hinge_descend_class(void *context, size_t class, scl_error *error) {
  const chunk *k = context;
  const machine *m = k->m;
  (void)error;
  for (size_t at = 0; at < ROUNDS * k->count && !m->done[class]; at++)
    move_dual(k, m->order[at / k->count * CHUNK_ROWS + at % k->count], class, &m->b[class]);
  return SCL_STATUS_OK;
}

/* The squares of the chunk's rows, and r from the first one. */
static void measure_rows(const chunk *k) {
  machine *m = k->m;
  const size_t d = m->problem->features;
  double trace = 0;
  for (size_t i = 0; m->iteration == 0 && i < k->count; i++) {
    const double square = m->loops.dot(d, m->phi + i * d, m->phi + i * d);
    m->squares[k->first + i] = square;
    m->longest = fmax(m->longest, square);
    trace += square;
  }
  if (m->risk.intercept && m->spread == 0)
    m->spread = trace > 0 ? trace / (4 * (double)k->count) : 1;
}

/* An order of the chunk's rows for each pass: Fisher and Yates by the numbers of (seed, chunk,
 * iteration). */
static void draw_orders(const chunk *k) {
  const machine *m = k->m;
  for (size_t round = 0; round < ROUNDS; round++) {
    uint64_t bits[CHUNK_ROWS];
    uint16_t *order = m->order + round * CHUNK_ROWS;
    m->host->random->bits(m->self->seed, 0, k->first / CHUNK_ROWS,
                          (m->iteration * ROUNDS + round) * CHUNK_ROWS, k->count, bits);
    for (size_t i = 0; i < k->count; i++) {
      const size_t other = bits[i] % (i + 1);
      order[i] = order[other];
      order[other] = (uint16_t)i;
    }
  }
}

/* Gather rows into chunks, cut by their place in the problem and not by the blocks in which they
 * come: what is done to a chunk is then the same for every block size. */
static scl_status visit_descent(void *context, const scl_rows *rows, scl_error *error) {
  machine *m = context;
  const size_t d = m->problem->features;
  for (size_t i = 0; i < rows->count; i++) {
    csr_copy_row(rows, i, d, m->phi + m->filled++ * d);
    const size_t seen = rows->first + i + 1;
    if (m->filled < CHUNK_ROWS && seen < m->problem->rows) continue;
    chunk k = {.m = m, .first = seen - m->filled, .count = m->filled};
    measure_rows(&k);
    draw_orders(&k);
    const scl_status status =
        m->host->parallel(m->problem->targets, hinge_descend_class, &k, error);
    if (status != SCL_STATUS_OK) return status;
    m->filled = 0;
  }
  return SCL_STATUS_OK;
}

/* ------------ the gap */

/* Mean loss of column j over all rows, its best constant, and its relative gap: m->gaps[j]. */
static scl_status column_gap(machine *m, size_t j, double *loss, scl_error *error) {
  const size_t d = m->problem->features;
  const double lambda = m->self->risk.lambda, *a = m->a + j * d, *x = m->x + j * d,
               square = m->loops.dot(d, a, a);
  const hinge_column col = {.count = m->problem->rows,
                            .stride = m->problem->targets,
                            .f = m->all_scores + j,
                            .y = m->risk.targets + j,
                            .duals = m->duals + j,
                            .weights = m->risk.weights};
  const bool intercept = m->risk.intercept;
  hinge_sides sides;
  m->best[j] = 0;
  scl_status status = hinge_sides_of(m->problem, &col, m->keys, &sides, error);
  if (status == SCL_STATUS_OK && intercept)
    status = hinge_best_constant(m->problem, &col, m->kinks, m->keys, &m->best[j], error);
  if (status == SCL_STATUS_OK)
    status = hinge_loss(m->problem, &col, m->best[j], m->keys, loss, error);
  if (status != SCL_STATUS_OK) return status;
  *loss /= m->risk.total;
  double apart = 0;
  for (size_t t = 0; t < d; t++)
    apart += (a[t] - x[t]) * (a[t] - x[t]);
  const double primal = *loss + lambda / 2 * m->loops.dot(d, x, x);
  const double dual = intercept ? hinge_balanced_dual(&sides, square, m->longest, sqrt(apart))
                                : sides.positive + sides.negative - square / 2;
  m->values[j] = primal;
  const double gap = primal == 0 ? 0 : (primal - lambda * dual) / primal;
  m->gaps[j] = isnan(gap) ? INFINITY : gap; /* of numbers that overflow */
  return SCL_STATUS_OK;
}

/* Computes the relative gap of each class at x over all rows, and the constants. Reports the
 * largest gap. */
static scl_status measure_gap(machine *m, scl_solution *out, scl_error *error) {
  const size_t c = m->problem->targets, d = m->problem->features;
  for (size_t j = 0; j < c; j++)
    for (size_t t = 0; t < d; t++)
      m->coefficients[t * c + j] = m->x[j * d + t];
  scl_status status = m->problem->product(m->problem, m->coefficients, c, m->all_scores, error);
  out->gap = m->loss = 0;
  for (size_t j = 0; j < c; j++) {
    double loss;
    if (status == SCL_STATUS_OK) status = column_gap(m, j, &loss, error);
    if (status != SCL_STATUS_OK) return status;
    m->done[j] = m->gaps[j] <= m->self->tolerance;
    m->loss += loss;
    out->gap = fmax(out->gap, m->gaps[j]);
    if (out->intercept != NULL) out->intercept[j] = m->best[j];
  }
  return SCL_STATUS_OK;
}

/* ------------ working sets */

static scl_status tell(const machine *m, scl_error *error) {
  return m->problem->progress(m->problem, "solving",
                              (double)m->iteration / (double)m->self->max_iterations, m->loss,
                              error);
}

static size_t hinge_row_bytes(const machine *m) {
  return (m->problem->features + 16) * sizeof(double);
}

/* The working set of class j, at most as many rows as fit WORKING_BYTES: whatever the allowance,
 * which changes no result. */
static void choose_part(machine *m, size_t j) {
  const size_t n = m->problem->rows, fit = WORKING_BYTES / hinge_row_bytes(m),
               most = fit < PART_LEAST ? PART_LEAST : fit;
  const hinge_column col = {.count = n,
                            .stride = m->problem->targets,
                            .f = m->all_scores + j,
                            .y = m->risk.targets + j,
                            .duals = m->duals + j,
                            .weights = m->risk.weights};
  hinge_working *w = &m->working[j];
  m->next[j] = 0;
  m->parts[j] = (hinge_part){.host = m->host,
                             .loops = m->loops,
                             .order = m->problem->features,
                             .lambda = m->self->risk.lambda,
                             .constant = m->risk.intercept,
                             .b = m->best[j]};
  if (m->done[j]) return;
  hinge_working_choose(w, &col, m->upper, m->best[j], m->gaps[j], most, m->keys, m->chosen + j * n);
  m->parts[j].count = w->size;
  m->parts[j].delta = fmax(1e-3, w->violation);
}

/* Row i of the problem, in this block, becomes the next row of part j. */
static void take_row(machine *m, size_t j, size_t i, const scl_rows *rows) {
  const size_t c = m->problem->targets, at = m->next[j]++;
  hinge_part *part = &m->parts[j];
  csr_copy_row(rows, i - rows->first, part->order, part->rows + at * part->order);
  part->y[at] = m->risk.targets[i * c + j];
  part->p[at] = m->risk.weights[i] / m->risk.total;
  part->s[at] = m->duals[i * c + j] / m->upper[i];
  part->f[at] = m->all_scores[i * c + j] + part->b;
}

static scl_status visit_working(void *context, const scl_rows *rows, scl_error *error) {
  machine *m = context;
  const size_t n = m->problem->rows;
  (void)error;
  for (size_t j = m->from; j < m->until; j++)
    while (m->next[j] < m->parts[j].count) {
      const size_t i = m->chosen[j * n + m->next[j]];
      if (i >= rows->first + rows->count) break;
      take_row(m, j, i, rows);
    }
  return SCL_STATUS_OK;
}

/* Computes `fixed`, the contribution of the duals outside the part: lambda a = fixed + that of
 * the part's rows. */
static void fix_others(const machine *m, size_t j) {
  hinge_part *part = &m->parts[j];
  const size_t n = m->problem->rows, c = m->problem->targets, d = part->order;
  const double *a = m->a + j * d;
  part->fixed_sum = 0;
  for (size_t i = 0; part->constant && i < n; i++)
    part->fixed_sum += part->lambda * m->duals[i * c + j] * m->risk.targets[i * c + j];
  for (size_t t = 0; t < d; t++) {
    part->a[t] = m->x[j * d + t];
    part->fixed[t] = part->lambda * a[t];
  }
  for (size_t at = 0; at < part->count; at++) {
    const double pull = part->p[at] * part->s[at] * part->y[at];
    part->fixed_sum -= pull;
    if (pull != 0) m->loops.add(d, -pull, part->rows + at * d, part->fixed);
  }
}

/* Copies the part's duals to the class, and updates a, x and b. */
static void take_part(const machine *m, size_t j) {
  const hinge_part *part = &m->parts[j];
  const size_t n = m->problem->rows, c = m->problem->targets, d = part->order;
  double *a = m->a + j * d, sum = part->fixed_sum;
  memcpy(a, part->fixed, d * sizeof *a);
  for (size_t at = 0; at < part->count; at++) {
    const size_t i = m->chosen[j * n + at];
    const double pull = part->p[at] * part->best[at] * part->y[at];
    m->duals[i * c + j] = part->best[at] * m->upper[i];
    sum += pull;
    if (pull != 0) m->loops.add(d, pull, part->rows + at * d, a);
  }
  for (size_t t = 0; t < d; t++)
    a[t] /= part->lambda;
  memcpy(m->x + j * d, part->best_a, d * sizeof *a);
  m->b[j] = part->constant ? part->best_b : 0;
}

/* A task of the pool: Newton's method on the working set of one class. */
static scl_status polish(void *context, size_t index, scl_error *error) {
  const machine *m = context;
  const size_t j = m->from + index;
  hinge_part *part = &m->parts[j];
  if (part->count == 0) return SCL_STATUS_OK;
  const double primal = m->values[j], goal = fmax(m->self->tolerance / 5, m->gaps[j] / 50) * primal;
  fix_others(m, j);
  const scl_status status = hinge_part_follow(part, goal, error);
  if (status == SCL_STATUS_OK && part->best_gap < m->gaps[j] * primal) take_part(m, j);
  return status;
}

/* Gathers the working sets of classes from .. until-1 in one pass. */
static scl_status polish_group(machine *m, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  size_t opened = m->from;
  for (; opened < m->until && status == SCL_STATUS_OK; opened++)
    if (m->parts[opened].count > 0) status = hinge_part_open(&m->parts[opened], error);
  if (status == SCL_STATUS_OK) status = m->problem->walk(m->problem, visit_working, m, error);
  if (status == SCL_STATUS_OK)
    status = m->until - m->from == 1 ? polish(m, 0, error)
                                     : m->host->parallel(m->until - m->from, polish, m, error);
  for (size_t j = m->from; j < opened; j++)
    if (m->parts[j].count > 0) hinge_part_close(&m->parts[j]);
  m->iteration++;
  return status;
}

/* Solves the working sets, as many classes at a time as fit WORKING_BYTES. *cut: even one class
 * alone did not fit all its rows. */
static scl_status polish_all(machine *m, bool *cut, scl_error *error) {
  const size_t c = m->problem->targets, fit = WORKING_BYTES / hinge_row_bytes(m);
  scl_status status = SCL_STATUS_OK;
  *cut = false;
  for (size_t j = 0; j < c; j++) {
    choose_part(m, j);
    *cut = *cut || (!m->done[j] && m->working[j].cut);
  }
  for (m->from = 0; status == SCL_STATUS_OK && m->from < c; m->from = m->until) {
    size_t rows = m->parts[m->from].count;
    for (m->until = m->from + 1; m->until < c; m->until++) {
      if (rows + m->parts[m->until].count > fit) break;
      rows += m->parts[m->until].count;
    }
    if (rows == 0) continue;
    status = tell(m, error);
    if (status == SCL_STATUS_OK) status = polish_group(m, error);
  }
  return status;
}

/* ------------ the method */

/* Runs at most `passes` passes of coordinate descent. */
static scl_status descend_all(machine *m, size_t passes, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t pass = 0;
       status == SCL_STATUS_OK && pass < passes && m->iteration < m->self->max_iterations; pass++) {
    status = tell(m, error);
    m->filled = 0;
    if (status == SCL_STATUS_OK) status = m->problem->walk(m->problem, visit_descent, m, error);
    m->iteration++;
  }
  for (size_t j = 0, d = m->problem->features; passes > 0 && j < m->problem->targets; j++)
    if (!m->done[j]) memcpy(m->x + j * d, m->a + j * d, d * sizeof *m->a);
  return status;
}

/* Alternates passes of coordinate descent, the measurement of the gap, and working sets, until
 * the gap is at most the tolerance. Passes follow a working set only if it reduced the gap too
 * little. */
static scl_status hinge_iterate(machine *m, scl_solution *out, scl_error *error) {
  const size_t most = m->self->max_iterations;
  size_t passes = FIRST_PASSES, between = PASSES_BETWEEN; /* the latter doubles */
  double before = INFINITY;
  out->tolerance = m->self->tolerance;
  for (;;) {
    bool cut = false;
    scl_status status = descend_all(m, passes, error);
    if (status == SCL_STATUS_OK) status = measure_gap(m, out, error);
    out->iterations = m->iteration;
    if (status != SCL_STATUS_OK) return status;
    if (out->gap <= m->self->tolerance || m->iteration >= most) break;
    status = polish_all(m, &cut, error);
    if (status != SCL_STATUS_OK) return status;
    passes = out->gap > (cut ? 0.5 : 0.9) * before ? between : 0;
    between += passes;
    before = out->gap;
  }
  out->outcome = out->gap <= m->self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT) hinge_note_limit(out, out->tolerance);
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

/* The method of this file, for each of `count` lambdas, or those whose gap is too large. */
static scl_status solve_dense(hinge self, const scl_problem *problem, const double *lambdas,
                              size_t count, bool again, scl_solution *const *out,
                              scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; k < count && status == SCL_STATUS_OK; k++) {
    machine m;
    if (again && out[k]->outcome == SCL_OUTCOME_CONVERGED) continue;
    out[k]->note[0] = 0;
    self.risk.lambda = lambdas[k];
    status = open_machine(&m, &self, problem, out[k], error);
    if (status == SCL_STATUS_OK) status = hinge_iterate(&m, out[k], error);
  }
  return status;
}

/* Sparse rows of few columns go by the method of this file, a few rows at a time with their zeros;
 * of some more columns where the other one takes many passes. */
enum { FEW_COLUMNS = 300, SOME_COLUMNS = 4000, MANY_PASSES = 500 };

static scl_status solve_sparse(const hinge *self, risk *r, const double *lambdas, size_t count,
                               scl_solution *const *out, scl_error *error) {
  const scl_problem *problem = r->problem;
  const bool some = problem->features <= SOME_COLUMNS;
  const size_t most = self->max_iterations;
  const sparse_hinge sparse = {.risk = r,
                               .tolerance = csr_path_tolerance(problem, self->tolerance, count),
                               .most = some && most > MANY_PASSES ? MANY_PASSES : most,
                               .seed = self->seed};
  const scl_status status = sparse_hinge_path(&sparse, lambdas, count, out, error);
  return status == SCL_STATUS_OK && some && most > MANY_PASSES
             ? solve_dense(*self, problem, lambdas, count, true, out, error)
             : status;
}

/* On sparse rows the solutions of a path have warm starts. */
static scl_status hinge_path(const void *instance, const scl_problem *problem, const double *values,
                             size_t count, scl_solution *const *out, scl_error *error) {
  const hinge *self = instance;
  risk r;
  double *lambdas;
  scl_solution **sorted;
  scl_status status = loss_check(&self->risk.loss, problem, error);
  if (status == SCL_STATUS_OK)
    status = lambda_order(problem->host, values, count, out, &lambdas, &sorted, error);
  if (status != SCL_STATUS_OK) return status;
  if (self->loss == HINGE_PLAIN && (!csr_is(problem) || problem->features <= FEW_COLUMNS))
    return solve_dense(*self, problem, lambdas, count, false, sorted, error);
  status = risk_open(&r, problem, &self->risk.loss, self->risk.lambda, error);
  if (status != SCL_STATUS_OK) return status;
  const hinge_squared squared = {.risk = &r,
                                 .tolerance = csr_path_tolerance(problem, self->tolerance, count),
                                 .most = self->max_iterations};
  return self->loss == HINGE_SQUARED ? hinge_squared_path(&squared, lambdas, count, sorted, error)
                                     : solve_sparse(self, &r, lambdas, count, sorted, error);
}

static scl_status hinge_solve(const void *instance, const scl_problem *problem, scl_solution *out,
                              scl_error *error) {
  const hinge *self = instance;
  return hinge_path(self, problem, &self->risk.lambda, 1, &out, error);
}

/* TYPICAL_PASSES, of two products with each row and class; Newton's method copies the rows inside
 * the margin, typically a fifth. */
static void hinge_cost(const void *instance, const scl_problem *problem, const double *values,
                       size_t count, int32_t weighted, scl_cost *out) {
  const hinge *self = instance;
  enum { TYPICAL_PASSES = 12 };
  const double n = (double)problem->rows, d = (double)problem->features,
               c = (double)problem->targets,
               passes = fmin((double)self->max_iterations, TYPICAL_PASSES);
  (void)values, (void)count, (void)weighted;
  out->passes = passes;
  out->columns = c;
  (void)snprintf(out->note, sizeof out->note, "%g passes over the rows, a typical number", passes);
  if (csr_is(problem)) { /* sparse.c */
    out->bytes = (5 * d * c + 9 * n * c) * sizeof(double);
    return;
  }
  out->steps = passes * n * d * c / 2;
  out->bytes = (3 * n * c + 4 * n + 2 * d * c + CHUNK_ROWS * d + n / 5 * (d + 11)) * sizeof(double);
}

const scl_plugin scullery_plugin = {
    .name = "hinge",
    .summary = "The linear support vector machine, hinge or squared hinge, to a duality gap",
    .definition = "l(z) = when(loss == \"hinge\", max(0, 1 - z), max(0, 1 - z)^2/2)\n"
                  "objective(rows, a) = average(rows, function(r) return l(r.y*r.f) end) + "
                  "lambda/2*dot(a, a)",
    .doc =
        "min (1/n) sum_i l(1 - y_i (phi_i a + b)) + (lambda/2) ||a||^2, one column against all\n"
        "others for several classes; l(z) = max(0, z), or max(0, z)^2/2 (squared_hinge).\n"
        "hinge: a few passes of dual coordinate descent (Hsieh et al. 2008), in a seeded order;\n"
        "then Newton's method on the rows near the margin, copied as float64 numbers into at most\n"
        "384 MB, the others keeping their duals. On sparse rows dual coordinate descent, with "
        "steps\n"
        "of conjugate gradients on many duals where it is slow.\n"
        "squared_hinge: L-BFGS; on sparse rows Newton's method without a matrix (Lin, Weng and\n"
        "Keerthi 2008), in which all classes share the passes.\n"
        "It ends when the duality gap, measured on all rows, is `tolerance` of the objective (of\n"
        "each class): only that counts as converged. info().gap is the worst. The constant b is "
        "not\n"
        "penalised; the gap is that of the problem with b.",
    SCL_SOLVER(.solve = hinge_solve),
    SCL_INSTANCE(hinge, options),
    SCL_ABILITIES(
        {SCL_ABILITY_LOSS, &loss_ability},
        SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda", .solve = hinge_path,
                  .sparse_only = 1),
        SCL_OFFER_BARE(SCL_ABILITY_CSR_ROWS, scl_ability_csr_rows),
        SCL_OFFER_BARE(SCL_ABILITY_ORDERED_ROWS, scl_ability_ordered_rows),
        SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = risk_objective),
        SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = hinge_cost)),
    .create = hinge_create};
