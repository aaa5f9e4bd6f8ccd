/* Support vector machines. Classes, y_i = +-1, and numbers (epsilon support vector regression):
 *
 *   min_{f, f0}  (1/2) ||f||_K^2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + f0))
 *   min_{f, f0}  (1/2) ||f||_K^2 + C sum_i w_i max(0, |f(x_i) + f0 - y_i| - epsilon)
 *
 * The solution is f = sum_i b_i K(x_i, .) with |b_i| <= C w_i and sum_i b_i = 0. Several classes
 * are learnt in pairs and vote; several targets one by one. machine.c finds the b_i of
 * one function.
 *
 * What is kept is an expansion over the support vectors. How far the b_i are from optimal is
 * measured on kernel values in double precision:
 *
 *   max_{i, j} v_i - v_j   over b_i that may grow and b_j that may shrink, v = y - f
 */
#include "svm.h"
#include "definition.h"
#include "shared/distances.h"
#include "shared/expansion.h"
#include "shared/expansion_doubt.h"
#include "shared/models.h"
#include "shared/rows.h"
#include "shared/state.h"

#include <float.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static const scl_option options[] = {
    SCL_ROW(svm, kernel, SCL_FORM_PARTS, "kernel", NULL,
            "the kernel on rows, as sc.kernel.linear{} (default: Gaussian with rate gamma)",
            .range = 0),
    SCL_NUMBER(svm, gamma, NULL,
               "instead of kernel: the rate in exp(-gamma ||x-y||^2) (default 1/d, d columns)",
               SCL_POSITIVE, .width = SCL_WIDTH_GAMMA),
    SCL_NUMBER(svm, C, "1", "weight of each row's loss; larger fits closer", SCL_POSITIVE,
               .role = SCL_ROLE_CAPACITY),
    SCL_NUMBER(svm, epsilon, "0.1", "regression: residuals up to this size have no loss",
               SCL_NOT_NEGATIVE),
    SCL_NUMBER(svm, tolerance, "1e-3", "stop at this violation of optimality", SCL_POSITIVE,
               .role = SCL_ROLE_TOLERANCE),
    SCL_NUMBER(svm, cache, "200", "size of the cache of kernel values, in megabytes",
               SCL_ABOVE(0, 1e6))};

static scl_status svm_create(void *instance, scl_error *error) {
  const svm *self = instance;
  if (self->kernel.plugin == NULL || isnan(self->gamma)) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "gamma and kernel both set the kernel: give one of them");
}

/* ------------ models */

/* Scores are the functions themselves, or the votes of one function a pair of classes. */
typedef struct machines {
  expansion base;
  size_t targets;
  int32_t *pairs; /* functions x 2: the classes above 0 and below; NULL: no votes */
} machines;

static void end(const void *instance, void *model) {
  const scl_host *host = ((const svm *)instance)->base.host;
  const machines *m = model;
  expansion_release(host, &m->base);
  host->release(m->pairs);
  host->release(model);
}

/* The votes of a class, and within a third of a vote the sum of its functions, which decides where
 * votes are equal. */
static void vote(const machines *m, const double *values, double *sums, double *scores) {
  for (size_t j = 0; j < m->targets; j++)
    scores[j] = sums[j] = 0;
  for (size_t p = 0; p < m->base.functions; p++) {
    const int32_t plus = m->pairs[2 * p], minus = m->pairs[2 * p + 1];
    scores[values[p] > 0 ? plus : minus] += 1;
    sums[plus] += values[p];
    sums[minus] -= values[p];
  }
  for (size_t j = 0; j < m->targets; j++)
    scores[j] += sums[j] / (3 * (fabs(sums[j]) + 1));
}

/* The scores of rows: the functions themselves, or votes. */
static scl_status decide(const void *instance, const void *model, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_host *host = ((const svm *)instance)->base.host;
  const machines *m = model;
  const size_t functions = m->base.functions;
  const scl_const_parameters u =
      scl_dense_rows(rows->data, rows->row_stride, rows->rows, rows->cols);
  if (m->pairs == NULL)
    return expansion_values(instance, svm_gram, &m->base, &u, scores, stride, error);
  double *values = host->scratch((rows->rows * functions + m->targets) * sizeof *values);
  if (values == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu functions of a row",
                      functions);
  const scl_status status =
      expansion_values(instance, svm_gram, &m->base, &u, values, (ptrdiff_t)functions, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->rows; i++)
    vote(m, values + i * functions, values + rows->rows * functions,
         scores + (ptrdiff_t)i * stride);
  return status;
}

