/* Products with the features: Phi a, Phi' r, and Phi' turn(Phi a) in one pass over the rows.
 * Coefficients are float64. With blocks in float32 the products inside a block are float32, and the
 * sums across blocks float64. Sums Phi' r of features that are bits or whole numbers are exact
 * (problem_adjoint.c). */
#include "algebra/thin.h"
#include "learn/problem_internal.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A sweep multiplies about SWEEP_BYTES of dense rows at a time, a multiple of SWEEP_ROWS rows:
 * after as many rows the thin adjoint adds its sums in float64 in any case. */
enum { SWEEP_ROWS = 256 };
static const double SWEEP_BYTES = 4e6;

/* The sum over floating-point or sparse features. */
typedef struct leaves {
  size_t rows, leaf; /* of a leaf; the current one */
  bool started, finite;
  scl_thin thin;    /* dense rows of the leaf */
  double *sum;      /* D x k: its sparse rows; its sum */
  scl_exact *total; /* D x k: of finished leaves; of no use without `finite` */
} leaves;

/* One pass: the operands, prepared once, and where results go. */
typedef struct passing passing;
struct passing {
  const scl_problem *problem;
  const double *in; /* a (D x k) or r (n x k) */
  double *out;      /* products: n x k */
  size_t k;
  scl_thin product; /* a, packed */
  /* Features that are bits or whole numbers v: base + unit v (D each; base NULL: zeros). unit NULL:
   * floating-point or sparse features. */
  const double *unit, *base;
  double *values;        /* memory of unit and base, for bits */
  scl_bits_product bits; /* V (unit o a) + 1 base'a, V of bits */
  double *scaled;        /* unit o a (bits: D x k, whole numbers: k x D), then base'a (k) */
  leaves leaves;         /* sums over floating-point or sparse features */
  scl_adjoint exact;     /* sums over bits and whole numbers */
  scl_turn turn;         /* of a sweep, with its context */
  void *context;
};

/* ------------ sparse rows */

void scl_sparse_product(const int32_t *columns, size_t entries, double value, size_t count,
                        const double *a, size_t k, double *out) {
  enum { TOGETHER = 4 }; /* rows whose sums run beside each other */
  size_t first = 0;
  memset(out, 0, count * k * sizeof *out);
  for (; k == 1 && first + TOGETHER <= count; first += TOGETHER) {
    double sum[TOGETHER] = {0};
    for (size_t s = 0; s < entries; s++)
      for (size_t i = 0; i < TOGETHER; i++) {
        const int32_t column = columns[(first + i) * entries + s];
        if (column >= 0) sum[i] += value * a[column];
      }
    memcpy(out + first, sum, sizeof sum);
  }
  for (size_t i = first; i < count; i++)
    for (size_t s = 0; s < entries; s++) {
      const int32_t column = columns[i * entries + s];
      for (size_t j = 0; column >= 0 && j < k; j++)
        out[i * k + j] += value * a[(size_t)column * k + j];
    }
}

/* out (D x k) += rows' r. */
static void sparse_adjoint(const scl_rows *rows, const double *r, size_t k, double *out) {
  for (size_t i = 0; i < rows->count; i++)
    for (size_t s = 0; s < rows->entries; s++) {
      const int32_t column = rows->columns[i * rows->entries + s];
      for (size_t j = 0; column >= 0 && j < k; j++)
        out[(size_t)column * k + j] += rows->value * r[i * k + j];
    }
}

/* ------------ sums Phi' r of float features
 *
 * The rows of a leaf (scl_problem_leaf_rows) are added in floating point, and leaves exactly: so the
 * sum does not depend on how leaves are divided among processes. */

/* Whether rows are stored by their numbers that are not 0. */
static bool has_entries(const passing *p) {
  const scl_flow *flow = flow_of(p->problem);
  return scl_flow_entries(flow) > 0 || scl_flow_has_csr(flow);
}

