/* Held-out rows, on which a solver judges when to stop (early stopping). They are drawn by (seed,
 * row), so that they are the same whether the data are in memory or stream; `row` counts in the
 * order of contents where sums over the features are exact (scl_training_order). The staged rows of
 * a source that streams are stored in memory. */
#include "base/random.h"
#include "learn/problem_internal.h"
#include "rows/chosen.h"
#include <stdlib.h>

struct scl_held {
  bool *is;        /* for each row of the data: whether it is held out */
  size_t *places;  /* count places in the data, in the order of draws; then in x and y; ascending */
  double *weights; /* of these rows */
  size_t count;    /* rows held out */
  scl_matrix x, y; /* of a stream: staged rows and targets */
  scl_source *source; /* reads x and y; NULL if the data's own source can be read at any row */
};

enum { BLOCK_ROWS = 1024 }; /* rows of one visit */

void scl_held_destroy(scl_held *held) {
  if (held == NULL) return;
  SCL_RELEASE(held->is, held->places, held->weights);
  scl_source_destroy(held->source);
  scl_matrix_release(&held->x);
  scl_matrix_release(&held->y);
  scl_release(held);
}

bool scl_held_has(const scl_held *held, size_t row) { return held != NULL && held->is[row]; }

/* Draw held->is and held->count: each row of the problem with probability `share`. order: that of
 * the draws, NULL: of the data. */
static scl_status holdout_draw(const solve_context *s, const size_t *order, double share,
                               uint64_t seed, scl_held *held, scl_error *error) {
  const scl_flow *flow = flow_of(&s->problem);
  const size_t rows = flow->source->rows;
  held->is = scl_allocate_zero((rows + 1) * sizeof *held->is);
  if (held->is == NULL) return scl_fail_memory(error, rows, "rows held out");
  for (size_t i = 0; i < rows; i++) {
    const size_t row = order == NULL ? i : order[i];
    double u;
    scl_random_uniform(seed, SCL_STREAM_HOLDOUT, i, 0, 1, &u);
    held->is[row] = u < share && (s->without < 0 || flow->group[row] != (int32_t)s->without);
    held->count += held->is[row];
  }
  return SCL_STATUS_OK;
}

static int ascending(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* List the places and weights of the held-out rows. */
static scl_status holdout_list(const scl_flow *flow, const size_t *order, scl_held *held,
                               scl_error *error) {
  const size_t count = held->count;
  held->places = scl_allocate_array(3 * count + 1, sizeof *held->places);
  held->weights = scl_allocate_array(count + 1, sizeof *held->weights);
  if (held->places == NULL || held->weights == NULL)
    return scl_fail_memory(error, 4 * count * sizeof *held->weights, "rows held out");
  size_t *sorted = held->places + 2 * count;
  for (size_t i = 0, k = 0; k < count; i++)
    if (held->is[i]) sorted[k++] = i;
  for (size_t i = 0, k = 0; k < count; i++) {
    const size_t row = order == NULL ? i : order[i];
    if (!held->is[row]) continue;
    held->weights[k] = flow->weights == NULL ? 1 : flow->weights[row];
    held->places[k] = row;
    held->places[count + k] =
        (size_t)((size_t *)bsearch(&row, sorted, count, sizeof row, ascending) - sorted);
    k++;
  }
  return SCL_STATUS_OK;
}

/* Require positive weight both among the held-out rows and among the others. */
static scl_status holdout_check(const solve_context *s, double share, const scl_held *held,
                                scl_error *error) {
  const scl_flow *flow = flow_of(&s->problem);
  double aside = 0, left = 0;
  for (size_t i = 0; i < flow->source->rows; i++) {
    if (s->without >= 0 && flow->group[i] == (int32_t)s->without) continue;
    const double weight = flow->weights == NULL ? 1 : flow->weights[i];
    if (held->is[i])
      aside += weight;
    else
      left += weight;
  }
  if (aside > 0 && left > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "a share of %g to hold out takes %zu of %zu rows: there must be some (with "
                  "weight) on either side",
                  share, held->count, s->problem.rows);
}

/* Store the held-out rows of a stream; they may take as much memory as the allowance. */
static scl_status holdout_keep(solve_context *s, scl_held *held, scl_error *error) {
  const scl_flow *flow = flow_of(&s->problem);
  const double bytes =
      (double)held->count * (double)(scl_flow_cols(flow) + flow->source->targets) * sizeof(double);
  if (flow->source->random_access) return SCL_STATUS_OK;
  if (bytes > (double)s->training->allowance)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "the %zu rows held out take %.3g bytes, more than the allowance of %zu: hold "
                    "out a smaller share",
                    held->count, bytes, s->training->allowance);
  pthread_mutex_lock(&s->training->lock);
  const scl_status status =
      scl_flow_pick(flow, held->places + 2 * held->count, held->count, &held->x, &held->y, error);
  pthread_mutex_unlock(&s->training->lock);
  return status == SCL_STATUS_OK ? scl_source_matrix(&held->x, &held->y, &held->source, error)
                                 : status;
}

scl_status scl_problem_hold_out(const scl_problem *problem, double share, uint64_t seed,
                                size_t *count, scl_error *error) {
  solve_context *s = context_of(problem);
  const scl_flow *flow = flow_of(problem);
  SCL_TRY(scl_problem_enter(problem, "hold_out", error));
  if (!(share > 0 && share < 1) || s->held != NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "rows are held out once, and a share of them between 0 and 1 (got %g)", share);
  SCL_TRY(scl_training_order(s->training, &s->order, error));
  scl_held *held = scl_allocate_zero(sizeof *held);
  if (held == NULL) return scl_fail_memory(error, sizeof *held, "rows held out");
  scl_status status = holdout_draw(s, s->order, share, seed, held, error);
  if (status == SCL_STATUS_OK) status = holdout_check(s, share, held, error);
  if (status == SCL_STATUS_OK) status = holdout_list(flow, s->order, held, error);
  if (status == SCL_STATUS_OK) status = holdout_keep(s, held, error);
  if (status != SCL_STATUS_OK) {
    scl_held_destroy(held);
    return status;
  }
  s->held = held;
  *count = held->count;
  return SCL_STATUS_OK;
}

scl_status scl_problem_held(const scl_problem *problem, size_t first, size_t count, scl_visit visit,
                            void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  const scl_flow *flow = flow_of(problem);
  const scl_held *held = s->held;
  SCL_TRY(scl_problem_enter(problem, "held", error));
  if (held == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "no rows are held out: ask hold_out first");
  for (size_t at = 0; at < held->count; at += BLOCK_ROWS) {
    const scl_chosen_rows rows = {.source = held->source != NULL ? held->source : flow->source,
                                  .places =
                                      held->places + at + (held->source != NULL ? held->count : 0),
                                  .index = held->places + at,
                                  .weights = held->weights + at,
                                  .first = at,
                                  .count = scl_min(BLOCK_ROWS, held->count - at)};
    SCL_TRY(
        scl_problem_show_chosen(problem, flow->map, &rows, first, count, visit, context, error));
  }
  return SCL_STATUS_OK;
}
