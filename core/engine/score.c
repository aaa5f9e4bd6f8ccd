#include "score.h"

#include "dense.h"
#include <math.h>
#include <string.h>

/* The block's features in float64: its own memory or a copy in `copy` (count x D). */
static const double *wide(const scl_flow *flow, const scl_flow_block *block, double *copy) {
  if (flow->dtype == SCL_F64) return block->phi;
  const size_t d = scl_flow_features(flow);
  const float *from = block->phi;
  for (size_t i = 0; i < block->count; i++)
    for (size_t j = 0; j < d; j++)
      copy[i * d + j] = (double)from[(ptrdiff_t)i * block->phi_stride + (ptrdiff_t)j];
  return copy;
}

/* out (count x cols) = rows of sparse features times a (D x cols). */
static void multiply_sparse(const scl_flow_block *block, size_t start, size_t count, const double *a, size_t cols, double *out) {
  memset(out, 0, count * cols * sizeof *out);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < block->slots; k++) {
      const int32_t column = block->columns[(start + i) * block->slots + k];
      for (size_t j = 0; column >= 0 && j < cols; j++)
        out[i * cols + j] += block->value * a[(size_t)column * cols + j];
    }
}

/* D x columns in the flow's dtype, row-major and packed. */
static void *narrow(const scl_flow *flow, const scl_matrix *a) {
  const scl_dtype dtype = flow->map != NULL && scl_map_slots(flow->map) > 0 ? SCL_F64 : flow->dtype;
  void *out = scl_allocate_array(a->rows * a->cols + 1, scl_dtype_size(dtype));
  for (size_t i = 0; out != NULL && i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++) {
      if (dtype == SCL_F64)
        ((double *)out)[i * a->cols + j] = scl_matrix_get(a, i, j);
      else
        ((float *)out)[i * a->cols + j] = (float)scl_matrix_get(a, i, j);
    }
  return out;
}

/* ---------------------------------------------------------------- decisions */

typedef struct deciding {
  const scl_flow *flow;
  const void *coefficients; /* D x c, the flow's dtype; float64 for sparse features */
  const scl_matrix *intercept;
  size_t c;
  scl_matrix *out;
  void *block; /* rows x c, the flow's dtype; as large as the largest block so far */
  size_t room;
} deciding;

static scl_status decide_block(void *context, const scl_flow_block *block, scl_error *error) {
  deciding *d = context;
  const scl_dtype dtype = block->slots > 0 ? SCL_F64 : d->flow->dtype;
  const size_t c = d->c, size = scl_dtype_size(dtype);
  if (block->count > d->room) {
    scl_release(d->block);
    d->block = scl_allocate_array(block->count * c + 1, size);
    d->room = d->block == NULL ? 0 : block->count;
    if (d->block == NULL) return scl_fail_memory(error, block->count * c * size, "decisions");
  }
  if (block->slots > 0)
    multiply_sparse(block, 0, block->count, d->coefficients, c, d->block);
  else
    scl_gemm_parallel(dtype, false, false, block->count, c, scl_flow_features(d->flow), 1, block->phi, block->phi_stride, d->coefficients,
                      (ptrdiff_t)c, 0, d->block, (ptrdiff_t)c);
  for (size_t i = 0; i < block->count; i++) {
    double *row = scl_matrix_row(d->out, block->first + block->place[i]);
    for (size_t j = 0; j < c; j++) {
      const size_t at = i * c + j;
      row[j] = dtype == SCL_F64 ? ((const double *)d->block)[at] : (double)((const float *)d->block)[at];
      if (d->intercept != NULL) row[j] += scl_matrix_get(d->intercept, 0, j);
    }
  }
  return SCL_OK;
}

