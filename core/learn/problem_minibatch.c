/* Minibatches: rows drawn with replacement by (seed, step), the same whether the data are in memory
 * or stream. A source with random access is read at the rows drawn. One that streams is read once
 * for as many steps ahead as the allowance holds (the window).
 *
 * Once a solve has computed as many features as all rows have together, the features of all rows
 * are computed and cached, if they fit the allowance; a solve without a fold begins with this if
 * those without the other folds draw enough between them. Each solve counts its own: the bits of a
 * product depend on how many rows are multiplied at once, and must not depend on other solves that
 * run at the same time. */
#include "base/random.h"
#include "learn/problem_internal.h"
#include "rows/chosen.h"
#include <stdlib.h>
#include <string.h>

/* out (size) = the rows of one step, as places in the data: drawn uniformly with replacement, where
 * draws from the group left out or from the held-out rows are rejected. */
static void draw_rows(const solve_context *s, uint64_t seed, uint64_t step, size_t size,
                      size_t *out) {
  const scl_flow *flow = &s->training->flow;
  const size_t *order = s->order;
  uint64_t offset = 0;
  for (size_t i = 0; i < size;) {
    double u;
    scl_random_uniform(seed, SCL_STREAM_MINIBATCH, step, offset++, 1, &u);
    const size_t drawn = scl_min((size_t)(u * (double)flow->source->rows), flow->source->rows - 1),
                 row = order == NULL ? drawn : order[drawn];
    const bool left_out = s->without >= 0 && flow->group[row] == (int32_t)s->without;
    if (!left_out && !scl_held_has(s->held, row)) out[i++] = row;
  }
}

/* ------------ the window of a stream */

struct scl_window {
  uint64_t seed, first; /* steps first .. first+steps-1 */
  size_t steps, size;
  size_t *drawn;      /* steps x size places in the data */
  size_t *places;     /* those places in ascending order, each once */
  size_t count;       /* how many */
  scl_matrix x, y;    /* their staged rows and targets */
  scl_source *source; /* x and y */
};

void scl_window_destroy(scl_window *w) {
  if (w == NULL) return;
  scl_release(w->drawn);
  scl_release(w->places);
  scl_source_destroy(w->source);
  scl_matrix_release(&w->x);
  scl_matrix_release(&w->y);
  scl_release(w);
}

