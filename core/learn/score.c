#include "learn/score.h"

#include "algebra/thin.h"
#include <string.h>

/* out (count x cols) = rows of sparse features times a (D x cols). */
static void multiply_sparse(const scl_flow_block *block, size_t start, size_t count,
                            const double *a, size_t cols, double *out) {
  memset(out, 0, count * cols * sizeof *out);
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < block->slots; k++) {
      const int32_t column = block->columns[(start + i) * block->slots + k];
      for (size_t j = 0; column >= 0 && j < cols; j++)
        out[i * cols + j] += block->value * a[(size_t)column * cols + j];
    }
}

/* Coefficients a (D x k), ready to be multiplied by rows. */
typedef struct multiplier {
  const scl_flow *flow;
  double *a;
  size_t k;
  scl_thin thin; /* dense features */
} multiplier;

static void close_multiplier(multiplier *m) {
  scl_release(m->a);
  scl_thin_close(&m->thin);
}

/* Takes `a` over. */
static scl_status open_multiplier(const scl_flow *flow, double *a, size_t k, multiplier *out,
                                  scl_error *error) {
  const size_t d = scl_flow_features(flow);
  *out = (multiplier){.flow = flow, .a = a, .k = k};
  if (a == NULL) return scl_fail_memory(error, d * k * sizeof *a, "coefficients");
  if (flow->map != NULL && scl_map_slots(flow->map) > 0) return SCL_STATUS_OK;
  return scl_thin_open(flow->dtype, d, a, k, &out->thin, error);
}

/* out (count x k) = rows start .. start+count-1 of the block times a. */
static scl_status multiply(const multiplier *m, const scl_flow_block *block, size_t start,
                           size_t count, double *out, scl_error *error) {
  if (block->slots > 0) {
    multiply_sparse(block, start, count, m->a, m->k, out);
    return SCL_STATUS_OK;
  }
  const char *phi = (const char *)block->phi + (ptrdiff_t)start * block->phi_stride *
                                                   (ptrdiff_t)scl_dtype_size(m->flow->dtype);
  return scl_thin_product(&m->thin, count, phi, block->phi_stride, out, error);
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

/* ---------------------------------------------------------------- decisions */

typedef struct deciding {
  multiplier by;
  const scl_matrix *intercept;
  scl_matrix *out;
} deciding;

static scl_status decide_block(void *context, const scl_flow_block *block, scl_error *error) {
  const deciding *d = context;
  const size_t c = d->by.k;
  double *scores = scl_allocate_array(block->count * c + 1, sizeof *scores);
  if (scores == NULL) return scl_fail_memory(error, block->count * c * sizeof *scores, "decisions");
  const scl_status status = multiply(&d->by, block, 0, block->count, scores, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < block->count; i++) {
    double *row = scl_matrix_row(d->out, block->first + block->place[i]);
    for (size_t j = 0; j < c; j++)
      row[j] = scores[i * c + j] + (d->intercept == NULL ? 0 : scl_matrix_get(d->intercept, 0, j));
  }
  scl_release(scores);
  return status;
}

scl_status scl_decisions(const scl_flow *flow, const scl_matrix *coefficients,
                         const scl_matrix *intercept, scl_matrix *out, scl_error *error) {
  const size_t c = coefficients->cols;
  if (coefficients->rows != scl_flow_features(flow))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "X gives %zu features where the model has %zu coefficients",
                    scl_flow_features(flow), coefficients->rows);
  SCL_TRY(scl_matrix_create(flow->source->rows, c, SCL_DTYPE_FLOAT64, out, error));
  const scl_candidate candidate = {.coefficients = coefficients};
  deciding d = {.intercept = intercept, .out = out};
  scl_status status =
      open_multiplier(flow, stack(&candidate, 1, coefficients->rows, c), c, &d.by, error);
  if (status == SCL_STATUS_OK) status = scl_flow_walk(flow, true, decide_block, &d, error);
  close_multiplier(&d.by);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
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
    scl_flow_fill(k->flow, block, i, 1,
                  (char *)k->out->data +
                      (block->first + block->place[i]) * d * scl_dtype_size(k->flow->dtype));
  if (block->slots > 0) return SCL_STATUS_OK;
  for (size_t i = 0; i < block->count; i++) {
    const ptrdiff_t from = (ptrdiff_t)i * block->phi_stride;
    const size_t to = block->first + block->place[i];
    if (k->flow->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < d; j++)
        scl_matrix_row(k->out, to)[j] = k->factor * ((const double *)block->phi + from)[j];
    else
      for (size_t j = 0; j < d; j++)
        scl_matrix_row_f32(k->out, to)[j] =
            (float)(k->factor * (double)((const float *)block->phi + from)[j]);
  }
  return SCL_STATUS_OK;
}

