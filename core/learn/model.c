#include "learn/model.h"

#include "base/pool.h"
#include "learn/problem_internal.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Rows that one task scores, and the most targets that a file may speak of. */
enum { TILE_ROWS = 256, MOST_TARGETS = 1 << 16 };

struct scl_model {
  scl_instance *solver;
  const scl_ability_model *table;
  void *self;
  size_t features, targets;
  scl_dtype dtype;
};

bool scl_model_made_by(const scl_instance *solver) {
  return scl_instance_ability(solver, SCL_ABILITY_MODEL) != NULL;
}

size_t scl_model_features(const scl_model *model) {
  return model->features;
}
size_t scl_model_targets(const scl_model *model) {
  return model->targets;
}

void scl_model_destroy(scl_model *model) {
  if (model == NULL) return;
  if (model->self != NULL) model->table->end(model->solver->self, model->self);
  scl_instance_release(model->solver);
  scl_release(model);
}

static scl_status create(scl_instance *solver, size_t features, size_t targets, scl_dtype dtype,
                         scl_model **out, scl_error *error) {
  const scl_ability_model *table = scl_instance_ability(solver, SCL_ABILITY_MODEL);
  if (table == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "it makes no models, but coefficients");
  scl_model *model = scl_allocate_zero(sizeof *model);
  if (model == NULL) return scl_fail_memory(error, sizeof *model, "a model");
  *model = (scl_model){scl_instance_share(solver), table, NULL, features, targets, dtype};
  *out = model;
  return SCL_STATUS_OK;
}

scl_status scl_model_fit(scl_training *training, scl_instance *solver, bool intercept, long without,
                         scl_fit *fit, scl_model **out, scl_error *error) {
  solve_context s;
  scl_model *model = NULL;
  scl_solution solution = {
      .head = SCL_HEAD(scl_solution), .gap = NAN, .residual = NAN, .tolerance = NAN, .score = NAN};
  SCL_TRY(scl_problem_open(&s, training, solver, intercept, without, error));
  scl_status status =
      create(solver, s.problem.features, s.problem.targets, s.problem.dtype, &model, error);
  if (status == SCL_STATUS_OK)
    status = scl_instance_prefix(
        solver, model->table->fit(solver->self, &s.problem, &model->self, &solution, error), error);
  scl_problem_close(&s);
  if (status != SCL_STATUS_OK) {
    if (model != NULL) model->self = NULL; /* a failing slot leaves nothing */
    scl_model_destroy(model);
    return status;
  }
  memset(fit, 0, sizeof *fit);
  fit->solution = solution;
  fit->loss = NAN;
  *out = model;
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- scores */

typedef struct deciding {
  const scl_model *model;
  const char *rows;
  ptrdiff_t rows_stride; /* elements */
  size_t count;
  double *scores;
  ptrdiff_t stride;
  atomic_flag failed;
  scl_status status;
  scl_error error;
} deciding;

static void decide_tile(void *context, size_t index) {
  deciding *d = context;
  const scl_model *m = d->model;
  const size_t first = index * TILE_ROWS, count = scl_min(TILE_ROWS, d->count - first);
  scl_error error = {0};
  const scl_block rows = {(void *)(uintptr_t)(d->rows + (ptrdiff_t)first * d->rows_stride *
                                                            (ptrdiff_t)scl_dtype_size(m->dtype)),
                          m->dtype,
                          count,
                          m->features,
                          1,
                          d->rows_stride,
                          0};
  const scl_status status = m->table->decide(
      m->solver->self, m->self, &rows, d->scores + (ptrdiff_t)first * d->stride, d->stride, &error);
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&d->failed)) return;
  d->status = scl_instance_prefix(m->solver, status, &error);
  d->error = error;
}

static scl_status decide_dense(const scl_model *model, const void *rows, ptrdiff_t rows_stride,
                               size_t count, double *scores, ptrdiff_t stride, scl_error *error) {
  deciding d = {.model = model,
                .rows = rows,
                .rows_stride = rows_stride,
                .count = count,
                .scores = scores,
                .stride = stride,
                .status = SCL_STATUS_OK};
  atomic_flag_clear(&d.failed);
  scl_pool_run((count + TILE_ROWS - 1) / TILE_ROWS, decide_tile, &d);
  if (d.status != SCL_STATUS_OK && error != NULL) *error = d.error;
  return d.status;
}

/* One-hot rows, with their zeros filled in so many at a time. */
static scl_status decide_sparse(const scl_model *model, const scl_flow *flow,
                                const scl_flow_block *block, size_t start, size_t count,
                                double *scores, ptrdiff_t stride, scl_error *error) {
  const size_t most = scl_min(scl_flow_fill_rows(flow), count), d = scl_flow_features(flow);
  void *filled = scl_allocate_array(most * d + 1, scl_dtype_size(flow->dtype));
  if (filled == NULL)
    return scl_fail_memory(error, most * d * scl_dtype_size(flow->dtype), "rows with their zeros");
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < count; at += most) {
    const size_t rows = scl_min(most, count - at);
    scl_flow_fill(flow, block, start + at, rows, filled);
    status = decide_dense(model, filled, (ptrdiff_t)d, rows, scores + (ptrdiff_t)at * stride,
                          stride, error);
  }
  scl_release(filled);
  return status;
}

