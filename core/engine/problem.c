#include "problem.h"

#include "dense.h"
#include "interrupt.h"
#include "plugin/host.h"
#include "progress.h"
#include "random.h"
#include <math.h>
#include <string.h>

struct scl_training {
  scl_flow flow;
  scl_task task;
  size_t classes, allowance;
  bool have_sums;
  scl_sums sums;
  scl_symmetric *gram; /* G */
  scl_map *plain;      /* the map without K, for minibatches */
};

/* One solve: the rows of all groups but one, with the caches that its verbs fill. */
typedef struct solve_context {
  scl_problem problem; /* first: what the solver sees */
  scl_training *training;
  long without;
  bool intercept;
  bool have_normal, reweighted; /* reweighted: `normal` holds other row weights than the problem's */
  scl_normal normal;
  scl_symmetric *work;                        /* combined Phi'Phi, where it is not a group's own */
  double *right, *square, *mean_phi, *mean_y; /* D x c, c, D, c */
  scl_symmetric *dual;
  double *dual_targets;
} solve_context;

scl_status scl_training_create(const scl_flow *flow, scl_task task, size_t classes, size_t allowance, scl_training **out,
                               scl_error *error) {
  scl_training *training = scl_allocate_zero(sizeof *training);
  if (training == NULL) return scl_fail_memory(error, sizeof *training, "a training");
  training->flow = *flow;
  training->task = task;
  training->classes = classes;
  training->allowance = allowance;
  *out = training;
  return SCL_OK;
}

void scl_training_destroy(scl_training *training) {
  if (training == NULL) return;
  if (training->have_sums) scl_sums_destroy(&training->sums);
  scl_symmetric_destroy(training->gram);
  scl_map_destroy(training->plain);
  scl_release(training);
}

scl_status scl_training_gram(scl_training *training, const scl_symmetric **out, scl_error *error) {
  if (training->flow.map == NULL) return scl_fail(error, SCL_UNSUPPORTED, "these features have no K, so no Gram matrix of parameters");
  if (training->gram == NULL) SCL_TRY(scl_map_gram(training->flow.map, &training->gram, error));
  *out = training->gram;
  return SCL_OK;
}

static solve_context *context_of(const scl_problem *problem) {
  return (solve_context *)(uintptr_t)problem;
}

/* ---------------------------------------------------------------- the verbs */

/* The runs of rows of a block that belong to the problem: before and after the group left out. */
static size_t runs_of(const solve_context *s, const scl_flow_block *block, size_t run[2][2]) {
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
} visiting;

static scl_status visit_runs(void *context, const scl_flow_block *block, scl_error *error) {
  visiting *v = context;
  const size_t c = v->problem->targets, size = scl_dtype_size(v->problem->dtype);
  size_t run[2][2];
  for (size_t i = 0; i < block->count; i++)
    v->index[i] = block->first + block->place[i];
  for (size_t r = 0, runs = runs_of(v->solve, block, run); r < runs; r++) {
    const size_t start = run[r][0], count = run[r][1] - start;
    if (count == 0) continue;
    scl_rows rows = {
        .head = SCL_HEAD(scl_rows), .first = v->seen, .count = count, .targets = block->y + start * c, .index = v->index + start};
    rows.features = (scl_block){(char *)(uintptr_t)block->phi + (ptrdiff_t)start * block->phi_stride * (ptrdiff_t)size,
                                v->problem->dtype,
                                count,
                                v->problem->features,
                                1,
                                block->phi_stride,
                                0};
    SCL_TRY(v->visit(v->context, &rows, error));
    v->seen += count;
  }
  return SCL_OK;
}

static scl_status verb_walk(const scl_problem *problem, scl_visit visit, void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  visiting v = {problem, s, visit, context, NULL, 0};
  v.index = scl_allocate_array(s->training->flow.source->rows + 1, sizeof *v.index);
  if (v.index == NULL) return scl_fail_memory(error, s->training->flow.source->rows * sizeof *v.index, "row numbers");
  const scl_status status = scl_flow_walk(&s->training->flow, true, visit_runs, &v, error);
  scl_release(v.index);
  return status;
}

