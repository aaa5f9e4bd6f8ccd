#include "rows/sums.h"

#include "algebra/dense.h"
#include "base/pool.h"
#include "base/profile.h"
#include "rows/sums_levels.h"
#include "rows/sums_bits.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------ parts */

static scl_status create(const scl_sums *like, scl_sums **out, scl_error *error) {
  const size_t d = like->features, c = like->targets, groups = like->groups;
  scl_sums *sums = scl_allocate_zero(sizeof *sums);
  if (sums == NULL) return scl_fail_memory(error, sizeof *sums, "normal equations");
  *out = sums;
  *sums = (scl_sums){.features = d, .targets = c, .groups = groups, .counted = like->counted};
  sums->right = scl_allocate_zero((groups * d * (c + 1) + 1) * sizeof(double));
  sums->sum = scl_allocate_zero((groups * c + 1) * sizeof(double));
  sums->square = scl_allocate_zero((groups * c + 1) * sizeof(double));
  sums->count = scl_allocate_zero((groups + 1) * sizeof(double));
  sums->moment = scl_allocate_zero((groups + 1) * sizeof *sums->moment);
  if (!sums->right || !sums->sum || !sums->square || !sums->count || !sums->moment)
    return scl_fail_memory(error, groups * d * (c + 1) * sizeof(double), "normal equations");
  for (size_t g = 0; !like->counted && g < groups; g++)
    SCL_TRY(scl_symmetric_create(d, &sums->moment[g], error));
  return SCL_STATUS_OK;
}

void scl_sums_destroy(scl_sums *sums) {
  if (sums == NULL) return;
  for (size_t g = 0; sums->moment != NULL && g < sums->groups; g++)
    scl_symmetric_destroy(sums->moment[g]);
  scl_sums_destroy(sums->codes);
  SCL_RELEASE(sums->moment, sums->right, sums->sum, sums->square, sums->count, sums->table, sums);
}

scl_status scl_sums_create(const scl_sums *like, scl_sums **out, scl_error *error) {
  scl_sums *sums = NULL;
  const scl_status status = create(like, &sums, error);
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_sums_destroy(sums);
  return status;
}

static scl_status open_part(void *context, void **part, scl_error *error) {
  scl_sums *sums;
  SCL_TRY(scl_sums_create(context, &sums, error));
  *part = sums;
  return SCL_STATUS_OK;
}

static void add_numbers(size_t count, const double *from, double *into) {
  for (size_t i = 0; i < count; i++)
    into[i] += from[i];
}

static scl_status merge_parts(void *context, void *into, void *from, scl_error *error) {
  scl_sums *to = into;
  const scl_sums *other = from;
  const size_t groups = to->groups, c = to->targets;
  (void)context, (void)error;
  for (size_t g = 0; !to->counted && g < groups; g++)
    scl_service_symmetric.add(1, other->moment[g], to->moment[g]);
  add_numbers(groups * to->features * (c + 1), other->right, to->right);
  add_numbers(groups * c, other->sum, to->sum);
  add_numbers(groups * c, other->square, to->square);
  add_numbers(groups, other->count, to->count);
  return SCL_STATUS_OK;
}

static void close_part(void *context, void *part) {
  (void)context;
  scl_sums_destroy(part);
}

scl_reduction scl_sums_reduction(scl_sums *like) {
  const size_t d = like->features, squares = like->counted ? 0 : d / 2,
               bytes = like->groups * d * (squares + like->targets + 1) * 8;
  return (scl_reduction){like, bytes, open_part, merge_parts, close_part};
}

/* ------------------------------------------------------------ Phi'[Y 1] of one block, by strips of
 * features */

enum { STRIP = 256 };

typedef struct correlation {
  scl_dtype dtype;
  const void *phi;
  ptrdiff_t stride;
  size_t features, rows, cols; /* cols = c + 1 */
  const void *y;               /* rows x cols in dtype */
  double *right;
  float *scratch; /* features x cols, float32 only */
} correlation;