scl_status scl_model_decide(const scl_model *model, const scl_flow *flow,
                            const scl_flow_block *block, size_t start, size_t count, double *scores,
                            ptrdiff_t stride, scl_error *error) {
  if (scl_flow_features(flow) != model->features || flow->dtype != model->dtype)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "rows of %zu features in %s where the model takes %zu in %s",
                    scl_flow_features(flow), scl_dtype_name(flow->dtype), model->features,
                    scl_dtype_name(model->dtype));
  if (count == 0) return SCL_STATUS_OK;
  if (block->slots > 0)
    return decide_sparse(model, flow, block, start, count, scores, stride, error);
  const char *rows = (const char *)block->phi +
                     (ptrdiff_t)start * block->phi_stride * (ptrdiff_t)scl_dtype_size(flow->dtype);
  return decide_dense(model, rows, block->phi_stride, count, scores, stride, error);
}

typedef struct gathering {
  const scl_flow *flow;
  const scl_model *model;
  scl_matrix *out;
} gathering;

static scl_status gather_block(void *context, const scl_flow_block *block, scl_error *error) {
  const gathering *g = context;
  const size_t c = g->model->targets;
  double *scores = scl_allocate_array(block->count * c + 1, sizeof *scores);
  if (scores == NULL)
    return scl_fail_memory(error, block->count * c * sizeof *scores, "scores of a block");
  const scl_status status =
      scl_model_decide(g->model, g->flow, block, 0, block->count, scores, (ptrdiff_t)c, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < block->count; i++)
    memcpy(scl_matrix_row(g->out, block->first + block->place[i]), scores + i * c,
           c * sizeof *scores);
  scl_release(scores);
  return status;
}

scl_status scl_model_decisions(const scl_flow *flow, const scl_model *model, scl_matrix *out,
                               scl_error *error) {
  gathering g = {flow, model, out};
  SCL_TRY(scl_matrix_create(flow->source->rows, model->targets, SCL_DTYPE_FLOAT64, out, error));
  const scl_status status = scl_flow_walk(flow, true, gather_block, &g, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- bytes */

/* Before the plugin's bytes: "SCLMODEL", then features, targets and dtype, 8 bytes each,
 * little-endian. */
enum { HEADER_BYTES = 32 };
static const char magic[8] = {'S', 'C', 'L', 'M', 'O', 'D', 'E', 'L'};

static void put_number(unsigned char *to, uint64_t value) {
  for (size_t i = 0; i < 8; i++)
    to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_number(const unsigned char *from) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;)
    value = value << 8 | from[i];
  return value;
}

scl_status scl_model_save(const scl_model *model, scl_write write, void *context,
                          scl_error *error) {
  unsigned char header[HEADER_BYTES];
  memcpy(header, magic, sizeof magic);
  put_number(header + 8, model->features);
  put_number(header + 16, model->targets);
  put_number(header + 24, (uint64_t)model->dtype);
  SCL_TRY(write(context, header, sizeof header, error));
  return scl_instance_prefix(
      model->solver, model->table->save(model->solver->self, model->self, write, context, error),
      error);
}

/* The plugin's bytes may speak of other sizes than the header: let the model score one row of
 * zeros, with room for more scores than it is said to have, and see that it takes such rows and
 * writes no more. */
static scl_status probe(const scl_model *model, scl_error *error) {
  static const double untouched = -7.25e301;
  void *row = scl_allocate_zero((model->features + 1) * sizeof(double));
  double *scores = scl_allocate_array(2 * MOST_TARGETS, sizeof *scores);
  scl_status status = row == NULL || scores == NULL
                          ? scl_fail_memory(error, MOST_TARGETS * sizeof *scores, "a loaded model")
                          : SCL_STATUS_OK;
  for (size_t j = 0; status == SCL_STATUS_OK && j < 2 * MOST_TARGETS; j++)
    scores[j] = untouched;
  if (status == SCL_STATUS_OK)
    status =
        decide_dense(model, row, (ptrdiff_t)model->features, 1, scores, 2 * MOST_TARGETS, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < 2 * MOST_TARGETS; j++)
    if ((j < model->targets) != (scores[j] != untouched))
      status = scl_fail(error, SCL_STATUS_BAD_DATA,
                        "the model does not give the %zu scores a row that the file speaks of",
                        model->targets);
  scl_release(row);
  scl_release(scores);
  return status;
}

scl_status scl_model_load(scl_instance *solver, scl_read read, void *context, scl_model **out,
                          scl_error *error) {
  unsigned char header[HEADER_BYTES];
  scl_model *model = NULL;
  SCL_TRY(read(context, header, sizeof header, error));
  const uint64_t features = get_number(header + 8), targets = get_number(header + 16),
                 dtype = get_number(header + 24);
  if (memcmp(header, magic, sizeof magic) != 0 || features == 0 || features > INT32_MAX ||
      targets == 0 || targets > MOST_TARGETS || dtype > SCL_DTYPE_FLOAT32)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "these bytes are no model, or damaged");
  SCL_TRY(create(solver, (size_t)features, (size_t)targets, (scl_dtype)dtype, &model, error));
  scl_status status = scl_instance_prefix(
      solver, model->table->load(solver->self, read, context, &model->self, error), error);
  if (status != SCL_STATUS_OK) model->self = NULL;
  if (status == SCL_STATUS_OK) status = probe(model, error);
  if (status == SCL_STATUS_OK)
    *out = model;
  else
    scl_model_destroy(model);
  return status;
}
