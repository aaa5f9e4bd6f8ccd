/* Phi Phi' for problems with more features than rows: staged rows kept, features of pairs of row
 * blocks multiplied. */
#include "algebra/dense.h"
#include "base/interrupt.h"
#include "learn/problem_internal.h"
#include <string.h>

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
  for (size_t r = 0, runs = scl_problem_runs(c->solve, block, run); r < runs; r++) {
    const size_t start = run[r][0], count = run[r][1] - start;
    memcpy(c->x + c->seen * c->cols * c->size, (const char *)block->x + start * c->cols * c->size,
           count * c->cols * c->size);
    memcpy(c->y + c->seen * c->targets, block->y + start * c->targets,
           count * c->targets * sizeof(double));
    c->seen += count;
  }
  return SCL_STATUS_OK;
}

typedef struct dual_blocks {
  const scl_flow *flow;
  const char *x;
  char *left, *right, *product;
  size_t rows, block, cols, features, size;
} dual_blocks;

static scl_status features_of(const dual_blocks *d, size_t first, size_t count, char *phi,
                              scl_error *error) {
  const char *x = d->x + first * d->cols * d->size;
  if (d->flow->map != NULL)
    return scl_map_apply(d->flow->map, x, (ptrdiff_t)d->cols, count, phi, (ptrdiff_t)d->features,
                         error);
  memcpy(phi, x, count * d->cols * d->size);
  return SCL_STATUS_OK;
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
      scl_gemm_parallel(d->flow->dtype, false, true, rows, cols, d->features, 1, d->left,
                        (ptrdiff_t)d->features, right, (ptrdiff_t)d->features, 0, d->product,
                        (ptrdiff_t)cols);
      scl_symmetric_set_block(gram, i, rows, j, cols, d->flow->dtype, d->product);
    }
  }
  return SCL_STATUS_OK;
}

/* One-hot rows: an entry is the share of grids in which both rows have the same cell. */
typedef struct matching {
  const int32_t *columns;
  size_t slots;
  double square;
} matching;

static scl_status match_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                  size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const matching *m = context;
  (void)error;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      const int32_t *a = m->columns + (first_row + i) * m->slots,
                    *b = m->columns + (first_col + j) * m->slots;
      int32_t same = 0;
      for (size_t k = 0; k < m->slots; k++)
        same += a[k] == b[k] && a[k] >= 0;
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = same * m->square;
    }
  return SCL_STATUS_OK;
}

static scl_status match_cells(const scl_problem *problem, solve_context *s, const char *x,
                              scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t slots = scl_map_slots(flow->map), cols = scl_flow_cols(flow);
  int32_t *columns = scl_allocate_array(problem->rows * slots + 1, sizeof *columns);
  if (columns == NULL)
    return scl_fail_memory(error, problem->rows * slots * sizeof *columns, "cells of all rows");
  matching m = {columns, slots, scl_map_slot_value(flow->map) * scl_map_slot_value(flow->map)};
  scl_status status =
      scl_map_apply_cells(flow->map, x, (ptrdiff_t)cols, problem->rows, columns, error);
  if (status == SCL_STATUS_OK) status = scl_symmetric_fill(s->dual, match_rectangle, &m, error);
  scl_release(columns);
  return status;
}

static scl_status make_dual(const scl_problem *problem, solve_context *s, char *x,
                            scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t size = scl_dtype_size(flow->dtype), d = problem->features;
  collecting c = {s, x, s->dual_targets, 0, scl_flow_cols(flow), problem->targets, size};
  SCL_TRY(scl_problem_walk_rows(s->training, collect, &c, error));
  if (flow->map != NULL && scl_map_slots(flow->map) > 0) return match_cells(problem, s, x, error);
  const double fit = 64e6 / ((double)d * (double)size);
  const size_t block = scl_min(problem->rows, fit < 64 ? 64 : fit > 4096 ? 4096 : (size_t)fit);
  dual_blocks blocks = {flow, x, NULL, NULL, NULL, problem->rows, block, c.cols, d, size};
  blocks.left = scl_allocate_array(2 * block * d + block * block, size);
  if (blocks.left == NULL)
    return scl_fail_memory(error, (2 * block * d + block * block) * size, "blocks of features");
  blocks.right = blocks.left + block * d * size;
  blocks.product = blocks.right + block * d * size;
  const scl_status status = dual_pairs(&blocks, s->dual, error);
  scl_release(blocks.left);
  return status;
}

/* With an intercept: features and targets centred, so the Gram matrix is centred on both sides: H K
 * H. */
static scl_status centre_dual(const scl_problem *problem, solve_context *s, scl_error *error) {
  const size_t n = problem->rows, c = problem->targets;
  double *memory = scl_allocate_array(4 * n + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, 4 * n * sizeof *memory, "a centred Gram matrix");
  double *one = memory, *sums = memory + n, *pair = memory + 2 * n, total = 0;
  for (size_t i = 0; i < n; i++)
    one[i] = 1;
  scl_service_symmetric.multiply(s->dual, one, 1, sums);
  for (size_t i = 0; i < n; i++)
    total += sums[i];
  /* K - u 1' - 1 u' with u = K1/n - 1'K1/(2 n^2) 1: as the difference of two squares, (1-u)(1-u)' -
   * 11' - uu' = -u1' - 1u' */
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
  return SCL_STATUS_OK;
}

scl_status scl_problem_dual(const scl_problem *problem, const scl_symmetric **gram,
                            const double **targets, scl_error *error) {
  solve_context *s = context_of(problem);
  if (s->training->flow.weights != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the dual form takes rows of one weight: form = \"primal\" takes others");
  if (s->dual == NULL) {
    const size_t bytes =
        problem->rows * scl_flow_cols(&s->training->flow) * scl_dtype_size(problem->dtype);
    scl_release(s->dual_targets);
    s->dual_targets = scl_allocate_array(problem->rows * problem->targets + 1, sizeof(double));
    char *x = scl_allocate(bytes + 1);
    scl_status status = x == NULL || s->dual_targets == NULL
                            ? scl_fail_memory(error, bytes, "the rows of a dual problem")
                            : SCL_STATUS_OK;
    if (status == SCL_STATUS_OK) status = scl_symmetric_create(problem->rows, &s->dual, error);
    if (status == SCL_STATUS_OK) status = make_dual(problem, s, x, error);
    scl_release(x);
    if (status == SCL_STATUS_OK && s->intercept) status = centre_dual(problem, s, error);
    if (status != SCL_STATUS_OK) {
      scl_symmetric_destroy(s->dual);
      s->dual = NULL;
      return status;
    }
  }
  *gram = s->dual;
  *targets = s->dual_targets;
  return SCL_STATUS_OK;
}
