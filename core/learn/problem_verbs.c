/* What a solver may ask of a problem, answered by streaming. */
#include "algebra/dense.h"
#include "algebra/thin.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/random.h"
#include "learn/problem_internal.h"
#include "map/projection.h"
#include <math.h>
#include <string.h>

size_t scl_problem_runs(const solve_context *s, const scl_flow_block *block, size_t run[2][2]) {
  if (s->without < 0) {
    run[0][0] = 0;
    run[0][1] = block->count;
    return 1;
  }
  run[0][0] = 0;
  run[0][1] = block->group_start[s->without];
  run[1][0] = block->group_start[s->without + 1];
  run[1][1] = block->count;
  return 2;
}

typedef struct visiting {
  const scl_problem *problem;
  solve_context *solve;
  scl_visit visit;
  void *context;
  size_t *index; /* places in the data, one block long */
  size_t seen;
  bool dense;   /* the visitor takes no sparse rows: zeros are filled in */
  void *filled; /* scl_flow_fill_rows x D, then */
} visiting;

/* Sparse features as they are, or with zeros filled in, so many rows at a time. */
static scl_status visit_sparse(visiting *v, const scl_flow_block *block, scl_rows *rows,
                               size_t start, scl_error *error) {
  const scl_flow *flow = &v->solve->training->flow;
  const size_t d = v->problem->features, total = rows->count, c = v->problem->targets;
  if (!v->dense) {
    rows->features = (scl_block){NULL, v->problem->dtype, total, d, 1, (ptrdiff_t)d, 0};
    rows->columns = block->columns + start * block->slots;
    rows->slots = block->slots;
    rows->value = block->value;
    return v->visit(v->context, rows, error);
  }
  const size_t most = scl_flow_fill_rows(flow);
  if (v->filled == NULL) v->filled = scl_allocate_array(most * d + 1, scl_dtype_size(flow->dtype));
  if (v->filled == NULL)
    return scl_fail_memory(error, most * d * scl_dtype_size(flow->dtype), "rows with their zeros");
  for (size_t at = 0; at < total; at += most) {
    scl_rows part = *rows;
    part.count = scl_min(most, total - at);
    part.first += at;
    part.targets += at * c;
    part.index += at;
    if (part.weights != NULL) part.weights += at;
    scl_flow_fill(flow, block, start + at, part.count, v->filled);
    part.features = (scl_block){v->filled, v->problem->dtype, part.count, d, 1, (ptrdiff_t)d, 0};
    SCL_TRY(v->visit(v->context, &part, error));
  }
  return SCL_STATUS_OK;
}

static scl_status visit_runs(void *context, const scl_flow_block *block, scl_error *error) {
  visiting *v = context;
  const size_t c = v->problem->targets, size = scl_dtype_size(v->problem->dtype);
  size_t run[2][2];
  for (size_t i = 0; i < block->count; i++)
    v->index[i] = block->first + block->place[i];
  for (size_t r = 0, runs = scl_problem_runs(v->solve, block, run); r < runs; r++) {
    const size_t start = run[r][0], count = run[r][1] - start;
    if (count == 0) continue;
    scl_rows rows = {.head = SCL_HEAD(scl_rows),
                     .first = v->seen,
                     .count = count,
                     .targets = block->y + start * c,
                     .weights = block->weights == NULL ? NULL : block->weights + start,
                     .index = v->index + start};
    v->seen += count;
    if (block->slots > 0) {
      SCL_TRY(visit_sparse(v, block, &rows, start, error));
      continue;
    }
    rows.features = (scl_block){(char *)(uintptr_t)block->phi +
                                    (ptrdiff_t)start * block->phi_stride * (ptrdiff_t)size,
                                v->problem->dtype,
                                count,
                                v->problem->features,
                                1,
                                block->phi_stride,
                                0};
    SCL_TRY(v->visit(v->context, &rows, error));
  }
  return SCL_STATUS_OK;
}

