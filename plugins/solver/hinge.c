/* The linear support vector machine on features, one column against all others for several classes:
 *
 *   min_a P(a) = sum_i w_i max(0, 1 - y_i phi_i a)/sum w + (lambda/2) ||a||^2
 *   max_b D(b) = lambda (sum_i b_i - (1/2) ||a||^2),   a = sum_i b_i y_i phi_i,
 *       0 <= b_i <= u_i = w_i/(lambda sum w)
 *
 * Dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008), a chunk of rows at a
 * time: with K = B B' of the chunk's rows B and its scores B a, a move of b_i costs a row of K, not
 * a row of features. After each pass over the chunk, a Newton step on the duals strictly inside
 * their bounds does what single coordinates are slow at where K is badly conditioned. Then a += B'
 * change, and on to the next chunk. Every move raises D. Classes are solved side by side, rows in
 * an order drawn by (seed, chunk, pass). The duality gap P(a) - D(b) is measured on all rows at one
 * a; relative to P(a) it is what `tolerance` bounds. */
#include "shared/losses.h"
#include "shared/risk.h"
#include "shared/row_chunks.h"
#include <stdatomic.h>
#include <stdio.h>

enum { LAMBDA, TOLERANCE, MAX_ITERATIONS, SEED, OPTIONS };

static const scl_option options[OPTIONS] = {
    {"lambda", SCL_FORM_NUMBER, NULL, "1e-4", 0, INFINITY, SCL_RANGE_LOW_OPEN | SCL_RANGE_HIGH_OPEN,
     SCL_WIDTH_NONE, "regularisation of the mean loss, more than 0"},
    {"tolerance", SCL_FORM_NUMBER, NULL, "1e-3", 0, 1, SCL_RANGE_LOW_OPEN, SCL_WIDTH_NONE,
     "duality gap relative to the objective"},
    {"max_iterations", SCL_FORM_INTEGER, NULL, "2000", 1, 1e9, 0, SCL_WIDTH_NONE,
     "passes over the rows at most"},
    {"seed", SCL_FORM_INTEGER, NULL, "0", 0, 9007199254740992, 0, SCL_WIDTH_NONE,
     "of the order of rows"},
};

enum { ROUNDS = 10, CHECK_EVERY = 5, STRIPE_ROWS = 32, STRIPE_COLUMNS = 256 };

typedef struct hinge {
  const scl_host *host;
  double lambda, tolerance;
  size_t max_iterations;
  uint64_t seed;
} hinge;

static scl_status create(const scl_host *host, const scl_value *values, void **instance,
                         scl_error *error) {
  hinge *self = host->allocate(sizeof *self);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a solver");
  *self = (hinge){host, values[LAMBDA].number, values[TOLERANCE].number,
                  (size_t)values[MAX_ITERATIONS].number, (uint64_t)values[SEED].number};
  *instance = self;
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  hinge *self = instance;
  self->host->release(self);
}

/* One solve. Duals and upper bounds are n x c and n; scores and changes those of a chunk. */
typedef struct machine {
  const hinge *self;
  const scl_problem *problem;
  const scl_dense_algebra *algebra;
  const scl_random *random;
  risk risk;
  double *duals, *upper;
  double *a;               /* D x c: the solution's coefficients */
  double *phi, *kernel;    /* size x D; K of one chunk, or of all: n x size */
  double *scores, *change; /* size x c */
  double *all_scores;      /* n x c, for the gap */
  double *gap;             /* c, relative */
  unsigned char *done;     /* c: the gap is small enough */
  int keeps_kernel, has_kernel;
  size_t size, iteration; /* rows of a chunk */
  uint16_t *order;        /* ROUNDS x size */
} machine;