static scl_status reserve_normal(solve_context *s, size_t d, size_t c, scl_error *error) {
  if (s->right != NULL) return SCL_OK;
  double *memory = scl_allocate_zero((d * c + d + 2 * c + 1) * sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, (d * c + d + 2 * c) * sizeof *memory, "normal equations");
  s->right = memory;
  s->mean_phi = memory + d * c;
  s->square = s->mean_phi + d;
  s->mean_y = s->square + c;
  return SCL_OK;
}

static scl_status verb_normal(const scl_problem *problem, scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  scl_training *training = s->training;
  if (!training->have_sums) {
    SCL_TRY(scl_sums_accumulate(&training->flow, &training->sums, error));
    training->have_sums = true;
  }
  if (!s->have_normal || s->reweighted) {
    SCL_TRY(reserve_normal(s, problem->features, problem->targets, error));
    if (s->work == NULL) SCL_TRY(scl_symmetric_create(problem->features, &s->work, error));
    const double total = scl_sums_combine(&training->sums, s->without, s->intercept, s->work, s->right, s->square, s->mean_phi, s->mean_y);
    s->normal = (scl_normal){SCL_HEAD(scl_normal), s->work, s->right, s->square, total};
    s->have_normal = true;
    s->reweighted = false;
  }
  *out = s->normal;
  return SCL_OK;
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
  for (size_t k = 0, runs = runs_of(r->solve, block, run); k < runs; k++) {
    const size_t start = run[k][0], count = run[k][1] - start;
    if (r->targets != NULL) memcpy(r->targets + r->seen * c, block->y + start * c, count * c * sizeof(double));
    for (size_t i = 0; r->weights != NULL && i < count; i++)
      r->weights[r->seen + i] = 1;
    r->seen += count;
  }
  return SCL_OK;
}

static scl_status verb_responses(const scl_problem *problem, double *targets, double *weights, scl_error *error) {
  responding r = {context_of(problem), targets, weights, 0};
  return scl_flow_walk(&context_of(problem)->training->flow, false, respond, &r, error);
}

static scl_status verb_gram(const scl_problem *problem, const scl_symmetric **out, scl_error *error) {
  return scl_training_gram(context_of(problem)->training, out, error);
}

/* ---- the dual: staged rows kept, features of pairs of row blocks multiplied */

typedef struct collecting {
  const solve_context *solve;
  char *x;
  double *y;
  size_t seen, cols, targets, size;
} collecting;

static scl_status collect(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  collecting *c = context;
  size_t run[2][2];
  for (size_t r = 0, runs = runs_of(c->solve, block, run); r < runs; r++) {
    const size_t start = run[r][0], count = run[r][1] - start;
    memcpy(c->x + c->seen * c->cols * c->size, (const char *)block->x + start * c->cols * c->size, count * c->cols * c->size);
    memcpy(c->y + c->seen * c->targets, block->y + start * c->targets, count * c->targets * sizeof(double));
    c->seen += count;
  }
  return SCL_OK;
}

typedef struct dual_blocks {
  const scl_flow *flow;
  const char *x;
  char *left, *right, *product;
  size_t rows, block, cols, features, size;
} dual_blocks;

static scl_status features_of(const dual_blocks *d, size_t first, size_t count, char *phi, scl_error *error) {
  const char *x = d->x + first * d->cols * d->size;
  if (d->flow->map != NULL) return scl_map_apply(d->flow->map, x, (ptrdiff_t)d->cols, count, phi, (ptrdiff_t)d->features, error);
  memcpy(phi, x, count * d->cols * d->size);
  return SCL_OK;
}