/* From memory where the blocks are kept; else from the rows, keeping them where they fit. */
static scl_status walk_blocks(scl_training *training, scl_flow_visit visit, void *context,
                              scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  const scl_keep *kept = training->kept;
  if (kept == NULL &&
      (training->keeps_no_more || !scl_keep_fits(&training->flow, training->allowance))) {
    status = scl_flow_walk(&training->flow, true, visit, context, error);
  } else if (kept == NULL) {
    status = scl_keep_create(&training->flow, visit, context, &training->kept, error);
    training->keeps_no_more = status == SCL_STATUS_OK && training->kept == NULL;
  }
  pthread_mutex_unlock(&training->lock);
  return kept == NULL ? status : scl_keep_walk(kept, visit, context, error);
}

/* The sums of all groups, made once. */
static scl_status ensure_sums(scl_training *training, scl_error *error) {
  pthread_mutex_lock(&training->lock);
  const scl_status status = training->have_sums
                                ? SCL_STATUS_OK
                                : scl_sums_accumulate(&training->flow, &training->sums, error);
  training->have_sums = status == SCL_STATUS_OK;
  pthread_mutex_unlock(&training->lock);
  return status;
}

static scl_status walk_rows(const scl_problem *problem, bool dense, scl_visit visit, void *context,
                            scl_error *error) {
  solve_context *s = context_of(problem);
  visiting v = {.problem = problem, .solve = s, .visit = visit, .context = context, .dense = dense};
  v.index = scl_allocate_array(s->training->flow.source->rows + 1, sizeof *v.index);
  if (v.index == NULL)
    return scl_fail_memory(error, s->training->flow.source->rows * sizeof *v.index, "row numbers");
  const scl_status status = walk_blocks(s->training, visit_runs, &v, error);
  scl_release(v.index);
  scl_release(v.filled);
  return status;
}

static scl_status verb_walk(const scl_problem *problem, scl_visit visit, void *context,
                            scl_error *error) {
  return walk_rows(problem, problem->slots == 0, visit, context, error);
}

scl_status scl_problem_reserve(solve_context *s, size_t d, size_t c, scl_error *error) {
  if (s->right != NULL) return SCL_STATUS_OK;
  double *memory = scl_allocate_zero((d * c + d + 2 * c + 1) * sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, (d * c + d + 2 * c) * sizeof *memory, "normal equations");
  s->right = memory;
  s->mean_phi = memory + d * c;
  s->square = s->mean_phi + d;
  s->mean_y = s->square + c;
  return SCL_STATUS_OK;
}

static scl_status verb_normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  scl_training *training = s->training;
  SCL_TRY(ensure_sums(training, error));
  if (!s->have_normal || s->reweighted) {
    SCL_TRY(scl_problem_reserve(s, problem->features, problem->targets, error));
    if (s->work == NULL) SCL_TRY(scl_symmetric_create(problem->features, &s->work, error));
    const double total = scl_sums_combine(&training->sums, s->without, s->intercept, s->work,
                                          s->right, s->square, s->mean_phi, s->mean_y);
    s->normal = (scl_normal){SCL_HEAD(scl_normal), s->work, s->right, s->square, total};
    s->have_normal = true;
    s->reweighted = false;
  }
  *out = s->normal;
  return SCL_STATUS_OK;
}

