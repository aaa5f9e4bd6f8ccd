/* Rows as a solver sees them: without the group left out, in its dtype, dense or sparse. */
#include "learn/problem_internal.h"
#include "plugin/blocks.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include <string.h>

size_t scl_problem_runs(const solve_context *s, const scl_flow_block *block, size_t run[2][2]) {
  run[0][0] = 0;
  run[0][1] = s->without < 0 ? block->count : block->group_start[s->without];
  if (s->without < 0) return 1;
  run[1][0] = block->group_start[s->without + 1];
  run[1][1] = block->count;
  return 2;
}

/* ------------ walks */

scl_flow scl_problem_flow(const scl_flow *of) {
  scl_flow flow = *of;
  flow.bits = scl_flow_has_bits(&flow);
  flow.whole = scl_flow_whole(&flow) != SCL_WHOLE_NONE;
  flow.csr = true;
  return flow;
}

size_t scl_problem_leaf_rows(const scl_flow *flow) {
  enum { LEAST = 2048 };
  const size_t rows = scl_flow_block_rows(flow), entries = scl_flow_entries(flow);
  size_t least = rows < LEAST && LEAST % rows == 0 ? LEAST : rows;
  while (entries > 0 && least * entries < scl_flow_features(flow))
    least *= 2;
  return scl_flow_has_csr(flow) ? scl_csr_leaf_rows(flow, least) : least;
}

/* Visit all blocks of features, or those of this process's part of the rows: cached ones if there
 * are any, otherwise made from the rows, and cached if they fit the allowance. The lock is released
 * before cached blocks are visited. */
static scl_status walk_blocks(scl_training *training, bool part, scl_flow_visit visit,
                              void *context, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  const scl_flow all = scl_problem_flow(&training->flow),
                 flow = part ? scl_flow_part(&all, scl_problem_leaf_rows(&all)) : all;
  scl_keep **keep = part ? &training->kept_part : &training->kept;
  const scl_keep *kept = *keep;
  /* The processes of a machine keep as much together as one would. */
  const size_t allowance = training->allowance / (part ? scl_processes_here() : 1);
  if (kept == NULL && (training->keeps_no_more || !scl_keep_fits(&flow, allowance))) {
    status = scl_flow_walk(&flow, true, visit, context, error);
  } else if (kept == NULL) {
    status = scl_keep_create(&flow, visit, context, keep, error);
    training->keeps_no_more = status == SCL_STATUS_OK && *keep == NULL;
  }
  pthread_mutex_unlock(&training->lock);
  return kept == NULL ? status : scl_keep_walk(kept, visit, context, error);
}

