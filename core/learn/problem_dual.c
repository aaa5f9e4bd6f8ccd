/* The dual form: Phi Phi' (n x n) for problems with more features than rows. The staged rows are
 * stored, and the features of each pair of row blocks are made and multiplied, so that Phi itself
 * is never in memory. Features that are bits or whole numbers are multiplied in float64, whatever
 * the dtype: the solver is told that their products are rounded as float64 is. */
#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "base/interrupt.h"
#include "learn/problem_internal.h"
#include <math.h>
#include <string.h>

/* The staged rows (n x cols, the flow's dtype) and targets (n x c) of the problem. */
typedef struct collecting {
  const solve_context *solve;
  const scl_flow *flow;
  void *x;
  double *y;
  size_t seen, cols, targets;
} collecting;

/* Append the problem's rows of one block. */
static scl_status collect_rows(void *context, const scl_flow_block *block, scl_error *error) {
  collecting *c = context;
  const size_t size = scl_dtype_size(c->flow->dtype);
  size_t run[2][2];
  (void)error;
  for (size_t r = 0, runs = scl_problem_runs(c->solve, block, run); r < runs; r++) {
    const size_t start = run[r][0], count = run[r][1] - start;
    memcpy(scl_at_mutable(c->x, c->flow->dtype, (ptrdiff_t)(c->seen * c->cols)),
           scl_at(block->x, c->flow->dtype, (ptrdiff_t)(start * c->cols)), count * c->cols * size);
    memcpy(c->y + c->seen * c->targets, block->y + start * c->targets,
           count * c->targets * sizeof(double));
    c->seen += count;
  }
  return SCL_STATUS_OK;
}

/* The staged rows of the problem in memory, dense or sparse. */
typedef struct staged_rows {
  void *x;
  scl_csr csr;
} staged_rows;

/* Memory and sizes of the products of pairs of row blocks, in `dtype`. */
typedef struct outer_blocks {
  const scl_flow *flow;
  scl_dtype dtype;
  const void *x; /* staged rows: rows x cols, or sparse: */
  const scl_csr *csr;
  void *left, *right, *product;       /* features of two blocks (block x D); block x block */
  char *narrow;                       /* block x D: before they are float64; NULL: as they are */
  size_t rows, block, cols, features; /* block: rows of a block */
} outer_blocks;

/* phi (count x D, in the flow's dtype) = the features of staged rows first .. first+count-1. */
static scl_status apply_rows(const outer_blocks *d, size_t first, size_t count, void *phi,
                             scl_error *error) {
  if (d->csr != NULL) {
    scl_csr rows = scl_csr_slice(d->csr, first, count);
    const scl_status status =
        scl_map_apply_csr(d->flow->map, &rows, phi, (ptrdiff_t)d->features, error);
    scl_csr_release(&rows);
    scl_flow_subtract_pilot(d->flow, phi, (ptrdiff_t)d->features, count);
    return status;
  }
  const void *x = scl_at(d->x, d->flow->dtype, (ptrdiff_t)(first * d->cols));
  if (d->flow->map != NULL) {
    SCL_TRY(scl_map_apply(d->flow->map, x, (ptrdiff_t)d->cols, count, phi, (ptrdiff_t)d->features,
                          error));
    scl_flow_subtract_pilot(d->flow, phi, (ptrdiff_t)d->features, count);
    return SCL_STATUS_OK;
  }
  memcpy(phi, x, count * d->cols * scl_dtype_size(d->flow->dtype));
  return SCL_STATUS_OK;
}

