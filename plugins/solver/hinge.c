/* The linear support vector machine on features, one column against all others for several classes:
 *
 *   min_a P(a) = sum_i w_i max(0, 1 - y_i phi_i a)/sum w + (lambda/2) ||a||^2
 *   max_b D(b) = lambda (sum_i b_i - (1/2) ||a||^2),   a = sum_i b_i y_i phi_i,
 *                0 <= b_i <= u_i = w_i/(lambda sum w)
 *
 * Phi n x D, a D x c, duals b n x c. Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and
 * Sundararajan 2008), a chunk of rows at a time: with K = B B' of the chunk's rows B and its scores
 * B a, a move of b_i costs a row of K, not a row of features. After each pass over the chunk a
 * Newton step on the duals strictly inside their bounds speeds up what single coordinates do slowly
 * where K is badly conditioned. Then a += B' change, and on to the next chunk. Every move raises D.
 * Classes are solved side by side, rows in an order drawn by (seed, chunk, pass). The duality gap
 * P(a) - D(b) is measured on all rows at one a; relative to P(a) it is what `tolerance` bounds.
 * With an intercept (hinge_constant.h) the gap is between P at the best constant for a, and D of
 * duals that keep the constraint. */
#include "hinge_constant.h"
#include "shared/minibatch.h"
#include "shared/solver_options.h"
#include <stdio.h>

typedef struct hinge {
  risk_solver risk;
  double tolerance;
  size_t max_iterations;
  uint64_t seed;
} hinge;

static const scl_option options[] = {
    SOLVER_LAMBDA(risk_solver, "1e-4", "regularisation of the mean loss, more than 0",
                  SCL_POSITIVE),
    SOLVER_TOLERANCE(hinge, "1e-3", "duality gap relative to the objective"),
    SOLVER_MAX_ITERATIONS(hinge, "2000", "passes over the rows at most"),
    SOLVER_SEED(hinge, "seed for the order of rows"), SOLVER_INTERCEPT_AUTO};

static scl_status create(void *self, scl_error *error) {
  (void)error;
  ((hinge *)self)->risk.loss.loss = LOSS_HINGE;
  return SCL_STATUS_OK;
}

/* CHUNK_ROWS rows a chunk, but one chunk for a problem of at most CHUNK_MOST rows. */
enum {
  CHUNK_ROWS = 256,
  CHUNK_MOST = 1024,
  ROUNDS = 10,
  CHECK_EVERY = 5,
  STRIPE_ROWS = 32,
  STRIPE_COLUMNS = 256
};

/* One solve. Duals and upper bounds are n x c and n; scores and changes those of a chunk. */
typedef struct machine {
  const hinge *self;
  const scl_problem *problem;
  const scl_host *host;
  risk risk;
  double *duals, *upper;
  double *a;               /* D x c: the solution's coefficients */
  double *phi, *kernel;    /* size x D; K of one chunk, or of all: n x size */
  double *scores, *change; /* size x c */
  double *all_scores;      /* n x c, for the gap */
  double *b, *centre;      /* c each: the constants (0 without an intercept), and b0 */
  double *earlier, *sums;  /* c each: the b0 before, and s there */
  double spread, longest;  /* r, 0 without an intercept; the largest ||phi_i||^2 */
  hinge_kink *kinks;       /* n, with an intercept */
  bool *done;              /* c: the gap is small enough */
  double loss;             /* mean over all rows when the gap was measured; NaN before */
  bool keeps_kernel, has_kernel;
  size_t size, filled, iteration; /* rows of a chunk; of them in phi */
  uint16_t *order;                /* ROUNDS x size */
} machine;

static void close_machine(machine *m) {
  m->host->release(m->duals);
  m->host->release(m->phi);
  m->host->release(m->kernel);
  m->host->release(m->order);
  m->host->release(m->done);
  m->host->release(m->kinks);
  risk_close(&m->risk);
}

/* K of every chunk is kept between passes where it fits beside the blocks that the host may keep,
 * as does that of a small problem. */
