/* Fits stages, cells and sampler states on one walk over the staged rows. Called by learn/
 * before the features are summed. */
#include "rows/fitting.h"

#include "base/interrupt.h"
#include "base/profile.h"
#include "base/progress.h"
#include "base/random.h"
#include "plugin/host.h"
#include "rows/centred.h"
#include "rows/chosen.h"
#include "rows/joined.h"
#include "rows/moments_csr.h"
#include "rows/reduce.h"
#include <string.h>

/* ------------ statistics of columns, and stages */

/* Slots of scl_reduction for column moments; context: the number of columns. */
static scl_status open_moments(void *context, void **part, scl_error *error) {
  scl_column_moments *m = scl_allocate_zero(sizeof *m);
  if (m == NULL) return scl_fail_memory(error, sizeof *m, "column statistics");
  const scl_status status = scl_column_moments_create(*(const size_t *)context, m, error);
  if (status == SCL_STATUS_OK)
    *part = m;
  else
    scl_release(m);
  return status;
}

static scl_status merge_moments(void *context, void *into, void *from, scl_error *error) {
  (void)context, (void)error;
  scl_column_moments_merge(into, from);
  return SCL_STATUS_OK;
}

static void close_moments(void *context, void *part) {
  (void)context;
  scl_column_moments_destroy(part);
  scl_release(part);
}

static void *memory_of_moments(void *context, void *part) {
  (void)context;
  return ((scl_column_moments *)part)->mean;
}

typedef struct moments_walk {
  scl_reducer reducer;
  scl_flow_visit also;
  void *context;
  scl_dtype dtype;
} moments_walk;

/* Add float32 features of a block to the moments, converted WIDE_ROWS rows at a time. */
static scl_status add_wide(scl_column_moments *m, const scl_flow_block *block, scl_error *error) {
  enum { WIDE_ROWS = 256 };
  double *rows = scl_allocate_array(WIDE_ROWS * m->cols + 1, sizeof *rows);
  if (rows == NULL)
    return scl_fail_memory(error, WIDE_ROWS * m->cols * sizeof *rows, "rows of features");
  for (size_t at = 0; at < block->count; at += WIDE_ROWS) {
    const size_t count = scl_min(WIDE_ROWS, block->count - at);
    for (size_t i = 0; i < count; i++)
      scl_widen(m->cols, (const float *)block->phi + (ptrdiff_t)(at + i) * block->phi_stride,
                rows + i * m->cols);
    scl_column_moments_add(m, rows, (ptrdiff_t)m->cols, count,
                           block->weights == NULL ? NULL : block->weights + at);
  }
  scl_release(rows);
  return SCL_STATUS_OK;
}

/* Visit: add a block to the moments of its leaf, then show it to the other visitor. */
static scl_status add_moments(void *context, const scl_flow_block *block, scl_error *error) {
  moments_walk *w = context;
  void *part;
  SCL_TRY(scl_reducer_at(&w->reducer, block->first, &part, error));
  if (w->dtype == SCL_DTYPE_FLOAT32)
    SCL_TRY(add_wide(part, block, error));
  else
    scl_column_moments_add(part, block->phi, block->phi_stride, block->count, block->weights);
  return w->also == NULL ? SCL_STATUS_OK : w->also(w->context, block, error);
}

static scl_reduction moments_of(size_t *cols) {
  return (scl_reduction){cols,          4 * *cols * sizeof(double), open_moments, merge_moments,
                         close_moments, memory_of_moments};
}

size_t scl_flow_moments_unit(const scl_flow *flow) {
  if (scl_flow_has_csr(flow)) return scl_csr_moments_unit(flow);
  size_t cols = scl_flow_features(flow);
  const scl_reduction sum = moments_of(&cols);
  const scl_reducer reducer = scl_reducer_of(&sum, flow->source->rows);
  return scl_reducer_divides(&reducer, flow) ? reducer.leaf_rows : 0;
}

