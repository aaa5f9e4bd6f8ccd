/* The turns of a sweep whose scores are already known: recorded in a checkpoint, or made by several
 * processes. A turn may keep numbers of each row (losses, weights), so that it has to run for every
 * row. It reads scores, targets and weights, but never features. */
#include "learn/problem_internal.h"
#include <string.h>

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

/* Read the facts of the problem's rows, in one walk without features. */
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

static scl_status refuse_size(scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "the checkpoint is damaged: a pass in it has another size");
}

/* A table of `count` rows from `first` on, without features and what is read of each row. */
static scl_rows empty_rows(const scl_problem *problem, size_t first, size_t count) {
  const scl_flow *flow = flow_of(problem);
  const size_t entries = scl_flow_entries(flow);
  return (scl_rows){.head = SCL_HEAD(scl_rows),
                    .first = first,
                    .count = count,
                    .features = {.dtype = problem->dtype, .cols = problem->features},
                    .entries = entries,
                    .value = entries > 0 ? scl_map_entry_value(flow->map) : 0};
}

scl_status scl_turns_without_rows(const scl_problem *problem, scl_turn turn, void *context,
                                  scl_error *error) {
  const scl_rows rows = empty_rows(problem, 0, 0);
  double none;
  return turn(context, &rows, &none, error);
}

scl_status scl_problem_read_facts(const scl_problem *problem, scl_error *error) {
  return context_of(problem)->facts == NULL ? read_facts(problem, error) : SCL_STATUS_OK;
}

scl_rows scl_problem_rows_at(const scl_problem *problem, size_t first, size_t count) {
  const scl_row_facts *f = context_of(problem)->facts;
  scl_rows rows = empty_rows(problem, first, count);
  rows.targets = f->targets + first * problem->targets;
  rows.weights = f->weighted ? f->weights + first : NULL;
  rows.index = f->index + first;
  return rows;
}

/* Call the turn for `count` rows from `first` on. */
static scl_status turn_part(const scl_problem *problem, scl_turns *turns, size_t first,
                            size_t count, scl_error *error) {
  solve_context *solve = context_of(problem);
  const scl_rows rows = scl_problem_rows_at(problem, first, count);
  solve->visiting = true;
  const scl_status status =
      turns->turn(turns->context, &rows, turns->scores + first * turns->k, error);
  solve->visiting = false;
  return status;
}

scl_status scl_turns_replay(const scl_problem *problem, scl_turns *turns, scl_error *error) {
  size_t first = 0;
  SCL_TRY(scl_problem_read_facts(problem, error));
  for (size_t p = 0; p < turns->count; first += turns->parts[p++]) {
    if (turns->parts[p] > problem->rows - first) return refuse_size(error);
    SCL_TRY(turn_part(problem, turns, first, turns->parts[p], error));
  }
  return first == problem->rows ? SCL_STATUS_OK : refuse_size(error);
}

scl_status scl_turns_open(const scl_problem *problem, scl_turns *turns, scl_error *error) {
  const size_t n = problem->rows, k = turns->k;
  turns->scores = scl_allocate_array(n * k + 1, sizeof *turns->scores);
  turns->parts = scl_allocate_array(n + 1, sizeof *turns->parts);
  return turns->scores == NULL || turns->parts == NULL
             ? scl_fail_memory(error, n * (k + 1) * sizeof(double), "scores")
             : SCL_STATUS_OK;
}

void scl_turns_close(scl_turns *turns) { SCL_RELEASE(turns->scores, turns->parts); }