static size_t kernel_rows(machine *m) {
  const size_t n = m->problem->rows;
  m->keeps_kernel = n == m->size || (double)n * (double)m->size * sizeof(double) <=
                                        (double)m->problem->allowance / 4;
  return m->keeps_kernel ? n : m->size;
}

/* With an intercept and rows of one side alone a = 0 and b = -1 or 1 leave no loss: the duals stay
 * 0. */
static void skip_one_sided(machine *m) {
  const size_t n = m->problem->rows, c = m->problem->targets;
  for (size_t j = 0; m->risk.intercept && j < c; j++) {
    double positive = 0;
    for (size_t i = 0; i < n; i++)
      positive += m->risk.targets[i * c + j] > 0 ? m->risk.weights[i] : 0;
    m->done[j] = positive == 0 || positive == m->risk.total;
  }
}

static scl_status open_machine(machine *m, const hinge *self, const scl_problem *problem,
                               scl_solution *out, scl_error *error) {
  const scl_host *host = problem->host;
  const size_t n = problem->rows, c = problem->targets;
  *m = (machine){.self = self, .problem = problem, .host = host, .loss = NAN};
  m->a = out->coefficients;
  m->size = n <= CHUNK_MOST ? n : CHUNK_ROWS;
  const scl_status status =
      risk_open(&m->risk, problem, &self->risk.loss, self->risk.lambda, error);
  if (status != SCL_STATUS_OK) return status;
  m->duals = host->allocate((2 * n * c + n + 2 * m->size * c + 4 * c) * sizeof *m->duals);
  m->phi = host->allocate(m->size * problem->features * sizeof *m->phi);
  m->kernel = host->allocate(kernel_rows(m) * m->size * sizeof *m->kernel);
  m->order = host->allocate(ROUNDS * m->size * sizeof *m->order);
  m->done = host->allocate(c * sizeof *m->done);
  m->kinks = host->allocate((m->risk.intercept ? n : 1) * sizeof *m->kinks);
  if (m->duals == NULL || m->phi == NULL || m->kernel == NULL || m->order == NULL ||
      m->done == NULL || m->kinks == NULL) {
    close_machine(m);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the duals of %zu rows",
                      n);
  }
  m->all_scores = m->duals + n * c;
  m->upper = m->all_scores + n * c;
  m->scores = m->upper + n;
  m->change = m->scores + m->size * c;
  m->b = m->change + m->size * c;
  m->centre = m->b + c;
  m->earlier = m->centre + c;
  m->sums = m->earlier + c;
  memset(m->a, 0, problem->features * c * sizeof *m->a);
  memset(m->duals, 0, n * c * sizeof *m->duals);
  memset(m->done, 0, c * sizeof *m->done);
  memset(m->b, 0, 4 * c * sizeof *m->b);
  for (size_t i = 0; i < n; i++)
    m->upper[i] = m->risk.weights[i] / (self->risk.lambda * m->risk.total);
  skip_one_sided(m);
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ one class on one chunk */

typedef struct chunk {
  machine *m;
  size_t first, count;
  double *kernel; /* count x count */
  bool make_kernel;
} chunk;

/* One class: its targets, duals and scores side by side, and scratch for the Newton step. */
typedef struct column {
  const chunk *k;
  double *y, *dual, *f; /* count each; f: scores, updated as the duals move */
  const double *upper;  /* count */
  double *step, *image, *free_kernel;
  size_t *free;
} column;

/* the nearest point of [0, upper] */
static double into_box(const column *col, size_t i, double dual) {
  return fmax(0, fmin(col->upper[i], dual));
}

/* dual_i moves to `to`; the scores follow */
static void move_dual(column *col, size_t i, double to) {
  const double *row = col->k->kernel + i * col->k->count, move = (to - col->dual[i]) * col->y[i];
  col->dual[i] = to;
  for (size_t l = 0; l < col->k->count; l++)
    col->f[l] += move * row[l];
}

