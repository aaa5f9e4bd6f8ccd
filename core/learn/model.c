/* Models that a solver fits, scores, saves and loads itself (SCL_ABILITY_MODEL): the host stores a
 * pointer to the solver's own object and checks shapes. */
#include "learn/model.h"

#include "base/pool.h"
#include "learn/problem_internal.h"
#include <string.h>

/* Rows that one task scores, and the most targets that a saved model may have. */
enum { TILE_ROWS = 256, MOST_TARGETS = 1 << 16 };

struct scl_model {
  scl_instance *solver; /* a reference, shared with other users of the solver */
  void *self;           /* the solver's object; NULL before it is fitted or loaded */
  size_t features, targets;
  scl_dtype dtype; /* of the rows that it learnt from */
};

size_t scl_model_features(const scl_model *model) { return model->features; }
size_t scl_model_targets(const scl_model *model) { return model->targets; }
scl_dtype scl_model_dtype(const scl_model *model) { return model->dtype; }

void scl_model_destroy(scl_model *model) {
  if (model == NULL) return;
  scl_solver_destroy_model(model->solver, model->self);
  scl_instance_release(model->solver);
  scl_release(model);
}

/* A model without content (self NULL), with a reference to the solver. */
static scl_status model_create(scl_instance *solver, size_t features, size_t targets,
                               scl_dtype dtype, scl_model **out, scl_error *error) {
  if (!scl_instance_has(solver, SCL_ABILITY_MODEL))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "solver.%s makes no models, but coefficients",
                    scl_instance_name(solver));
  scl_model *model = scl_allocate_zero(sizeof *model);
  if (model == NULL) return scl_fail_memory(error, sizeof *model, "a model");
  *model = (scl_model){scl_instance_share(solver), NULL, features, targets, dtype};
  *out = model;
  return SCL_STATUS_OK;
}

/* Create the models and let the solver fit them. selves, list: room for `count` pointers each.
 * After a failure the caller destroys the models in `out`. */
static scl_status fit_all(const solve_context *s, scl_instance *solver, const double *values,
                          size_t count, void **selves, scl_solution **list, scl_fit *fits,
                          scl_model **out, scl_error *error) {
  for (size_t k = 0; k < count; k++) {
    fits[k] = (scl_fit){.solution = scl_solution_blank(), .loss = NAN};
    list[k] = &fits[k].solution;
    SCL_TRY(model_create(solver, s->problem.features, s->problem.targets, s->training->flow.dtype,
                         &out[k], error));
  }
  SCL_TRY(scl_solver_fit(solver, &s->problem, values, count, selves, list, error));
  for (size_t k = 0; k < count; k++)
    out[k]->self = selves[k];
  return SCL_STATUS_OK;
}

scl_status scl_model_fit_problem(const solve_context *s, scl_instance *solver, const double *values,
                                 size_t count, scl_fit *fits, scl_model **out, scl_error *error) {
  const size_t number = values == NULL ? 1 : count;
  void **selves = scl_allocate_array(number + 1, sizeof *selves);
  scl_solution **list = scl_allocate_array(number + 1, sizeof *list);
  memset(out, 0, number * sizeof *out);
  const scl_status status =
      selves == NULL || list == NULL
          ? scl_fail_memory(error, number * sizeof *list, "models")
          : fit_all(s, solver, values, number, selves, list, fits, out, error);
  SCL_RELEASE(selves, list);
  for (size_t k = 0; status != SCL_STATUS_OK && k < number; k++) {
    scl_model_destroy(out[k]);
    out[k] = NULL;
  }
  return status;
}

scl_status scl_model_fit(scl_training *training, scl_instance *solver, long without,
                         const double *values, size_t count, scl_fit *fits, scl_model **out,
                         scl_error *error) {
  solve_context s;
  SCL_TRY(scl_problem_open(&s, training, solver, without, error));
  const scl_status status = scl_model_fit_problem(&s, solver, values, count, fits, out, error);
  scl_problem_close(&s);
  return status;
}

/* ------------ scores */

