/* Verbs of a problem whose training has a checkpoint: the result of each pass over the rows is
 * recorded. In a process that goes on from the checkpoint, the solver asks for the same passes
 * again, because it is a function of their results, and gets the recorded ones without a pass. So
 * every solver goes on, with the same bits, from the last pass that was recorded. */
#include "learn/problem_internal.h"
#include <string.h>

/* Kinds of records: a verb, and the number of columns k. */
enum { LOG_PRODUCT = 1, LOG_ADJOINT, LOG_SWEEP };

static uint64_t kind_of(uint64_t verb, size_t k) { return verb << 56 | (uint64_t)k; }

static scl_checkpoint *checkpoint_of(const scl_problem *problem) {
  return flow_of(problem)->checkpoint;
}

static scl_status refuse_size(scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "the checkpoint is damaged: a pass in it has another size");
}

/* A verb whose result are `size` bytes at `out`. *found = false: the pass has to be made. */
static scl_status replay_result(const scl_problem *problem, uint64_t what, double *out, size_t size,
                                bool *found, scl_error *error) {
  scl_checkpoint *log = checkpoint_of(problem);
  scl_span span = {out, size};
  SCL_TRY(log->replay(log, what, &span, 1, found, error));
  return *found && span.size != size ? refuse_size(error) : SCL_STATUS_OK;
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

/* ------------------------------------------------------------ sweeps
 *
 * A turn may keep numbers of each row (losses, weights), so that it has to run when a sweep
 * is replayed, too. It reads scores, targets and weights, but never features: the scores are
 * recorded, with the parts in which it got them. */

/* A sweep that is recorded or replayed. */
typedef struct logged_sweep {
  scl_turn turn; /* the solver's */
  void *context;
  size_t k;
  double *scores;         /* n x k */
  uint64_t *parts, count; /* the rows of each call of the turn; room for n */
} logged_sweep;

/* The turn of a sweep that is recorded: copies the scores before the solver replaces them. */
static scl_status record_turn(void *context, const scl_rows *rows, double *scores,
                              scl_error *error) {
  logged_sweep *s = context;
  memcpy(s->scores + rows->first * s->k, scores, rows->count * s->k * sizeof *scores);
  s->parts[s->count++] = rows->count;
  return s->turn(s->context, rows, scores, error);
}

struct scl_row_facts {
  solve_context *solve;
  double *targets, *weights; /* n x c, n: in the order of the problem */
  size_t *index;             /* n */
  size_t seen;
  bool weighted;
};

void scl_row_facts_destroy(scl_row_facts *facts) {
  if (facts != NULL) SCL_RELEASE(facts->targets, facts->index, facts);
}

static scl_status copy_facts(void *context, const scl_flow_block *block, scl_error *error) {
  scl_row_facts *f = context;
  const size_t c = f->solve->problem.targets;
  size_t run[2][2];
  (void)error;
  f->weighted = block->weights != NULL;
  for (size_t q = 0, runs = scl_problem_runs(f->solve, block, run); q < runs; q++)
    for (size_t i = run[q][0]; i < run[q][1]; i++, f->seen++) {
      memcpy(f->targets + f->seen * c, block->y + i * c, c * sizeof(double));
      f->weights[f->seen] = scl_flow_weight(block, i);
      f->index[f->seen] = block->first + block->place[i];
    }
  return SCL_STATUS_OK;
}

/* Call the solver's turn with the recorded scores, in the recorded parts. */
static scl_status replay_turns(const scl_problem *problem, logged_sweep *s, scl_error *error) {
  solve_context *solve = context_of(problem);
  const scl_row_facts *f = solve->facts;
  const scl_flow *flow = flow_of(problem);
  const size_t entries = scl_flow_entries(flow);
  size_t first = 0;
  for (size_t p = 0; p < s->count; p++) {
    if (s->parts[p] > problem->rows - first) return refuse_size(error);
    const scl_rows rows = {.head = SCL_HEAD(scl_rows),
                           .first = first,
                           .count = s->parts[p],
                           .features = {.dtype = problem->dtype, .cols = problem->features},
                           .entries = entries,
                           .value = entries > 0 ? scl_map_entry_value(flow->map) : 0,
                           .targets = f->targets + first * problem->targets,
                           .weights = f->weighted ? f->weights + first : NULL,
                           .index = f->index + first};
    solve->visiting = true;
    const scl_status status = s->turn(s->context, &rows, s->scores + first * s->k, error);
    solve->visiting = false;
    SCL_TRY(status);
    first += rows.count;
  }
  return first == problem->rows ? SCL_STATUS_OK : refuse_size(error);
}

/* Read s->facts, in one walk over the rows without features. */
static scl_status read_facts(const scl_problem *problem, scl_error *error) {
  solve_context *s = context_of(problem);
  const size_t n = problem->rows, c = problem->targets;
  scl_row_facts *f = s->facts = scl_allocate_zero(sizeof *f);
  if (f == NULL) return scl_fail_memory(error, sizeof *f, "targets");
  f->solve = s;
  f->targets = scl_allocate_array(n * (c + 1) + 1, sizeof(double));
  f->index = scl_allocate_array(n + 1, sizeof(size_t));
  if (f->targets == NULL || f->index == NULL)
    return scl_fail_memory(error, n * (c + 2) * sizeof(double), "targets");
  f->weights = f->targets + n * c;
  return scl_problem_walk_rows(s->training, copy_facts, f, error);
}

/* scl_logged_sweep with the memory of s. */
static scl_status sweep_with(const scl_problem *problem, const double *a, logged_sweep *s,
                             double *out, scl_error *error) {
  scl_checkpoint *log = checkpoint_of(problem);
  const size_t n = problem->rows, k = s->k;
  scl_span spans[] = {{out, problem->features * k * sizeof *out},
                      {s->scores, n * k * sizeof *s->scores},
                      {s->parts, n * sizeof *s->parts}};
  const size_t count = sizeof spans / sizeof *spans;
  bool found;
  SCL_TRY(log->replay(log, kind_of(LOG_SWEEP, k), spans, count, &found, error));
  s->count = found ? spans[count - 1].size / sizeof *s->parts : 0;
  if (found && context_of(problem)->facts == NULL) SCL_TRY(read_facts(problem, error));
  if (found) return replay_turns(problem, s, error);
  SCL_TRY(scl_problem_sweep(problem, a, k, record_turn, s, out, error));
  spans[count - 1].size = s->count * sizeof *s->parts;
  log->record(log, kind_of(LOG_SWEEP, k), spans, count);
  return SCL_STATUS_OK;
}

scl_status scl_logged_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                            void *context, double *out, scl_error *error) {
  const size_t n = problem->rows;
  logged_sweep s = {.turn = turn,
                    .context = context,
                    .k = k,
                    .scores = scl_allocate_array(n * k + 1, sizeof(double)),
                    .parts = scl_allocate_array(n + 1, sizeof(uint64_t))};
  const scl_status status = s.scores == NULL || s.parts == NULL
                                ? scl_fail_memory(error, n * (k + 1) * sizeof(double), "scores")
                                : sweep_with(problem, a, &s, out, error);
  SCL_RELEASE(s.scores, s.parts);
  return status;
}

/* ------------------------------------------------------------ states of solvers */

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
