/* Decisions and tallies of fitted coefficients and models: one walk over the rows, block by block,
 * with memory that does not grow with the rows. */
#include "learn/score.h"

#include "algebra/thin.h"
#include "base/profile.h"
#include "learn/alike.h"
#include "learn/labels.h"
#include "learn/problem_internal.h"
#include "plugin/solver.h"
#include "processes/processes.h"
#include "rows/joined.h"
#include "rows/level_rows.h"
#include "rows/reduce.h"
#include <math.h>
#include <string.h>

/* Coefficients a (D x k), ready to be multiplied by rows. */
typedef struct multiplier {
  const scl_flow *flow;
  double *a;
  size_t k;
  scl_thin thin;            /* dense features */
  double *whole, *constant; /* of whole numbers: a times the units, k x D; base'a, k */
  scl_level_tables tables;  /* of features that each read one column */
} multiplier;

static void close_multiplier(multiplier *m) {
  SCL_RELEASE(m->a, m->whole);
  scl_thin_close(&m->thin);
  scl_level_tables_close(&m->tables);
}

/* Prepare the product of whole numbers V with a: Phi a = V (units o a) + 1 base'a. */
static scl_status open_whole(multiplier *m, scl_error *error) {
  const size_t d = scl_flow_features(m->flow), k = m->k;
  const double *unit, *base;
  scl_map_units(m->flow->map, &unit, &base);
  m->whole = scl_allocate_zero((d + 1) * k * sizeof *m->whole + sizeof *m->whole);
  if (m->whole == NULL) return scl_fail_memory(error, d * k * sizeof *m->whole, "coefficients");
  m->constant = m->whole + d * k;
  for (size_t j = 0; j < d; j++)
    for (size_t q = 0; q < k; q++) {
      m->whole[q * d + j] = unit[j] * m->a[j * k + q];
      if (base != NULL) m->constant[q] += base[j] * m->a[j * k + q];
    }
  return SCL_STATUS_OK;
}

/* Prepare products with a (D x k), which *out owns afterwards, also after a failure: the caller
 * closes it. a is NULL where its allocation failed. */
static scl_status open_multiplier(const scl_flow *flow, double *a, size_t k, multiplier *out,
                                  scl_error *error) {
  const size_t d = scl_flow_features(flow);
  *out = (multiplier){.flow = flow, .a = a, .k = k};
  if (a == NULL) return scl_fail_memory(error, d * k * sizeof *a, "coefficients");
  if (scl_flow_entries(flow) > 0 || scl_flow_has_csr(flow)) return SCL_STATUS_OK;
  if (flow->whole) return open_whole(out, error);
  return scl_thin_open(flow->dtype, d, a, k, &out->thin, error);
}

/* out (count x k) = rows start .. start+count-1 of the block times a. */
static scl_status multiply_rows(const multiplier *m, const scl_flow_block *block, size_t start,
                                size_t count, double *out, scl_error *error) {
  if (block->csr != NULL && m->flow->map == NULL) {
    const scl_csr rows = scl_block_csr(block, start, count);
    scl_csr_product_parallel(&rows, m->a, m->k, out);
    return SCL_STATUS_OK;
  }
  if (block->entries > 0) {
    scl_sparse_product(block->columns + start * block->entries, block->entries, block->value, count,
                       m->a, m->k, out);
    return SCL_STATUS_OK;
  }
  if (block->whole != NULL) {
    scl_whole_product(scl_flow_whole(m->flow), count, scl_flow_features(m->flow),
                      scl_flow_whole_row(m->flow, block, start), block->phi_stride, m->whole, m->k,
                      out);
    for (size_t i = 0; i < count * m->k; i++)
      out[i] += m->constant[i % m->k];
    return SCL_STATUS_OK;
  }
  return scl_thin_product(&m->thin, count, scl_flow_row(m->flow, block, start), block->phi_stride,
                          out, error);
}

/* The coefficients of one group's candidates, concatenated: D x (count c). NULL: no memory. */
static double *stack_candidates(const scl_candidate *candidates, size_t count, size_t d, size_t c) {
  double *out = scl_allocate_array(d * count * c + 1, sizeof *out);
  for (size_t k = 0; out != NULL && k < count; k++) {
    scl_matrix to = {.data = out + k * c,
                     .rows = d,
                     .cols = c,
                     .row_stride = (ptrdiff_t)(count * c),
                     .col_stride = 1,
                     .dtype = SCL_DTYPE_FLOAT64};
    scl_matrix_assign(candidates[k].coefficients, &to);
  }
  return out;
}