/* Dense rows that are scored in tiles of TILE_ROWS. Strides are in elements. */
typedef struct deciding {
  const scl_model *model;
  const void *rows;
  ptrdiff_t rows_stride; /* elements */
  size_t count;
  double *scores;
  ptrdiff_t stride;
} deciding;

/* One task of the pool: the scores of TILE_ROWS rows. */
static scl_status decide_tile(void *context, size_t index, scl_error *error) {
  const deciding *d = context;
  const scl_model *m = d->model;
  const size_t first = index * TILE_ROWS;
  const scl_const_block rows = {.data =
                                    scl_at(d->rows, m->dtype, (ptrdiff_t)first * d->rows_stride),
                                .dtype = m->dtype,
                                .rows = scl_min(TILE_ROWS, d->count - first),
                                .cols = m->features,
                                .planes = 1,
                                .row_stride = d->rows_stride};
  return scl_solver_decide(m->solver, m->self, &rows, m->targets,
                           d->scores + (ptrdiff_t)first * d->stride, d->stride, error);
}

/* Scores (count x c at `stride`) of dense rows in the model's dtype, in parallel. */
static scl_status decide_dense(const scl_model *model, const void *rows, ptrdiff_t rows_stride,
                               size_t count, double *scores, ptrdiff_t stride, scl_error *error) {
  deciding d = {model, rows, rows_stride, count, scores, stride};
  return scl_pool_try((count + TILE_ROWS - 1) / TILE_ROWS, decide_tile, &d, error);
}

/* Scores of one-hot rows, which are written out with their zeros, scl_flow_fill_rows at a time. */
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

scl_status scl_model_decide_block(const scl_model *model, const scl_const_block *rows,
                                  double *scores, ptrdiff_t stride, scl_error *error) {
  if (rows->cols != model->features || rows->planes != 1)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "rows of %zu features where the model takes %zu",
                    rows->cols, model->features);
  return scl_solver_decide(model->solver, model->self, rows, model->targets, scores, stride, error);
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
  if (block->entries > 0)
    return decide_sparse(model, flow, block, start, count, scores, stride, error);
  return decide_dense(model, scl_flow_row(flow, block, start), block->phi_stride, count, scores,
                      stride, error);
}

/* A walk that writes the scores of every row to the matrix `out`, in the order of the source. */
typedef struct gathering {
  const scl_flow *flow;
  const scl_model *model;
  scl_matrix *out;
} gathering;

/* Visit: the scores of a block, to the places of its rows in the source. */
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

/* ------------ saving and loading */

scl_status scl_model_save(const scl_model *model, scl_array_archive *archive, scl_error *error) {
  return scl_solver_save(model->solver, model->self, &archive->archive, error);
}

/* The model that a solver loaded may have other sizes than the file says. Let it score one row of
 * zeros, with room for more scores than it should write, and fail unless it writes exactly
 * model->targets of them. Written places are recognised by the value `untouched`, which no score
 * takes in practice. */
static scl_status model_probe(const scl_model *model, scl_error *error) {
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
                        "the saved model does not give the %zu scores a row that it should",
                        model->targets);
  scl_release(row);
  scl_release(scores);
  return status;
}

scl_status scl_model_load(scl_instance *solver, const scl_array_archive *archive, size_t features,
                          size_t targets, scl_dtype dtype, scl_model **out, scl_error *error) {
  scl_model *model = NULL;
  if (features == 0 || features > INT32_MAX || targets == 0 || targets > MOST_TARGETS ||
      (dtype != SCL_DTYPE_FLOAT64 && dtype != SCL_DTYPE_FLOAT32))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "a saved model of %zu features and %zu targets cannot be", features, targets);
  SCL_TRY(model_create(solver, features, targets, dtype, &model, error));
  scl_status status =
      scl_solver_load(solver, &archive->archive, features, targets, &model->self, error);
  if (status == SCL_STATUS_OK) status = model_probe(model, error);
  if (status == SCL_STATUS_OK)
    *out = model;
  else
    scl_model_destroy(model);
  return status;
}