static scl_status dual_pairs(const dual_blocks *d, scl_symmetric *gram, scl_error *error) {
  for (size_t i = 0; i < d->rows; i += d->block) {
    const size_t rows = scl_min(d->block, d->rows - i);
    SCL_TRY(features_of(d, i, rows, d->left, error));
    for (size_t j = 0; j <= i; j += d->block) {
      const size_t cols = scl_min(d->block, d->rows - j);
      SCL_TRY(scl_interrupt_check(error));
      const char *right = d->left;
      if (j != i) {
        SCL_TRY(features_of(d, j, cols, d->right, error));
        right = d->right;
      }
      scl_gemm_parallel(d->flow->dtype, false, true, rows, cols, d->features, 1, d->left, (ptrdiff_t)d->features, right,
                        (ptrdiff_t)d->features, 0, d->product, (ptrdiff_t)cols);
      scl_symmetric_set_block(gram, i, rows, j, cols, d->flow->dtype, d->product);
    }
  }
  return SCL_OK;
}

static scl_status make_dual(const scl_problem *problem, solve_context *s, char *x, scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t size = scl_dtype_size(flow->dtype), d = problem->features;
  collecting c = {s, x, s->dual_targets, 0, scl_flow_cols(flow), problem->targets, size};
  SCL_TRY(scl_flow_walk(flow, false, collect, &c, error));
  const double fit = 64e6 / ((double)d * (double)size);
  const size_t block = scl_min(problem->rows, fit < 64 ? 64 : fit > 4096 ? 4096 : (size_t)fit);
  dual_blocks blocks = {flow, x, NULL, NULL, NULL, problem->rows, block, c.cols, d, size};
  blocks.left = scl_allocate_array(2 * block * d + block * block, size);
  if (blocks.left == NULL) return scl_fail_memory(error, (2 * block * d + block * block) * size, "blocks of features");
  blocks.right = blocks.left + block * d * size;
  blocks.product = blocks.right + block * d * size;
  const scl_status status = dual_pairs(&blocks, s->dual, error);
  scl_release(blocks.left);
  return status;
}

/* With an intercept: features and targets centred, so the Gram matrix is centred on both sides: H K H. */
static scl_status centre_dual(const scl_problem *problem, solve_context *s, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *memory = scl_allocate_array(4 * n + 1, sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, 4 * n * sizeof *memory, "a centred Gram matrix");
  double *one = memory, *sums = memory + n, *pair = memory + 2 * n, total = 0;
  for (size_t i = 0; i < n; i++)
    one[i] = 1;
  scl_service_symmetric.multiply(s->dual, one, 1, sums);
  for (size_t i = 0; i < n; i++)
    total += sums[i];
  /* K - u 1' - 1 u' with u = K1/n - 1'K1/(2 n^2) 1: as the difference of two squares, (1-u)(1-u)' - 11' - uu' = -u1' - 1u' */
  for (size_t i = 0; i < n; i++)
    sums[i] = sums[i] / (double)n - total / (2 * (double)n * (double)n);
  for (size_t i = 0; i < n; i++)
    pair[i] = 1 - sums[i];
  scl_symmetric_rank(s->dual, 1, pair, 1);
  scl_symmetric_rank(s->dual, -1, one, 1);
  scl_symmetric_rank(s->dual, -1, sums, 1);
  for (size_t j = 0; j < c; j++) {
    double mean = 0;
    for (size_t i = 0; i < n; i++)
      mean += s->dual_targets[i * c + j] / (double)n;
    for (size_t i = 0; i < n; i++)
      s->dual_targets[i * c + j] -= mean;
  }
  scl_release(memory);
  return SCL_OK;
}

static scl_status verb_dual(const scl_problem *problem, const scl_symmetric **gram, const double **targets, scl_error *error) {
  solve_context *s = context_of(problem);
  if (s->dual == NULL) {
    const size_t bytes = problem->rows * scl_flow_cols(&s->training->flow) * scl_dtype_size(problem->dtype);
    scl_release(s->dual_targets);
    s->dual_targets = scl_allocate_array(problem->rows * problem->targets + 1, sizeof(double));
    char *x = scl_allocate(bytes + 1);
    scl_status status = x == NULL || s->dual_targets == NULL ? scl_fail_memory(error, bytes, "the rows of a dual problem") : SCL_OK;
    if (status == SCL_OK) status = scl_symmetric_create(problem->rows, &s->dual, error);
    if (status == SCL_OK) status = make_dual(problem, s, x, error);
    scl_release(x);
    if (status == SCL_OK && s->intercept) status = centre_dual(problem, s, error);
    if (status != SCL_OK) {
      scl_symmetric_destroy(s->dual);
      s->dual = NULL;
      return status;
    }
  }
  *gram = s->dual;
  *targets = s->dual_targets;
  return SCL_OK;
}