scl_status scl_features(const scl_flow *flow, double factor, scl_matrix *out, scl_error *error) {
  keeping k = {flow, out, factor};
  SCL_TRY(
      scl_matrix_create_raw(flow->source->rows, scl_flow_features(flow), flow->dtype, out, error));
  const scl_status status = scl_flow_walk(flow, true, keep_block, &k, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ---------------------------------------------------------------- candidates */

/* What becomes of the decisions of one row of the source, count x c of them without intercepts. */
typedef struct judging judging;
typedef void (*judge)(const judging *job, size_t group, size_t row, const double *decision,
                      const double *y);

struct judging {
  const scl_flow *flow;
  size_t groups, count, c;
  multiplier *by; /* a group: D x (count c) */
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

static void tally_row(const judging *job, size_t group, size_t row, const double *decision,
                      const double *y) {
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

static void keep_row(const judging *job, size_t group, size_t row, const double *decision,
                     const double *y) {
  for (size_t j = 0; j < job->c; j++) {
    scl_matrix_row(job->decisions, row)[j] = decision[j] + intercept_of(job, group, 0, j);
    scl_matrix_row(job->targets, row)[j] = y[j];
  }
}

static scl_status judge_block(void *context, const scl_flow_block *block, scl_error *error) {
  const judging *job = context;
  const size_t width = job->count * job->c;
  double *decisions = scl_allocate_array(block->count * width + 1, sizeof *decisions);
  if (decisions == NULL)
    return scl_fail_memory(error, block->count * width * sizeof *decisions, "decisions of a block");
  scl_status status = SCL_STATUS_OK;
  for (size_t g = 0; status == SCL_STATUS_OK && g < job->groups; g++) {
    const size_t start = block->group_start[g], rows = block->group_start[g + 1] - start;
    double *to = decisions + start * width;
    status = multiply(&job->by[g], block, start, rows, to, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < rows; i++)
      job->row(job, g, block->first + block->place[start + i], to + i * width,
               block->y + (start + i) * job->c);
  }
  scl_release(decisions);
  return status;
}

/* The same where the candidates are models. */
static scl_status judge_models(void *context, const scl_flow_block *block, scl_error *error) {
  const judging *job = context;
  const size_t width = job->count * job->c;
  double *decisions = scl_allocate_array(block->count * width + 1, sizeof *decisions);
  if (decisions == NULL)
    return scl_fail_memory(error, block->count * width * sizeof *decisions, "decisions of a block");
  scl_status status = SCL_STATUS_OK;
  for (size_t g = 0; status == SCL_STATUS_OK && g < job->groups; g++) {
    const size_t start = block->group_start[g], rows = block->group_start[g + 1] - start;
    double *to = decisions + start * width;
    for (size_t k = 0; status == SCL_STATUS_OK && k < job->count; k++)
      status = scl_model_decide(job->candidates[g * job->count + k].model, job->flow, block, start,
                                rows, to + k * job->c, (ptrdiff_t)width, error);
    for (size_t i = 0; status == SCL_STATUS_OK && i < rows; i++)
      job->row(job, g, block->first + block->place[start + i], to + i * width,
               block->y + (start + i) * job->c);
  }
  scl_release(decisions);
  return status;
}

static scl_status judge_all(judging *job, scl_error *error) {
  const size_t d = scl_flow_features(job->flow);
  scl_status status = SCL_STATUS_OK;
  if (job->count > 0 && job->candidates[0].model != NULL)
    return scl_flow_walk(job->flow, true, judge_models, job, error);
  job->by = scl_allocate_zero((job->groups + 1) * sizeof *job->by);
  if (job->by == NULL) return scl_fail_memory(error, job->groups * sizeof *job->by, "candidates");
  for (size_t g = 0; status == SCL_STATUS_OK && g < job->groups; g++) {
    double *a = stack(job->candidates + g * job->count, job->count, d, job->c);
    status = open_multiplier(job->flow, a, job->count * job->c, &job->by[g], error);
  }
  if (status == SCL_STATUS_OK) status = scl_flow_walk(job->flow, true, judge_block, job, error);
  for (size_t g = 0; g < job->groups; g++)
    close_multiplier(&job->by[g]);
  scl_release(job->by);
  return status;
}

static judging judging_of(const scl_flow *flow, const scl_candidate *candidates, size_t count) {
  return (judging){.flow = flow,
                   .groups = flow->group == NULL ? 1 : flow->groups,
                   .count = count,
                   .c = flow->source->targets,
                   .candidates = candidates};
}

scl_status scl_score(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                     scl_tally *tallies, scl_error *error) {
  judging job = judging_of(flow, candidates, count);
  job.row = tally_row;
  job.tallies = tallies;
  return judge_all(&job, error);
}

scl_status scl_decisions_apart(const scl_flow *flow, const scl_candidate *candidates,
                               scl_matrix *decisions, scl_matrix *targets, scl_error *error) {
  judging job = judging_of(flow, candidates, 1);
  job.row = keep_row;
  job.decisions = decisions;
  job.targets = targets;
  SCL_TRY(scl_matrix_create(flow->source->rows, job.c, SCL_DTYPE_FLOAT64, decisions, error));
  scl_status status =
      scl_matrix_create(flow->source->rows, job.c, SCL_DTYPE_FLOAT64, targets, error);
  if (status == SCL_STATUS_OK) status = judge_all(&job, error);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  scl_matrix_release(decisions);
  scl_matrix_release(targets);
  return status;
}
