/* The verbs of a watched problem: each is counted, checks its arguments and calls the verb of the
 * engine. */
#include "checker/watched_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef enum verb {
  RESPONSES,
  WALK,
  NORMAL,
  DUAL,
  GRAM,
  PRODUCT,
  ADJOINT,
  SWEEP,
  REWEIGHTED,
  MINIBATCH,
  PROGRESS,
  HOLD_OUT,
  HELD,
  TOTAL,
  SPARSE_ROWS,
  KEEP
} verb;

const char *const scl_watched_verbs[SCL_WATCHED_VERBS] = {
    "responses",  "walk",      "normal",   "dual",     "gram", "product", "adjoint",     "sweep",
    "reweighted", "minibatch", "progress", "hold_out", "held", "total",   "sparse_rows", "keep"};

void scl_watched_blame(watched *w, const char *format, ...) {
  va_list arguments;
  if (w->watch->fault[0] != 0) return;
  va_start(arguments, format);
  (void)vsnprintf(w->watch->fault, sizeof w->watch->fault, format, arguments);
  va_end(arguments);
}

/* The problem is the first member of the first member of `watched`, and the solver received it as
 * const. */
static watched *watched_of(const scl_problem *problem) { return (watched *)(uintptr_t)problem; }

/* Count a call and check when it is made: not from inside a visit, and not while another verb runs.
 * Fails if this is the call that has to fail. After SCL_STATUS_OK the caller has to call
 * `leave`. */
static scl_status enter(watched *w, verb which, scl_error *error) {
  const char *name = scl_watched_verbs[which];
  scl_watch *watch = w->watch;
  /* Before the check of `busy`, which is set during a visit too: this message says more. */
  if (w->visiting) {
    scl_watched_blame(w, "problem.%s was called from inside a visit", name);
    return scl_fail(error, SCL_STATUS_INTERNAL, "problem.%s was called from inside a visit", name);
  }
  if (atomic_exchange(&w->busy, true)) {
    scl_watched_blame(w, "problem.%s was called while another verb ran on another thread", name);
    return scl_fail(error, SCL_STATUS_INTERNAL, "problem.%s was called while another verb ran",
                    name);
  }
  watch->calls[which]++;
  if (watch->verb >= 0 && watch->verb != (int)which) return SCL_STATUS_OK;
  if (++w->asked != watch->fail_at) return SCL_STATUS_OK;
  watch->failed = true;
  atomic_store(&w->busy, false);
  return scl_fail(error, watch->status, "the checker let problem.%s fail", name);
}

/* The end of a verb; returns its status. */
static scl_status leave(watched *w, scl_status status) {
  atomic_store(&w->busy, false);
  return status;
}

/* Checks that the numbers that a solver passes were set. */
static void expect_numbers(watched *w, verb which, const double *x, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows * cols; i++) {
    if (!isnan(x[i])) continue;
    scl_watched_blame(w, "problem.%s was handed NaN (row %zu, column %zu of %zu x %zu)",
                      scl_watched_verbs[which], i / cols + 1, i % cols + 1, rows, cols);
    return;
  }
}

/* ------------ those without visits */

static scl_status watched_responses(const scl_problem *problem, double *targets, double *weights,
                                    scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, RESPONSES, error));
  return leave(w, w->plain.responses(problem, targets, weights, error));
}

static scl_status watched_normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, NORMAL, error));
  return leave(w, w->plain.normal(problem, out, error));
}

static scl_status watched_dual(const scl_problem *problem, const scl_symmetric **outer,
                               const double **targets, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, DUAL, error));
  return leave(w, w->plain.dual(problem, outer, targets, error));
}

static scl_status watched_gram(const scl_problem *problem, const scl_symmetric **out,
                               scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, GRAM, error));
  return leave(w, w->plain.gram(problem, out, error));
}

static scl_status watched_product(const scl_problem *problem, const double *a, size_t k,
                                  double *out, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, PRODUCT, error));
  expect_numbers(w, PRODUCT, a, problem->features, k);
  return leave(w, w->plain.product(problem, a, k, out, error));
}

static scl_status watched_adjoint(const scl_problem *problem, const double *r, size_t k,
                                  double *out, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, ADJOINT, error));
  expect_numbers(w, ADJOINT, r, problem->rows, k);
  return leave(w, w->plain.adjoint(problem, r, k, out, error));
}

static scl_status watched_reweighted(const scl_problem *problem, const double *weights,
                                     scl_normal *out, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, REWEIGHTED, error));
  expect_numbers(w, REWEIGHTED, weights, problem->rows, 1);
  return leave(w, w->plain.reweighted(problem, weights, out, error));
}