/* ------------ decisions */

typedef struct deciding {
  multiplier by;
  scl_level_rows *levels; /* NULL: features are made */
  const scl_matrix *intercept;
  scl_matrix *out;
} deciding;

/* scores (count x k) = the features of a block times the coefficients, without the intercept. */
static scl_status multiply_block(deciding *d, const scl_flow_block *block, double *scores,
                                 scl_error *error) {
  if (d->levels == NULL) return multiply_rows(&d->by, block, 0, block->count, scores, error);
  SCL_TRY(scl_level_rows_find(d->levels, block, error));
  return scl_level_rows_multiply(d->levels, &d->by.tables, d->by.a, d->by.k, 0, block->count,
                                 scores, error);
}

/* Write the decisions of a block's rows to their rows of the result. */
static scl_status decide_block(void *context, const scl_flow_block *block, scl_error *error) {
  deciding *d = context;
  const size_t c = d->by.k;
  double *scores = scl_allocate_array(block->count * c + 1, sizeof *scores);
  if (scores == NULL) return scl_fail_memory(error, block->count * c * sizeof *scores, "decisions");
  const scl_status status = multiply_block(d, block, scores, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < block->count; i++) {
    double *row = scl_matrix_row(d->out, block->first + block->place[i]);
    for (size_t j = 0; j < c; j++)
      row[j] = scores[i * c + j] + (d->intercept == NULL ? 0 : scl_matrix_get(d->intercept, 0, j));
  }
  scl_release(scores);
  return status;
}

/* Processes that divide predictions have the same rows, features and coefficients. */
static scl_status agree_on_decisions(const scl_flow *flow, const scl_matrix *coefficients,
                                     scl_status mine, scl_error *error) {
  scl_flow_digests of = {0};
  if (mine == SCL_STATUS_OK) mine = scl_flow_digest(flow, &of, error);
  return scl_processes_meet(
      mine, error,
      "predictions of %zu rows (digest %08x) by %zu features (digest %08x) and coefficients (%08x)",
      flow->source->rows, of.rows, coefficients->rows, of.features,
      scl_matrix_digest(coefficients));
}

scl_status scl_decisions(const scl_flow *flow, const scl_matrix *coefficients,
                         const scl_matrix *intercept, scl_matrix *out, scl_error *error) {
  const size_t c = coefficients->cols;
  if (coefficients->rows != scl_flow_features(flow))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "X gives %zu features where the model has %zu coefficients",
                    scl_flow_features(flow), coefficients->rows);
  if (intercept != NULL && (intercept->rows != 1 || intercept->cols != c))
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "the intercept is %zu x %zu where the coefficients are for %zu targets",
                    intercept->rows, intercept->cols, c);
  SCL_TRY(scl_matrix_create(flow->source->rows, c, SCL_DTYPE_FLOAT64, out, error));
  const scl_candidate candidate = {.coefficients = coefficients};
  deciding d = {.intercept = intercept, .out = out};
  scl_flow walked = *flow;
  walked.whole = scl_flow_whole(flow) != SCL_WHOLE_NONE;
  walked.csr = true;
  scl_status status = open_multiplier(
      &walked, stack_candidates(&candidate, 1, coefficients->rows, c), c, &d.by, error);
  if (status == SCL_STATUS_OK) status = scl_level_rows_create(&walked, &d.levels, error);
  walked.late = d.levels != NULL; /* most features are never made: their products are looked up */
  const size_t unit = scl_flow_block_rows(&walked);
  const bool divided = scl_flow_divides(flow) && flow->source->rows > unit;
  const scl_flow part = divided ? scl_flow_part(&walked, unit) : walked;
  if (divided) status = agree_on_decisions(flow, coefficients, status, error);
  const bool agreed = divided && status == SCL_STATUS_OK;
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&part, true, decide_block, &d, error);
  if (agreed) status = scl_rows_gather(&walked, unit, out->data, c * sizeof(double), status, error);
  scl_level_rows_destroy(d.levels);
  close_multiplier(&d.by);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ------------ the features themselves */

typedef struct keeping {
  const scl_flow *flow;
  scl_matrix *out;
  double factor;
} keeping;