/* A pass of coordinate descent; returns the largest violation that it met. */
static double coordinate_pass(column *col, const uint16_t *order) {
  double largest = 0;
  for (size_t at = 0; at < col->k->count; at++) {
    const size_t i = order[at];
    const double square = col->k->kernel[i * col->k->count + i], slope = col->y[i] * col->f[i] - 1;
    const double to = square > 0 ? into_box(col, i, col->dual[i] - slope / square) : col->upper[i];
    if (to == col->dual[i]) continue;
    largest = fmax(largest, fabs(to - col->dual[i]) * square);
    move_dual(col, i, to);
  }
  return largest;
}

/* step = the Newton direction of the free duals, as changes of b y:
 *
 *   (K_FF + 1e-10 of its mean diagonal) step = y - f
 *
 * Returns how many are free; 0 also where K_FF does not factor. */
static size_t newton_direction(column *col) {
  const scl_dense_algebra *dense = col->k->m->host->dense;
  size_t free = 0;
  double trace = 0;
  for (size_t i = 0; i < col->k->count; i++)
    if (col->dual[i] > 0 && col->dual[i] < col->upper[i]) col->free[free++] = i;
  for (size_t a = 0; a < free; a++) {
    const double *row = col->k->kernel + col->free[a] * col->k->count;
    for (size_t b = 0; b < free; b++)
      col->free_kernel[a * free + b] = row[col->free[b]];
    trace += row[col->free[a]];
    col->step[a] = col->y[col->free[a]] - col->f[col->free[a]];
  }
  for (size_t a = 0; a < free; a++)
    col->free_kernel[a * free + a] += 1e-10 * trace / (double)free;
  if (free == 0 || dense->potrf(free, col->free_kernel, (ptrdiff_t)free, NULL) != SCL_STATUS_OK)
    return 0;
  dense->potrs(free, 1, col->free_kernel, (ptrdiff_t)free, col->step, 1);
  return free;
}

/* Where free dual a goes at t of the way along the step, cut to its bounds. */
static double newton_target(const column *col, size_t a, double t) {
  const size_t i = col->free[a];
  return into_box(col, i, col->dual[i] + t * col->step[a] * col->y[i]);
}

/* Take t of the way where that raises D; image is what it adds to the scores. */
static bool newton_try(column *col, size_t free, double t) {
  const size_t count = col->k->count;
  double gain = 0;
  memset(col->image, 0, count * sizeof *col->image);
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    const double *row = col->k->kernel + i * count;
    const double move = (newton_target(col, a, t) - col->dual[i]) * col->y[i];
    for (size_t l = 0; l < count; l++)
      col->image[l] += move * row[l];
  }
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    const double move = (newton_target(col, a, t) - col->dual[i]) * col->y[i];
    gain += move * (col->y[i] - col->f[i] - col->image[i] / 2);
  }
  if (!(gain > 0)) return false;
  for (size_t a = 0; a < free; a++)
    col->dual[col->free[a]] = newton_target(col, a, t);
  for (size_t l = 0; l < count; l++)
    col->f[l] += col->image[l];
  return true;
}

/* The longest part of the step that leaves no bound, at most all of it. */
static double newton_reach(const column *col, size_t free) {
  double reach = 1;
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    const double move = col->step[a] * col->y[i],
                 room = move > 0 ? col->upper[i] - col->dual[i] : col->dual[i];
    if (fabs(move) * reach > room) reach = room / fabs(move);
  }
  return reach;
}

static void newton_step(column *col) {
  const size_t free = newton_direction(col);
  const double reach = free == 0 ? 1 : newton_reach(col, free);
  for (double t = 1; free > 0 && t > reach; t /= 4)
    if (newton_try(col, free, t)) return;
  if (free > 0) (void)newton_try(col, free, reach);
}

static scl_status open_column(column *col, const chunk *k, size_t class, scl_error *error) {
  const machine *m = k->m;
  const size_t count = k->count, c = m->problem->targets;
  *col = (column){.k = k, .upper = m->upper + k->first};
  col->y = m->host->allocate((5 + count) * count * sizeof *col->y);
  col->free = m->host->allocate(count * sizeof *col->free);
  if (col->y == NULL || col->free == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a chunk of %zu rows",
                         count);
  col->dual = col->y + count;
  col->f = col->dual + count;
  col->step = col->f + count;
  col->image = col->step + count;
  col->free_kernel = col->image + count;
  for (size_t i = 0; i < count; i++) {
    col->y[i] = m->risk.targets[(k->first + i) * c + class];
    col->dual[i] = m->duals[(k->first + i) * c + class];
    col->f[i] = m->scores[i * c + class];
  }
  return SCL_STATUS_OK;
}