/* As apply_rows, for features that are whole numbers: phi = base + unit v in float64. */
static scl_status apply_whole_rows(const outer_blocks *d, size_t first, size_t count, double *phi,
                                   scl_error *error) {
  const scl_map *map = d->flow->map;
  const size_t width = d->features, size = scl_whole_size(scl_map_whole(map));
  scl_status status;
  if (d->csr != NULL) {
    scl_csr rows = scl_csr_slice(d->csr, first, count);
    status = scl_map_apply_csr_whole(map, &rows, d->narrow, (ptrdiff_t)width, error);
    scl_csr_release(&rows);
  } else
    status = scl_map_apply_whole(map, scl_at(d->x, d->flow->dtype, (ptrdiff_t)(first * d->cols)),
                                 (ptrdiff_t)d->cols, count, d->narrow, (ptrdiff_t)width, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    scl_map_unround(map, 0, width, d->narrow + i * width * size, SCL_DTYPE_FLOAT64,
                    phi + i * width);
  return status;
}

/* phi (count x D, in d->dtype) = the features of staged rows first .. first+count-1. */
static scl_status features_of(const outer_blocks *d, size_t first, size_t count, void *phi,
                              scl_error *error) {
  if (d->narrow == NULL) return apply_rows(d, first, count, phi, error);
  if (scl_flow_whole(d->flow) != SCL_WHOLE_NONE)
    return apply_whole_rows(d, first, count, phi, error);
  SCL_TRY(apply_rows(d, first, count, d->narrow, error));
  scl_widen(count * d->features, (const float *)(const void *)d->narrow, phi);
  return SCL_STATUS_OK;
}

/* Fill the lower triangle of `outer`, a block of rows times a block of columns at a time. The
 * features of a row block are made once, those of a column block once for every row block. */
static scl_status multiply_pairs(const outer_blocks *d, scl_symmetric *outer, scl_error *error) {
  for (size_t i = 0; i < d->rows; i += d->block) {
    const size_t rows = scl_min(d->block, d->rows - i);
    SCL_TRY(features_of(d, i, rows, d->left, error));
    for (size_t j = 0; j <= i; j += d->block) {
      const size_t cols = scl_min(d->block, d->rows - j);
      SCL_TRY(scl_interrupt_check(error));
      const void *right = d->left;
      if (j != i) {
        SCL_TRY(features_of(d, j, cols, d->right, error));
        right = d->right;
      }
      scl_gemm_parallel(d->dtype, false, true, rows, cols, d->features, 1, d->left,
                        (ptrdiff_t)d->features, right, (ptrdiff_t)d->features, 0, d->product,
                        (ptrdiff_t)cols);
      scl_symmetric_set_block(outer, i, rows, j, cols, d->dtype, d->product);
    }
  }
  return SCL_STATUS_OK;
}

/* One-hot rows: an entry of Phi Phi' is value^2 times the number of grids in which both rows have
 * the same cell. */
typedef struct matching {
  const int32_t *columns; /* n x entries; -1: no cell */
  size_t entries;         /* grids */
  double square;          /* value^2 */
} matching;

/* One rectangle of the matrix, for scl_symmetric_fill. */
static scl_status match_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                  size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const matching *m = context;
  (void)error;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) {
      const int32_t *a = m->columns + (first_row + i) * m->entries,
                    *b = m->columns + (first_col + j) * m->entries;
      int32_t same = 0;
      for (size_t k = 0; k < m->entries; k++)
        same += a[k] == b[k] && a[k] >= 0;
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = same * m->square;
    }
  return SCL_STATUS_OK;
}

/* Fill s->outer from the cells of one-hot features. */
static scl_status match_cells(solve_context *s, const staged_rows *staged, scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t entries = scl_flow_entries(flow), rows = s->problem.rows;
  const double value = scl_map_entry_value(flow->map);
  int32_t *columns = scl_allocate_array(rows * entries + 1, sizeof *columns);
  if (columns == NULL)
    return scl_fail_memory(error, rows * entries * sizeof *columns, "cells of all rows");
  matching m = {columns, entries, value * value};
  scl_status status =
      staged->csr.storage != NULL
          ? scl_map_apply_csr_cells(flow->map, &staged->csr, columns, error)
          : scl_map_apply_cells(flow->map, staged->x, (ptrdiff_t)scl_flow_cols(flow), rows, columns,
                                error);
  if (status == SCL_STATUS_OK) status = scl_symmetric_fill(s->outer, match_rectangle, &m, error);
  scl_release(columns);
  return status;
}