static scl_status open_leaves(passing *p, scl_error *error) {
  const size_t d = p->problem->features, bytes = (d * p->k + 1) * sizeof(double);
  leaves *l = &p->leaves;
  l->finite = true;
  l->rows = scl_problem_leaf_rows(flow_of(p->problem));
  l->sum = scl_allocate_zero(bytes);
  if (l->sum == NULL) return scl_fail_memory(error, bytes, "a sum over rows");
  SCL_TRY(scl_exact_create(d * p->k, &l->total, error));
  if (has_entries(p)) return SCL_STATUS_OK;
  return scl_thin_open(flow_of(p->problem)->dtype, d, NULL, p->k, &l->thin, error);
}

/* Add the sum of the rows of the current leaf to the total. */
static scl_status finish_leaf(passing *p, scl_error *error) {
  leaves *l = &p->leaves;
  const size_t numbers = p->problem->features * p->k;
  if (!l->started) return SCL_STATUS_OK;
  l->started = false;
  if (l->thin.sums != NULL) {
    scl_thin_collect(&l->thin, l->sum);
    memset(l->thin.sums, 0, numbers * sizeof(double));
  }
  for (size_t i = 0; i < numbers && l->finite; i++)
    l->finite = isfinite(l->sum[i]);
  if (l->finite) SCL_TRY(scl_exact_add(l->total, l->sum, error));
  memset(l->sum, 0, numbers * sizeof(double));
  return SCL_STATUS_OK;
}

/* Begin the leaf of a row of the source. */
static scl_status enter_leaf(passing *p, size_t row, scl_error *error) {
  leaves *l = &p->leaves;
  if (l->started && l->leaf != row / l->rows) SCL_TRY(finish_leaf(p, error));
  l->leaf = row / l->rows;
  l->started = true;
  return SCL_STATUS_OK;
}

/* ------------ one run of rows */

/* out (count x k) = V (unit o a) + 1 base'a */
static void multiply_whole(const passing *p, const scl_run *run, double *out) {
  const scl_flow *flow = flow_of(p->problem);
  const size_t d = p->problem->features, count = run->rows.count;
  scl_whole_product(scl_flow_whole(flow), count, d,
                    scl_flow_whole_row(flow, run->block, run->start), run->block->phi_stride,
                    p->scaled, p->k, out);
  for (size_t i = 0; i < count * p->k; i++)
    out[i] += p->scaled[p->k * d + i % p->k];
}

/* out (count x k) = the features of the run times a. */
static scl_status pass_multiply(const passing *p, const scl_run *run, double *out,
                                scl_error *error) {
  const scl_rows *rows = &run->rows;
  if (run->block->bits != NULL)
    return scl_bits_multiply(&p->bits, run->block->bits, run->start, rows->count, out, error);
  if (run->block->whole != NULL) {
    multiply_whole(p, run, out);
    return SCL_STATUS_OK;
  }
  if (run->block->csr != NULL && flow_of(p->problem)->map == NULL) {
    const scl_csr csr = scl_block_csr(run->block, run->start, rows->count);
    scl_csr_product_parallel(&csr, p->in, p->k, out);
    return SCL_STATUS_OK;
  }
  if (rows->entries == 0)
    return scl_thin_product(&p->product, rows->count, rows->features.data,
                            rows->features.row_stride, out, error);
  scl_sparse_product(rows->columns, rows->entries, rows->value, rows->count, p->in, p->k, out);
  return SCL_STATUS_OK;
}

/* Add Phi' r of the run (r: count x k): to the exact sum, or, for floating-point and sparse
 * features, to the leaf of the run's block. */
static scl_status add_adjoint(passing *p, const scl_run *run, const double *r, scl_error *error) {
  const scl_rows *rows = &run->rows;
  if (p->exact.sum != NULL) return scl_adjoint_add(&p->exact, run, r, error);
  SCL_TRY(enter_leaf(p, run->block->first, error));
  if (run->block->csr != NULL && flow_of(p->problem)->map == NULL) {
    const scl_csr csr = scl_block_csr(run->block, run->start, rows->count);
    scl_csr_adjoint_parallel(&csr, r, p->k, p->leaves.sum);
    return SCL_STATUS_OK;
  }
  if (rows->entries > 0) {
    sparse_adjoint(rows, r, p->k, p->leaves.sum);
    return SCL_STATUS_OK;
  }
  return scl_thin_adjoint(&p->leaves.thin, rows->count, rows->features.data,
                          rows->features.row_stride, r, error);
}