static void close_column(column *col) {
  col->k->m->host->release(col->y);
  col->k->m->host->release(col->free);
}

/* A task: one class. */
static scl_status descend(void *context, size_t class, scl_error *error) {
  const chunk *k = context;
  const machine *m = k->m;
  const size_t c = m->problem->targets;
  column col;
  const scl_status status = open_column(&col, k, class, error);
  for (size_t round = 0; status == SCL_STATUS_OK && round < ROUNDS && !m->done[class]; round++) {
    if (coordinate_pass(&col, m->order + round * m->size) <= 1e-10) break;
    newton_step(&col);
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < k->count; i++) {
    double *dual = m->duals + (k->first + i) * c + class;
    m->change[i * c + class] = (col.dual[i] - *dual) * col.y[i];
    *dual = col.dual[i];
  }
  close_column(&col);
  return status;
}

/* ------------------------------------------------------------ one chunk */

/* A task: scores, and K where it is not known yet, of a stripe of rows. */
static scl_status score_stripe(void *context, size_t index, scl_error *error) {
  const chunk *k = context;
  const machine *m = k->m;
  const size_t d = m->problem->features, c = m->problem->targets, from = index * STRIPE_ROWS;
  const size_t rows = k->count - from < STRIPE_ROWS ? k->count - from : STRIPE_ROWS;
  const double *phi = m->phi + from * d;
  (void)error;
  m->host->dense->gemm(0, 0, rows, c, d, 1, phi, (ptrdiff_t)d, m->a, (ptrdiff_t)c, 0,
                       m->scores + from * c, (ptrdiff_t)c);
  for (size_t i = from * c; i < (from + rows) * c; i++)
    m->scores[i] += m->b[i % c];
  if (k->make_kernel)
    m->host->dense->gemm(0, 1, rows, k->count, d, 1, phi, (ptrdiff_t)d, m->phi, (ptrdiff_t)d, 0,
                         k->kernel + from * k->count, (ptrdiff_t)k->count);
  return SCL_STATUS_OK;
}

/* K, just made, becomes K + r. */
static void lift_kernel(const chunk *k) {
  machine *m = k->m;
  double trace = 0;
  for (size_t i = 0; i < k->count; i++) {
    const double square = k->kernel[i * k->count + i];
    m->longest = fmax(m->longest, square);
    trace += square;
  }
  if (!m->risk.intercept) return;
  if (m->spread == 0) m->spread = trace > 0 ? trace / (4 * (double)k->count) : 1;
  for (size_t i = 0; i < k->count * k->count; i++)
    k->kernel[i] += m->spread;
}

/* b = b0 + r s */
static void update_constants(const chunk *k) {
  const machine *m = k->m;
  const size_t c = m->problem->targets;
  for (size_t i = 0; m->risk.intercept && i < k->count * c; i++)
    m->b[i % c] += m->spread * m->change[i];
}

/* A task: a += B' change, a stripe of features. */
static scl_status update_stripe(void *context, size_t index, scl_error *error) {
  const chunk *k = context;
  const machine *m = k->m;
  const size_t d = m->problem->features, c = m->problem->targets, from = index * STRIPE_COLUMNS;
  const size_t width = d - from < STRIPE_COLUMNS ? d - from : STRIPE_COLUMNS;
  (void)error;
  m->host->dense->gemm(1, 0, width, c, k->count, 1, m->phi + from, (ptrdiff_t)d, m->change,
                       (ptrdiff_t)c, 1, m->a + from * c, (ptrdiff_t)c);
  return SCL_STATUS_OK;
}

/* An order of the chunk's rows for each pass: Fisher and Yates by the numbers of (seed, chunk,
 * iteration). */