/* The features of a block of rows take about BLOCK_BYTES, within these limits on its rows. */
static const double BLOCK_BYTES = 64e6;
enum { LEAST_ROWS = 64, MOST_ROWS = 4096 };

/* Rows of a block of features. */
static size_t block_of(size_t rows, size_t d, size_t size) {
  const double fit = BLOCK_BYTES / ((double)d * (double)size);
  return scl_min(rows, fit < LEAST_ROWS ? LEAST_ROWS : fit > MOST_ROWS ? MOST_ROWS : (size_t)fit);
}

/* Whether features of the flow's dtype are multiplied in float64. */
static bool takes_float64(const scl_flow *flow) {
  return flow->dtype == SCL_DTYPE_FLOAT32 && flow->map != NULL &&
         (scl_flow_has_bits(flow) || scl_map_wanted_whole(flow->map) != SCL_WHOLE_NONE);
}

/* Bytes of two blocks of features, their product and, where these are float64, of one block of
 * features before. */
static size_t block_bytes(const scl_flow *flow, size_t rows, size_t d, size_t *block) {
  const bool wide = takes_float64(flow);
  const size_t size = wide ? sizeof(double) : scl_dtype_size(flow->dtype);
  *block = block_of(rows, d, size);
  return (2 * *block * d + *block * *block) * size + (wide ? *block * d * sizeof(float) : 0);
}

double scl_dual_block_bytes(const scl_flow *flow, size_t rows, size_t d) {
  size_t block;
  return (double)block_bytes(flow, rows, d, &block);
}

/* Fill s->outer by products of features. */
static scl_status multiply_rows(solve_context *s, const staged_rows *staged, scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t d = s->problem.features, rows = s->problem.rows;
  const bool wide = takes_float64(flow);
  const scl_dtype dtype = wide ? SCL_DTYPE_FLOAT64 : flow->dtype;
  size_t block;
  const size_t bytes = block_bytes(flow, rows, d, &block), area = block * block;
  void *memory = scl_allocate(bytes + 1);
  if (memory == NULL) return scl_fail_memory(error, bytes, "blocks of features");
  const outer_blocks blocks = {
      .flow = flow,
      .dtype = dtype,
      .x = staged->x,
      .csr = staged->csr.storage == NULL ? NULL : &staged->csr,
      .left = memory,
      .right = scl_at_mutable(memory, dtype, (ptrdiff_t)(block * d)),
      .product = scl_at_mutable(memory, dtype, (ptrdiff_t)(2 * block * d)),
      .narrow = wide ? scl_at_mutable(memory, dtype, (ptrdiff_t)(2 * block * d + area)) : NULL,
      .rows = rows,
      .block = block,
      .cols = scl_flow_cols(flow),
      .features = d};
  const scl_status status = multiply_pairs(&blocks, s->outer, error);
  scl_release(memory);
  return status;
}

/* With an intercept, features and targets are centred: K becomes H K H with H = I - 1 1'/n.
 *
 *   H K H = K - u 1' - 1 u',  u = K 1/n - (1'K 1/(2 n^2)) 1
 *   -u 1' - 1 u' = (1/s) ((s - u)(s - u)' - s s' - u u'),  s = (max_i |u_i|) 1
 *
 * These are rank-one updates, which symmetric matrices have; s brings them to one size, so that
 * little is lost by cancellation. memory: 3 n numbers. */
static scl_status centre_outer(solve_context *s, double *memory, scl_error *error) {
  const size_t n = s->problem.rows;
  double *one = memory, *u = memory + n, *rest = memory + 2 * n, total = 0, size = 0;
  for (size_t i = 0; i < n; i++)
    one[i] = 1;
  SCL_TRY(scl_service_symmetric.multiply(s->outer, one, 1, u, error));
  for (size_t i = 0; i < n; i++)
    total += u[i];
  for (size_t i = 0; i < n; i++)
    u[i] = u[i] / (double)n - total / (2 * (double)n * (double)n);
  for (size_t i = 0; i < n; i++)
    size = fmax(size, fabs(u[i]));
  if (size == 0) return SCL_STATUS_OK;
  for (size_t i = 0; i < n; i++) {
    one[i] = size;
    rest[i] = size - u[i];
  }
  scl_symmetric_rank(s->outer, 1 / size, rest, 1);
  scl_symmetric_rank(s->outer, -1 / size, one, 1);
  scl_symmetric_rank(s->outer, -1 / size, u, 1);
  return SCL_STATUS_OK;
}