static scl_status watched_progress(const scl_problem *problem, const char *doing, double done,
                                   double loss, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, PROGRESS, error));
  if (!(done >= 0 && done <= 1))
    scl_watched_blame(w, "problem.progress got done = %g; it takes a share in [0, 1]", done);
  if (doing == NULL || doing[0] == 0)
    scl_watched_blame(w, "problem.progress got no name of the work (doing)");
  return leave(w, w->plain.progress(problem, doing, done, loss, error));
}

static scl_status watched_hold_out(const scl_problem *problem, double share, uint64_t seed,
                                   size_t *count, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, HOLD_OUT, error));
  return leave(w, w->plain.hold_out(problem, share, seed, count, error));
}

static scl_status watched_total(const scl_problem *problem, const double *values, size_t count,
                                size_t k, double *sums, scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, TOTAL, error));
  expect_numbers(w, TOTAL, values, count, k);
  return leave(w, w->plain.total(problem, values, count, k, sums, error));
}

static scl_status watched_sparse_rows(const scl_problem *problem, scl_const_csr *out,
                                      scl_error *error) {
  watched *w = watched_of(problem);
  SCL_TRY(enter(w, SPARSE_ROWS, error));
  return leave(w, w->plain.sparse_rows(problem, out, error));
}

/* The first call restores the state of the watch; the one that is to fail stores it. */
static scl_status watched_keep(const scl_problem *problem, const scl_state_part *parts,
                               size_t count, int32_t *restored, scl_error *error) {
  watched *w = watched_of(problem);
  scl_watch *watch = w->watch;
  const scl_status status = enter(w, KEEP, error);
  const bool stores = watch->failed && status != SCL_STATUS_OK && watch->stored == NULL;
  size_t bytes = 0;
  for (size_t i = 0; i < count; i++)
    bytes += parts[i].size;
  *restored = status == SCL_STATUS_OK && watch->state != NULL && watch->calls[KEEP] == 1;
  if (*restored && bytes != watch->bytes)
    return leave(w, scl_fail(error, SCL_STATUS_BAD_DATA,
                             "problem.keep got %zu bytes, and %zu before the stop", bytes,
                             watch->bytes));
  if (stores) watch->stored = scl_allocate((watch->bytes = bytes) + 1);
  for (size_t i = 0, at = 0; i < count; at += parts[i++].size) {
    if (*restored) memcpy(parts[i].data, watch->state + at, parts[i].size);
    if (stores && watch->stored != NULL) memcpy(watch->stored + at, parts[i].data, parts[i].size);
  }
  return status == SCL_STATUS_OK ? leave(w, status) : status;
}

/* ------------ those that show rows */

static scl_status watched_walk(const scl_problem *problem, scl_visit visit, void *context,
                               scl_error *error) {
  watched *w = watched_of(problem);
  scl_watched_visit v = {.w = w, .visit = visit, .context = context};
  SCL_TRY(enter(w, WALK, error));
  return leave(w, w->plain.walk(problem, scl_watched_show, &v, error));
}

static scl_status watched_sweep(const scl_problem *problem, const double *a, size_t k,
                                scl_turn turn, void *context, double *out, scl_error *error) {
  watched *w = watched_of(problem);
  scl_watched_visit v = {.w = w, .turn = turn, .context = context, .columns = k};
  SCL_TRY(enter(w, SWEEP, error));
  expect_numbers(w, SWEEP, a, problem->features, k);
  return leave(w, w->plain.sweep(problem, a, k, scl_watched_turn, &v, out, error));
}

static scl_status watched_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step,
                                    size_t size, size_t first, size_t count, int32_t plain,
                                    scl_visit visit, void *context, scl_error *error) {
  watched *w = watched_of(problem);
  scl_watched_visit v = {.w = w, .visit = visit, .context = context};
  SCL_TRY(enter(w, MINIBATCH, error));
  return leave(w, w->plain.minibatch(problem, seed, step, size, first, count, plain,
                                     scl_watched_show, &v, error));
}

static scl_status watched_held(const scl_problem *problem, size_t first, size_t count,
                               scl_visit visit, void *context, scl_error *error) {
  watched *w = watched_of(problem);
  scl_watched_visit v = {.w = w, .visit = visit, .context = context};
  SCL_TRY(enter(w, HELD, error));
  return leave(w, w->plain.held(problem, first, count, scl_watched_show, &v, error));
}

void scl_watched_verbs_set(watched *w) {
  scl_problem *p = &w->s.problem;
  w->plain = *p;
  p->responses = watched_responses;
  p->walk = watched_walk;
  p->normal = watched_normal;
  p->dual = watched_dual;
  p->gram = watched_gram;
  p->product = watched_product;
  p->adjoint = watched_adjoint;
  p->sweep = watched_sweep;
  p->reweighted = watched_reweighted;
  p->minibatch = watched_minibatch;
  p->progress = watched_progress;
  p->hold_out = watched_hold_out;
  p->held = watched_held;
  p->total = watched_total;
  p->sparse_rows = watched_sparse_rows;
  p->keep = watched_keep;
}