scl_status scl_decisions(const scl_flow *flow, const scl_matrix *coefficients, const scl_matrix *intercept, scl_matrix *out,
                         scl_error *error) {
  deciding d = {.flow = flow, .intercept = intercept, .c = coefficients->cols, .out = out};
  if (coefficients->rows != scl_flow_features(flow))
    return scl_fail(error, SCL_BAD_SHAPE, "X gives %zu features where the model has %zu coefficients", scl_flow_features(flow),
                    coefficients->rows);
  SCL_TRY(scl_matrix_create(flow->source->rows, d.c, SCL_F64, out, error));
  void *copy = narrow(flow, coefficients);
  d.coefficients = copy;
  scl_status status = copy == NULL ? scl_fail_memory(error, coefficients->rows * d.c * sizeof(double), "coefficients") : SCL_OK;
  if (status == SCL_OK) status = scl_flow_walk(flow, true, decide_block, &d, error);
  scl_release(copy);
  scl_release(d.block);
  if (status != SCL_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- the features themselves */

typedef struct keeping {
  const scl_flow *flow;
  scl_matrix *out;
  double factor;
} keeping;

static scl_status keep_block(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  const keeping *k = context;
  const size_t d = k->out->cols;
  for (size_t i = 0; block->slots > 0 && i < block->count; i++)
    scl_flow_fill(k->flow, block, i, 1, (char *)k->out->data + (block->first + block->place[i]) * d * scl_dtype_size(k->flow->dtype));
  if (block->slots > 0) return SCL_OK;
  for (size_t i = 0; i < block->count; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * block->phi_stride;
    const size_t to = block->first + block->place[i];
    if (k->flow->dtype == SCL_F64)
      for (size_t j = 0; j < d; j++)
        scl_matrix_row(k->out, to)[j] = k->factor * ((const double *)block->phi + from)[j];
    else
      for (size_t j = 0; j < d; j++)
        scl_matrix_row_f32(k->out, to)[j] = (float)(k->factor * (double)((const float *)block->phi + from)[j]);
  }
  return SCL_OK;
}

scl_status scl_features(const scl_flow *flow, double factor, scl_matrix *out, scl_error *error) {
  keeping k = {flow, out, factor};
  SCL_TRY(scl_matrix_create_raw(flow->source->rows, scl_flow_features(flow), flow->dtype, out, error));
  const scl_status status = scl_flow_walk(flow, true, keep_block, &k, error);
  if (status != SCL_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- candidates */

/* What becomes of the decisions of one row of the source, count x c of them without intercepts. */
typedef struct judging judging;
typedef void (*judge)(const judging *job, size_t group, size_t row, const double *decision, const double *y);

struct judging {
  const scl_flow *flow;
  size_t groups, count, c;
  double **stacked; /* a group: D x (count c) */
  const scl_candidate *candidates;
  judge row;
  scl_tally *tallies;              /* for tally_row */
  scl_matrix *decisions, *targets; /* for keep_row */
};

static double intercept_of(const judging *job, size_t group, size_t k, size_t j) {
  const scl_matrix *intercept = job->candidates[group * job->count + k].intercept;
  return intercept == NULL ? 0 : scl_matrix_get(intercept, 0, j);
}

static bool is_wrong(const double *decision, const double *y, size_t c) {
  if (c == 1) return (decision[0] < 0) != (y[0] < 0);
  size_t said = 0, truth = 0;
  for (size_t j = 1; j < c; j++) {
    if (decision[j] > decision[said]) said = j;
    if (y[j] > y[truth]) truth = j;
  }
  return said != truth;
}

static void tally_row(const judging *job, size_t group, size_t row, const double *decision, const double *y) {
  (void)row;
  double with[64], *long_with = NULL;
  double *used = job->c <= 64 ? with : (long_with = scl_allocate_array(job->c, sizeof *long_with));
  for (size_t k = 0; used != NULL && k < job->count; k++) {
    scl_tally *tally = &job->tallies[group * job->count + k];
    for (size_t j = 0; j < job->c; j++) {
      used[j] = decision[k * job->c + j] + intercept_of(job, group, k, j);
      tally->square += (used[j] - y[j]) * (used[j] - y[j]);
      tally->target_sum += y[j];
      tally->target_square += y[j] * y[j];
    }
    tally->rows += 1;
    tally->wrong += is_wrong(used, y, job->c);
  }
  scl_release(long_with);
}

static void keep_row(const judging *job, size_t group, size_t row, const double *decision, const double *y) {
  for (size_t j = 0; j < job->c; j++) {
    scl_matrix_row(job->decisions, row)[j] = decision[j] + intercept_of(job, group, 0, j);
    scl_matrix_row(job->targets, row)[j] = y[j];
  }
}

static scl_status judge_block(void *context, const scl_flow_block *block, scl_error *error) {
  const judging *job = context;
  const size_t d = scl_flow_features(job->flow), width = job->count * job->c;
  const bool widened = job->flow->dtype == SCL_F32 && block->slots == 0;
  double *copy = widened ? scl_allocate_array(block->count * d + 1, sizeof *copy) : NULL;
  double *decisions = scl_allocate_array(block->count * width + 1, sizeof *decisions);
  if (decisions == NULL || (widened && copy == NULL)) {
    scl_release(copy);
    scl_release(decisions);
    return scl_fail_memory(error, block->count * (d + width) * sizeof *decisions, "decisions of a block");
  }
  const double *phi = block->slots > 0 ? NULL : wide(job->flow, block, copy);
  const ptrdiff_t stride = copy == NULL ? block->phi_stride : (ptrdiff_t)d;
  for (size_t g = 0; g < job->groups; g++) {
    const size_t start = block->group_start[g], rows = block->group_start[g + 1] - start;
    double *to = decisions + start * width;
    if (block->slots > 0)
      multiply_sparse(block, start, rows, job->stacked[g], width, to);
    else
      scl_gemm_parallel(SCL_F64, false, false, rows, width, d, 1, phi + (ptrdiff_t)start * stride, stride, job->stacked[g],
                        (ptrdiff_t)width, 0, to, (ptrdiff_t)width);
    for (size_t i = 0; i < rows; i++)
      job->row(job, g, block->first + block->place[start + i], to + i * width, block->y + (start + i) * job->c);
  }
  scl_release(copy);
  scl_release(decisions);
  return SCL_OK;
}

/* The same where the candidates are models. */
static scl_status judge_models(void *context, const scl_flow_block *block, scl_error *error) {
  const judging *job = context;
  const size_t width = job->count * job->c;
  double *decisions = scl_allocate_array(block->count * width + 1, sizeof *decisions);
  if (decisions == NULL) return scl_fail_memory(error, block->count * width * sizeof *decisions, "decisions of a block");
  scl_status status = SCL_OK;
  for (size_t g = 0; status == SCL_OK && g < job->groups; g++) {
    const size_t start = block->group_start[g], rows = block->group_start[g + 1] - start;
    double *to = decisions + start * width;
    for (size_t k = 0; status == SCL_OK && k < job->count; k++)
      status = scl_model_decide(job->candidates[g * job->count + k].model, job->flow, block, start, rows, to + k * job->c, (ptrdiff_t)width,
                                error);
    for (size_t i = 0; status == SCL_OK && i < rows; i++)
      job->row(job, g, block->first + block->place[start + i], to + i * width, block->y + (start + i) * job->c);
  }
  scl_release(decisions);
  return status;
}

/* Candidates of one group side by side: D x (count c). */
static double *stack(const scl_candidate *candidates, size_t count, size_t d, size_t c) {
  double *out = scl_allocate_array(d * count * c + 1, sizeof *out);
  for (size_t k = 0; out != NULL && k < count; k++)
    for (size_t i = 0; i < d; i++)
      for (size_t j = 0; j < c; j++)
        out[(i * count + k) * c + j] = scl_matrix_get(candidates[k].coefficients, i, j);
  return out;
}

static scl_status judge_all(judging *job, scl_error *error) {
  const size_t d = scl_flow_features(job->flow);
  scl_status status = SCL_OK;
  if (job->count > 0 && job->candidates[0].model != NULL) return scl_flow_walk(job->flow, true, judge_models, job, error);
  job->stacked = scl_allocate_zero((job->groups + 1) * sizeof *job->stacked);
  if (job->stacked == NULL) return scl_fail_memory(error, job->groups * sizeof *job->stacked, "candidates");
  for (size_t g = 0; status == SCL_OK && g < job->groups; g++) {
    job->stacked[g] = stack(job->candidates + g * job->count, job->count, d, job->c);
    if (job->stacked[g] == NULL) status = scl_fail_memory(error, d * job->count * job->c * sizeof(double), "candidates");
  }
  if (status == SCL_OK) status = scl_flow_walk(job->flow, true, judge_block, job, error);
  for (size_t g = 0; g < job->groups; g++)
    scl_release(job->stacked[g]);
  scl_release(job->stacked);
  return status;
}

static judging judging_of(const scl_flow *flow, const scl_candidate *candidates, size_t count) {
  return (judging){
      .flow = flow, .groups = flow->group == NULL ? 1 : flow->groups, .count = count, .c = flow->source->targets, .candidates = candidates};
}

scl_status scl_score(const scl_flow *flow, const scl_candidate *candidates, size_t count, scl_tally *tallies, scl_error *error) {
  judging job = judging_of(flow, candidates, count);
  job.row = tally_row;
  job.tallies = tallies;
  return judge_all(&job, error);
}

scl_status scl_decisions_apart(const scl_flow *flow, const scl_candidate *candidates, scl_matrix *decisions, scl_matrix *targets,
                               scl_error *error) {
  judging job = judging_of(flow, candidates, 1);
  job.row = keep_row;
  job.decisions = decisions;
  job.targets = targets;
  SCL_TRY(scl_matrix_create(flow->source->rows, job.c, SCL_F64, decisions, error));
  scl_status status = scl_matrix_create(flow->source->rows, job.c, SCL_F64, targets, error);
  if (status == SCL_OK) status = judge_all(&job, error);
  if (status == SCL_OK) return SCL_OK;
  scl_matrix_release(decisions);
  scl_matrix_release(targets);
  return status;
}