scl_status scl_flow_moments(const scl_flow *flow, scl_flow_visit also, void *context,
                            scl_column_moments *out, scl_error *error) {
  if (scl_flow_has_csr(flow)) return scl_csr_moments(flow, also, context, out, error);
  size_t cols = scl_flow_features(flow);
  scl_flow walked = scl_flow_of_rows(flow);
  if (flow->map != NULL) {
    walked.map = flow->map;
    walked.dtype = flow->dtype;
  }
  const scl_reduction sum = moments_of(&cols);
  moments_walk w = {scl_reducer_of(&sum, flow->source->rows), also, context, walked.dtype};
  void *part;
  SCL_TRY(scl_reducer_walk(&w.reducer, &walked, flow->map != NULL, (5 * cols + 1) * sizeof(double),
                           add_moments, &w, "means and deviations", &part, error));
  *out = *(scl_column_moments *)part;
  scl_release(part);
  return SCL_STATUS_OK;
}

/* ------------ cells: a dictionary is the sum of what its rows bring, in their order */

static scl_status open_cells(void *context, void **part, scl_error *error) {
  scl_cells *cells;
  SCL_TRY(scl_map_open_cells(context, &cells, error));
  *part = cells;
  return SCL_STATUS_OK;
}

static scl_status merge_cells(void *context, void *into, void *from, scl_error *error) {
  (void)context;
  return scl_cells_merge(into, from, error);
}

static void close_cells(void *context, void *part) {
  (void)context;
  scl_cells_destroy(part);
}

typedef struct cell_lesson {
  scl_reducer reducer;
  scl_dtype dtype;
} cell_lesson;

/* Visit: learn the cells of a block in the dictionary of its leaf. */
static scl_status learn_cells(void *context, const scl_flow_block *block, scl_error *error) {
  cell_lesson *lesson = context;
  void *part;
  SCL_TRY(scl_reducer_at(&lesson->reducer, block->first, &part, error));
  return scl_cells_learn(part, lesson->dtype, block->x, block->x_stride, block->count, error);
}

scl_status scl_flow_learn_cells(const scl_flow *flow, scl_map *map, scl_error *error) {
  const scl_reduction sum = {map, SIZE_MAX, open_cells, merge_cells, close_cells, NULL};
  void *part = NULL;
  if (scl_map_entries(map) == 0) return SCL_STATUS_OK;
  if (scl_flow_cols(flow) != scl_map_dim(map))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X has %zu columns where the features take %zu",
                    scl_flow_cols(flow), scl_map_dim(map));
  cell_lesson lesson = {scl_reducer_of(&sum, flow->source->rows), scl_map_dtype(map)};
  scl_flow rows = scl_flow_of_rows(flow);
  rows.dtype = lesson.dtype;
  SCL_TRY(scl_reducer_finish(
      &lesson.reducer, scl_flow_walk(&rows, false, learn_cells, &lesson, error), &part, error));
  return scl_map_settle(map, part, error);
}

/* ------------ units of whole-number features */

/* Rows that the range of features is learnt from; rows whose features are made at a time. */
enum { GRID_ROWS = 2048, GRID_CHUNK = 64 };

/* The smallest and the largest value of each feature, over the rows so far. */
typedef struct ranging {
  const scl_flow *flow; /* of the rows */
  const scl_map *map;
  size_t features, rows;
  double *least, *most;
  float *phi; /* GRID_CHUNK rows */
} ranging;

/* Visit: extend the ranges by the features of a block of staged rows. */
static scl_status add_ranges(void *context, const scl_flow_block *block, scl_error *error) {
  ranging *r = context;
  const size_t d = r->features;
  for (size_t at = 0; at < block->count; at += GRID_CHUNK) {
    const size_t count = scl_min(GRID_CHUNK, block->count - at);
    SCL_TRY(scl_flow_apply_map(r->flow, r->map, block, at, count, r->phi, (ptrdiff_t)d, error));
    for (size_t i = 0; i < count; i++, r->rows++)
      for (size_t j = 0; j < d; j++) {
        const double number = (double)r->phi[i * d + j];
        if (r->rows == 0 || number < r->least[j]) r->least[j] = number;
        if (r->rows == 0 || number > r->most[j]) r->most[j] = number;
      }
  }
  return SCL_STATUS_OK;
}