/* A run of a product: rows first .. of `out`. */
static scl_status product_run(void *context, const scl_run *run, scl_error *error) {
  const passing *p = context;
  return pass_multiply(p, run, p->out + run->rows.first * p->k, error);
}

/* One step of a sweep: scores = Phi a, the solver's turn replaces them, and Phi' scores is added.
 * scores: count x k numbers to work in. */
static scl_status sweep_scores(passing *p, const scl_run *run, double *scores, scl_error *error) {
  solve_context *s = context_of(p->problem);
  SCL_TRY(pass_multiply(p, run, scores, error));
  s->visiting = true;
  const scl_status turned = p->turn(p->context, &run->rows, scores, error);
  s->visiting = false;
  SCL_TRY(turned);
  return add_adjoint(p, run, scores, error);
}

/* Rows at .. at+count-1 of a run of dense rows. */
static scl_run part_of(const passing *p, const scl_run *run, size_t at, size_t count) {
  scl_run part = *run;
  part.start += at;
  part.rows.first += at;
  part.rows.count = part.rows.features.rows = count;
  part.rows.targets += at * p->problem->targets;
  part.rows.index += at;
  if (part.rows.weights != NULL) part.rows.weights += at;
  if (part.rows.features.data != NULL)
    part.rows.features.data = scl_flow_row(flow_of(p->problem), part.block, part.start);
  return part;
}

/* The number of rows that a sweep takes at a time: as many dense rows as the processor's cache
 * holds from the product to the adjoint, so that memory is read once. Bits and sparse rows are
 * small: all. */
static size_t sweep_rows(const passing *p, const scl_run *run) {
  const scl_flow *flow = flow_of(p->problem);
  const size_t size = run->block->whole != NULL ? scl_whole_size(scl_flow_whole(flow))
                                                : scl_dtype_size(flow->dtype);
  const double row = (double)p->problem->features * (double)size;
  const double fit = SWEEP_BYTES / row / SWEEP_ROWS;
  if (run->block->bits != NULL || has_entries(p)) return run->rows.count;
  return fit < 1 ? SWEEP_ROWS : fit > 64 ? 64 * SWEEP_ROWS : (size_t)fit * SWEEP_ROWS;
}

/* A run of an adjoint: rows first .. of r. General products round by the rows that they take at a
 * time: as many as a sweep, which makes the same sums in one process. */
static scl_status adjoint_run(void *context, const scl_run *run, scl_error *error) {
  passing *p = context;
  const size_t rows = run->rows.count,
               most = p->leaves.thin.general ? scl_min(sweep_rows(p, run), rows) : rows;
  for (size_t at = 0; at < rows; at += most) {
    const scl_run part = most == rows ? *run : part_of(p, run, at, scl_min(most, rows - at));
    SCL_TRY(add_adjoint(p, &part, p->in + part.rows.first * p->k, error));
  }
  return SCL_STATUS_OK;
}

/* Sweep one run of rows, sweep_rows at a time. */
static scl_status sweep_run(void *context, const scl_run *run, scl_error *error) {
  passing *p = context;
  const size_t rows = run->rows.count, most = scl_min(sweep_rows(p, run), rows),
               numbers = most * p->k;
  double *scores = scl_allocate_array(numbers + 1, sizeof *scores);
  if (scores == NULL) return scl_fail_memory(error, numbers * sizeof *scores, "scores of a block");
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < rows; at += most) {
    const scl_run part = most == rows ? *run : part_of(p, run, at, scl_min(most, rows - at));
    status = sweep_scores(p, &part, scores, error);
  }
  scl_release(scores);
  return status;
}