/* Centre s->outer and the columns of s->outer_targets. */
static scl_status centre_dual(solve_context *s, scl_error *error) {
  const size_t n = s->problem.rows, c = s->problem.targets, numbers = 3 * n;
  double *memory = scl_allocate_array(numbers + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, numbers * sizeof *memory, "a centred Gram matrix");
  const scl_status status = centre_outer(s, memory, error);
  scl_release(memory);
  for (size_t j = 0; status == SCL_STATUS_OK && j < c; j++) {
    double mean = 0;
    for (size_t i = 0; i < n; i++)
      mean += s->outer_targets[i * c + j] / (double)n;
    for (size_t i = 0; i < n; i++)
      s->outer_targets[i * c + j] -= mean;
  }
  return status;
}

/* Read the staged rows of the problem, and its targets into s->outer_targets. The caller releases
 * *out, also after a failure. */
static scl_status read_staged(solve_context *s, staged_rows *out, scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  const size_t bytes = s->problem.rows * scl_flow_cols(flow) * scl_dtype_size(flow->dtype);
  if (scl_flow_is_sparse(flow)) {
    SCL_TRY(scl_problem_gather_csr(&s->problem, &out->csr, error));
    return scl_problem_responses(&s->problem, s->outer_targets, NULL, error);
  }
  out->x = scl_allocate(bytes + 1);
  if (out->x == NULL) return scl_fail_memory(error, bytes, "the rows of a dual problem");
  collecting c = {s, flow, out->x, s->outer_targets, 0, scl_flow_cols(flow), s->problem.targets};
  return scl_problem_walk_rows(s->training, collect_rows, &c, error);
}

/* Fill s->outer and s->outer_targets. */
static scl_status fill_outer(solve_context *s, const staged_rows *staged, scl_error *error) {
  const scl_flow *flow = &s->training->flow;
  SCL_TRY(scl_flow_has_csr(flow)       ? scl_csr_outer(&staged->csr, s->outer, error)
          : scl_flow_entries(flow) > 0 ? match_cells(s, staged, error)
                                       : multiply_rows(s, staged, error));
  return s->problem.intercept ? centre_dual(s, error) : SCL_STATUS_OK;
}

/* Allocate and fill s->outer and s->outer_targets. A failure leaves s->outer NULL. */
static scl_status make_outer(solve_context *s, scl_error *error) {
  const size_t rows = s->problem.rows, numbers = rows * s->problem.targets;
  staged_rows staged = {0};
  scl_release(s->outer_targets);
  s->outer_targets = scl_allocate_array(numbers + 1, sizeof(double));
  scl_status status = s->outer_targets == NULL
                          ? scl_fail_memory(error, numbers * sizeof(double), "targets")
                          : scl_symmetric_create(rows, &s->outer, error);
  if (status == SCL_STATUS_OK) status = read_staged(s, &staged, error);
  if (status == SCL_STATUS_OK) status = fill_outer(s, &staged, error);
  scl_csr_release(&staged.csr);
  scl_release(staged.x);
  if (status != SCL_STATUS_OK) {
    scl_symmetric_destroy(s->outer);
    s->outer = NULL;
  }
  return status;
}

scl_status scl_problem_dual(const scl_problem *problem, const scl_symmetric **outer,
                            const double **targets, scl_error *error) {
  solve_context *s = context_of(problem);
  SCL_TRY(scl_problem_enter(problem, "dual", error));
  if (s->training->flow.weights != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "rows have weights, and the dual form takes rows of one weight");
  if (s->outer == NULL) SCL_TRY(make_outer(s, error));
  *outer = s->outer;
  *targets = s->outer_targets;
  return SCL_STATUS_OK;
}