scl_status scl_flow_learn_grid(const scl_flow *flow, scl_map *map, scl_error *error) {
  if (!scl_map_lacks_grid(map)) return SCL_STATUS_OK;
  ranging r = {.map = map, .features = scl_map_features(map)};
  scl_beginning rows = scl_source_begin(flow->source, GRID_ROWS);
  scl_flow first = scl_flow_of_rows(flow);
  first.source = &rows.base;
  first.weights = NULL;
  first.dtype = scl_map_dtype(map);
  first.csr = true;
  r.flow = &first;
  r.least = scl_allocate_zero((2 * r.features + 1) * sizeof *r.least);
  r.phi = scl_allocate_array(GRID_CHUNK * r.features + 1, sizeof *r.phi);
  scl_status status = SCL_STATUS_OK;
  if (r.least == NULL || r.phi == NULL)
    status = scl_fail_memory(error, GRID_CHUNK * r.features * sizeof *r.phi, "rows of features");
  else
    r.most = r.least + r.features;
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&first, false, add_ranges, &r, error);
  if (status == SCL_STATUS_OK) status = scl_map_learn_grid(map, r.least, r.most, error);
  SCL_RELEASE(r.least, r.phi);
  return status;
}

/* ------------ plugins that learn */

/* The plugin gets a pointer to `learning`, which is the first member; lesson_of casts it back. */
typedef struct lesson_context {
  scl_learning learning;
  const scl_flow *flow; /* staged rows, or features if it has a map */
  scl_progress *progress;
  bool visiting; /* whether the plugin's visit is running */
  bool csr;      /* the plugin takes sparse rows */
} lesson_context;

static lesson_context *lesson_of(const scl_learning *learning) {
  return (lesson_context *)(uintptr_t)learning;
}
static const scl_flow *flow_of(const scl_learning *learning) { return lesson_of(learning)->flow; }

/* Called first by each verb that walks: it fails inside a visit, because walks cannot be nested. */
static scl_status enter_verb(const scl_learning *learning, const char *verb, scl_error *error) {
  if (!lesson_of(learning)->visiting) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL, "learning.%s was called from inside a visit", verb);
}

typedef struct visiting {
  lesson_context *lesson;
  scl_visit visit;
  void *context;
} visiting;

/* Show `count` rows of a block from row `at` on, which are at `data` (NULL: sparse), to the plugin, in
 * the types of the plugin interface. While `visiting` is set, the plugin cannot start another walk. */
static scl_status show_rows(const visiting *v, const scl_flow_block *block, size_t at, size_t count,
                            const double *data, ptrdiff_t stride, scl_error *error) {
  const scl_flow *flow = v->lesson->flow;
  scl_const_csr csr = {0};
  if (data == NULL) csr = scl_csr_const(block->csr, at, count);
  const scl_rows rows = {.head = SCL_HEAD(scl_rows),
                         .first = block->first + at,
                         .count = count,
                         .features = {.data = data,
                                      .dtype = SCL_DTYPE_FLOAT64,
                                      .rows = count,
                                      .cols = scl_flow_features(flow),
                                      .planes = 1,
                                      .row_stride = stride},
                         .targets = block->y == NULL ? NULL : block->y + at * flow->source->targets,
                         .weights = block->weights == NULL ? NULL : block->weights + at,
                         .csr = data == NULL ? &csr : NULL};
  v->lesson->visiting = true;
  const scl_status status = v->visit(v->context, &rows, error);
  v->lesson->visiting = false;
  return status;
}