static void correlate_strip(void *context, size_t index) {
  const correlation *job = context;
  const size_t first = index * STRIP, count = scl_min(STRIP, job->features - first);
  const void *phi = scl_at(job->phi, job->dtype, (ptrdiff_t)first);
  const ptrdiff_t cols = (ptrdiff_t)job->cols;
  double *right = job->right + first * job->cols;
  if (job->dtype == SCL_DTYPE_FLOAT64) {
    scl_gemm(SCL_DTYPE_FLOAT64, true, false, count, job->cols, job->rows, 1, phi, job->stride,
             job->y, cols, 1, right, cols);
    return;
  }
  float *part = job->scratch + first * job->cols;
  scl_gemm(SCL_DTYPE_FLOAT32, true, false, count, job->cols, job->rows, 1, phi, job->stride, job->y,
           cols, 0, part, cols);
  for (size_t i = 0; i < count * job->cols; i++)
    right[i] += (double)part[i];
}

/* ------------------------------------------------------------ adding rows */

void scl_sums_add_targets(scl_sums *sums, const scl_flow_block *block, size_t group, size_t start,
                          size_t end) {
  const size_t c = sums->targets;
  for (size_t i = start; i < end; i++) {
    const double weight = scl_flow_weight(block, i), *y = block->y + i * c;
    for (size_t j = 0; j < c; j++) {
      sums->sum[group * c + j] += weight * y[j];
      sums->square[group * c + j] += weight * y[j] * y[j];
    }
    sums->count[group] += weight;
  }
}

static void add_sparse(scl_sums *sums, const scl_flow_block *block, size_t group, size_t start,
                       size_t end) {
  const size_t c = sums->targets, cols = c + 1, entries = block->entries;
  double *right = sums->right + group * sums->features * cols;
  scl_symmetric_scatter(sums->moment[group], block->columns + start * entries, entries, end - start,
                        block->value, block->weights == NULL ? NULL : block->weights + start);
  for (size_t i = start; i < end; i++)
    for (size_t k = 0; k < entries; k++) {
      const int32_t column = block->columns[i * entries + k];
      for (size_t j = 0; column >= 0 && j < cols; j++)
        right[(size_t)column * cols + j] +=
            block->value * scl_flow_weight(block, i) * (j == c ? 1 : block->y[i * c + j]);
    }
}

/* Packed rows times the square roots of their weights. */
typedef struct rooting {
  const scl_flow *flow;
  const scl_flow_block *block;
  size_t start, rows, features;
  void *out;
} rooting;

enum { ROOT_ROWS = 64 };

static void root_rows(void *context, size_t index) {
  const rooting *r = context;
  const size_t d = r->features, end = scl_min((index + 1) * ROOT_ROWS, r->rows);
  for (size_t i = index * ROOT_ROWS; i < end; i++) {
    const double root = sqrt(r->block->weights[r->start + i]);
    const void *from = scl_flow_row(r->flow, r->block, r->start + i);
    if (r->flow->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < d; j++)
        ((double *)r->out)[i * d + j] = root * ((const double *)from)[j];
    else
      for (size_t j = 0; j < d; j++)
        ((float *)r->out)[i * d + j] = (float)root * ((const float *)from)[j];
  }
}

static scl_status add_moment(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                             size_t group, size_t start, size_t rows, scl_error *error) {
  scl_symmetric *moment = sums->moment[group];
  const size_t d = sums->features, size = scl_dtype_size(flow->dtype);
  if (block->weights == NULL)
    return scl_symmetric_accumulate(moment, flow->dtype, scl_flow_row(flow, block, start),
                                    block->phi_stride, rows, error);
  rooting r = {flow, block, start, rows, d, scl_allocate_array(rows * d + 1, size)};
  if (r.out == NULL) return scl_fail_memory(error, rows * d * size, "weighted rows");
  scl_pool_run((rows + ROOT_ROWS - 1) / ROOT_ROWS, root_rows, &r);
  const scl_status status =
      scl_symmetric_accumulate(moment, flow->dtype, r.out, (ptrdiff_t)d, rows, error);
  scl_release(r.out);
  return status;
}