scl_status scl_problem_walk_rows(scl_training *training, scl_flow_visit visit, void *context,
                                 scl_error *error) {
  pthread_mutex_lock(&training->lock);
  const scl_status status = scl_flow_walk(&training->flow, false, visit, context, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

/* Targets alone: staged rows are read, features are not made. */
typedef struct responding {
  const solve_context *solve;
  double *targets, *weights;
  size_t seen;
} responding;

static scl_status respond(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  responding *r = context;
  const size_t c = r->solve->problem.targets;
  size_t run[2][2];
  for (size_t k = 0, runs = scl_problem_runs(r->solve, block, run); k < runs; k++) {
    const size_t start = run[k][0], count = run[k][1] - start;
    if (r->targets != NULL)
      memcpy(r->targets + r->seen * c, block->y + start * c, count * c * sizeof(double));
    for (size_t i = 0; r->weights != NULL && i < count; i++)
      r->weights[r->seen + i] = block->weights == NULL ? 1 : block->weights[start + i];
    r->seen += count;
  }
  return SCL_STATUS_OK;
}

static scl_status verb_responses(const scl_problem *problem, double *targets, double *weights,
                                 scl_error *error) {
  responding r = {context_of(problem), targets, weights, 0};
  return scl_problem_walk_rows(context_of(problem)->training, respond, &r, error);
}

static scl_status verb_gram(const scl_problem *problem, const scl_symmetric **out,
                            scl_error *error) {
  return scl_training_gram(context_of(problem)->training, out, error);
}

/* ---- products: float64 coefficients against blocks of either dtype; in the block's dtype inside a
 * block, float64 across blocks */

typedef struct passing {
  const double *in;
  double *out;
  size_t k;
  scl_thin thin; /* dense rows */
  scl_turn turn; /* sweeps */
  void *context;
} passing;

/* out (count x k) = rows a for sparse rows; out (D x k) += rows' r. */
static void sparse_product(const scl_rows *rows, const double *a, size_t k, double *out) {
  memset(out, 0, rows->count * k * sizeof *out);
  for (size_t i = 0; i < rows->count; i++)
    for (size_t s = 0; s < rows->slots; s++) {
      const int32_t column = rows->columns[i * rows->slots + s];
      for (size_t j = 0; column >= 0 && j < k; j++)
        out[i * k + j] += rows->value * a[(size_t)column * k + j];
    }
}

static void sparse_adjoint(const scl_rows *rows, const double *r, size_t k, double *out) {
  for (size_t i = 0; i < rows->count; i++)
    for (size_t s = 0; s < rows->slots; s++) {
      const int32_t column = rows->columns[i * rows->slots + s];
      for (size_t j = 0; column >= 0 && j < k; j++)
        out[(size_t)column * k + j] += rows->value * r[i * k + j];
    }
}

static scl_status product_rows(void *context, const scl_rows *rows, scl_error *error) {
  const passing *p = context;
  double *out = p->out + rows->first * p->k;
  if (rows->slots == 0)
    return scl_thin_product(&p->thin, rows->count, rows->features.data, rows->features.row_stride,
                            out, error);
  sparse_product(rows, p->in, p->k, out);
  return SCL_STATUS_OK;
}

static scl_status adjoint_rows(void *context, const scl_rows *rows, scl_error *error) {
  passing *p = context;
  const double *in = p->in + rows->first * p->k;
  if (rows->slots == 0)
    return scl_thin_adjoint(&p->thin, rows->count, rows->features.data, rows->features.row_stride,
                            in, error);
  sparse_adjoint(rows, in, p->k, p->out);
  return SCL_STATUS_OK;
}

static scl_status sweep_scores(passing *p, const scl_rows *rows, double *scores, scl_error *error) {
  const scl_block *phi = &rows->features;
  if (rows->slots > 0) {
    sparse_product(rows, p->in, p->k, scores);
    SCL_TRY(p->turn(p->context, rows, scores, error));
    sparse_adjoint(rows, scores, p->k, p->out);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_thin_product(&p->thin, rows->count, phi->data, phi->row_stride, scores, error));
  SCL_TRY(p->turn(p->context, rows, scores, error));
  return scl_thin_adjoint(&p->thin, rows->count, phi->data, phi->row_stride, scores, error);
}

static scl_status sweep_rows(void *context, const scl_rows *rows, scl_error *error) {
  passing *p = context;
  double *scores = scl_allocate_array(rows->count * p->k + 1, sizeof *scores);
  if (scores == NULL)
    return scl_fail_memory(error, rows->count * p->k * sizeof *scores, "scores of a block");
  const scl_status status = sweep_scores(p, rows, scores, error);
  scl_release(scores);
  return status;
}

/* One walk. a (D x k): what is multiplied, NULL in an adjoint, whose result is added up in
 * `out`. */
static scl_status pass(const scl_problem *problem, passing *p, const double *a, scl_visit visit,
                       scl_error *error) {
  const scl_flow *flow = &context_of(problem)->training->flow;
  const bool sparse = flow->map != NULL && scl_map_slots(flow->map) > 0;
  if (!sparse) SCL_TRY(scl_thin_open(flow->dtype, problem->features, a, p->k, &p->thin, error));
  const scl_status status = walk_rows(problem, false, visit, p, error);
  if (status == SCL_STATUS_OK && !sparse && visit != product_rows)
    scl_thin_collect(&p->thin, p->out);
  scl_thin_close(&p->thin);
  return status;
}

static scl_status verb_product(const scl_problem *problem, const double *a, size_t k, double *out,
                               scl_error *error) {
  passing p = {.in = a, .out = out, .k = k};
  return pass(problem, &p, a, product_rows, error);
}

static scl_status verb_adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                               scl_error *error) {
  passing p = {.in = r, .out = out, .k = k};
  memset(out, 0, problem->features * k * sizeof *out);
  return pass(problem, &p, NULL, adjoint_rows, error);
}

/* out = Phi' turn(Phi a) */
static scl_status verb_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                             void *context, double *out, scl_error *error) {
  passing p = {.in = a, .out = out, .k = k, .turn = turn, .context = context};
  memset(out, 0, problem->features * k * sizeof *out);
  return pass(problem, &p, a, sweep_rows, error);
}