static void close_machine(machine *m) {
  const scl_host *host = m->self->host;
  host->release(m->duals);
  host->release(m->phi);
  host->release(m->kernel);
  host->release(m->order);
  host->release(m->done);
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

static scl_status open_machine(machine *m, const hinge *self, const scl_problem *problem,
                               scl_solution *out, scl_error *error) {
  const scl_host *host = self->host;
  const size_t n = problem->rows, c = problem->targets;
  *m = (machine){
      .self = self, .problem = problem, .algebra = host->service(SCL_SERVICE_DENSE_ALGEBRA)};
  m->random = host->service(SCL_SERVICE_RANDOM);
  m->a = out->coefficients;
  m->size = chunk_size(problem);
  const scl_status status = risk_open(&m->risk, problem, loss_hinge, NULL, self->lambda, error);
  if (status != SCL_STATUS_OK) return status;
  m->duals = host->allocate((2 * n * c + n + 2 * m->size * c + c) * sizeof *m->duals);
  m->phi = host->allocate(m->size * problem->features * sizeof *m->phi);
  m->kernel = host->allocate(kernel_rows(m) * m->size * sizeof *m->kernel);
  m->order = host->allocate(ROUNDS * m->size * sizeof *m->order);
  m->done = host->allocate(c);
  if (m->duals == NULL || m->phi == NULL || m->kernel == NULL || m->order == NULL ||
      m->done == NULL) {
    close_machine(m);
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the duals of %zu rows",
                      n);
  }
  m->all_scores = m->duals + n * c;
  m->upper = m->all_scores + n * c;
  m->scores = m->upper + n;
  m->change = m->scores + m->size * c;
  m->gap = m->change + m->size * c;
  memset(m->a, 0, problem->features * c * sizeof *m->a);
  memset(m->duals, 0, n * c * sizeof *m->duals);
  memset(m->done, 0, c);
  for (size_t i = 0; i < n; i++)
    m->upper[i] = m->risk.weights[i] / (self->lambda * m->risk.total);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- one chunk */

typedef struct chunk {
  machine *m;
  size_t first, count;
  const double *phi;
  double *kernel; /* count x count */
  int make_kernel;
  atomic_int no_memory;
} chunk;

/* scores, and K where it is not known yet, a stripe of rows at a time */
static void score_stripe(void *context, size_t index) {
  const chunk *k = context;
  const machine *m = k->m;
  const size_t d = m->problem->features, c = m->problem->targets, from = index * STRIPE_ROWS;
  const size_t rows = k->count - from < STRIPE_ROWS ? k->count - from : STRIPE_ROWS;
  const double *phi = k->phi + from * d;
  m->algebra->gemm(0, 0, rows, c, d, 1, phi, (ptrdiff_t)d, m->a, (ptrdiff_t)c, 0,
                   m->scores + from * c, (ptrdiff_t)c);
  if (k->make_kernel)
    m->algebra->gemm(0, 1, rows, k->count, d, 1, phi, (ptrdiff_t)d, k->phi, (ptrdiff_t)d, 0,
                     k->kernel + from * k->count, (ptrdiff_t)k->count);
}

/* a += B' change, a stripe of features at a time */
static void update_stripe(void *context, size_t index) {
  const chunk *k = context;
  const machine *m = k->m;
  const size_t d = m->problem->features, c = m->problem->targets, from = index * STRIPE_COLUMNS;
  const size_t width = d - from < STRIPE_COLUMNS ? d - from : STRIPE_COLUMNS;
  m->algebra->gemm(1, 0, width, c, k->count, 1, k->phi + from, (ptrdiff_t)d, m->change,
                   (ptrdiff_t)c, 1, m->a + from * c, (ptrdiff_t)c);
}

/* One class on one chunk: its targets, duals and scores side by side, and scratch for the Newton
 * step. */
typedef struct column {
  const chunk *k;
  size_t class;
  double *y, *dual, *upper, *f; /* count each; f: scores, kept as the duals move */
  double *step, *image, *free_kernel;
  size_t *free;
} column;

/* the bound that keeps it inside [0, upper] */
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

/* step = the Newton direction of the free duals, as changes of b y: (K_FF + a little) step = y - f.
 * Returns how many are free. */
static size_t newton_direction(column *col) {
  const machine *m = col->k->m;
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
  if (free == 0 ||
      m->algebra->potrf(free, col->free_kernel, (ptrdiff_t)free, NULL) != SCL_STATUS_OK)
    return 0;
  m->algebra->potrs(free, 1, col->free_kernel, (ptrdiff_t)free, col->step, 1);
  return free;
}

/* The duals t of the way along the step, cut to their bounds, where that raises D; image is what it
 * adds to the scores. */
static int newton_try(column *col, size_t free, double t) {
  const size_t count = col->k->count;
  double gain = 0;
  memset(col->image, 0, count * sizeof *col->image);
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    const double *row = col->k->kernel + i * count;
    const double move =
        (into_box(col, i, col->dual[i] + t * col->step[a] * col->y[i]) - col->dual[i]) * col->y[i];
    for (size_t l = 0; l < count; l++)
      col->image[l] += move * row[l];
  }
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    const double move =
        (into_box(col, i, col->dual[i] + t * col->step[a] * col->y[i]) - col->dual[i]) * col->y[i];
    gain += move * (col->y[i] - col->f[i] - col->image[i] / 2);
  }
  if (!(gain > 0)) return 0;
  for (size_t a = 0; a < free; a++) {
    const size_t i = col->free[a];
    col->dual[i] = into_box(col, i, col->dual[i] + t * col->step[a] * col->y[i]);
  }
  for (size_t l = 0; l < count; l++)
    col->f[l] += col->image[l];
  return 1;
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