/* Phi'W [Y 1]. */
static scl_status add_right(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                            size_t group, size_t start, size_t rows, scl_error *error) {
  const scl_dtype dtype = flow->dtype;
  const size_t c = sums->targets, cols = c + 1, d = sums->features,
               scratch = dtype == SCL_DTYPE_FLOAT32 ? d * cols : 0;
  double *memory = scl_allocate_array(rows * cols + scratch + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, (rows * cols + scratch) * sizeof *memory, "targets of a block");
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      scl_set_number(memory, dtype, i * cols + j,
                     scl_flow_weight(block, start + i) *
                         (j == c ? 1 : block->y[(start + i) * c + j]));
  correlation job = {.dtype = dtype,
                     .phi = scl_flow_row(flow, block, start),
                     .stride = block->phi_stride,
                     .features = d,
                     .rows = rows,
                     .cols = cols,
                     .y = memory,
                     .right = sums->right + group * d * cols,
                     .scratch = (float *)(void *)(memory + rows * cols)};
  scl_pool_run((d + STRIP - 1) / STRIP, correlate_strip, &job);
  scl_release(memory);
  return SCL_STATUS_OK;
}

scl_status scl_sums_add(scl_sums *sums, const scl_flow *flow, const scl_flow_block *block,
                        size_t group, size_t start, size_t end, scl_error *error) {
  if (end == start) return SCL_STATUS_OK;
  scl_sums_add_targets(sums, block, group, start, end);
  if (block->entries > 0) {
    add_sparse(sums, block, group, start, end);
    return SCL_STATUS_OK;
  }
  SCL_TRY(add_moment(sums, flow, block, group, start, end - start, error));
  return add_right(sums, flow, block, group, start, end - start, error);
}

scl_status scl_sums_check(const scl_sums *sums, scl_dtype dtype, scl_error *error) {
  for (size_t g = 0; g < sums->groups; g++)
    for (size_t j = 0; j < sums->features; j++)
      if (!isfinite(scl_symmetric_get(sums->moment[g], j, j)))
        return scl_fail(error, SCL_STATUS_NUMERIC,
                        "the sum of squares of feature %zu is too large for %s: scale the data",
                        j + 1, scl_dtype_name(dtype));
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ one walk */

typedef struct accumulator {
  scl_flow flow;
  scl_reducer reducer;
  scl_level_sums *levels; /* NULL: features are made */
} accumulator;

static scl_status add_block(void *context, const scl_flow_block *block, scl_error *error) {
  accumulator *a = context;
  bool taken = false;
  void *part;
  SCL_TRY(scl_reducer_at(&a->reducer, block->first, &part, error));
  if (a->levels != NULL) {
    SCL_TRY(scl_level_sums_add(a->levels, block, part, &taken, error));
    if (!taken) SCL_TRY(scl_flow_make_features(block, error));
  }
  for (size_t g = 0; !taken && g < ((const scl_sums *)part)->groups; g++)
    SCL_TRY(scl_sums_add(part, &a->flow, block, g, block->group_start[g], block->group_start[g + 1],
                         error));
  return SCL_STATUS_OK;
}

/* What the values of columns took in is the last part's; of no rows there is none. */
static scl_status finish(accumulator *a, scl_status walked, scl_sums **out, scl_error *error) {
  void *part;
  if (walked == SCL_STATUS_OK && a->levels != NULL && a->reducer.part != NULL)
    walked = scl_level_sums_flush(a->levels, a->reducer.part, error);
  SCL_TRY(scl_reducer_finish(&a->reducer, walked, &part, error));
  *out = part;
  return a->levels == NULL ? SCL_STATUS_OK : scl_level_sums_give(a->levels, part, error);
}

scl_status scl_sums_accumulate(const scl_flow *flow, scl_sums **out, scl_error *error) {
  if (scl_sums_are_bits(flow)) return scl_sums_count(flow, out, error);
  scl_sums like = {.features = scl_flow_features(flow),
                   .targets = flow->source->targets,
                   .groups = flow->group == NULL ? 1 : flow->groups};
  const scl_reduction sum = scl_sums_reduction(&like);
  accumulator a = {*flow, scl_reducer_of(&sum, flow->source->rows), NULL};
  scl_sums *sums = NULL;
  SCL_TRY(scl_level_sums_create(&a.flow, &a.levels, error));
  a.flow.late = a.levels != NULL;
  const size_t mark = scl_profile_enter("normal equations");
  scl_status status = scl_flow_walk(&a.flow, true, add_block, &a, error);
  status = finish(&a, status, &sums, error);
  scl_profile_leave(mark, 0, 0);
  scl_level_sums_destroy(a.levels);
  if (status == SCL_STATUS_OK) status = scl_sums_check(sums, flow->dtype, error);
  if (status == SCL_STATUS_OK)
    *out = sums;
  else
    scl_sums_destroy(sums);
  return status;
}

/* ------------------------------------------------------------ totals */

static void centre_totals(size_t d, size_t c, scl_totals *t) {
  for (size_t i = 0; i < d; i++)
    for (size_t j = 0; j < c; j++)
      t->right[i * c + j] -= t->total * t->mean_phi[i] * t->mean_y[j];
  for (size_t j = 0; j < c; j++) {
    const double mean = t->total * t->mean_y[j] * t->mean_y[j], rest = t->square[j] - mean;
    t->square[j] = rest > 16 * DBL_EPSILON * mean ? rest : 0; /* rounding, of a constant */
  }
}

static void add_group(const scl_sums *sums, size_t group, scl_totals *t) {
  const size_t d = sums->features, c = sums->targets, cols = c + 1;
  const double *from = sums->right + group * d * cols;
  for (size_t i = 0; i < d; i++) {
    for (size_t j = 0; j < c; j++)
      t->right[i * c + j] += from[i * cols + j];
    t->mean_phi[i] += from[i * cols + c];
  }
  add_numbers(c, sums->sum + group * c, t->mean_y);
  add_numbers(c, sums->square + group * c, t->square);
  t->total += sums->count[group];
}

void scl_sums_total(const scl_sums *sums, long without, bool centre, scl_totals *out) {
  const size_t d = sums->features, c = sums->targets;
  memset(out->right, 0, d * c * sizeof *out->right);
  memset(out->square, 0, c * sizeof *out->square);
  memset(out->mean_phi, 0, d * sizeof *out->mean_phi);
  memset(out->mean_y, 0, c * sizeof *out->mean_y);
  out->total = 0;
  for (size_t g = 0; g < sums->groups; g++)
    if ((long)g != without) add_group(sums, g, out);
  if (!(out->total > 0)) return;
  for (size_t i = 0; i < d; i++)
    out->mean_phi[i] /= out->total;
  for (size_t j = 0; j < c; j++)
    out->mean_y[j] /= out->total;
  if (centre) centre_totals(d, c, out);
}

/* ------------------------------------------------------------ fewer parameters */

typedef struct fewer {
  const scl_symmetric *from;
  size_t many, few;
  double factor;
} fewer;

/* The place among the features of many parameters of feature j of few: output j / few of parameter
 * j % few. */
static size_t place_among(const fewer *f, size_t j) { return j / f->few * f->many + j % f->few; }

static scl_status rectangle_of_first(void *context, size_t first_row, size_t rows, size_t first_col,
                                     size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const fewer *f = context;
  (void)error;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] =
          f->factor *
          scl_symmetric_get(f->from, place_among(f, first_row + i), place_among(f, first_col + j));
  return SCL_STATUS_OK;
}