/* ---- normal equations with other row weights: rows times the square root of theirs */

typedef struct reweighting {
  const double *weights;
  solve_context *solve;
  size_t c;
  scl_thin right, mean; /* Phi'W y and Phi'W 1 */
} reweighting;

/* Rows of a block times the square roots of their weights, in the block's dtype. */
typedef struct scaling {
  const scl_block *features;
  const double *weights;
  void *out;
} scaling;

enum { SCALE_ROWS = 64 };

static void scale_rows(void *context, size_t index) {
  const scaling *s = context;
  const size_t d = s->features->cols, first = index * SCALE_ROWS,
               end = scl_min(first + SCALE_ROWS, s->features->rows);
  for (size_t i = first; i < end; i++) {
    const double root = sqrt(s->weights[i]);
    const ptrdiff_t at = (ptrdiff_t)i * s->features->row_stride;
    if (s->features->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < d; j++)
        ((double *)s->out)[i * d + j] =
            root * ((const double *)s->features->data)[at + (ptrdiff_t)j];
    else
      for (size_t j = 0; j < d; j++)
        ((float *)s->out)[i * d + j] =
            (float)root * ((const float *)s->features->data)[at + (ptrdiff_t)j];
  }
}

/* Weighted targets, and what they and the weights add to the means and squares. */
static void weigh_targets(const reweighting *r, const scl_rows *rows, const double *weights,
                          double *out) {
  const size_t c = r->c;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < c; j++) {
      const double value = rows->targets[i * c + j];
      out[i * c + j] = weights[i] * value;
      r->solve->square[j] += weights[i] * value * value;
      r->solve->mean_y[j] += weights[i] * value;
    }
    r->solve->normal.total += weights[i];
  }
}

static scl_status reweight_rows(void *context, const scl_rows *rows, scl_error *error) {
  reweighting *r = context;
  const scl_block *phi = &rows->features;
  const size_t d = phi->cols, c = r->c;
  const double *weights = r->weights + rows->first;
  void *scaled = scl_allocate_array(rows->count * d + 1, scl_dtype_size(phi->dtype));
  double *targets = scl_allocate_array(rows->count * c + 1, sizeof *targets);
  scl_status status = SCL_STATUS_OK;
  if (scaled == NULL || targets == NULL)
    status =
        scl_fail_memory(error, rows->count * (d * scl_dtype_size(phi->dtype) + c * sizeof *targets),
                        "weighted rows");
  if (status == SCL_STATUS_OK) {
    scaling job = {phi, weights, scaled};
    scl_pool_run((rows->count + SCALE_ROWS - 1) / SCALE_ROWS, scale_rows, &job);
    weigh_targets(r, rows, weights, targets);
    status = scl_symmetric_accumulate(r->solve->work, phi->dtype, scaled, (ptrdiff_t)d, rows->count,
                                      error);
  }
  if (status == SCL_STATUS_OK)
    status = scl_thin_adjoint(&r->right, rows->count, phi->data, phi->row_stride, targets, error);
  if (status == SCL_STATUS_OK)
    status = scl_thin_adjoint(&r->mean, rows->count, phi->data, phi->row_stride, weights, error);
  scl_release(scaled);
  scl_release(targets);
  return status;
}

static scl_status walk_reweighted(const scl_problem *problem, reweighting *r, scl_error *error) {
  SCL_TRY(scl_thin_open(problem->dtype, problem->features, NULL, r->c, &r->right, error));
  scl_status status = scl_thin_open(problem->dtype, problem->features, NULL, 1, &r->mean, error);
  if (status == SCL_STATUS_OK) status = walk_rows(problem, true, reweight_rows, r, error);
  if (status == SCL_STATUS_OK) {
    scl_thin_collect(&r->right, r->solve->right);
    scl_thin_collect(&r->mean, r->solve->mean_phi);
  }
  scl_thin_close(&r->right);
  scl_thin_close(&r->mean);
  return status;
}