/* Visit: show a block. Features in float32 are converted WIDE_ROWS rows at a time. */
static scl_status show_block(void *context, const scl_flow_block *block, scl_error *error) {
  enum { WIDE_ROWS = 256 };
  const visiting *v = context;
  const scl_flow *flow = v->lesson->flow;
  const size_t cols = scl_flow_features(flow);
  scl_status status = SCL_STATUS_OK;
  if (block->csr != NULL && flow->map == NULL)
    return show_rows(v, block, 0, block->count, NULL, 0, error);
  if (flow->dtype == SCL_DTYPE_FLOAT64)
    return show_rows(v, block, 0, block->count, block->phi, block->phi_stride, error);
  double *wide = scl_allocate_array(WIDE_ROWS * cols + 1, sizeof *wide);
  if (wide == NULL)
    return scl_fail_memory(error, WIDE_ROWS * cols * sizeof *wide, "rows of features");
  for (size_t at = 0; status == SCL_STATUS_OK && at < block->count; at += WIDE_ROWS) {
    const size_t count = scl_min(WIDE_ROWS, block->count - at);
    for (size_t i = 0; i < count; i++)
      scl_widen(cols, scl_flow_row(flow, block, at + i), wide + i * cols);
    status = show_rows(v, block, at, count, wide, (ptrdiff_t)cols, error);
  }
  scl_release(wide);
  return status;
}

static scl_status lesson_walk(const scl_learning *learning, scl_visit visit, void *context,
                              scl_error *error) {
  visiting v = {lesson_of(learning), visit, context};
  SCL_TRY(enter_verb(learning, "walk", error));
  scl_flow flow = *flow_of(learning);
  flow.csr = lesson_of(learning)->csr;
  return scl_flow_walk(&flow, flow.map != NULL, show_block, &v, error);
}

typedef struct selecting {
  const scl_flow *flow;
  const size_t *places;
  size_t count, taken, cols;
  double *out;
} selecting;

/* Visit: copy the wanted rows of a block. Places ascend, so each block continues where the last
 * one ended. */
static scl_status select_block(void *context, const scl_flow_block *block, scl_error *error) {
  selecting *s = context;
  (void)error;
  for (; s->taken < s->count && s->places[s->taken] < block->first + block->count; s->taken++) {
    const void *row = scl_flow_row(s->flow, block, s->places[s->taken] - block->first);
    for (size_t j = 0; j < s->cols; j++)
      s->out[s->taken * s->cols + j] = scl_number(row, s->flow->dtype, j);
  }
  return SCL_STATUS_OK;
}

/* scl_learning.select: out (count x cols) = the rows at ascending places, by one walk. */
static scl_status lesson_select(const scl_learning *learning, const size_t *places, size_t count,
                                double *out, scl_error *error) {
  const scl_flow *flow = flow_of(learning);
  SCL_TRY(enter_verb(learning, "select", error));
  for (size_t i = 0; i < count; i++)
    if (places[i] >= learning->rows || (i > 0 && places[i] <= places[i - 1]))
      return scl_fail(error, SCL_STATUS_INTERNAL,
                      "rows to select are not ascending places below %zu", learning->rows);
  selecting s = {flow, places, count, 0, scl_flow_features(flow), out};
  return scl_flow_walk(flow, flow->map != NULL, select_block, &s, error);
}

static scl_status lesson_progress(const scl_learning *learning, const char *doing, double done,
                                  scl_error *error) {
  scl_progress *progress = lesson_of(learning)->progress;
  if (flow_of(learning)->doing != NULL) progress->stage = doing;
  scl_progress_report(progress, done);
  return scl_interrupt_check(error);
}

/* Check what the sampler learnt: the numbers are finite, and the number of parameters comes from
 * the sampler or from option T. */
static scl_status check_state(const scl_lesson *lesson, const scl_state *state, size_t count,
                              scl_error *error) {
  const char *name = scl_instance_name(lesson->sampler);
  for (size_t i = 0; i < state->rows * state->cols; i++)
    if (!isfinite(state->numbers[i]))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "sampler.%s learnt a number that is not finite (number %zu)", name, i + 1);
  if (count > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "features: option 'T' is missing: sampler.%s takes any number of parameters",
                  name);
}