scl_status scl_problem_walk_rows(scl_training *training, scl_flow_visit visit, void *context,
                                 scl_error *error) {
  pthread_mutex_lock(&training->lock);
  scl_flow flow = training->flow;
  flow.csr = true;
  const scl_status status = scl_flow_walk(&flow, false, visit, context, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* A walk of one problem over the blocks of the flow. */
typedef struct running {
  const solve_context *solve;
  scl_run_visit visit;
  void *context;
  size_t *index; /* places in the data of the rows of a block */
  size_t seen;   /* rows of the problem so far */
} running;

/* Rows start .. start+count-1 of a block of the flow, as the table that a visit gets. All pointers
 * are borrowed from the block. Sparse rows and rows stored as bits or whole numbers have no features
 * here. */
static scl_rows rows_of(const running *r, const scl_flow_block *block, size_t start, size_t count) {
  const scl_problem *problem = &r->solve->problem;
  const scl_flow *flow = flow_of(problem);
  scl_rows rows = {.head = SCL_HEAD(scl_rows),
                   .first = r->seen,
                   .count = count,
                   .features = {.dtype = flow->dtype,
                                .rows = count,
                                .cols = problem->features,
                                .planes = 1,
                                .row_stride = block->phi_stride},
                   .targets = block->y + start * problem->targets,
                   .weights = block->weights == NULL ? NULL : block->weights + start,
                   .index = r->index + start};
  if (block->bits != NULL || block->whole != NULL || scl_flow_has_csr(flow)) return rows;
  if (block->entries == 0) {
    rows.features.data = scl_flow_row(flow, block, start);
    return rows;
  }
  rows.columns = block->columns + start * block->entries;
  rows.entries = block->entries;
  rows.value = block->value;
  return rows;
}

/* Visit the runs of one block that belong to the problem. */
static scl_status visit_runs(void *context, const scl_flow_block *block, scl_error *error) {
  running *r = context;
  size_t run[2][2];
  for (size_t i = 0; i < block->count; i++)
    r->index[i] = block->first + block->place[i];
  for (size_t k = 0, runs = scl_problem_runs(r->solve, block, run); k < runs; k++) {
    const size_t start = run[k][0], count = run[k][1] - start;
    if (count == 0) continue;
    const scl_run one = {block, start, rows_of(r, block, start, count)};
    r->seen += count;
    SCL_TRY(r->visit(r->context, &one, error));
  }
  return SCL_STATUS_OK;
}

/* The rows of a problem in reduced coordinates, a leaf at a time. */
static scl_status walk_reduced(const scl_problem *problem, scl_run_visit visit, void *context,
                               scl_error *error) {
  const solve_context *s = context_of(problem);
  const size_t k = problem->features, most = scl_problem_leaf_rows(flow_of(problem));
  scl_status status = SCL_STATUS_OK;
  for (size_t first = 0; status == SCL_STATUS_OK && first < problem->rows; first += most) {
    const size_t count = scl_min(most, problem->rows - first);
    const scl_flow_block block = {.first = first,
                                  .count = count,
                                  .phi = s->reduced_rows + first * k,
                                  .phi_stride = (ptrdiff_t)k};
    scl_run run = {&block, 0, scl_problem_rows_at(problem, first, count)};
    run.rows.features.data = block.phi;
    run.rows.features.rows = count;
    run.rows.features.planes = 1;
    run.rows.features.row_stride = (ptrdiff_t)k;
    status = visit(context, &run, error);
  }
  return status;
}

/* scl_problem_walk_runs over all rows or this process's part, which has problem rows from `seen`
 * on. */
static scl_status walk_runs(const scl_problem *problem, bool part, size_t seen, scl_run_visit visit,
                            void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  const size_t rows = flow_of(problem)->source->rows;
  /* A block has at most all rows; how many it has is not known here. */
  running r = {s, visit, context, scl_allocate_array(rows + 1, sizeof *r.index), seen};
  if (r.index == NULL) return scl_fail_memory(error, rows * sizeof *r.index, "row numbers");
  const scl_status status = walk_blocks(s->training, part, visit_runs, &r, error);
  s->progress.rows += (double)(r.seen - seen);
  s->walked += (double)(r.seen - seen);
  if (status == SCL_STATUS_OK) s->picked += (double)rows;
  scl_release(r.index);
  return status;
}

scl_status scl_problem_walk_runs(const scl_problem *problem, scl_run_visit visit, void *context,
                                 scl_error *error) {
  if (context_of(problem)->reduced_rows != NULL)
    return walk_reduced(problem, visit, context, error);
  return walk_runs(problem, false, 0, visit, context, error);
}

scl_status scl_problem_walk_part(const scl_problem *problem, scl_run_visit visit, void *context,
                                 scl_error *error) {
  size_t first, end;
  scl_problem_part(problem, scl_processes_rank(), &first, &end);
  return walk_runs(problem, true, first, visit, context, error);
}

/* ------------ rows in the form that a solver takes */

/* Write `count` rows of the run from `at` on to show->room: dense, packed, in the problem's
 * dtype. */
static void convert_rows(const scl_show *show, const scl_run *run, size_t at, size_t count) {
  const scl_dtype dtype = show->problem->dtype;
  const size_t d = run->rows.features.cols;
  if (run->block->entries > 0 || run->block->bits != NULL || run->block->whole != NULL ||
      run->block->csr != NULL) {
    scl_flow shown = *show->flow;
    shown.dtype = dtype;
    scl_flow_fill(&shown, run->block, run->start + at, count, show->room);
    return;
  }
  for (size_t i = 0; i < count; i++)
    scl_widen(d, scl_flow_row(show->flow, run->block, run->start + at + i),
              (double *)show->room + i * d);
}

/* Convert and visit scl_flow_fill_rows rows at a time, which bounds the memory. */
static scl_status show_converted(scl_show *show, const scl_run *run, scl_error *error) {
  const size_t most = scl_flow_fill_rows(show->flow), d = run->rows.features.cols,
               size = scl_dtype_size(show->problem->dtype), c = show->problem->targets;
  if (show->room == NULL) show->room = scl_allocate_array(most * d + 1, size);
  if (show->room == NULL) return scl_fail_memory(error, most * d * size, "rows for the solver");
  for (size_t at = 0; at < run->rows.count; at += most) {
    scl_rows part = run->rows;
    part.count = scl_min(most, run->rows.count - at);
    part.first += at;
    part.targets += at * c;
    part.index += at;
    if (part.weights != NULL) part.weights += at;
    part.columns = NULL;
    part.entries = 0;
    part.features.rows = part.count;
    part.features.data = show->room;
    part.features.dtype = show->problem->dtype;
    part.features.row_stride = (ptrdiff_t)d;
    convert_rows(show, run, at, part.count);
    SCL_TRY(scl_problem_visit(show->problem, show->visit, show->context, &part, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_show_rows(scl_show *show, const scl_run *run, scl_error *error) {
  const bool csr = run->block->csr != NULL && show->flow->map == NULL;
  if (csr)
    return show->problem->csr ? scl_show_csr(show, run, error) : show_converted(show, run, error);
  const bool sparse = run->block->entries > 0;
  /* Nothing to convert: sparse rows for a solver that reads these, or dense rows in its dtype. */
  const bool as_they_are = sparse ? show->problem->entries > 0
                                  : run->block->bits == NULL && run->block->whole == NULL &&
                                        show->problem->dtype == show->flow->dtype;
  return as_they_are
             ? scl_problem_visit(show->problem, show->visit, show->context, &run->rows, error)
             : show_converted(show, run, error);
}

static scl_status show_run(void *context, const scl_run *run, scl_error *error) {
  return scl_show_rows(context, run, error);
}

scl_status scl_problem_walk(const scl_problem *problem, scl_visit visit, void *context,
                            scl_error *error) {
  scl_show show = {problem, flow_of(problem), visit, context, NULL};
  SCL_TRY(scl_problem_enter(problem, "walk", error));
  const scl_status status = scl_problem_walk_runs(problem, show_run, &show, error);
  scl_release(show.room);
  return status;
}

/* ------------ targets alone: no features are made */

typedef struct responding {
  const solve_context *solve;
  double *targets, *weights; /* n x c and n; NULL: not wanted */
  size_t seen;               /* rows of the problem so far */
} responding;

/* Copy the targets and weights of one block. Rows held out get weight 0. */
static scl_status copy_responses(void *context, const scl_flow_block *block, scl_error *error) {
  responding *r = context;
  const size_t c = r->solve->problem.targets;
  size_t run[2][2];
  (void)error;
  for (size_t k = 0, runs = scl_problem_runs(r->solve, block, run); k < runs; k++) {
    const size_t start = run[k][0], count = run[k][1] - start;
    if (r->targets != NULL)
      memcpy(r->targets + r->seen * c, block->y + start * c, count * c * sizeof(double));
    for (size_t i = 0; r->weights != NULL && i < count; i++)
      r->weights[r->seen + i] = scl_held_has(r->solve->held, block->first + block->place[start + i])
                                    ? 0
                                    : scl_flow_weight(block, start + i);
    r->seen += count;
  }
  return SCL_STATUS_OK;
}

scl_status scl_problem_responses(const scl_problem *problem, double *targets, double *weights,
                                 scl_error *error) {
  responding r = {context_of(problem), targets, weights, 0};
  SCL_TRY(scl_problem_enter(problem, "responses", error));
  return scl_problem_walk_rows(context_of(problem)->training, copy_responses, &r, error);
}