static int open_column(column *col, const chunk *k, size_t class) {
  const machine *m = k->m;
  const size_t count = k->count, c = m->problem->targets;
  *col = (column){.k = k, .class = class, .upper = m->upper + k->first};
  col->y = m->self->host->allocate((5 + count) * count * sizeof *col->y);
  col->free = m->self->host->allocate(count * sizeof *col->free);
  if (col->y == NULL || col->free == NULL) return 0;
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
  return 1;
}

static void close_column(column *col) {
  const scl_host *host = col->k->m->self->host;
  host->release(col->y);
  host->release(col->free);
}

static void descend(void *context, size_t class) {
  chunk *k = context;
  const machine *m = k->m;
  const size_t c = m->problem->targets;
  column col;
  if (!open_column(&col, k, class)) {
    atomic_store(&k->no_memory, 1);
  } else {
    for (size_t round = 0; round < ROUNDS && !m->done[class]; round++) {
      if (coordinate_pass(&col, m->order + round * m->size) <= 1e-10) break;
      newton_step(&col);
    }
    for (size_t i = 0; i < k->count; i++) {
      double *dual = m->duals + (k->first + i) * c + class;
      m->change[i * c + class] = (col.dual[i] - *dual) * col.y[i];
      *dual = col.dual[i];
    }
  }
  close_column(&col);
}

/* An order of the chunk's rows for each pass: Fisher and Yates by the numbers of (seed, chunk,
 * iteration). */
static void draw_orders(const chunk *k) {
  const machine *m = k->m;
  for (size_t round = 0; round < ROUNDS; round++) {
    uint16_t *order = m->order + round * m->size;
    for (size_t i = 0; i < k->count; i++) {
      uint64_t bits;
      m->random->bits(m->self->seed, 0, k->first / m->size,
                      (m->iteration * ROUNDS + round) * CHUNK_MOST + i, 1, &bits);
      const size_t other = bits % (i + 1);
      order[i] = order[other];
      order[other] = (uint16_t)i;
    }
  }
}

static scl_status solve_chunk(void *context, size_t first, size_t count, const double *phi,
                              scl_error *error) {
  machine *m = context;
  chunk k = {.m = m,
             .first = first,
             .count = count,
             .phi = phi,
             .make_kernel = !m->keeps_kernel || !m->has_kernel};
  const scl_host *host = m->self->host;
  const size_t d = m->problem->features, c = m->problem->targets;
  k.kernel = m->kernel + (m->keeps_kernel ? first * m->size : 0);
  draw_orders(&k);
  host->parallel((count + STRIPE_ROWS - 1) / STRIPE_ROWS, score_stripe, &k);
  host->parallel(c, descend, &k);
  if (atomic_load(&k.no_memory))
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a chunk of %zu rows",
                      count);
  host->parallel((d + STRIPE_COLUMNS - 1) / STRIPE_COLUMNS, update_stripe, &k);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- the gap */

/* The relative gap of each class at a, over all rows; returns the worst. */
static scl_status measure_gap(machine *m, double *worst, scl_error *error) {
  const size_t n = m->problem->rows, d = m->problem->features, c = m->problem->targets;
  const scl_status status = m->problem->product(m->problem, m->a, c, m->all_scores, error);
  if (status != SCL_STATUS_OK) return status;
  *worst = 0;
  for (size_t j = 0; j < c; j++) {
    double loss = 0, duals = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
      loss +=
          m->risk.weights[i] * fmax(0, 1 - m->risk.targets[i * c + j] * m->all_scores[i * c + j]);
      duals += m->duals[i * c + j];
    }
    for (size_t t = 0; t < d; t++)
      square += m->a[t * c + j] * m->a[t * c + j];
    const double primal = loss / m->risk.total + m->self->lambda / 2 * square,
                 dual = m->self->lambda * (duals - square / 2);
    m->gap[j] = primal > 0 ? (primal - dual) / primal : 0;
    m->done[j] = m->gap[j] <= m->self->tolerance;
    *worst = fmax(*worst, m->gap[j]);
  }
  return SCL_STATUS_OK;
}