/* ---- products: float64 coefficients against blocks of either dtype */

typedef struct multiplying {
  const scl_problem *problem;
  const double *in;
  double *out;
  size_t k;
} multiplying;

/* The block in float64: its own memory, or a copy. */
static const double *wide_block(const scl_block *block, double **copy, ptrdiff_t *stride) {
  *copy = NULL;
  *stride = block->row_stride;
  if (block->dtype == SCL_F64) return block->data;
  *copy = scl_allocate_array(block->rows * block->cols + 1, sizeof **copy);
  for (size_t i = 0; *copy != NULL && i < block->rows; i++)
    for (size_t j = 0; j < block->cols; j++)
      (*copy)[i * block->cols + j] = (double)((const float *)block->data)[(ptrdiff_t)i * block->row_stride + (ptrdiff_t)j];
  *stride = (ptrdiff_t)block->cols;
  return *copy;
}

static scl_status product_rows(void *context, const scl_rows *rows, scl_error *error) {
  const multiplying *m = context;
  double *copy;
  ptrdiff_t stride;
  const double *phi = wide_block(&rows->features, &copy, &stride);
  if (phi == NULL) return scl_fail_memory(error, rows->count * rows->features.cols * sizeof *phi, "a float64 block");
  scl_gemm_parallel(SCL_F64, false, false, rows->count, m->k, rows->features.cols, 1, phi, stride, m->in, (ptrdiff_t)m->k, 0,
                    m->out + rows->first * m->k, (ptrdiff_t)m->k);
  scl_release(copy);
  return SCL_OK;
}

static scl_status adjoint_rows(void *context, const scl_rows *rows, scl_error *error) {
  const multiplying *m = context;
  double *copy;
  ptrdiff_t stride;
  const double *phi = wide_block(&rows->features, &copy, &stride);
  if (phi == NULL) return scl_fail_memory(error, rows->count * rows->features.cols * sizeof *phi, "a float64 block");
  scl_gemm_parallel(SCL_F64, true, false, rows->features.cols, m->k, rows->count, 1, phi, stride, m->in + rows->first * m->k,
                    (ptrdiff_t)m->k, 1, m->out, (ptrdiff_t)m->k);
  scl_release(copy);
  return SCL_OK;
}

static scl_status verb_product(const scl_problem *problem, const double *a, size_t k, double *out, scl_error *error) {
  multiplying m = {problem, a, out, k};
  return verb_walk(problem, product_rows, &m, error);
}

static scl_status verb_adjoint(const scl_problem *problem, const double *r, size_t k, double *out, scl_error *error) {
  multiplying m = {problem, r, out, k};
  memset(out, 0, problem->features * k * sizeof *out);
  return verb_walk(problem, adjoint_rows, &m, error);
}

/* out += Phi' turn(Phi a), block by block */
typedef struct sweeping {
  const double *a;
  size_t k;
  scl_turn turn;
  void *context;
  double *out;
} sweeping;

static scl_status sweep_rows(void *context, const scl_rows *rows, scl_error *error) {
  const sweeping *s = context;
  double *copy, *scores = scl_allocate_array(rows->count * s->k + 1, sizeof *scores);
  ptrdiff_t stride;
  const double *phi = wide_block(&rows->features, &copy, &stride);
  scl_status status =
      phi == NULL || scores == NULL ? scl_fail_memory(error, rows->count * rows->features.cols * sizeof *phi, "a block") : SCL_OK;
  if (status == SCL_OK) {
    scl_gemm_parallel(SCL_F64, false, false, rows->count, s->k, rows->features.cols, 1, phi, stride, s->a, (ptrdiff_t)s->k, 0, scores,
                      (ptrdiff_t)s->k);
    status = s->turn(s->context, rows, scores, error);
  }
  if (status == SCL_OK)
    scl_gemm_parallel(SCL_F64, true, false, rows->features.cols, s->k, rows->count, 1, phi, stride, scores, (ptrdiff_t)s->k, 1, s->out,
                      (ptrdiff_t)s->k);
  scl_release(copy);
  scl_release(scores);
  return status;
}