/* ------------ one pass */

/* Set p->unit and p->base if the features are bits or whole numbers. For bits with the values low
 * and high: base = low, unit = high - low. */
static scl_status open_values(passing *p, scl_error *error) {
  const scl_flow *flow = flow_of(p->problem);
  const size_t d = p->problem->features;
  if (scl_flow_whole(flow) != SCL_WHOLE_NONE) scl_map_units(flow->map, &p->unit, &p->base);
  if (!scl_flow_has_bits(flow)) return SCL_STATUS_OK;
  double *high = p->values = scl_allocate_array(2 * d + 1, sizeof *high), *low = high + d;
  if (high == NULL) return scl_fail_memory(error, 2 * d * sizeof *high, "values of features");
  scl_map_low_and_high(flow->map, low, high);
  for (size_t j = 0; j < d; j++)
    high[j] -= low[j];
  p->unit = high;
  p->base = low;
  return SCL_STATUS_OK;
}

/* Prepare the product of bits or whole numbers with a: Phi a = V (unit o a) + 1 base'a. */
static scl_status open_scaled(passing *p, scl_error *error) {
  const size_t d = p->problem->features, k = p->k;
  const bool bits = p->values != NULL;
  p->scaled = scl_allocate_zero((d + 1) * k * sizeof *p->scaled + sizeof *p->scaled);
  if (p->scaled == NULL) return scl_fail_memory(error, d * k * sizeof *p->scaled, "coefficients");
  double *constant = p->scaled + d * k;
  for (size_t j = 0; j < d; j++)
    for (size_t q = 0; q < k; q++) {
      const double a = p->in[j * k + q];
      p->scaled[bits ? j * k + q : q * d + j] = p->unit[j] * a;
      constant[q] += p->base == NULL ? 0 : p->base[j] * a;
    }
  return bits ? scl_bits_product_open(d, p->scaled, constant, k, &p->bits, error) : SCL_STATUS_OK;
}

/* Prepare the product with a; sparse rows need no preparation. */
static scl_status open_product(passing *p, scl_error *error) {
  const scl_flow *flow = flow_of(p->problem);
  if (has_entries(p)) return SCL_STATUS_OK;
  if (p->unit != NULL) return open_scaled(p, error);
  return scl_thin_open(flow->dtype, p->problem->features, p->in, p->k, &p->product, error);
}

static void close_pass(passing *p) {
  scl_thin_close(&p->product);
  scl_bits_product_close(&p->bits);
  SCL_RELEASE(p->values, p->scaled);
}

/* Visit all runs, or those of this process's part of the rows. */
static scl_status walk_pass(passing *p, scl_run_visit visit, scl_error *error) {
  return context_of(p->problem)->divided ? scl_problem_walk_part(p->problem, visit, p, error)
                                         : scl_problem_walk_runs(p->problem, visit, p, error);
}

/* Add exact sums of all processes, where they have parts of the rows. *finite: whether all are. */
static scl_status join_pass(passing *p, scl_exact *const *sums, size_t count, bool *finite,
                            scl_status mine, scl_error *error) {
  char doing[120];
  int64_t infinite = !*finite;
  if (!context_of(p->problem)->divided) return mine;
  (void)snprintf(doing, sizeof doing, "a pass over %zu rows of %zu features, with %zu columns",
                 p->problem->rows, p->problem->features, p->k);
  SCL_TRY(scl_exact_join(sums, count, mine, doing, error));
  SCL_TRY(scl_processes_maximum(&infinite, 1, error));
  *finite = infinite == 0;
  return SCL_STATUS_OK;
}

/* out (D x k) = the sum that the visits of all runs add up, of bits or whole numbers. */
static scl_status sum_whole(passing *p, scl_run_visit visit, double *out, scl_error *error) {
  scl_adjoint *e = &p->exact;
  scl_status status = scl_adjoint_open(flow_of(p->problem), p->problem->features, p->k, e, error);
  if (status == SCL_STATUS_OK) status = walk_pass(p, visit, error);
  scl_exact *const sums[] = {e->sum, e->ones};
  status = join_pass(p, sums, 2, &e->finite, status, error);
  if (status == SCL_STATUS_OK) scl_adjoint_value(e, p->unit, p->base, out);
  scl_adjoint_close(e);
  return status;
}