/* Copy the features of one block to their rows of the result, times the factor. */
static scl_status keep_block(void *context, const scl_flow_block *block, scl_error *error) {
  (void)error;
  const keeping *k = context;
  const size_t d = k->out->cols;
  for (size_t i = 0; block->entries > 0 && i < block->count; i++)
    scl_flow_fill(k->flow, block, i, 1,
                  (char *)k->out->data +
                      (block->first + block->place[i]) * d * scl_dtype_size(k->flow->dtype));
  if (block->entries > 0) return SCL_STATUS_OK;
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

scl_status scl_features(const scl_flow *flow, scl_matrix *out, scl_error *error) {
  const scl_map *map = flow->map;
  const double kept_out = map == NULL ? 0 : scl_map_log_scale(map) - scl_map_left_out(map);
  keeping k = {flow, out, exp(kept_out)}; /* exp(left_out) stays a factor: see scl_map_left_out */
  SCL_TRY(
      scl_matrix_create_raw(flow->source->rows, scl_flow_features(flow), flow->dtype, out, error));
  const size_t mark = scl_profile_enter("features");
  const scl_status status = scl_flow_walk(flow, true, keep_block, &k, error);
  scl_profile_leave(mark, 0, 0);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ------------ the solver's own loss */

/* Row i of a matrix, float64. */
static void copy_row(const scl_matrix *from, size_t i, double *to) {
  for (size_t j = 0; j < from->cols; j++)
    to[j] = scl_matrix_get(from, i, j);
}

scl_status scl_losses(const scl_instance *solver, const scl_matrix *decisions,
                      const scl_matrix *targets, scl_matrix *out, scl_error *error) {
  const size_t c = decisions->cols;
  scl_error failure = {0};
  *out = (scl_matrix){0};
  if (targets->rows != decisions->rows || targets->cols != c || c == 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "decisions are %zu x %zu and targets %zu x %zu",
                    decisions->rows, c, targets->rows, targets->cols);
  double *row = scl_allocate_array(2 * c, sizeof *row);
  if (row == NULL) return scl_fail_memory(error, 2 * c * sizeof *row, "a loss");
  scl_status status = scl_matrix_create_raw(decisions->rows, 1, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < decisions->rows; i++) {
    copy_row(decisions, i, row);
    copy_row(targets, i, row + c);
    *(double *)scl_matrix_row(out, i) = scl_solver_loss(solver, c, row, row + c, &failure);
  }
  scl_release(row);
  if (status == SCL_STATUS_OK && failure.status != SCL_STATUS_OK)
    status = scl_fail(error, failure.status, "%s", failure.message);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

scl_status scl_loss_probabilities(const scl_instance *solver, const scl_matrix *decisions,
                                  scl_matrix *out, bool *said, scl_error *error) {
  const size_t c = decisions->cols;
  double *row = scl_allocate_array(c + 1, sizeof *row);
  if (row == NULL) return scl_fail_memory(error, c * sizeof *row, "probabilities");
  *said = true;
  *out = (scl_matrix){0};
  scl_status status =
      scl_matrix_create_raw(decisions->rows, c == 1 ? 2 : c, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && *said && i < decisions->rows; i++) {
    copy_row(decisions, i, row);
    status = scl_solver_probabilities(solver, c, row, scl_matrix_row(out, i), said, error);
  }
  scl_release(row);
  if (status != SCL_STATUS_OK || !*said) scl_matrix_release(out);
  return status;
}

scl_status scl_loss_means(const scl_instance *solver, const scl_matrix *decisions, scl_matrix *out,
                          bool *said, scl_error *error) {
  const size_t c = decisions->cols;
  double *row = scl_allocate_array(c + 1, sizeof *row);
  if (row == NULL) return scl_fail_memory(error, c * sizeof *row, "means");
  *said = true;
  *out = (scl_matrix){0};
  scl_status status = scl_matrix_create_raw(decisions->rows, c, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && *said && i < decisions->rows; i++) {
    copy_row(decisions, i, row);
    status = scl_solver_means(solver, c, row, scl_matrix_row(out, i), said, error);
  }
  scl_release(row);
  if (status != SCL_STATUS_OK || !*said) scl_matrix_release(out);
  return status;
}

/* ------------ candidates */

/* Called with the decisions of one row of the source: count x c numbers, without intercepts. */
typedef struct judging judging;
typedef void (*judge)(const judging *job, size_t group, size_t row, const double *decision,
                      const double *y);

struct judging {
  const scl_flow *flow;
  size_t groups, count, c;
  size_t unit;    /* not 0: this process judges a part of the rows, cut at multiples of it */
  multiplier *by; /* for each group D x (count c); NULL where the candidates are models */
  const scl_candidate *candidates;
  double *constant; /* groups x count x c: added to decisions; NULL: models */
  judge row;
  scl_level_rows *levels;          /* NULL: features are made */
  scl_reducer reducer;             /* for tally_row */
  scl_tally *tallies;              /* groups x count: the part of the present block */
  double *used;                    /* c: decisions with the intercept */
  scl_matrix *decisions, *targets; /* for keep_row */
};

/* The constant of target j of candidate k of a group. Models have none: their scores include it. */
static double intercept_of(const judging *job, size_t group, size_t k, size_t j) {
  return job->constant == NULL ? 0 : job->constant[(group * job->count + k) * job->c + j];
}

/* Whether the class of the decisions differs from that of the targets y (c each). */
static bool is_wrong(const double *decision, const double *y, size_t c) {
  if (c == 1) return (decision[0] < 0) != (y[0] < 0);
  size_t said = 0, truth = 0;
  for (size_t j = 1; j < c; j++) {
    if (decision[j] > decision[said]) said = j;
    if (y[j] > y[truth]) truth = j;
  }
  return said != truth;
}

/* Add one row to the tallies of its group's candidates. */
static void tally_row(const judging *job, size_t group, size_t row, const double *decision,
                      const double *y) {
  double *used = job->used;
  (void)row;
  for (size_t k = 0; k < job->count; k++) {
    scl_tally *tally = &job->tallies[group * job->count + k];
    for (size_t j = 0; j < job->c; j++) {
      used[j] = decision[k * job->c + j] + intercept_of(job, group, k, j);
      tally->square += (used[j] - y[j]) * (used[j] - y[j]);
    }
    if (tally->rows == 0) tally->target_shift = y[0];
    const double gap = y[0] - tally->target_shift;
    tally->target_sum += gap;
    tally->target_square += gap * gap;
    tally->rows += 1;
    const bool stranger = scl_is_stranger(y, job->c);
    tally->strangers += stranger;
    tally->wrong += stranger || is_wrong(used, y, job->c);
  }
}

/* Write the decisions and targets of one row to the result. */
static void keep_row(const judging *job, size_t group, size_t row, const double *decision,
                     const double *y) {
  double *out = scl_matrix_row(job->decisions, row);
  for (size_t k = 0; k < job->count; k++)
    for (size_t j = 0; j < job->c; j++)
      out[k * job->c + j] = decision[k * job->c + j] + intercept_of(job, group, k, j);
  for (size_t j = 0; j < job->c; j++)
    scl_matrix_row(job->targets, row)[j] = y[j];
}

/* out (rows x count c) = the decisions of a group's candidates on its rows. */
static scl_status decide_group(const judging *job, const scl_flow_block *block, size_t group,
                               size_t start, size_t rows, double *out, scl_error *error) {
  const ptrdiff_t stride = (ptrdiff_t)(job->count * job->c);
  if (job->levels != NULL)
    return scl_level_rows_multiply(job->levels, &job->by[group].tables, job->by[group].a,
                                   job->count * job->c, start, rows, out, error);
  if (job->by != NULL) return multiply_rows(&job->by[group], block, start, rows, out, error);
  for (size_t k = 0; k < job->count; k++)
    SCL_TRY(scl_model_decide(job->candidates[group * job->count + k].model, job->flow, block, start,
                             rows, out + k * job->c, stride, error));
  return SCL_STATUS_OK;
}

/* Judge all rows of a block, group by group; decisions: room for count x (candidates c) numbers. */
static scl_status judge_groups(const judging *job, const scl_flow_block *block, double *decisions,
                               scl_error *error) {
  const size_t width = job->count * job->c;
  for (size_t g = 0; g < job->groups; g++) {
    const size_t start = block->group_start[g], rows = block->group_start[g + 1] - start;
    SCL_TRY(decide_group(job, block, g, start, rows, decisions, error));
    for (size_t i = 0; i < rows; i++)
      job->row(job, g, block->first + block->place[start + i], decisions + i * width,
               block->y + (start + i) * job->c);
  }
  return SCL_STATUS_OK;
}

/* Judge the rows of a block. Tallies go to the part of the reduction that the block belongs to, so
 * that their bits do not depend on how the rows are divided among processes. */
static scl_status judge_block(void *context, const scl_flow_block *block, scl_error *error) {
  judging *job = context;
  const size_t numbers = block->count * job->count * job->c;
  void *part = NULL;
  if (job->row == tally_row) SCL_TRY(scl_reducer_at(&job->reducer, block->first, &part, error));
  job->tallies = part;
  if (job->levels != NULL) SCL_TRY(scl_level_rows_find(job->levels, block, error));
  double *decisions = scl_allocate_array(numbers + 1, sizeof *decisions);
  if (decisions == NULL)
    return scl_fail_memory(error, numbers * sizeof *decisions, "decisions of a block");
  const scl_status status = judge_groups(job, block, decisions, error);
  scl_release(decisions);
  return status;
}

/* For each group, its candidates' coefficients side by side: one product decides for all of
 * them. */
static scl_status open_multipliers(judging *job, scl_error *error) {
  const size_t d = scl_flow_features(job->flow);
  if (job->count > 0 && job->candidates[0].model != NULL) return SCL_STATUS_OK;
  job->by = scl_allocate_zero((job->groups + 1) * sizeof *job->by);
  if (job->by == NULL) return scl_fail_memory(error, job->groups * sizeof *job->by, "candidates");
  for (size_t g = 0; g < job->groups; g++) {
    double *a = stack_candidates(job->candidates + g * job->count, job->count, d, job->c);
    SCL_TRY(open_multiplier(job->flow, a, job->count * job->c, &job->by[g], error));
  }
  return SCL_STATUS_OK;
}

/* The constant of target j of a candidate, for features less `pilot` in place of its own pilot p:
 * b_j + sum_i (pilot_i - p_i) a_ij. */
static double constant_about(const scl_candidate *candidate, const double *pilot, size_t j) {
  const scl_matrix *a = candidate->coefficients;
  const double *own = candidate->pilot == NULL ? NULL : scl_matrix_row(candidate->pilot, 0);
  double sum = candidate->intercept == NULL ? 0 : scl_matrix_get(candidate->intercept, 0, j);
  for (size_t i = 0; pilot != NULL && i < a->rows; i++) {
    const double gap = pilot[i] - (own == NULL ? 0 : own[i]);
    if (gap != 0) sum += gap * scl_matrix_get(a, i, j);
  }
  return sum;
}

/* The constants of all candidates for a walk that subtracts `pilot` (D, or NULL) from features. */
static scl_status open_constants(judging *job, const double *pilot, scl_error *error) {
  const size_t all = job->groups * job->count;
  if (all == 0 || job->candidates[0].model != NULL) return SCL_STATUS_OK;
  job->constant = scl_allocate_array(all * job->c + 1, sizeof *job->constant);
  if (job->constant == NULL)
    return scl_fail_memory(error, all * job->c * sizeof *job->constant, "intercepts");
  for (size_t i = 0; i < all; i++)
    for (size_t j = 0; j < job->c; j++)
      job->constant[i * job->c + j] = constant_about(&job->candidates[i], pilot, j);
  return SCL_STATUS_OK;
}

/* Walk over all rows and judge them; opens and closes what the walk needs. */
static scl_status judge_all(judging *job, scl_error *error) {
  const scl_flow *given = job->flow;
  scl_flow flow = *job->flow;
  flow.whole = scl_flow_whole(&flow) != SCL_WHOLE_NONE &&
               (job->count == 0 || job->candidates[0].model == NULL);
  flow.csr = job->count == 0 || job->candidates[0].model == NULL;
  job->flow = &flow;
  /* A walk subtracts one pilot: the first that a candidate has. The constants of candidates with
   * another pilot make up for the difference (constant_about). */
  flow.pilot = NULL;
  for (size_t i = 0; flow.pilot == NULL && i < job->groups * job->count; i++)
    if (job->candidates[i].pilot != NULL) flow.pilot = scl_matrix_row(job->candidates[i].pilot, 0);
  scl_status status = open_constants(job, flow.pilot, error);
  if (status == SCL_STATUS_OK) status = open_multipliers(job, error);
  if (status == SCL_STATUS_OK && job->by != NULL)
    status = scl_level_rows_create(&flow, &job->levels, error);
  flow.late = job->levels != NULL;
  const scl_flow part = job->unit > 0 ? scl_flow_part(&flow, job->unit) : flow;
  const size_t mark = scl_profile_enter("judging");
  if (status == SCL_STATUS_OK) status = scl_flow_walk(&part, true, judge_block, job, error);
  scl_profile_leave(mark, 0, 0);
  scl_level_rows_destroy(job->levels);
  for (size_t g = 0; job->by != NULL && g < job->groups; g++)
    close_multiplier(&job->by[g]);
  SCL_RELEASE(job->by, job->constant);
  job->flow = given;
  return status;
}

/* Without groups all rows are of one group. */
static judging judging_of(const scl_flow *flow, const scl_candidate *candidates, size_t count) {
  return (judging){.flow = flow,
                   .groups = flow->group == NULL ? 1 : flow->groups,
                   .count = count,
                   .c = flow->source->targets,
                   .candidates = candidates};
}

/* ------------ tallies, as parts of a reduction */

/* Slot scl_reduction.open; context: the number of tallies. */
static scl_status open_tallies(void *context, void **part, scl_error *error) {
  const size_t bytes = *(const size_t *)context * sizeof(scl_tally);
  *part = scl_allocate_zero(bytes + 1);
  return *part == NULL ? scl_fail_memory(error, bytes, "tallies") : SCL_STATUS_OK;
}

/* Add tallies. With d = y - shift of `from` and gap = the difference of the shifts, the sums about
 * the shift of `to` are sum (d + gap) and sum (d + gap)^2. */
static scl_status merge_tallies(void *context, void *into, void *from, scl_error *error) {
  scl_tally *to = into;
  const scl_tally *other = from;
  (void)error;
  for (size_t i = 0; i < *(const size_t *)context; i++) {
    if (other[i].rows == 0) continue;
    if (to[i].rows == 0) to[i].target_shift = other[i].target_shift;
    const double gap = other[i].target_shift - to[i].target_shift;
    to[i].target_sum += other[i].target_sum + other[i].rows * gap;
    to[i].target_square +=
        other[i].target_square + gap * (2 * other[i].target_sum + other[i].rows * gap);
    to[i].rows += other[i].rows;
    to[i].wrong += other[i].wrong;
    to[i].strangers += other[i].strangers;
    to[i].square += other[i].square;
  }
  return SCL_STATUS_OK;
}

static void close_tallies(void *context, void *part) {
  (void)context;
  scl_release(part);
}

scl_status scl_score(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                     scl_tally *tallies, scl_error *error) {
  judging job = judging_of(flow, candidates, count);
  size_t number = job.groups * count;
  const scl_reduction sum = {
      &number, number * sizeof *tallies, open_tallies, merge_tallies, close_tallies, NULL};
  void *part;
  job.row = tally_row;
  job.reducer = scl_reducer_of(&sum, flow->source->rows);
  job.used = scl_allocate_array(job.c + 1, sizeof *job.used);
  if (job.used == NULL) return scl_fail_memory(error, job.c * sizeof *job.used, "decisions");
  if (scl_flow_divides(flow) && flow->source->rows > job.reducer.leaf_rows)
    job.unit = job.reducer.leaf_rows;
  scl_status status = judge_all(&job, error);
  if (job.unit > 0)
    status = scl_reducer_gather(&job.reducer, number * sizeof *tallies, status,
                                "the scores of candidates", error);
  status = scl_reducer_finish(&job.reducer, status, &part, error);
  scl_release(job.used);
  if (status != SCL_STATUS_OK) return status;
  memcpy(tallies, part, number * sizeof *tallies);
  scl_release(part);
  return SCL_STATUS_OK;
}

scl_status scl_decisions_apart(const scl_flow *flow, const scl_candidate *candidates, size_t count,
                               scl_matrix *decisions, scl_matrix *targets, scl_error *error) {
  judging job = judging_of(flow, candidates, count);
  job.row = keep_row;
  job.decisions = decisions;
  job.targets = targets;
  SCL_TRY(
      scl_matrix_create(flow->source->rows, count * job.c, SCL_DTYPE_FLOAT64, decisions, error));
  scl_status status =
      scl_matrix_create(flow->source->rows, job.c, SCL_DTYPE_FLOAT64, targets, error);
  const size_t unit = scl_flow_block_rows(flow), c = job.c;
  if (scl_flow_divides(flow) && flow->source->rows > unit) job.unit = unit;
  if (status == SCL_STATUS_OK) status = judge_all(&job, error);
  if (job.unit > 0)
    status =
        scl_rows_gather(flow, unit, decisions->data, count * c * sizeof(double), status, error);
  if (job.unit > 0)
    status = scl_rows_gather(flow, unit, targets->data, c * sizeof(double), status, error);
  if (status == SCL_STATUS_OK) return SCL_STATUS_OK;
  scl_matrix_release(decisions);
  scl_matrix_release(targets);
  return status;
}