static scl_status verb_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn, void *context, double *out,
                             scl_error *error) {
  sweeping s = {a, k, turn, context, out};
  memset(out, 0, problem->features * k * sizeof *out);
  return verb_walk(problem, sweep_rows, &s, error);
}

/* ---- normal equations with other row weights: rows times the square root of theirs */

typedef struct reweighting {
  const double *weights;
  solve_context *solve;
  size_t c;
} reweighting;

static scl_status reweight_rows(void *context, const scl_rows *rows, scl_error *error) {
  const reweighting *r = context;
  const size_t d = rows->features.cols, c = r->c;
  double *copy, *scaled = scl_allocate_array(rows->count * (d + c) + 1, sizeof *scaled);
  ptrdiff_t stride;
  const double *phi = wide_block(&rows->features, &copy, &stride);
  if (phi == NULL || scaled == NULL) {
    scl_release(copy);
    scl_release(scaled);
    return scl_fail_memory(error, rows->count * d * sizeof *scaled, "weighted rows");
  }
  double *y = scaled + rows->count * d;
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = r->weights[rows->first + i], root = sqrt(weight);
    for (size_t j = 0; j < d; j++) {
      scaled[i * d + j] = root * phi[(ptrdiff_t)i * stride + (ptrdiff_t)j];
      r->solve->mean_phi[j] += weight * phi[(ptrdiff_t)i * stride + (ptrdiff_t)j];
    }
    for (size_t j = 0; j < c; j++) {
      const double value = rows->targets[i * c + j];
      y[i * c + j] = root * value;
      r->solve->square[j] += weight * value * value;
      r->solve->mean_y[j] += weight * value;
    }
    r->solve->normal.total += weight;
  }
  const scl_status status = scl_symmetric_accumulate(r->solve->work, SCL_F64, scaled, (ptrdiff_t)d, rows->count, error);
  scl_gemm_parallel(SCL_F64, true, false, d, c, rows->count, 1, scaled, (ptrdiff_t)d, y, (ptrdiff_t)c, 1, r->solve->right, (ptrdiff_t)c);
  scl_release(copy);
  scl_release(scaled);
  return status;
}

static scl_status verb_reweighted(const scl_problem *problem, const double *weights, scl_normal *out, scl_error *error) {
  solve_context *s = context_of(problem);
  const size_t d = problem->features, c = problem->targets;
  for (size_t i = 0; i < problem->rows; i++)
    if (!(weights[i] >= 0) || !isfinite(weights[i]))
      return scl_fail(error, SCL_BAD_DATA, "row weight %g is not finite and at least 0", weights[i]);
  SCL_TRY(reserve_normal(s, d, c, error));
  if (s->work == NULL) SCL_TRY(scl_symmetric_create(d, &s->work, error));
  scl_service_symmetric.scale(0, s->work);
  memset(s->right, 0, (d * c + d + 2 * c) * sizeof *s->right);
  s->have_normal = false;
  s->normal = (scl_normal){SCL_HEAD(scl_normal), s->work, s->right, s->square, 0};
  reweighting r = {weights, s, c};
  SCL_TRY(verb_walk(problem, reweight_rows, &r, error));
  const double total = s->normal.total;
  if (!(total > 0)) return scl_fail(error, SCL_BAD_DATA, "all row weights are 0");
  for (size_t j = 0; j < d; j++)
    s->mean_phi[j] /= total;
  for (size_t j = 0; j < c; j++)
    s->mean_y[j] /= total;
  if (s->intercept) scl_sums_centre(total, d, c, s->work, s->right, s->square, s->mean_phi, s->mean_y);
  s->have_normal = s->reweighted = true;
  *out = s->normal;
  return SCL_OK;
}

/* ---- minibatches: rows drawn with replacement from a source that can be read anywhere */

