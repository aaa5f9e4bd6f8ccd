/* Problems on compressed sparse rows, without a map: the rows themselves, and visits of them. The
 * host subtracts nothing from them, so that an intercept is a coefficient of a constant that
 * solvers and the means of rows account for. */
#include "algebra/symmetric.h"
#include "base/memory_left.h"
#include "learn/problem_internal.h"
#include <string.h>

scl_csr scl_block_csr(const scl_flow_block *block, size_t start, size_t count) {
  scl_csr rows = *block->csr;
  rows.starts += start;
  rows.rows = count;
  return rows;
}

size_t scl_csr_leaf_rows(const scl_flow *flow, size_t least) {
  enum { SHARE = 16 };
  const size_t wanted = scl_flow_cols(flow) / SHARE;
  while (least < wanted)
    least *= 2;
  return least;
}

/* ------------ visits */

scl_status scl_show_csr(const scl_show *show, const scl_run *run, scl_error *error) {
  scl_csr rows = scl_block_csr(run->block, run->start, run->rows.count), other = {0};
  scl_rows shown = run->rows;
  if (rows.dtype != show->problem->dtype) {
    SCL_TRY(scl_csr_convert(&rows, show->problem->dtype, &other, error));
    rows = other;
  }
  const scl_const_csr csr = scl_csr_const(&rows, 0, rows.rows);
  shown.csr = &csr;
  shown.features.data = NULL;
  shown.features.dtype = rows.dtype;
  const scl_status status =
      scl_problem_visit(show->problem, show->visit, show->context, &shown, error);
  scl_csr_release(&other);
  return status;
}

scl_status scl_run_densely(const scl_flow *flow, const scl_run *run, scl_part_visit visit,
                           void *context, scl_error *error) {
  const size_t d = scl_flow_features(flow), c = flow->source->targets,
               most = scl_min(scl_csr_dense_rows(d, flow->dtype), run->rows.count);
  void *x = scl_allocate_array(most * d + 1, scl_dtype_size(flow->dtype));
  if (x == NULL)
    return scl_fail_memory(error, most * d * scl_dtype_size(flow->dtype), "rows made dense");
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < run->rows.count; at += most) {
    const size_t count = scl_min(most, run->rows.count - at);
    scl_flow_fill(flow, run->block, run->start + at, count, x);
    const scl_flow_block part = {
        .first = run->block->first,
        .count = count,
        .x = x,
        .phi = x,
        .x_stride = (ptrdiff_t)d,
        .phi_stride = (ptrdiff_t)d,
        .y = run->block->y == NULL ? NULL : run->block->y + (run->start + at) * c};
    status = visit(context, &part, at, error);
  }
  scl_release(x);
  return status;
}

/* ------------ all rows at once */

typedef struct gathering {
  const solve_context *solve;
  scl_csr *parts; /* views */
  size_t count, room;
} gathering;

/* Visit: take views of the problem's rows of a block. */
static scl_status gather_block(void *context, const scl_flow_block *block, scl_error *error) {
  gathering *g = context;
  size_t run[2][2];
  for (size_t r = 0, runs = scl_problem_runs(g->solve, block, run); r < runs; r++) {
    if (run[r][1] == run[r][0]) continue;
    scl_csr *parts = scl_grow(g->parts, g->count, &g->room, sizeof *parts);
    if (parts == NULL) return scl_fail_memory(error, g->room * sizeof *parts, "sparse rows");
    g->parts = parts;
    g->parts[g->count++] = scl_csr_slice(block->csr, run[r][0], run[r][1] - run[r][0]);
  }
  return SCL_STATUS_OK;
}

/* Whether the parts are adjacent rows of one matrix. */
static bool is_one_view(const gathering *g) {
  for (size_t k = 1; k < g->count; k++)
    if (g->parts[k].storage != g->parts[0].storage ||
        g->parts[k].starts != g->parts[k - 1].starts + g->parts[k - 1].rows)
      return false;
  return g->count > 0;
}

/* *out = the rows of all parts, without a copy where they are one matrix. */
static scl_status join_parts(const gathering *g, scl_csr *out, scl_error *error) {
  if (g->count == 0)
    return scl_csr_create(0, g->solve->problem.features, 0, SCL_DTYPE_FLOAT64, out, error);
  if (!is_one_view(g)) return scl_csr_join(g->parts, g->count, out, error);
  *out = scl_csr_share(&g->parts[0]);
  for (size_t k = 1; k < g->count; k++)
    out->rows += g->parts[k].rows;
  return SCL_STATUS_OK;
}

scl_status scl_problem_gather_csr(const scl_problem *problem, scl_csr *out, scl_error *error) {
  solve_context *s = context_of(problem);
  scl_training *training = s->training;
  gathering g = {.solve = s};
  scl_flow flow = training->flow;
  flow.csr = true;
  pthread_mutex_lock(&training->lock);
  scl_status status = training->kept != NULL && flow.map == NULL
                          ? scl_keep_walk(training->kept, gather_block, &g, error)
                          : scl_flow_walk(&flow, false, gather_block, &g, error);
  pthread_mutex_unlock(&training->lock);
  if (status == SCL_STATUS_OK) status = join_parts(&g, out, error);
  for (size_t k = 0; k < g.count; k++)
    scl_csr_release(&g.parts[k]);
  scl_release(g.parts);
  s->progress.rows += (double)problem->rows;
  s->walked += (double)problem->rows;
  return status;
}

scl_status scl_problem_sparse_rows(const scl_problem *problem, scl_const_csr *out,
                                   scl_error *error) {
  solve_context *s = context_of(problem);
  SCL_TRY(scl_problem_enter(problem, "sparse_rows", error));
  if (!problem->csr)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the rows of this problem are not sparse");
  if (s->csr.storage == NULL) {
    scl_csr rows;
    SCL_TRY(scl_problem_gather_csr(problem, &rows, error));
    if (rows.dtype == problem->dtype) {
      s->csr = rows;
    } else {
      const scl_status status = scl_csr_convert(&rows, problem->dtype, &s->csr, error);
      scl_csr_release(&rows);
      if (status != SCL_STATUS_OK) return status;
    }
  }
  *out = scl_csr_const(&s->csr, 0, s->csr.rows);
  return SCL_STATUS_OK;
}

/* ------------ products of pairs of rows */

/* The sum over the columns that rows i and j have in common. */
static double product_of(const scl_csr *a, size_t i, size_t j) {
  int64_t p = a->starts[i], q = a->starts[j];
  const int64_t p_end = a->starts[i + 1], q_end = a->starts[j + 1];
  double sum = 0;
  while (p < p_end && q < q_end) {
    const int32_t u = a->columns[p], v = a->columns[q];
    if (u == v) sum += scl_csr_value(a, p) * scl_csr_value(a, q);
    p += u <= v;
    q += v <= u;
  }
  return sum;
}

/* One rectangle of the matrix, for scl_symmetric_fill. */
static scl_status multiply_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                     size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  (void)error;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = product_of(context, first_row + i, first_col + j);
  return SCL_STATUS_OK;
}

scl_status scl_csr_outer(const scl_csr *rows, scl_symmetric *outer, scl_error *error) {
  scl_csr a = *rows;
  return scl_symmetric_fill(outer, multiply_rectangle, &a, error);
}