/* ------------ problems */

/* From so many functions on, they are fitted side by side, at most SHARES at once, which share the
 * cache; fewer are fitted one after another, each on all threads. The share of a function is the
 * same for any number of threads. */
enum { SIDE_BY_SIDE = 6, SHARES = 8 };

typedef struct training {
  const svm *self;
  const scl_host *host;
  const scl_problem *problem;
  row_set set;
  machines *m;
  size_t classes, present; /* of the task; of the rows. 0: regression */
  size_t *label;           /* rows: the class */
  double *squares;         /* rows: squared lengths */
  int32_t *names;          /* the classes that are present, ascending */
  double *b;               /* rows x functions, before rows without coefficients go */
  double *violation;       /* functions */
  size_t *steps;           /* functions */
  size_t *kept;            /* places of the rows that stay */
} training;

/* Refuses rows whose squared length overflows, as their distances would be NaN. */
static scl_status measure_rows(const training *t, scl_error *error) {
  distances_squares(t->set.x, (ptrdiff_t)t->set.cols, t->set.rows, t->set.cols, t->squares);
  const double factor = fmax(svm_gamma(t->self, t->set.cols), 1);
  for (size_t i = 0; t->self->kernel.plugin == NULL && i < t->set.rows; i++)
    if (!(4 * t->squares[i] * factor <= DBL_MAX))
      return t->host->fail(error, SCL_STATUS_BAD_DATA,
                           "row %zu is too long for Gaussian kernel values: scale the rows", i + 1);
  return SCL_STATUS_OK;
}

/* Labels the rows by class and lists the classes that are present. t->names first serves as a mark
 * for each class; the names are then written in place, never ahead of the mark that is read. */
static scl_status find_classes(training *t, scl_error *error) {
  t->names = t->host->scratch(t->classes * sizeof *t->names);
  if (t->names == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu classes",
                         t->classes);
  memset(t->names, 0, t->classes * sizeof *t->names);
  for (size_t i = 0; i < t->set.rows; i++) {
    t->label[i] = rows_class(&t->set, i);
    t->names[t->label[i]] = 1;
  }
  for (size_t j = 0; j < t->classes; j++)
    if (t->names[j] != 0) t->names[t->present++] = (int32_t)j;
  return rows_need_two_classes(t->host, &t->set, error);
}

/* Allocates coefficients and results for all functions, and lists the pairs of classes. */
static scl_status training_reserve(training *t, scl_error *error) {
  const size_t n = t->set.rows, classes = t->present,
               functions = t->classes == 0 ? t->set.targets : classes * (classes - 1) / 2;
  const bool votes = t->classes > 2;
  t->m->base.cols = t->set.cols;
  t->m->base.functions = functions;
  t->m->targets = t->set.targets;
  t->b = functions > SIZE_MAX / 16 / n ? NULL : models_new(t->host, n * functions * 8, NULL);
  t->m->base.f0 = models_new(t->host, functions * sizeof(double), NULL);
  t->violation = t->host->scratch(functions * sizeof *t->violation);
  t->steps = t->host->scratch(functions * sizeof *t->steps);
  if (votes) t->m->pairs = t->host->allocate(2 * functions * sizeof *t->m->pairs);
  if (t->b == NULL || t->m->base.f0 == NULL || t->violation == NULL || t->steps == NULL ||
      (votes && t->m->pairs == NULL))
    return t->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for %zu x %zu coefficients", n, functions);
  for (size_t i = 0, at = 0; votes && i < classes; i++)
    for (size_t j = i + 1; j < classes; j++) {
      t->m->pairs[2 * at] = t->names[i];
      t->m->pairs[2 * at++ + 1] = t->names[j];
    }
  return SCL_STATUS_OK;
}