typedef struct picked {
  scl_source base;
  scl_source *from;
  const size_t *rows;
} picked;

static scl_status read_picked(scl_source *source, size_t first, size_t count, scl_matrix *x, scl_matrix *y, scl_error *error) {
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
    SCL_TRY(self->from->class->read(self->from, self->rows[first + i], 1, &one_x, y == NULL ? NULL : &one_y, error));
  }
  return SCL_OK;
}

/* Row numbers (in the data) of the problem's rows, drawn by rejection of the group left out. */
static void draw_rows(const solve_context *s, uint64_t seed, uint64_t step, size_t size, size_t *out) {
  const scl_flow *flow = &s->training->flow;
  uint64_t offset = 0;
  for (size_t i = 0; i < size;) {
    double u;
    scl_random_uniform(seed, SCL_STREAM_MINIBATCH, step, offset++, 1, &u);
    const size_t row = scl_min((size_t)(u * (double)flow->source->rows), flow->source->rows - 1);
    if (s->without < 0 || flow->group[row] != (int32_t)s->without) out[i++] = row;
  }
}

/* What the visitor of a minibatch sees: some of the features, and phi itself where the map holds phi/sqrt T. */
typedef struct narrowing {
  scl_visit visit;
  void *context;
  size_t first, count;
  double factor; /* undoes the plain map's scale; 1: leave as it is */
} narrowing;

static scl_status narrow_rows(void *context, const scl_rows *rows, scl_error *error) {
  const narrowing *n = context;
  scl_rows part = *rows;
  for (size_t i = 0; n->factor != 1 && i < rows->count; i++)
    for (size_t j = n->first; j < n->first + n->count; j++) {
      const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j;
      if (rows->features.dtype == SCL_F64)
        ((double *)rows->features.data)[at] *= n->factor;
      else
        ((float *)rows->features.data)[at] *= (float)n->factor;
    }
  part.features.data = (char *)rows->features.data + n->first * scl_dtype_size(rows->features.dtype);
  part.features.cols = n->count;
  return n->visit(n->context, &part, error);
}

/* The map without K, on the same parameters. */
static scl_status plain_map(scl_training *training, scl_error *error) {
  if (training->plain != NULL || training->flow.map == NULL) return SCL_OK;
  return scl_map_create_plain(training->flow.map, &training->plain, error);
}

static scl_status verb_minibatch(const scl_problem *problem, uint64_t seed, uint64_t step, size_t size, size_t first, size_t count,
                                 int plain, scl_visit visit, void *context, scl_error *error) {
  solve_context *s = context_of(problem);
  scl_flow flow = s->training->flow;
  narrowing narrow = {visit, context, first, count, 1};
  if (size == 0 || count == 0 || first >= problem->features || count > problem->features - first)
    return scl_fail(error, SCL_BAD_OPTION, "a minibatch of %zu rows and features %zu to %zu of %zu", size, first + 1, first + count,
                    problem->features);
  if (plain) {
    SCL_TRY(plain_map(s->training, error));
    if (flow.map != NULL) {
      flow.map = s->training->plain;
      narrow.factor = sqrt((double)problem->parameters);
    }
  }
  if (!flow.source->random_access) return scl_fail(error, SCL_UNSUPPORTED, "minibatches need rows in memory; this data set streams");
  size_t *rows = scl_allocate_array(2 * size + 1, sizeof *rows);
  if (rows == NULL) return scl_fail_memory(error, 2 * size * sizeof *rows, "a minibatch");
  draw_rows(s, seed, step, size, rows);
  static const scl_source_class picked_class = {read_picked, NULL};
  picked source = {{&picked_class, size, flow.source->cols, flow.source->targets, true, flow.source->parallel}, flow.source, rows};
  flow.source = &source.base;
  flow.group = NULL;
  flow.block_rows = size;
  flow.doing = NULL;
  solve_context all = *s;
  all.without = -1;
  visiting v = {problem, &all, narrow_rows, &narrow, rows + size, 0};
  const scl_status status = scl_flow_walk(&flow, true, visit_runs, &v, error);
  scl_release(rows);
  return status;
}