static scl_status fill_of_first(const scl_sums *from, fewer *f, double ratio, scl_sums *to,
                                scl_error *error) {
  const size_t cols = from->targets + 1;
  for (size_t g = 0; g < from->groups; g++) {
    f->from = from->moment[g];
    SCL_TRY(scl_symmetric_fill(to->moment[g], rectangle_of_first, f, error));
    for (size_t j = 0; j < to->features; j++)
      for (size_t k = 0; k < cols; k++)
        to->right[(g * to->features + j) * cols + k] =
            ratio * from->right[(g * from->features + place_among(f, j)) * cols + k];
  }
  memcpy(to->sum, from->sum, from->groups * from->targets * sizeof(double));
  memcpy(to->square, from->square, from->groups * from->targets * sizeof(double));
  memcpy(to->count, from->count, from->groups * sizeof(double));
  return SCL_STATUS_OK;
}

scl_status scl_sums_of_first(const scl_sums *sums, size_t many, size_t few, size_t outputs,
                             double ratio, scl_sums **out, scl_error *error) {
  const scl_sums like = {
      .features = few * outputs, .targets = sums->targets, .groups = sums->groups};
  fewer f = {.many = many, .few = few, .factor = ratio * ratio};
  scl_sums *made = NULL;
  scl_status status = create(&like, &made, error);
  if (status == SCL_STATUS_OK) status = fill_of_first(sums, &f, ratio, made, error);
  if (status != SCL_STATUS_OK) {
    scl_sums_destroy(made);
    made = NULL;
  }
  *out = made;
  return status;
}