/* out (D x k) = the sum that the visits of all runs add up. */
static scl_status sum_pass(passing *p, scl_run_visit visit, double *out, scl_error *error) {
  if (p->unit != NULL) return sum_whole(p, visit, out, error);
  leaves *l = &p->leaves;
  scl_status status = open_leaves(p, error);
  if (status == SCL_STATUS_OK) status = walk_pass(p, visit, error);
  if (status == SCL_STATUS_OK) status = finish_leaf(p, error);
  status = join_pass(p, &l->total, 1, &l->finite, status, error);
  const size_t numbers = p->problem->features * p->k;
  if (status == SCL_STATUS_OK && l->finite) scl_exact_values(l->total, 0, numbers, out);
  for (size_t i = 0; status == SCL_STATUS_OK && !l->finite && i < numbers; i++)
    out[i] = NAN;
  scl_thin_close(&l->thin);
  scl_exact_destroy(l->total);
  scl_release(l->sum);
  return status;
}

scl_status scl_problem_product(const scl_problem *problem, const double *a, size_t k, double *out,
                               scl_error *error) {
  passing p = {.problem = problem, .in = a, .out = out, .k = k};
  SCL_TRY(scl_problem_enter(problem, "product", error));
  scl_status status = open_values(&p, error);
  if (status == SCL_STATUS_OK) status = open_product(&p, error);
  if (status == SCL_STATUS_OK) status = scl_problem_walk_runs(problem, product_run, &p, error);
  close_pass(&p);
  return status;
}

scl_status scl_problem_adjoint(const scl_problem *problem, const double *r, size_t k, double *out,
                               scl_error *error) {
  passing p = {.problem = problem, .in = r, .k = k};
  SCL_TRY(scl_problem_enter(problem, "adjoint", error));
  scl_status status = open_values(&p, error);
  if (status == SCL_STATUS_OK) status = sum_pass(&p, adjoint_run, out, error);
  close_pass(&p);
  return status;
}

scl_status scl_problem_sweep(const scl_problem *problem, const double *a, size_t k, scl_turn turn,
                             void *context, double *out, scl_error *error) {
  passing p = {.problem = problem, .in = a, .k = k, .turn = turn, .context = context};
  SCL_TRY(scl_problem_enter(problem, "sweep", error));
  scl_status status = open_values(&p, error);
  if (status == SCL_STATUS_OK) status = open_product(&p, error);
  if (status == SCL_STATUS_OK) status = sum_pass(&p, sweep_run, out, error);
  close_pass(&p);
  return status;
}

/* ------------ scores of a part of the rows */

/* What scl_problem_part_scores makes. */
typedef struct scoring {
  passing pass;
  uint64_t *parts;
} scoring;

static scl_status score_run(void *context, const scl_run *run, scl_error *error) {
  const scoring *s = context;
  const size_t rows = run->rows.count, most = scl_min(sweep_rows(&s->pass, run), rows);
  for (size_t at = 0; s->parts != NULL && at < rows; at += most)
    s->parts[run->rows.first + at] = scl_min(most, rows - at);
  return product_run((void *)(uintptr_t)&s->pass, run, error);
}

scl_status scl_problem_part_scores(const scl_problem *problem, const double *a, size_t k,
                                   double *out, uint64_t *parts, scl_error *error) {
  scoring s = {{.problem = problem, .in = a, .out = out, .k = k}, parts};
  memset(out, 0, problem->rows * k * sizeof *out);
  scl_status status = open_values(&s.pass, error);
  if (status == SCL_STATUS_OK) status = open_product(&s.pass, error);
  if (status == SCL_STATUS_OK) status = scl_problem_walk_part(problem, score_run, &s, error);
  close_pass(&s.pass);
  return status;
}