static scl_status verb_progress(const scl_problem *problem, double done, const char *doing, scl_error *error) {
  if (context_of(problem)->training->flow.doing != NULL) scl_progress_report(doing, done, 1);
  return scl_interrupt_check(error);
}

/* ---------------------------------------------------------------- one solve */

static void close_solve(solve_context *s) {
  scl_symmetric_destroy(s->work);
  scl_symmetric_destroy(s->dual);
  scl_release(s->dual_targets);
  scl_release(s->right);
}

void scl_fit_release(scl_fit *fit) {
  scl_matrix_release(&fit->coefficients);
  scl_matrix_release(&fit->intercept);
  memset(fit, 0, sizeof *fit);
}

static size_t rows_without(const scl_flow *flow, long without) {
  size_t rows = flow->source->rows;
  for (size_t i = 0; without >= 0 && i < flow->source->rows; i++)
    rows -= flow->group[i] == (int32_t)without;
  return rows;
}

/* Means of the features and targets over the problem's rows, when the solver did not ask for the normal equations. */
typedef struct averaging {
  double *phi, *y;
  size_t features, targets, rows;
} averaging;

static scl_status average_rows(void *context, const scl_rows *rows, scl_error *error) {
  (void)error;
  averaging *a = context;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < a->features; j++) {
      const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j;
      a->phi[j] +=
          (rows->features.dtype == SCL_F64 ? ((const double *)rows->features.data)[at] : (double)((const float *)rows->features.data)[at]) /
          (double)a->rows;
    }
    for (size_t j = 0; j < a->targets; j++)
      a->y[j] += rows->targets[i * a->targets + j] / (double)a->rows;
  }
  return SCL_OK;
}

static scl_status ensure_means(const scl_problem *problem, solve_context *s, scl_error *error) {
  if (s->have_normal) return SCL_OK;
  SCL_TRY(reserve_normal(s, problem->features, problem->targets, error));
  averaging a = {s->mean_phi, s->mean_y, problem->features, problem->targets, problem->rows};
  return verb_walk(problem, average_rows, &a, error);
}

/* b = mean y - mean phi a */
static void set_intercept(const scl_problem *problem, const solve_context *s, scl_fit *fit) {
  double *b = fit->intercept.data;
  for (size_t j = 0; j < problem->targets; j++) {
    b[j] = s->mean_y[j];
    for (size_t i = 0; i < problem->features; i++)
      b[j] -= s->mean_phi[i] * fit->solution.coefficients[i * problem->targets + j];
  }
}

/* The mean squared error from the sums: (y'y - 2 a'Phi'y + a'Phi'Phi a)/n, per target, summed. */
static double loss_of(const scl_problem *problem, const solve_context *s, const scl_fit *fit) {
  const size_t d = problem->features, c = problem->targets;
  if (!s->have_normal || s->normal.total <= 0) return NAN;
  double *product = scl_allocate_array(d * c + 1, sizeof *product), loss = 0;
  if (product == NULL) return NAN;
  const double *a = fit->solution.coefficients;
  scl_service_symmetric.multiply(s->normal.gram, a, c, product);
  for (size_t j = 0; j < c; j++) {
    double sum = s->normal.square[j];
    for (size_t i = 0; i < d; i++)
      sum += a[i * c + j] * (product[i * c + j] - 2 * s->normal.right[i * c + j]);
    loss += fmax(sum, 0) / s->normal.total;
  }
  scl_release(product);
  return loss;
}

static scl_status call_solver(const scl_problem *problem, const scl_instance *solver, const double *values, size_t count,
                              scl_solution *solutions, scl_error *error) {
  const scl_solver *table = scl_instance_vtable(solver);
  const scl_ability_path *path = scl_instance_ability(solver, SCL_ABILITY_PATH);
  if (values == NULL) return table->solve(solver->self, problem, solutions, error);
  if (path == NULL) return scl_fail(error, SCL_UNSUPPORTED, "it has no path over an option");
  scl_solution **list = scl_allocate_array(count + 1, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, count * sizeof *list, "solutions");
  for (size_t k = 0; k < count; k++)
    list[k] = &solutions[k];
  const scl_status status = path->solve(solver->self, problem, values, count, list, error);
  scl_release(list);
  return status;
}