scl_status scl_flow_learn_state(const scl_flow *flow, const scl_lesson *lesson, scl_matrix *state,
                                size_t *count, scl_error *error) {
  const scl_flow rows = scl_flow_of_rows(flow);
  const size_t dim = scl_flow_cols(flow);
  const scl_origin origin =
      scl_origin_of(lesson->sampler, dim, lesson->count, lesson->seed, SCL_STREAM_PARAMETERS, NULL);
  const scl_draw draw = scl_origin_draw(&origin, 0, 1);
  const scl_part kernel =
      lesson->kernel == NULL ? (scl_part){0} : scl_instance_part(lesson->kernel);
  const size_t mark = scl_profile_enter("learning parameters");
  scl_progress progress = scl_progress_begin(NULL, NULL, 1);
  lesson_context context = {{.head = SCL_HEAD(scl_learning),
                             .host = scl_host_get(),
                             .draw = &draw,
                             .rows = flow->source->rows,
                             .dim = dim,
                             .targets = flow->source->targets,
                             .kernel = lesson->kernel == NULL ? NULL : &kernel,
                             .walk = lesson_walk,
                             .select = lesson_select,
                             .progress = lesson_progress},
                            &rows,
                            &progress,
                            false,
                            false};
  scl_state learnt = {.head = SCL_HEAD(scl_state)};
  scl_status status = scl_sampler_learn(lesson->sampler, &context.learning, &learnt, error);
  scl_progress_end(&progress);
  scl_profile_leave(mark, 0, 0);
  *count = lesson->count > 0 ? lesson->count : learnt.count;
  if (status == SCL_STATUS_OK) status = check_state(lesson, &learnt, *count, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create_raw(learnt.rows, learnt.cols, SCL_DTYPE_FLOAT64, state, error);
  if (status == SCL_STATUS_OK)
    memcpy(state->data, learnt.numbers, learnt.rows * learnt.cols * sizeof(double));
  scl_release(learnt.numbers);
  return status;
}

/* ------------ row stages */

/* The stage gets a pointer to `fitting`, which is the first member. */
typedef struct stage_lesson {
  scl_fitting fitting;
  lesson_context rows;
  scl_fitted_stage *stage;
  scl_stage_arrays *reports;
} stage_lesson;

static stage_lesson *stage_lesson_of(const scl_fitting *fitting) {
  return (stage_lesson *)(uintptr_t)fitting;
}

static scl_status stage_put(const scl_fitting *fitting, const char *name, const scl_array *array,
                            scl_error *error) {
  scl_fitted_stage *stage = stage_lesson_of(fitting)->stage;
  return scl_stage_arrays_put(&stage->state, false, name, array, error);
}

static scl_status stage_report(const scl_fitting *fitting, const char *name, const scl_array *array,
                               scl_error *error) {
  if (array->dtype != SCL_DTYPE_FLOAT64 || array->rank != 2)
    return scl_fail(error, SCL_STATUS_INTERNAL, "the report '%.40s' is not a float64 matrix", name);
  return scl_stage_arrays_put(stage_lesson_of(fitting)->reports, true, name, array, error);
}

static scl_status stage_moments(const scl_fitting *fitting, scl_stage_column *out,
                                scl_error *error) {
  scl_column_moments moments;
  SCL_TRY(enter_verb(fitting->rows, "moments", error));
  SCL_TRY(scl_flow_moments(flow_of(fitting->rows), NULL, NULL, &moments, error));
  scl_column_moments_list(&moments, out);
  scl_column_moments_destroy(&moments);
  return SCL_STATUS_OK;
}

static scl_status stage_mean(const scl_fitting *fitting, double *mean, double *weight,
                             scl_error *error) {
  SCL_TRY(enter_verb(fitting->rows, "mean", error));
  return scl_flow_mean(flow_of(fitting->rows), mean, weight, error);
}

static scl_status stage_products(const scl_fitting *fitting, const double *mean,
                                 scl_symmetric **out, scl_error *error) {
  SCL_TRY(enter_verb(fitting->rows, "products", error));
  return scl_flow_products(flow_of(fitting->rows), mean, out, error);
}

/* Let a stage of the general form learn from the rows of a flow. */
static scl_status learn_stage(const scl_flow *flow, scl_fitted_stage *stage,
                              scl_stage_arrays *reports, scl_error *error) {
  const bool targets = scl_stage_has(stage->instance, SCL_STAGE_TARGETS);
  scl_flow rows = *flow;
  scl_progress progress = scl_progress_begin(NULL, NULL, 1);
  if (flow->map == NULL) rows = scl_flow_of_rows(flow);
  rows.group = NULL;
  if (!targets) rows.weights = NULL;
  stage_lesson lesson = {.fitting = {.head = SCL_HEAD(scl_fitting),
                                     .host = scl_host_get(),
                                     .stream = SCL_STREAM_STAGE,
                                     .put = stage_put,
                                     .report = stage_report,
                                     .moments = stage_moments,
                                     .mean = stage_mean,
                                     .products = stage_products},
                         .rows = {{.head = SCL_HEAD(scl_learning),
                                   .host = scl_host_get(),
                                   .rows = flow->source->rows,
                                   .dim = stage->cols_in,
                                   .targets = targets ? flow->source->targets : 0,
                                   .walk = lesson_walk,
                                   .select = lesson_select,
                                   .progress = lesson_progress},
                                  &rows,
                                  &progress,
                                  false,
                                  scl_stage_takes_csr(stage->instance)},
                         .stage = stage,
                         .reports = reports};
  lesson.fitting.rows = &lesson.rows.learning;
  const scl_status status = scl_stage_fit(stage->instance, &lesson.fitting, error);
  scl_progress_end(&progress);
  return status;
}

/* Learn, by the form of the stage, and settle what was learnt. */
static scl_status fit_form(const scl_flow *flow, scl_fitted_stage *stage, scl_stage_arrays *reports,
                           scl_error *error) {
  const scl_stage *table = scl_stage_table(stage->instance);
  scl_column_moments moments;
  if (table->fit != NULL) SCL_TRY(learn_stage(flow, stage, reports, error));
  if (table->column != NULL) {
    scl_flow rows = *flow;
    rows.weights = NULL;
    SCL_TRY(scl_flow_moments(&rows, NULL, NULL, &moments, error));
    const scl_status status = scl_fitted_stage_scale(stage, &moments, error);
    scl_column_moments_destroy(&moments);
    if (status != SCL_STATUS_OK) return status;
  }
  return scl_fitted_stage_settle(stage, error);
}

scl_status scl_flow_fit_stage(const scl_flow *flow, scl_instance *instance, scl_fitted_stage **out,
                              scl_stage_arrays *reports, scl_error *error) {
  const char *name = scl_instance_name(instance);
  scl_fitted_stage *stage = NULL;
  if (scl_flow_entries(flow) > 0)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s: one-hot features have too many columns for row stages after them", name);
  if (scl_stage_learns(instance) && flow->source->rows == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "there are no rows to fit on");
  if (scl_stage_has(instance, SCL_STAGE_TARGETS) && flow->source->targets == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: learns from targets, and these rows have none",
                    name);
  SCL_TRY(scl_fitted_stage_create(instance, scl_flow_features(flow), &stage, error));
  const size_t mark = scl_stage_learns(instance) ? scl_profile_enter(name) : 0;
  const scl_status status = fit_form(flow, stage, reports, error);
  if (scl_stage_learns(instance)) scl_profile_leave(mark, 0, 0);
  if (status == SCL_STATUS_OK)
    *out = stage;
  else
    scl_fitted_stage_destroy(stage);
  return status;
}