static void draw_orders(const chunk *k) {
  const machine *m = k->m;
  for (size_t round = 0; round < ROUNDS; round++) {
    uint16_t *order = m->order + round * m->size;
    for (size_t i = 0; i < k->count; i++) {
      uint64_t bits;
      m->host->random->bits(m->self->seed, 0, k->first / m->size,
                            (m->iteration * ROUNDS + round) * CHUNK_MOST + i, 1, &bits);
      const size_t other = bits % (i + 1);
      order[i] = order[other];
      order[other] = (uint16_t)i;
    }
  }
}

/* The chunk in phi, whose rows are first .. first+count-1. */
static scl_status solve_chunk(machine *m, size_t first, size_t count, scl_error *error) {
  chunk k = {.m = m,
             .first = first,
             .count = count,
             .kernel = m->kernel + (m->keeps_kernel ? first * m->size : 0),
             .make_kernel = !m->keeps_kernel || !m->has_kernel};
  const scl_host *host = m->host;
  const size_t d = m->problem->features, c = m->problem->targets;
  draw_orders(&k);
  scl_status status =
      host->parallel((count + STRIPE_ROWS - 1) / STRIPE_ROWS, score_stripe, &k, error);
  if (status == SCL_STATUS_OK && k.make_kernel) lift_kernel(&k);
  if (status == SCL_STATUS_OK) status = host->parallel(c, descend, &k, error);
  if (status == SCL_STATUS_OK)
    status = host->parallel((d + STRIPE_COLUMNS - 1) / STRIPE_COLUMNS, update_stripe, &k, error);
  if (status == SCL_STATUS_OK) update_constants(&k);
  return status;
}

/* Gather rows into chunks, cut by their place in the problem and not by the blocks in which they
 * come: what is done to a chunk is then the same for every block size. */