static scl_status iterate(machine *m, scl_solution *out, scl_error *error) {
  const size_t most = m->self->max_iterations;
  out->tolerance = m->self->tolerance;
  for (m->iteration = 0; m->iteration < most;) {
    scl_status status =
        m->problem->progress(m->problem, (double)m->iteration / (double)most, "solving", error);
    if (status == SCL_STATUS_OK) status = chunks_walk(m->problem, m->phi, solve_chunk, m, error);
    m->has_kernel = 1;
    out->iterations = ++m->iteration;
    if (status == SCL_STATUS_OK && (m->iteration % CHECK_EVERY == 0 || m->iteration == most))
      status = measure_gap(m, &out->gap, error);
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

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const hinge *self = instance;
  machine m;
  if (problem->task != SCL_TASK_CLASSIFICATION)
    return self->host->fail(error, SCL_STATUS_UNSUPPORTED,
                            "it tells classes apart, and the targets are numbers: task = "
                            "\"classification\" goes with it");
  scl_status status = open_machine(&m, self, problem, out, error);
  if (status != SCL_STATUS_OK) return status;
  status = iterate(&m, out, error);
  close_machine(&m);
  return status;
}

/* ---------------------------------------------------------------- the loss */

static double value(const void *instance, size_t c, const double *f, const double *y) {
  double sum = 0;
  (void)instance;
  for (size_t j = 0; j < c; j++)
    sum += fmax(0, 1 - y[j] * f[j]);
  return sum;
}

static void slope(const void *instance, size_t c, const double *f, const double *y, double *out) {
  (void)loss_hinge(instance, c, f, y, out);
}

static double bound(const void *instance, double reach) {
  (void)instance;
  return 1 + reach;
}

static double lipschitz(const void *instance, double reach) {
  (void)instance;
  (void)reach;
  return 1;
}

static int probabilities(const void *instance, size_t c, const double *f, double *out) {
  (void)instance;
  (void)c;
  (void)f;
  (void)out;
  return 0;
}

static scl_status objective(const void *instance, const scl_problem *problem,
                            const double *coefficients, const double *intercept, double *out,
                            scl_error *error) {
  const hinge *self = instance;
  return risk_objective(problem, loss_hinge, NULL, self->lambda, coefficients, intercept, out,
                        error);
}

static const void *ability(const void *instance, const char *id) {
  static const scl_ability_loss loss_table = {
      SCL_HEAD(scl_ability_loss), value, slope, bound, lipschitz, probabilities};
  static const scl_ability_objective objective_table = {SCL_HEAD(scl_ability_objective), objective};
  (void)instance;
  if (strcmp(id, SCL_ABILITY_LOSS) == 0) return &loss_table;
  return strcmp(id, SCL_ABILITY_OBJECTIVE) == 0 ? &objective_table : NULL;
}

static const scl_solver table = {SCL_HEAD(scl_solver), solve};

const scl_plugin scullery_plugin = {
    SCL_HEAD(scl_plugin),
    SCL_KIND_SOLVER,
    "hinge",
    "1.0",
    "The Scullery authors",
    "The linear support vector machine by dual coordinate descent",
    "min_a (1/n) sum_i max(0, 1 - y_i phi_i a) + (lambda/2) ||a||^2, one column against all others "
    "for several classes.\n"
    "Dual coordinate descent (Hsieh et al. 2008) on chunks of 256 rows through their own Gram "
    "matrix, in a seeded order.\n"
    "It ends when the duality gap, measured on all rows, is `tolerance` of the objective (of each "
    "class); info().gap is the worst.\n"
    "It has no intercept: add_bias() before the features, or features with a constant, serve as "
    "one.",
    options,
    OPTIONS,
    &table,
    create,
    destroy,
    ability};