static scl_status finish(const scl_problem *problem, solve_context *s, scl_fit *fits, size_t count, scl_error *error) {
  for (size_t k = 0; k < count; k++) {
    for (size_t i = 0; i < problem->features * problem->targets; i++)
      if (!isfinite(fits[k].solution.coefficients[i]))
        return scl_fail(error, SCL_NUMERIC, "the solution is not finite (coefficient %zu)", i + 1);
    if (s->intercept && isnan(fits[k].solution.intercept[0])) {
      SCL_TRY(ensure_means(problem, s, error));
      set_intercept(problem, s, &fits[k]);
    }
    fits[k].loss = loss_of(problem, s, &fits[k]);
  }
  return SCL_OK;
}

scl_status scl_training_solve(scl_training *training, const scl_instance *solver, bool intercept, long without, const double *values,
                              size_t count, scl_fit *fits, scl_error *error) {
  const scl_flow *flow = &training->flow;
  const size_t d = scl_flow_features(flow), c = flow->source->targets, number = values == NULL ? 1 : count;
  solve_context s = {.training = training, .without = without, .intercept = intercept};
  s.problem = (scl_problem){.head = SCL_HEAD(scl_problem),
                            .host = &scl_host_table,
                            .rows = rows_without(flow, without),
                            .features = d,
                            .targets = c,
                            .task = training->task,
                            .classes = training->classes,
                            .dtype = flow->dtype,
                            .has_kernel = flow->map != NULL && scl_map_has_kernel(flow->map),
                            .log_scale = flow->map == NULL ? 0 : scl_map_log_scale(flow->map),
                            .allowance = training->allowance,
                            .parameters = flow->map == NULL ? 0 : scl_map_count(flow->map),
                            .intercept = intercept,
                            .responses = verb_responses,
                            .walk = verb_walk,
                            .normal = verb_normal,
                            .dual = verb_dual,
                            .gram = verb_gram,
                            .product = verb_product,
                            .adjoint = verb_adjoint,
                            .sweep = verb_sweep,
                            .reweighted = verb_reweighted,
                            .minibatch = verb_minibatch,
                            .progress = verb_progress};
  if (s.problem.rows == 0 || d == 0 || c == 0)
    return scl_fail(error, SCL_BAD_DATA, "nothing to learn from: %zu rows, %zu features, %zu targets", s.problem.rows, d, c);
  memset(fits, 0, number * sizeof *fits);
  scl_solution *solutions = scl_allocate_zero(number * sizeof *solutions);
  scl_status status = solutions == NULL ? scl_fail_memory(error, number * sizeof *solutions, "solutions") : SCL_OK;
  for (size_t k = 0; status == SCL_OK && k < number; k++) {
    status = scl_matrix_create(d, c, SCL_F64, &fits[k].coefficients, error);
    if (status == SCL_OK) status = scl_matrix_create(1, c, SCL_F64, &fits[k].intercept, error);
    solutions[k] = (scl_solution){.head = SCL_HEAD(scl_solution), .gap = NAN, .residual = NAN, .tolerance = NAN, .score = NAN};
    solutions[k].coefficients = fits[k].coefficients.data;
    solutions[k].intercept = intercept ? fits[k].intercept.data : NULL;
    for (size_t j = 0; status == SCL_OK && intercept && j < c; j++)
      solutions[k].intercept[j] = NAN;
  }
  if (status == SCL_OK) status = scl_instance_prefix(solver, call_solver(&s.problem, solver, values, count, solutions, error), error);
  for (size_t k = 0; status == SCL_OK && k < number; k++)
    fits[k].solution = solutions[k];
  if (status == SCL_OK) status = finish(&s.problem, &s, fits, number, error);
  for (size_t k = 0; status != SCL_OK && k < number; k++)
    scl_fit_release(&fits[k]);
  scl_release(solutions);
  close_solve(&s);
  return status;
}