static scl_status gather(void *context, const scl_rows *rows, scl_error *error) {
  machine *m = context;
  const size_t d = m->problem->features;
  const double *from = rows->features.data;
  for (size_t i = 0; i < rows->count; i++) {
    memcpy(m->phi + m->filled++ * d, from + (ptrdiff_t)i * rows->features.row_stride,
           d * sizeof *from);
    const size_t seen = rows->first + i + 1;
    if (m->filled < m->size && seen < m->problem->rows) continue;
    const scl_status status = solve_chunk(m, seen - m->filled, m->filled, error);
    if (status != SCL_STATUS_OK) return status;
    m->filled = 0;
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the gap */

/* ||a||^2 of class j */
static double square_of(const machine *m, size_t j) {
  const size_t c = m->problem->targets;
  double square = 0;
  for (size_t t = 0; t < m->problem->features; t++)
    square += m->a[t * c + j] * m->a[t * c + j];
  return square;
}

/* b0 moves once the inner problem is solved far enough: its gap is
 *
 *   P(a, b) + lambda (||a||^2/2 + b s - sum_i b_i)  <=  a share of (lambda/2) r s^2 */
static void move_centre(machine *m, size_t j, const hinge_column *col, const hinge_sides *sides,
                        double square, double primal) {
  const double lambda = m->self->risk.lambda, s = sides->positive - sides->negative;
  const double gap = hinge_mean_loss(col, m->b[j], m->risk.total) +
                     lambda * (square + m->b[j] * s - sides->positive - sides->negative);
  if (gap > lambda / 8 * m->spread * s * s && gap > m->self->tolerance / 10 * primal) return;
  const double step = hinge_step(m->spread, s, m->centre[j] - m->earlier[j], m->sums[j] - s);
  m->earlier[j] = m->centre[j];
  m->sums[j] = s;
  m->centre[j] += step;
  m->b[j] = m->centre[j] + m->spread * s;
}

/* Column j of the loss, its mean over all rows, and the relative gap; *constant: the best for a. */
static double column_gap(machine *m, size_t j, double *loss, double *constant) {
  const double lambda = m->self->risk.lambda, square = square_of(m, j);
  const hinge_column col = {.count = m->problem->rows,
                            .stride = m->problem->targets,
                            .f = m->all_scores + j,
                            .y = m->risk.targets + j,
                            .duals = m->duals + j,
                            .weights = m->risk.weights};
  const hinge_sides sides = hinge_sides_of(&col);
  const bool intercept = m->risk.intercept;
  *constant = intercept ? hinge_best_constant(&col, m->kinks) : 0;
  *loss = hinge_mean_loss(&col, *constant, m->risk.total);
  const double primal = *loss + lambda / 2 * square;
  const double dual = intercept ? hinge_balanced_dual(&sides, square, m->longest)
                                : sides.positive + sides.negative - square / 2;
  const double gap = primal > 0 ? (primal - lambda * dual) / primal : 0;
  if (intercept && gap > m->self->tolerance) move_centre(m, j, &col, &sides, square, primal);
  return gap;
}

/* The relative gap of each class at a, over all rows, of which the largest is told, and the
 * constants. */
static scl_status measure_gap(machine *m, scl_solution *out, scl_error *error) {
  const size_t c = m->problem->targets;
  const scl_status status = m->problem->product(m->problem, m->a, c, m->all_scores, error);
  if (status != SCL_STATUS_OK) return status;
  out->gap = m->loss = 0;
  for (size_t j = 0; j < c; j++) {
    double loss, constant;
    const double gap = column_gap(m, j, &loss, &constant);
    m->done[j] = gap <= m->self->tolerance;
    m->loss += loss;
    out->gap = fmax(out->gap, gap);
    if (out->intercept != NULL) out->intercept[j] = constant;
  }
  return SCL_STATUS_OK;
}

static scl_status iterate(machine *m, scl_solution *out, scl_error *error) {
  const size_t most = m->self->max_iterations;
  out->tolerance = m->self->tolerance;
  for (m->iteration = 0; m->iteration < most;) {
    scl_status status = m->problem->progress(m->problem, "solving",
                                             (double)m->iteration / (double)most, m->loss, error);
    m->filled = 0;
    if (status == SCL_STATUS_OK) status = m->problem->walk(m->problem, gather, m, error);
    m->has_kernel = true;
    out->iterations = ++m->iteration;
    if (status == SCL_STATUS_OK && (m->iteration % CHECK_EVERY == 0 || m->iteration == most))
      status = measure_gap(m, out, error);
    if (status != SCL_STATUS_OK) return status;
    if (out->gap <= m->self->tolerance) break;
  }
  out->outcome = out->gap <= m->self->tolerance ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  if (out->outcome == SCL_OUTCOME_LIMIT)
    (void)snprintf(out->note, sizeof out->note,
                   "the duality gap is %.1e of the objective, %.1e was wanted: give more "
                   "max_iterations or a larger lambda",
                   out->gap, out->tolerance);
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ the plugin */

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const hinge *self = instance;
  machine m;
  scl_status status = loss_check(&self->risk.loss, problem, error);
  if (status == SCL_STATUS_OK) status = open_machine(&m, self, problem, out, error);
  if (status != SCL_STATUS_OK) return status;
  status = iterate(&m, out, error);
  close_machine(&m);
  return status;
}

const scl_plugin scullery_plugin = {
    .name = "hinge",
    .summary = "The linear support vector machine by dual coordinate descent",
    .doc =
        "min (1/n) sum_i max(0, 1 - y_i (phi_i a + b)) + (lambda/2) ||a||^2, one column against "
        "all\n"
        "others for several classes. Dual coordinate descent (Hsieh et al. 2008) on chunks of 256\n"
        "rows through their own Gram matrix, in a seeded order. It ends when the duality gap,\n"
        "measured on all rows, is `tolerance` of the objective (of each class); info().gap is the\n"
        "worst. The constant b is not penalised (proximal steps around the descent); the gap is\n"
        "that of the problem with b.",
    SCL_SOLVER(.solve = solve),
    SCL_INSTANCE(hinge, options),
    SCL_ABILITIES(
        {SCL_ABILITY_LOSS, &loss_ability},
        SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective, .objective = risk_objective)),
    .create = create};
