/* Verbs of a problem whose training has a checkpoint: the result of each pass over the rows is
 * recorded. In a process that goes on from the checkpoint, the solver asks for the same passes
 * again, because it is a function of their results, and gets the recorded ones without a pass. So
 * every solver goes on, with the same bits, from the last pass that was recorded. */
#include "learn/problem_internal.h"
#include <string.h>

/* Kinds of records: a verb, and the number of columns k. Sums with other weights are recorded by
 * problem_normal.c. */
enum { LOG_PRODUCT = 1, LOG_ADJOINT, LOG_SWEEP };

static uint64_t kind_of(uint64_t verb, size_t k) { return verb << 56 | (uint64_t)k; }

static scl_checkpoint *checkpoint_of(const scl_problem *problem) {
  return flow_of(problem)->checkpoint;
}

/* A verb whose result are `size` bytes at `out`. *found = false: the pass has to be made. */
static scl_status replay_result(const scl_problem *problem, uint64_t what, double *out, size_t size,
                                bool *found, scl_error *error) {
  scl_checkpoint *log = checkpoint_of(problem);
  scl_span span = {out, size};
  SCL_TRY(log->replay(log, what, &span, 1, found, error));
  return *found && span.size != size
             ? scl_fail(error, SCL_STATUS_BAD_DATA,
                        "the checkpoint is damaged: a pass in it has another size")
             : SCL_STATUS_OK;
}

static void record_result(const scl_problem *problem, uint64_t what, double *out, size_t size) {
  scl_checkpoint *log = checkpoint_of(problem);
  log->record(log, what, &(scl_span){out, size}, 1);
}

scl_status scl_logged_product(const scl_problem *problem, const double *a, size_t k, double *out,
                              scl_error *error) {
  const uint64_t what = kind_of(LOG_PRODUCT, k);
  const size_t size = problem->rows * k * sizeof *out;
  bool found;
  SCL_TRY(replay_result(problem, what, out, size, &found, error));
  if (found) return SCL_STATUS_OK;
  SCL_TRY(scl_problem_product(problem, a, k, out, error));
  record_result(problem, what, out, size);
  return SCL_STATUS_OK;
}

scl_status scl_logged_adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                              scl_error *error) {
  const uint64_t what = kind_of(LOG_ADJOINT, k);
  const size_t size = problem->features * k * sizeof *out;
  bool found;
  SCL_TRY(replay_result(problem, what, out, size, &found, error));
  if (found) return SCL_STATUS_OK;
  SCL_TRY(scl_problem_adjoint(problem, r, k, out, error));
  record_result(problem, what, out, size);
  return SCL_STATUS_OK;
}

/* ------------ sweeps: their scores are recorded,
 * with the parts in which the turn got them (problem_turns.c) */

/* The turn of a sweep that is recorded: copies the scores before the solver replaces them. */
static scl_status record_turn(void *context, const scl_rows *rows, double *scores,
                              scl_error *error) {
  scl_turns *s = context;
  memcpy(s->scores + rows->first * s->k, scores, rows->count * s->k * sizeof *scores);
  s->parts[s->count++] = rows->count;
  return s->turn(s->context, rows, scores, error);
}

/* scl_logged_sweep with the memory of s. */
static scl_status sweep_with(const scl_problem *problem, const double *a, scl_turns *s, double *out,
                             scl_error *error) {
  scl_checkpoint *log = checkpoint_of(problem);
  const size_t n = problem->rows, k = s->k;
  scl_span spans[] = {{out, problem->features * k * sizeof *out},
                      {s->scores, n * k * sizeof *s->scores},
                      {s->parts, n * sizeof *s->parts}};
  const size_t count = sizeof spans / sizeof *spans;
  bool found;
  SCL_TRY(log->replay(log, kind_of(LOG_SWEEP, k), spans, count, &found, error));
  s->count = found ? spans[count - 1].size / sizeof *s->parts : 0;
  if (found) return scl_turns_replay(problem, s, error);
  SCL_TRY(scl_problem_sweep(problem, a, k, record_turn, s, out, error));
  spans[count - 1].size = s->count * sizeof *s->parts;
  log->record(log, kind_of(LOG_SWEEP, k), spans, count);
  return SCL_STATUS_OK;
}

scl_status scl_logged_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                            void *context, double *out, scl_error *error) {
  scl_turns s = {.turn = turn, .context = context, .k = k};
  scl_status status = scl_turns_open(problem, &s, error);
  if (status == SCL_STATUS_OK) status = sweep_with(problem, a, &s, out, error);
  scl_turns_close(&s);
  return status;
}

/* ------------ states of solvers */

scl_status scl_problem_keep(const scl_problem *problem, const scl_state_part *parts, size_t count,
                            int32_t *restored, scl_error *error) {
  scl_checkpoint *log = checkpoint_of(problem);
  scl_span spans[SCL_CHECKPOINT_SPANS];
  bool found = false;
  *restored = 0;
  SCL_TRY(scl_problem_enter(problem, "keep", error));
  if (log == NULL || context_of(problem)->training->aside) return SCL_STATUS_OK;
  if (count > SCL_CHECKPOINT_SPANS)
    return scl_fail(error, SCL_STATUS_INTERNAL, "problem.keep got %zu parts; it takes up to %d",
                    count, SCL_CHECKPOINT_SPANS);
  for (size_t i = 0; i < count; i++)
    spans[i] = (scl_span){parts[i].data, parts[i].size};
  SCL_TRY(log->keep(log, spans, count, &found, error));
  *restored = found;
  return SCL_STATUS_OK;
}