/* Order of qsort and bsearch for places of rows. */
static int ascending(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Draw the rows of all steps of the window, and list them in ascending order, each once, as one
 * pass over the stream meets them. */
static scl_status draw_window(const solve_context *s, scl_window *w, scl_error *error) {
  const size_t draws = w->steps * w->size;
  w->drawn = scl_allocate_array(draws + 1, sizeof *w->drawn);
  w->places = scl_allocate_array(draws + 1, sizeof *w->places);
  if (w->drawn == NULL || w->places == NULL)
    return scl_fail_memory(error, 2 * draws * sizeof *w->drawn, "minibatches of a stream");
  for (size_t i = 0; i < w->steps; i++)
    draw_rows(s, w->seed, w->first + i, w->size, w->drawn + i * w->size);
  memcpy(w->places, w->drawn, draws * sizeof *w->places);
  qsort(w->places, draws, sizeof *w->places, ascending);
  for (size_t i = 0; i < draws; i++)
    /* places 0 .. count-1 are final, and count <= i: the list is compressed in place */
    if (i == 0 || w->places[i] != w->places[w->count - 1]) w->places[w->count++] = w->places[i];
  return SCL_STATUS_OK;
}

/* Draw and read the window in one pass over the stream. The caller destroys it after a failure. */
static scl_status read_window(solve_context *s, scl_window *w, scl_error *error) {
  SCL_TRY(draw_window(s, w, error));
  pthread_mutex_lock(&s->training->lock);
  const scl_status status =
      scl_flow_pick(&s->training->flow, w->places, w->count, &w->x, &w->y, error);
  pthread_mutex_unlock(&s->training->lock);
  return status == SCL_STATUS_OK ? scl_source_matrix(&w->x, &w->y, &w->source, error) : status;
}

/* Make s->window a window that contains the step: keep the present one, or read the next, of as
 * many steps (1 to 65,536) as the allowance holds. */
static scl_status find_window(solve_context *s, uint64_t seed, uint64_t step, size_t size,
                              scl_error *error) {
  const scl_window *have = s->window;
  if (have != NULL && have->seed == seed && have->size == size && step >= have->first &&
      step - have->first < have->steps)
    return SCL_STATUS_OK;
  const scl_flow *flow = &s->training->flow;
  const double row = (double)(scl_flow_cols(flow) + flow->source->targets + 2) * sizeof(double);
  const double fit = (double)s->training->allowance / ((double)size * row);
  scl_window_destroy(s->window);
  s->window = NULL;
  scl_window *w = scl_allocate_zero(sizeof *w);
  if (w == NULL) return scl_fail_memory(error, sizeof *w, "minibatches of a stream");
  w->seed = seed;
  w->first = step;
  w->steps = fit < 1 ? 1 : fit > 65536 ? 65536 : (size_t)fit;
  w->size = size;
  const scl_status status = read_window(s, w, error);
  if (status == SCL_STATUS_OK)
    s->window = w;
  else
    scl_window_destroy(w);
  return status;
}

/* ------------ some of the features */

/* A visit of `count` features of each block, from feature `skip` of the block on. */
typedef struct narrowing {
  scl_show show;
  size_t skip, count;
  const scl_chosen_rows *rows;
} narrowing;

/* Restrict the flow to the parameters (whole blocks of them) that features first ..
 * first+n->count-1 need, if these belong to one output of the nonlinearity; otherwise it makes all
 * features. */
static void narrow_flow(scl_flow *flow, size_t first, narrowing *n) {
  n->skip = first;
  if (flow->map == NULL || scl_flow_entries(flow) > 0) return;
  const size_t T = scl_map_count(flow->map), block = scl_map_block(flow->map), plane = first / T,
               from = first % T;
  if (from + n->count > T) return;
  flow->first = from / block * block;
  flow->count =
      scl_min((from + n->count - flow->first + block - 1) / block * block, T - flow->first);
  n->skip = plane * flow->count + from - flow->first;
}

/* The block's dense features from `skip` on. */
static scl_rows narrowed(const narrowing *n, const scl_flow_block *block) {
  const scl_flow *flow = n->show.flow;
  return (scl_rows){.head = SCL_HEAD(scl_rows),
                    .first = n->rows->first,
                    .count = block->count,
                    .features = {.data = block->phi == NULL
                                             ? NULL
                                             : scl_at(block->phi, flow->dtype, (ptrdiff_t)n->skip),
                                 .dtype = flow->dtype,
                                 .rows = block->count,
                                 .cols = n->count,
                                 .planes = 1,
                                 .row_stride = block->phi_stride},
                    .targets = block->y,
                    .weights = block->weights,
                    .index = n->rows->index};
}

/* Visit a dense block. */
static scl_status show_dense(narrowing *n, const scl_flow_block *block, scl_error *error) {
  scl_flow_block part = *block; /* whose first feature is the first wanted */
  part.phi = scl_at(block->phi, n->show.flow->dtype, (ptrdiff_t)n->skip);
  const scl_run run = {&part, 0, narrowed(n, block)};
  return scl_show_rows(&n->show, &run, error);
}

/* Visit a block; sparse rows are written out with their zeros first, unless the solver reads compressed
 * ones and all features are wanted. */
static scl_status show_block(void *context, const scl_flow_block *block, scl_error *error) {
  narrowing *n = context;
  const scl_flow *flow = n->show.flow;
  const size_t d = scl_flow_features(flow), size = scl_dtype_size(flow->dtype);
  const bool csr = block->csr != NULL && flow->map == NULL;
  if (block->entries == 0 && !csr) return show_dense(n, block, error);
  if (csr && n->show.problem->csr && n->count == d) {
    scl_flow_block none = *block; /* without dense features */
    none.phi = NULL;
    const scl_run run = {block, 0, narrowed(n, &none)};
    return scl_show_csr(&n->show, &run, error);
  }
  scl_flow_block filled = *block;
  void *memory = scl_allocate_array(block->count * d + 1, size);
  if (memory == NULL) return scl_fail_memory(error, block->count * d * size, "a minibatch");
  scl_flow_fill(flow, block, 0, block->count, memory);
  filled.entries = 0;
  filled.csr = NULL;
  filled.phi = memory;
  filled.phi_stride = (ptrdiff_t)d;
  const scl_status status = show_dense(n, &filled, error);
  scl_release(memory);
  return status;
}

/* ------------ one minibatch */

/* Make training->plain, the map without K on the same parameters, unless it exists. */
static scl_status plain_map(scl_training *training, scl_error *error) {
  pthread_mutex_lock(&training->lock);
  const scl_status status = training->plain != NULL
                                ? SCL_STATUS_OK
                                : scl_map_create_plain(training->flow.map, &training->plain, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

scl_status scl_problem_show_chosen(const scl_problem *problem, const scl_map *map,
                                   const scl_chosen_rows *rows, size_t first, size_t count,
                                   scl_visit visit, void *context, scl_error *error) {
  scl_flow flow = *flow_of(problem);
  scl_chosen chosen = scl_source_choose(rows->source, rows->places, rows->count);
  narrowing n = {.show = {.problem = problem, .flow = &flow, .visit = visit, .context = context},
                 .count = count,
                 .rows = rows};
  if (rows->source != flow.source) flow.n_stages = 0;
  flow.source = &chosen.base;
  if (map != flow.map) flow.pilot = NULL; /* of other features */
  flow.map = map;
  flow.group = NULL;
  flow.weights = rows->weights;
  flow.at_once = true;
  flow.csr = true;
  flow.doing = NULL;
  narrow_flow(&flow, first, &n);
  const scl_status status = scl_flow_walk(&flow, true, show_block, &n, error);
  scl_release(n.show.room);
  context_of(problem)->progress.rows += (double)rows->count;
  return status;
}

/* ------------ from features that are kept */

/* A visit that does nothing: the walk fills the cache. */
static scl_status skip_block(void *context, const scl_flow_block *block, scl_error *error) {
  (void)context;
  (void)block;
  (void)error;
  return SCL_STATUS_OK;
}

/* *kept = the cached features of all rows, or NULL: the features of this minibatch have to be
 * computed. rows: what computing them costs, in rows of all features. */
static scl_status find_kept(solve_context *s, double rows, const scl_keep **kept,
                            scl_error *error) {
  scl_training *training = s->training;
  const scl_flow walked = scl_problem_flow(&training->flow), *flow = &walked;
  scl_status status = SCL_STATUS_OK;
  *kept = NULL;
  if (flow->map == NULL || scl_flow_entries(flow) > 0 || !flow->source->random_access)
    return status;
  s->picked += rows;
  if (!s->picks_all && s->picked < (double)flow->source->rows) return status;
  pthread_mutex_lock(&training->lock);
  if (training->kept == NULL && !training->keeps_no_more &&
      scl_keep_fits(flow, training->allowance)) {
    status = scl_keep_create(flow, skip_block, NULL, &training->kept, error);
    training->keeps_no_more = status == SCL_STATUS_OK && training->kept == NULL;
  }
  if (training->kept != NULL && scl_keep_index(training->kept)) *kept = training->kept;
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* Visit rows of cached features: copy features first .. first+count-1 of each row, and its
 * targets. */
static scl_status show_kept(const scl_problem *problem, const scl_keep *kept,
                            const scl_chosen_rows *rows, size_t first, size_t count,
                            scl_visit visit, void *context, scl_error *error) {
  const scl_flow *flow = flow_of(problem);
  const size_t size = scl_dtype_size(flow->dtype), c = problem->targets;
  char *phi = scl_allocate_array(rows->count * count + 1, size);
  double *y = scl_allocate_array(rows->count * c + 1, sizeof *y);
  scl_status status = SCL_STATUS_OK;
  if (phi == NULL || y == NULL)
    status = scl_fail_memory(error, rows->count * (count * size + c * sizeof *y), "a minibatch");
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows->count; i++) {
    const double *own;
    scl_keep_row(kept, rows->index[i], first, count, phi + i * count * size, &own);
    if (own != NULL) memcpy(y + i * c, own, c * sizeof *y);
  }
  narrowing n = {.show = {.problem = problem, .flow = flow, .visit = visit, .context = context},
                 .count = count,
                 .rows = rows};
  const scl_flow_block block = {.count = rows->count,
                                .phi = phi,
                                .phi_stride = (ptrdiff_t)count,
                                .y = y,
                                .weights = rows->weights};
  if (status == SCL_STATUS_OK) status = show_dense(&n, &block, error);
  SCL_RELEASE(n.show.room, phi, y);
  context_of(problem)->progress.rows += (double)rows->count;
  return status;
}

/* The rows of a step. rows (2 size) = their places in the data, then their places in the source
 * that is read: the same for random access, those in the window for a stream. weights (size):
 * theirs. */
static scl_chosen_rows drawn_rows(const solve_context *s, uint64_t seed, uint64_t step, size_t size,
                                  size_t *rows, double *weights) {
  const scl_flow *flow = &s->training->flow;
  const bool stream = !flow->source->random_access;
  draw_rows(s, seed, step, size, rows);
  for (size_t i = 0; i < size; i++) {
    const scl_window *w = s->window;
    rows[size + i] = !stream ? rows[i]
                             : (size_t)((const size_t *)bsearch(&rows[i], w->places, w->count,
                                                                sizeof *w->places, ascending) -
                                        w->places);
    if (flow->weights != NULL) weights[i] = flow->weights[rows[i]];
  }
  return (scl_chosen_rows){.source = stream ? s->window->source : flow->source,
                           .places = rows + size,
                           .index = rows,
                           .weights = flow->weights == NULL ? NULL : weights,
                           .count = size};
}

scl_status scl_problem_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step,
                                 size_t size, size_t first, size_t count, int32_t plain,
                                 scl_visit visit, void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  const scl_flow *flow = &s->training->flow;
  const scl_map *map = flow->map;
  SCL_TRY(scl_problem_enter(problem, "minibatch", error));
  if (size == 0 || count == 0 || first >= problem->features || count > problem->features - first)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "a minibatch of %zu rows and features %zu to %zu of %zu", size, first + 1,
                    first + count, problem->features);
  if (plain && map != NULL && scl_flow_entries(flow) == 0) {
    SCL_TRY(plain_map(s->training, error));
    map = s->training->plain;
  }
  SCL_TRY(scl_training_order(s->training, &s->order, error));
  if (!flow->source->random_access) SCL_TRY(find_window(s, seed, step, size, error));
  size_t *rows = scl_allocate_array(2 * size + 1, sizeof *rows);
  double *weights = scl_allocate_array(size + 1, sizeof *weights);
  scl_status status = SCL_STATUS_OK;
  if (rows == NULL || weights == NULL)
    status = scl_fail_memory(error, size * (2 * sizeof *rows + sizeof *weights), "a minibatch");
  if (status == SCL_STATUS_OK) {
    const scl_chosen_rows drawn = drawn_rows(s, seed, step, size, rows, weights);
    const double made = (double)size * (double)count / (double)problem->features;
    const scl_keep *kept = NULL;
    if (map == flow->map) status = find_kept(s, made, &kept, error);
    if (status == SCL_STATUS_OK)
      status = kept != NULL ? show_kept(problem, kept, &drawn, first, count, visit, context, error)
                            : scl_problem_show_chosen(problem, map, &drawn, first, count, visit,
                                                      context, error);
  }
  scl_release(weights);
  scl_release(rows);
  return status;
}