static scl_status verb_reweighted(const scl_problem *problem, const double *weights,
                                  scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  const size_t d = problem->features, c = problem->targets;
  for (size_t i = 0; i < problem->rows; i++)
    if (!(weights[i] >= 0) || !isfinite(weights[i]))
      return scl_fail(error, SCL_STATUS_BAD_DATA, "row weight %g is not finite and at least 0",
                      weights[i]);
  SCL_TRY(scl_problem_reserve(s, d, c, error));
  if (s->work == NULL) SCL_TRY(scl_symmetric_create(d, &s->work, error));
  scl_service_symmetric.scale(0, s->work);
  memset(s->right, 0, (d * c + d + 2 * c) * sizeof *s->right);
  s->have_normal = false;
  s->normal = (scl_normal){SCL_HEAD(scl_normal), s->work, s->right, s->square, 0};
  reweighting r = {.weights = weights, .solve = s, .c = c};
  SCL_TRY(walk_reweighted(problem, &r, error));
  const double total = s->normal.total;
  if (!(total > 0)) return scl_fail(error, SCL_STATUS_BAD_DATA, "all row weights are 0");
  for (size_t j = 0; j < d; j++)
    s->mean_phi[j] /= total;
  for (size_t j = 0; j < c; j++)
    s->mean_y[j] /= total;
  if (s->intercept)
    scl_sums_centre(total, d, c, s->work, s->right, s->square, s->mean_phi, s->mean_y);
  s->have_normal = s->reweighted = true;
  *out = s->normal;
  return SCL_STATUS_OK;
}

/* ---- minibatches: rows drawn with replacement from a source that can be read anywhere */

typedef struct picked {
  scl_source base;
  scl_source *from;
  const size_t *rows;
} picked;

static scl_status read_picked(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  const picked *self = (const picked *)source;
  for (size_t i = 0; i < count; i++) {
    scl_matrix one_x = *x, one_y = {0};
    one_x.data = scl_matrix_row(x, i);
    one_x.rows = 1;
    if (y != NULL) {
      one_y = *y;
      one_y.data = scl_matrix_row(y, i);
      one_y.rows = 1;
    }
    SCL_TRY(self->from->class->read(self->from, self->rows[first + i], 1, &one_x,
                                    y == NULL ? NULL : &one_y, error));
  }
  return SCL_STATUS_OK;
}

/* Row numbers (in the data) of the problem's rows, drawn by rejection of the group left out. */
static void draw_rows(const solve_context *s, uint64_t seed, uint64_t step, size_t size,
                      size_t *out) {
  const scl_flow *flow = &s->training->flow;
  uint64_t offset = 0;
  for (size_t i = 0; i < size;) {
    double u;
    scl_random_uniform(seed, SCL_STREAM_MINIBATCH, step, offset++, 1, &u);
    const size_t row = scl_min((size_t)(u * (double)flow->source->rows), flow->source->rows - 1);
    if (s->without < 0 || flow->group[row] != (int32_t)s->without) out[i++] = row;
  }
}

/* What the visitor of a minibatch sees: some of the features of a block, and phi itself where the
 * map holds phi/sqrt T. */
typedef struct narrowing {
  scl_visit visit;
  void *context;
  size_t skip, count; /* columns of the block before the first that is wanted, and how many are */
  double factor;      /* undoes the plain map's scale; 1: leave as it is */
} narrowing;

static scl_status narrow_rows(void *context, const scl_rows *rows, scl_error *error) {
  const narrowing *n = context;
  scl_rows part = *rows;
  part.features.data = (char *)rows->features.data + n->skip * scl_dtype_size(rows->features.dtype);
  part.features.cols = n->count;
  for (size_t i = 0; n->factor != 1 && i < rows->count; i++) {
    void *row = (char *)part.features.data + (ptrdiff_t)i * rows->features.row_stride *
                                                 (ptrdiff_t)scl_dtype_size(rows->features.dtype);
    for (size_t j = 0; j < n->count; j++)
      scl_set_number(row, rows->features.dtype, j,
                     scl_number(row, rows->features.dtype, j) * n->factor);
  }
  return n->visit(n->context, &part, error);
}

