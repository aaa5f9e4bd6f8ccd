/* Verbs of a problem whose passes several processes make, each over its part of the rows
 * (rows/joined.h). Sums over rows are joined by scl_problem_adjoint and scl_problem_sweep; here are
 * the numbers of single rows. A solver that works on the rows of its process (scullery.rows-apart)
 * needs no others; for every other solver the scores of all rows are exchanged, and each process
 * makes all turns. */
#include "learn/problem_internal.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows of the problem before row `end` of the source. */
static size_t rows_before(const solve_context *s, size_t end) {
  const scl_flow *flow = &s->training->flow;
  size_t rows = 0;
  if (s->without < 0 || flow->group == NULL) return end - scl_min(flow->begin, end);
  for (size_t i = flow->begin; i < end; i++)
    rows += flow->group[i] != s->without;
  return rows;
}

void scl_problem_part(const scl_problem *problem, size_t rank, size_t *first, size_t *end) {
  const solve_context *s = context_of(problem);
  const scl_flow *flow = &s->training->flow;
  scl_flow_part_rows(flow, scl_problem_leaf_rows(flow), rank, first, end);
  *first = rows_before(s, *first);
  *end = rows_before(s, *end);
}

/* Give each row's numbers (n x size bytes) to all processes. */
static scl_status exchange_rows(const scl_problem *problem, void *numbers, size_t size,
                                scl_error *error) {
  for (size_t r = 0; r < scl_processes_count(); r++) {
    size_t first, end;
    scl_problem_part(problem, r, &first, &end);
    SCL_TRY(
        scl_processes_broadcast(r, (char *)numbers + first * size, (end - first) * size, error));
  }
  return SCL_STATUS_OK;
}

static scl_status meet(const scl_problem *problem, size_t k, scl_status mine, scl_error *error) {
  return scl_processes_meet(mine, error, "the scores of %zu rows by %zu features, in %zu columns",
                            problem->rows, problem->features, k);
}

scl_status scl_divided_product(const scl_problem *problem, const double *a, size_t k, double *out,
                               scl_error *error) {
  SCL_TRY(scl_problem_enter(problem, "product", error));
  const scl_status mine = scl_problem_part_scores(problem, a, k, out, NULL, error);
  SCL_TRY(meet(problem, k, mine, error));
  return context_of(problem)->apart ? SCL_STATUS_OK
                                    : exchange_rows(problem, out, k * sizeof *out, error);
}

/* The scores of all rows, and the parts as a list. marks: n numbers to work in. */
static scl_status gather_scores(const scl_problem *problem, const double *a, scl_turns *s,
                                uint64_t *marks, scl_error *error) {
  const scl_status mine = scl_problem_part_scores(problem, a, s->k, s->scores, marks, error);
  SCL_TRY(meet(problem, s->k, mine, error));
  SCL_TRY(exchange_rows(problem, s->scores, s->k * sizeof *s->scores, error));
  SCL_TRY(exchange_rows(problem, marks, sizeof *marks, error));
  for (size_t i = 0; i < problem->rows; i++)
    if (marks[i] > 0) s->parts[s->count++] = marks[i];
  return SCL_STATUS_OK;
}

/* A sweep in three steps: the scores, the turns of all rows, and Phi' of what they made. */
static scl_status sweep_in_steps(const scl_problem *problem, const double *a, scl_turns *s,
                                 double *out, scl_error *error) {
  uint64_t *marks = scl_allocate_zero((problem->rows + 1) * sizeof *marks);
  scl_status status = scl_turns_open(problem, s, error);
  if (status == SCL_STATUS_OK && marks == NULL)
    status = scl_fail_memory(error, problem->rows * sizeof *marks, "parts of a pass");
  status = scl_processes_meet(status, error, "a pass over %zu rows", problem->rows);
  if (status == SCL_STATUS_OK) status = gather_scores(problem, a, s, marks, error);
  scl_release(marks);
  SCL_TRY(status);
  SCL_TRY(scl_turns_replay(problem, s, error));
  return scl_problem_adjoint(problem, s->scores, s->k, out, error);
}

/* The sweep of a solver that works on the rows of its process. One without rows gets one call of
 * the turn, which may read what all rows have in common. */
static scl_status sweep_apart(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                              void *context, double *out, scl_error *error) {
  size_t first, end;
  scl_status mine = SCL_STATUS_OK;
  scl_problem_part(problem, scl_processes_rank(), &first, &end);
  if (first == end) mine = scl_turns_without_rows(problem, turn, context, error);
  SCL_TRY(scl_processes_meet(mine, error, "a pass over %zu rows", problem->rows));
  return scl_problem_sweep(problem, a, k, turn, context, out, error);
}

scl_status scl_divided_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                             void *context, double *out, scl_error *error) {
  if (context_of(problem)->apart) return sweep_apart(problem, a, k, turn, context, out, error);
  SCL_TRY(scl_problem_enter(problem, "sweep", error));
  scl_turns s = {.turn = turn, .context = context, .k = k};
  const scl_status status = sweep_in_steps(problem, a, &s, out, error);
  scl_turns_close(&s);
  return status;
}

/* ------------ sums of rows */

/* Flags of numbers that are not finite. */
enum { HAS_NAN, HAS_INFINITY, HAS_MINUS_INFINITY, FLAGS };

static void note_flag(double value, int64_t *flags) {
  if (isnan(value)) flags[HAS_NAN] = 1;
  if (isinf(value)) flags[value > 0 ? HAS_INFINITY : HAS_MINUS_INFINITY] = 1;
}

/* Add this process's rows of `values` (n x k). */
static scl_status add_own(const scl_problem *problem, const double *values, size_t k,
                          scl_exact *sum, int64_t *flags, scl_error *error) {
  size_t first, end;
  scl_problem_part(problem, scl_processes_rank(), &first, &end);
  for (size_t i = first; i < end; i++)
    for (size_t j = 0; j < k; j++) {
      const double value = values[i * k + j];
      note_flag(value, flags + j * FLAGS);
      if (isfinite(value)) SCL_TRY(scl_exact_add_one(sum, j, value, 0, error));
    }
  return SCL_STATUS_OK;
}

/* A sum of numbers of which some may not be finite, as float64 additions give it. */
static double value_of(const scl_exact *sum, size_t j, const int64_t *flags) {
  if (flags[HAS_NAN] || (flags[HAS_INFINITY] && flags[HAS_MINUS_INFINITY])) return NAN;
  if (flags[HAS_INFINITY]) return INFINITY;
  return flags[HAS_MINUS_INFINITY] ? -INFINITY : scl_exact_value(sum, j);
}

scl_status scl_divided_total(const scl_problem *problem, const double *values, size_t count,
                             size_t k, double *sums, scl_error *error) {
  char doing[80];
  scl_exact *sum = NULL;
  int64_t *flags = scl_allocate_zero((k * FLAGS + 1) * sizeof *flags);
  scl_status status = flags == NULL ? scl_fail_memory(error, k * FLAGS * sizeof *flags, "sums")
                                    : scl_exact_create(k, &sum, error);
  if (status == SCL_STATUS_OK) status = add_own(problem, values, k, sum, flags, error);
  (void)snprintf(doing, sizeof doing, "a sum over %zu rows of %zu numbers", count, k);
  status = scl_exact_join(&sum, 1, status, doing, error);
  if (status == SCL_STATUS_OK) status = scl_processes_maximum(flags, k * FLAGS, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < k; j++)
    sums[j] = value_of(sum, j, flags + j * FLAGS);
  scl_exact_destroy(sum);
  scl_release(flags);
  return status;
}