/* Allocates the lists over rows, and checks rows and classes. */
static scl_status training_prepare(training *t, scl_error *error) {
  const size_t n = t->set.rows;
  t->label = t->host->scratch(n * sizeof *t->label);
  t->squares = t->host->scratch(n * sizeof *t->squares);
  t->kept = t->host->scratch(n * sizeof *t->kept);
  if (t->label == NULL || t->squares == NULL || t->kept == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", n);
  scl_status status = measure_rows(t, error);
  if (status == SCL_STATUS_OK && t->classes > 0) status = find_classes(t, error);
  return status == SCL_STATUS_OK ? training_reserve(t, error) : status;
}

/* ------------ one function */

/* The role of row i in function `at`: a class of the pair, or a target. */
static svm_row svm_row_of(const training *t, size_t at, size_t i) {
  const double bound = t->self->C * t->set.weights[i];
  if (t->classes == 0)
    return (svm_row){.y = t->set.y[i * t->set.targets + at], .lo = -bound, .hi = bound};
  const bool above =
      t->m->pairs == NULL ? t->label[i] == 1 : t->label[i] == (size_t)t->m->pairs[2 * at];
  return above ? (svm_row){.y = 1, .hi = bound} : (svm_row){.y = -1, .lo = -bound};
}

/* Whether row i belongs to function `at`: all rows unless it is one of a pair of classes. */
static bool takes_part(const training *t, size_t at, size_t i) {
  return t->m->pairs == NULL || t->label[i] == (size_t)t->m->pairs[2 * at] ||
         t->label[i] == (size_t)t->m->pairs[2 * at + 1];
}

/* A machine, and the rows of its function with their places. */
typedef struct lane {
  const struct learning *learning;
  svm_machine machine;
  svm_function function;
  size_t *place;
  double *x, *squares;
} lane;

/* All functions, learnt by some machines side by side. Each takes the next function when it has
 * learnt one, and stops after SLICE seconds, for the checkpoint and the progress. */
typedef struct learning {
  const training *t;
  size_t lanes;
  atomic_size_t next;
  lane lane[SHARES];
} learning;

static const double SLICE = 0.2;

static size_t count_part(const training *t, size_t at) {
  size_t count = 0;
  for (size_t i = 0; i < t->set.rows; i++)
    count += takes_part(t, at, i);
  return count;
}

static void lane_leave(lane *l) {
  const scl_host *host = l->machine.host;
  host->release(l->place);
  host->release(l->x);
  host->release(l->squares);
  l->place = NULL;
  l->x = l->squares = NULL;
}

/* Gathers the rows of function `at` and their places. fresh: coefficients are 0, in place of those
 * that are there. */
static scl_status lane_enter(lane *l, size_t at, bool fresh, scl_error *error) {
  const training *t = l->learning->t;
  const size_t n = t->set.rows, d = t->set.cols;
  size_t count = count_part(t, at);
  const bool all = count == n;
  l->place = t->host->allocate(count * sizeof *l->place);
  if (!all) {
    l->x = t->host->allocate((count * d + 1) * sizeof *l->x);
    l->squares = t->host->allocate(count * sizeof *l->squares);
  }
  if (l->place == NULL || (!all && (l->x == NULL || l->squares == NULL)))
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", count);
  l->function = (svm_function){
      .rows = {count, d, all ? t->set.x : l->x, (ptrdiff_t)d, all ? t->squares : l->squares},
      .row = l->machine.all};
  l->machine.out = &l->function;
  count = 0;
  for (size_t i = 0; i < n; i++) {
    if (!takes_part(t, at, i)) continue;
    if (fresh) l->machine.all[count] = svm_row_of(t, at, i);
    l->place[count] = i;
    if (!all) {
      memcpy(l->x + count * d, t->set.x + i * d, d * sizeof *l->x);
      l->squares[count] = t->squares[i];
    }
    count++;
  }
  return SCL_STATUS_OK;
}

/* Writes the coefficients of the function to its column of t->b. */
static void lane_write(lane *l) {
  const training *t = l->learning->t;
  const size_t functions = t->m->base.functions, at = l->machine.function - 1;
  for (size_t k = 0; k < l->function.rows.count; k++)
    t->b[l->place[k] * functions + at] = l->function.row[k].b;
  t->m->base.f0[at] = l->function.f0;
  t->violation[at] = l->function.violation;
  t->steps[at] = l->function.steps;
}

static double seconds_now(void) {
  struct timespec now;
  (void)timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A task of the pool: a slice of a lane's work. */
static scl_status learn_slice(void *context, size_t index, scl_error *error) {
  learning *w = context;
  lane *l = &w->lane[index];
  svm_machine *m = &l->machine;
  const double began = seconds_now();
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && fabs(seconds_now() - began) < SLICE) {
    if (m->function == 0) {
      const size_t at = atomic_fetch_add(&w->next, 1);
      if (at >= w->t->m->base.functions) return SCL_STATUS_OK;
      status = lane_enter(l, at, true, error);
      if (status == SCL_STATUS_OK) svm_machine_begin(m, at + 1);
    }
    bool done = false;
    if (status == SCL_STATUS_OK) status = svm_machine_step(m, &done, error);
    if (!done) continue;
    lane_write(l);
    lane_leave(l);
    m->function = 0;
  }
  return status;
}

static scl_status open_lanes(learning *w, scl_error *error) {
  const training *t = w->t;
  const size_t functions = t->m->base.functions;
  scl_status status = SCL_STATUS_OK;
  size_t most = 0;
  for (size_t at = 0; at < functions; at++) {
    const size_t count = count_part(t, at);
    most = count > most ? count : most;
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < w->lanes; i++) {
    lane *l = &w->lane[i];
    *l = (lane){.learning = w,
                .machine = {.self = t->self,
                            .host = t->host,
                            .epsilon = t->classes == 0 ? t->self->epsilon : 0,
                            .megabytes = t->self->cache / (w->lanes == 1 ? 1 : SHARES)}};
    l->machine.smo.loops = svm_loops_get();
    status = svm_machine_reserve(&l->machine, most, t->set.cols, error);
  }
  return status;
}

static void close_lanes(learning *w) {
  for (size_t i = 0; i < w->lanes; i++) {
    if (w->lane[i].learning == NULL) continue;
    lane_leave(&w->lane[i]);
    svm_machine_release(&w->lane[i].machine);
  }
}

/* What a checkpoint has: the functions that are learnt, and the machines. */
static scl_status keep_lanes(learning *w, scl_error *error) {
  const training *t = w->t;
  const size_t functions = t->m->base.functions;
  uint64_t next = atomic_load(&w->next), restored = next;
  state kept = {0};
  STATE_ADD(&kept, restored);
  state_add(&kept, t->b, t->set.rows * functions * sizeof *t->b);
  state_add(&kept, t->m->base.f0, functions * sizeof *t->m->base.f0);
  state_add(&kept, t->violation, functions * sizeof *t->violation);
  state_add(&kept, t->steps, functions * sizeof *t->steps);
  for (size_t i = 0; i < w->lanes; i++) {
    svm_machine_pack(&w->lane[i].machine);
    state_add(&kept, w->lane[i].machine.kept, w->lane[i].machine.kept_bytes);
  }
  scl_status status = state_keep(t->problem, &kept, error);
  if (status != SCL_STATUS_OK || restored == next) return status;
  atomic_store(&w->next, restored);
  for (size_t i = 0; status == SCL_STATUS_OK && i < w->lanes; i++) {
    lane *l = &w->lane[i];
    const size_t function = l->machine.kept->function;
    if (function == 0) continue;
    status = lane_enter(l, function - 1, false, error);
    if (status == SCL_STATUS_OK) status = svm_machine_unpack(&l->machine, error);
  }
  return status;
}

/* Whether a lane has a function, or there is one to begin; *done: of all functions, those
 * learnt. */
static bool some_left(learning *w, double *done) {
  const size_t functions = w->t->m->base.functions, next = atomic_load(&w->next);
  size_t busy = 0;
  for (size_t i = 0; i < w->lanes; i++)
    busy += w->lane[i].machine.function != 0;
  *done = (double)(svm_least(next, functions) - busy) / (double)functions;
  return busy > 0 || next < functions;
}

/* Few functions are learnt one after another, each with all threads and the whole cache; of many
 * some at a time, in parallel tasks that share the cache. */
static scl_status fit_functions(training *t, scl_error *error) {
  const size_t functions = t->m->base.functions;
  learning w = {.t = t, .lanes = functions < SIDE_BY_SIDE ? 1 : svm_least(functions, SHARES)};
  double done;
  scl_status status = open_lanes(&w, error);
  while (status == SCL_STATUS_OK && some_left(&w, &done)) {
    status = keep_lanes(&w, error);
    if (status == SCL_STATUS_OK)
      status = t->problem->progress(t->problem, "support vectors", done, NAN, error);
    if (status != SCL_STATUS_OK) break;
    status = w.lanes == 1 ? learn_slice(&w, 0, error)
                          : t->host->parallel(w.lanes, learn_slice, &w, error);
  }
  close_lanes(&w);
  return status;
}

/* ------------ the model */

static bool has_coefficient(const training *t, size_t row) {
  const size_t functions = t->m->base.functions;
  for (size_t j = 0; j < functions; j++)
    if (t->b[row * functions + j] != 0) return true;
  return false;
}

/* Copies the rows with a nonzero coefficient, and at least one row, to the model. */
static scl_status keep_support(training *t, scl_error *error) {
  expansion *e = &t->m->base;
  const size_t d = e->cols, c = e->functions;
  for (size_t i = 0; i < t->set.rows; i++)
    if (has_coefficient(t, i) || (e->rows == 0 && i + 1 == t->set.rows)) t->kept[e->rows++] = i;
  e->x = t->host->allocate(e->rows * d * sizeof *e->x);
  e->b = t->host->allocate(e->rows * c * sizeof *e->b);
  if (e->x == NULL || e->b == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu support vectors",
                         e->rows);
  for (size_t i = 0; i < e->rows; i++) {
    memcpy(e->x + i * d, t->set.x + t->kept[i] * d, d * sizeof *e->x);
    memcpy(e->b + i * c, t->b + t->kept[i] * c, c * sizeof *e->b);
  }
  e->pilot = t->set.pilot;
  t->set.pilot = NULL;
  return SCL_STATUS_OK;
}

/* ------------ fitting */

/* Writes outcome and note; the residual is the largest violation over the functions. */
static void training_account(const training *t, scl_solution *out) {
  out->residual = 0;
  out->iterations = 0;
  for (size_t j = 0; j < t->m->base.functions; j++) {
    if (!(t->violation[j] <= out->residual)) out->residual = t->violation[j];
    out->iterations += t->steps[j];
  }
  out->tolerance = t->self->tolerance;
  if (SCL_HAS(out, kept)) out->kept = t->m->base.rows;
  const bool converged = out->residual <= out->tolerance;
  out->outcome = converged ? SCL_OUTCOME_CONVERGED : SCL_OUTCOME_LIMIT;
  (void)snprintf(out->note, sizeof out->note, "%zu of %zu rows are support vectors%s",
                 t->m->base.rows, t->set.rows,
                 converged ? ""
                           : "; its steps ended before the condition held: scale the rows, "
                             "or give a larger tolerance");
}

/* Whether a point may be subtracted from all rows: for shift-invariant kernels, and others that
 * allow it where the coefficients sum to 0, as they do here. */
static bool may_move(const training *t) {
  return t->self->kernel.plugin == NULL || rows_may_move(t->host, &t->self->kernel, true);
}

/* For a kernel that is not shift-invariant: checks whether rounding of its values spoils the
 * scores. */
static scl_status training_doubt(const training *t, scl_solution *out, scl_error *error) {
  const expansion *e = &t->m->base;
  const scl_const_parameters u = scl_dense_rows(e->x, (ptrdiff_t)e->cols, e->rows, e->cols);
  if (may_move(t)) return SCL_STATUS_OK;
  double *diagonal = t->host->scratch(e->rows * sizeof *diagonal);
  if (diagonal == NULL)
    return t->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", e->rows);
  const scl_status status = t->host->parts->diagonal(&t->self->kernel, &u, diagonal, error);
  if (status != SCL_STATUS_OK) return status;
  return expansion_doubt(t->self, svm_gram, e, diagonal, NULL, out, error);
}

/* The whole fit: rows, classes, functions, model and account. */
static scl_status training_run(training *t, scl_solution *out, scl_error *error) {
  scl_status status = rows_collect(t->problem, &t->set, error);
  if (status == SCL_STATUS_OK && may_move(t)) status = rows_centre(t->host, &t->set, error);
  if (status == SCL_STATUS_OK) status = training_prepare(t, error);
  if (status == SCL_STATUS_OK) status = fit_functions(t, error);
  if (status == SCL_STATUS_OK) status = keep_support(t, error);
  if (status != SCL_STATUS_OK) return status;
  training_account(t, out);
  return training_doubt(t, out, error);
}

static scl_status fit(const void *instance, const scl_problem *problem, void **model,
                      scl_solution *out, scl_error *error) {
  training t = {.self = instance, .host = problem->host, .problem = problem};
  t.m = models_new(t.host, sizeof *t.m, error);
  if (t.m == NULL) return SCL_STATUS_NO_MEMORY;
  if (problem->task == SCL_TASK_CLASSIFICATION)
    t.classes = problem->targets == 1 ? 2 : problem->targets;
  const scl_status status = training_run(&t, out, error);
  rows_release(t.host, &t.set);
  t.host->release(t.b);
  if (status == SCL_STATUS_OK)
    *model = t.m;
  else
    end(instance, t.m);
  return status;
}

/* ------------ arrays: rows (the support vectors),
 * coefficients, intercept; votes (0 or 1), pairs */

static scl_status save(const void *instance, const void *model, scl_archive *archive,
                       scl_error *error) {
  const machines *m = model;
  const int32_t votes = m->pairs != NULL;
  model_writer w = {archive, error, SCL_STATUS_OK};
  (void)instance;
  expansion_put(&w, &m->base);
  models_put(&w, "votes", SCL_DTYPE_INT32, 1, 0, &votes);
  if (votes) models_put(&w, "pairs", SCL_DTYPE_INT32, m->base.functions, 2, m->pairs);
  return w.status;
}

static void get_model(const void *self, model_reader *r, size_t features, size_t targets,
                      void *model) {
  machines *m = model;
  size_t one = 1;
  int32_t *votes = models_get_places(r, "votes", &one, 0, 2);
  const bool in_pairs = votes != NULL && votes[0] == 1;
  (void)self;
  r->host->release(votes);
  m->targets = targets;
  m->base.cols = features;
  m->base.functions = in_pairs ? 0 : targets;
  expansion_get(r, &m->base);
  if (in_pairs) m->pairs = models_get_places(r, "pairs", &m->base.functions, 2, targets);
}
MODELS_LOAD(machines)

/* Of several classes each pair is a function of its own, whose rows are those of two classes; a row
 * of the model is a support vector of one or more of the k - 1 functions that it takes part in. A
 * function makes kernel values of all its rows with each row that ever joins its working set: the
 * support vectors, and the first set with the half that the next round replaces (round.c), which
 * are chosen before anything is known. */
static void cost(const void *instance, const scl_problem *problem, const double *values,
                 size_t count, int32_t weighted, scl_cost *out) {
  const svm *self = instance;
  const bool known = SCL_HAS(out, kept) && out->kept > 0;
  const double n = (double)problem->rows, d = (double)problem->features,
               c = (double)problem->targets, k = (double)problem->classes,
               pairs = k > 2 ? k * (k - 1) / 2 : 1, width = k > 2 ? 2 * n / k : n,
               takes_part_in = k > 2 ? k - 1 : 1,
               share = known ? 1 - pow(1 - fmin(out->kept / n, 1), 1 / takes_part_in) : 1.0 / 6,
               kept = n * (1 - pow(1 - share, takes_part_in)), vectors = width * share,
               room = (double)svm_set_room((size_t)width),
               cached = fmin(pairs, SHARES) * width * fmin(vectors + 1.5 * room, width),
               digit = pow(10, fmax(floor(log10(kept)) - 1, 0)); /* the second one of kept */
  (void)values, (void)count, (void)weighted;
  out->passes = 1;
  out->products = pairs * 2 * width * vectors * d;
  out->steps = pairs * 60 * width * vectors;
  out->bytes = (n * (d + c + 10 + pairs) + kept * (d + pairs)) * sizeof(double) +
               fmin(1e6 * self->cache, cached * sizeof(float));
  if (known)
    (void)snprintf(out->note, sizeof out->note,
                   "%.0f support vectors are expected from fits to the first rows",
                   digit * round(kept / digit));
  else
    (void)snprintf(out->note, sizeof out->note,
                   "a sixth of the rows as support vectors is typical");
}

const scl_plugin scullery_plugin = {
    .name = "svm",
    .summary = "Support vector machines: classes (one against one) and numbers (epsilon-SVR)",
    .definition = svm_definition,
    .doc =
        "Classes: min (1/2) ||f||_K^2 + C sum_i w_i max(0, 1 - y_i (f(x_i) + f0)). Numbers:\n"
        "max(0, |f(x_i) + f0 - y_i| - epsilon) for the loss. K is exp(-gamma ||x-y||^2), or any\n"
        "kernel on rows: kernel = sc.kernel.linear{}. w_i: weights of rows and of classes. Scores\n"
        "of two classes are f(x) + f0. Scores of several are the votes of all pairs, plus within "
        "a\n"
        "third of a vote the sum of a class's functions, which decides where votes are equal.\n"
        "Sequential minimal optimisation with second-order choice (Fan, Chen and Lin 2005) on\n"
        "working sets (Joachims 1999), kernel values in blocks; rows that are settled are set\n"
        "aside. residual is the largest violation of the dual's optimality, measured anew in\n"
        "double precision. Six pairs of classes and more are learnt in parallel, and each may\n"
        "keep an eighth of the cache. Scale the rows first, as in sc.standardize(). The model\n"
        "keeps the support vectors (arrays rows, coefficients, intercept, votes, pairs; columns "
        "far\n"
        "from 0 less the array pilot).",
    MODELS_SOLVER,
    SCL_INSTANCE(svm, options),
    .create = svm_create};