/* Make only the parameters (whole blocks of them) that features first .. first+count-1 of one
 * output need; with several outputs, all. */
static void narrow_flow(scl_flow *flow, size_t first, narrowing *narrow) {
  narrow->skip = first;
  if (flow->map == NULL || scl_map_slots(flow->map) > 0) return;
  const size_t T = scl_map_count(flow->map), block = scl_map_block(flow->map), plane = first / T,
               from = first % T;
  if (from + narrow->count > T) return;
  flow->first = from / block * block;
  flow->count =
      scl_min((from + narrow->count - flow->first + block - 1) / block * block, T - flow->first);
  narrow->skip = plane * flow->count + from - flow->first;
}

/* The map without K, on the same parameters. */
static scl_status plain_map(scl_training *training, scl_error *error) {
  if (training->flow.map == NULL || scl_map_slots(training->flow.map) > 0) return SCL_STATUS_OK;
  pthread_mutex_lock(&training->lock);
  const scl_status status = training->plain != NULL
                                ? SCL_STATUS_OK
                                : scl_map_create_plain(training->flow.map, &training->plain, error);
  pthread_mutex_unlock(&training->lock);
  return status;
}

static scl_status verb_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step,
                                 size_t size, size_t first, size_t count, int plain,
                                 scl_visit visit, void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  scl_flow flow = s->training->flow;
  narrowing narrow = {visit, context, 0, count, 1};
  if (size == 0 || count == 0 || first >= problem->features || count > problem->features - first)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "a minibatch of %zu rows and features %zu to %zu of %zu", size, first + 1,
                    first + count, problem->features);
  if (plain) {
    SCL_TRY(plain_map(s->training, error));
    if (flow.map != NULL && scl_map_slots(flow.map) == 0) {
      flow.map = s->training->plain;
      narrow.factor = sqrt((double)problem->parameters);
    }
  }
  narrow_flow(&flow, first, &narrow);
  if (!flow.source->random_access)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "minibatches need rows in memory; this data set streams");
  size_t *rows = scl_allocate_array(2 * size + 1, sizeof *rows);
  if (rows == NULL) return scl_fail_memory(error, 2 * size * sizeof *rows, "a minibatch");
  draw_rows(s, seed, step, size, rows);
  static const scl_source_class picked_class = {read_picked, NULL};
  picked source = {
      {&picked_class, size, flow.source->cols, flow.source->targets, true, flow.source->parallel},
      flow.source,
      rows};
  flow.source = &source.base;
  flow.group = NULL;
  double *weights =
      s->training->flow.weights == NULL ? NULL : scl_allocate_array(size + 1, sizeof *weights);
  if (s->training->flow.weights != NULL && weights == NULL) {
    scl_release(rows);
    return scl_fail_memory(error, size * sizeof *weights, "a minibatch");
  }
  for (size_t i = 0; weights != NULL && i < size; i++)
    weights[i] = s->training->flow.weights[rows[i]];
  flow.weights = weights;
  flow.block_rows = size;
  flow.doing = NULL;
  solve_context all = *s;
  all.without = -1;
  visiting v = {.problem = problem,
                .solve = &all,
                .visit = narrow_rows,
                .context = &narrow,
                .index = rows + size,
                .dense = true};
  const scl_status status = scl_flow_walk(&flow, true, visit_runs, &v, error);
  scl_release(v.filled);
  scl_release(weights);
  scl_release(rows);
  return status;
}

static scl_status verb_progress(const scl_problem *problem, double done, const char *doing,
                                scl_error *error) {
  if (context_of(problem)->training->flow.doing != NULL) scl_progress_report(doing, done, 1);
  return scl_interrupt_check(error);
}

void scl_problem_set_verbs(scl_problem *problem) {
  problem->responses = verb_responses;
  problem->walk = verb_walk;
  problem->normal = verb_normal;
  problem->dual = scl_problem_dual;
  problem->gram = verb_gram;
  problem->product = verb_product;
  problem->adjoint = verb_adjoint;
  problem->sweep = verb_sweep;
  problem->reweighted = verb_reweighted;
  problem->minibatch = verb_minibatch;
  problem->progress = verb_progress;
}
