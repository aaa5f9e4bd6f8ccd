#include "rows/sums_bits.h"

#include "base/profile.h"
#include <string.h>

/* Rows gathered before they are counted, and bytes of them: each count adds to the whole matrix. */
enum { GATHERED_ROWS = 16384 };
static const double GATHERED_BYTES = 64e6;

typedef struct counting {
  const scl_flow *flow;
  scl_two_values values;
  scl_reducer reducer;
  scl_sums *sums;   /* the result: groups, and the counts as moments; the rest comes from parts */
  scl_bits *bits;   /* one a group: words that wait to be counted, */
  size_t *filled;   /* so many of them */
  double *products; /* room for B'y of a run, or the targets of one */
} counting;

bool scl_sums_are_bits(const scl_flow *flow) {
  return flow->weights == NULL && scl_flow_has_bits(flow);
}

/* ------------------------------------------------------------ counting */

static scl_status count_group(counting *c, size_t group, scl_error *error) {
  const size_t words = c->filled[group];
  c->filled[group] = 0;
  return scl_bits_gram(&c->bits[group], 0, words, c->sums->moment[group], error);
}

/* B'[y] of the words at .. of a group goes to the first columns of right. */
static scl_status add_run(counting *c, scl_sums *part, const scl_flow_block *block, size_t group,
                          size_t start, size_t end, scl_error *error) {
  const size_t rows = end - start, targets = part->targets, cols = targets + 1;
  if (rows == 0) return SCL_STATUS_OK;
  scl_bits *bits = &c->bits[group];
  if (c->filled[group] + scl_bits_words(rows) > bits->apart) SCL_TRY(count_group(c, group, error));
  const size_t at = c->filled[group];
  scl_bits_copy(block->bits, start, rows, bits, at);
  c->filled[group] += scl_bits_words(rows);
  scl_sums_add_targets(part, block, group, start, end);
  if (targets == 0) return SCL_STATUS_OK;
  return scl_bits_adjoint(bits, at * SCL_BITS_ROWS, rows, block->y + start * targets, targets,
                          part->right + group * part->features * cols, cols, error);
}

static scl_status count_block(void *context, const scl_flow_block *block, scl_error *error) {
  counting *c = context;
  void *part;
  SCL_TRY(scl_reducer_at(&c->reducer, block->first, &part, error));
  for (size_t g = 0; g < c->sums->groups; g++)
    SCL_TRY(add_run(c, part, block, g, block->group_start[g], block->group_start[g + 1], error));
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ from counts to sums */

typedef struct scaling {
  const counting *c;
  double rows;          /* n */
  const double *counts; /* c_t */
} scaling;

/* A tile of counts in place. */
static scl_status scale_rectangle(void *context, size_t first_row, size_t rows, size_t first_col,
                                  size_t cols, double *out, ptrdiff_t stride, scl_error *error) {
  const scaling *s = context;
  const scl_two_values *v = &s->c->values;
  const double gap = v->high - v->low, low = v->low;
  (void)error;
  for (size_t i = 0; i < rows; i++) {
    const double mine = s->counts[first_row + i],
                 scale = scl_map_feature_scale(s->c->flow->map, first_row + i);
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < cols && first_col + j <= first_row + i; j++)
      row[j] = scale * scl_map_feature_scale(s->c->flow->map, first_col + j) *
               (s->rows * low * low + low * gap * (mine + s->counts[first_col + j]) +
                gap * gap * row[j]);
  }
  return SCL_STATUS_OK;
}

static void scale_right(const scaling *s, size_t group) {
  scl_sums *sums = s->c->sums;
  const scl_two_values *v = &s->c->values;
  const double gap = v->high - v->low;
  const size_t c = sums->targets, d = sums->features;
  double *right = sums->right + group * d * (c + 1);
  for (size_t t = 0; t < d; t++, right += c + 1) {
    const double scale = scl_map_feature_scale(s->c->flow->map, t);
    for (size_t j = 0; j < c; j++)
      right[j] = scale * (v->low * sums->sum[group * c + j] + gap * right[j]);
    right[c] = scale * (v->low * s->rows + gap * s->counts[t]);
  }
}

static scl_status scale_group(const counting *c, size_t group, scl_error *error) {
  scl_sums *sums = c->sums;
  scl_symmetric *moment = sums->moment[group];
  double *counts = scl_allocate_array(sums->features + 1, sizeof *counts);
  if (counts == NULL)
    return scl_fail_memory(error, sums->features * sizeof *counts, "counts of features");
  scl_service_symmetric.diagonal(moment, counts);
  scaling s = {c, sums->count[group], counts};
  scale_right(&s, group);
  const scl_status status = scl_symmetric_fill(moment, scale_rectangle, &s, error);
  scl_release(counts);
  return status;
}

/* ------------------------------------------------------------ the walk */

/* Words of room a group: those of the longest run at least. */
static size_t room_rows(const scl_flow *flow, size_t features, size_t groups) {
  const size_t block = scl_min(scl_flow_block_rows(flow), scl_max(flow->source->rows, 1)),
               all = flow->source->rows + SCL_BITS_ROWS;
  const double fit = 8 * GATHERED_BYTES / ((double)scl_max(features, 1) * (double)groups);
  const size_t most = fit > GATHERED_ROWS ? GATHERED_ROWS : (size_t)fit;
  return scl_max(block, scl_min(most, all));
}

static scl_status open_counting(counting *c, scl_error *error) {
  const size_t groups = c->sums->groups, d = c->sums->features,
               rows = room_rows(c->flow, d, groups);
  c->bits = scl_allocate_zero((groups + 1) * sizeof *c->bits);
  c->filled = scl_allocate_zero((groups + 1) * sizeof *c->filled);
  if (c->bits == NULL || c->filled == NULL)
    return scl_fail_memory(error, groups * sizeof *c->bits, "features as bits");
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(scl_bits_create(d, rows, &c->bits[g], error));
  return SCL_STATUS_OK;
}

static void close_counting(counting *c) {
  for (size_t g = 0; c->bits != NULL && g < c->sums->groups; g++)
    scl_bits_release(&c->bits[g]);
  SCL_RELEASE(c->bits, c->filled);
}

/* The part's sums and the counts become one. */
static scl_status finish(counting *c, scl_sums *part, scl_error *error) {
  scl_sums *sums = c->sums;
  const size_t groups = sums->groups, d = sums->features, k = sums->targets;
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(count_group(c, g, error));
  memcpy(sums->right, part->right, groups * d * (k + 1) * sizeof(double));
  memcpy(sums->sum, part->sum, groups * k * sizeof(double));
  memcpy(sums->square, part->square, groups * k * sizeof(double));
  memcpy(sums->count, part->count, groups * sizeof(double));
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(scale_group(c, g, error));
  return SCL_STATUS_OK;
}

static scl_status count_flow(counting *c, scl_error *error) {
  scl_sums like = {.features = c->sums->features,
                   .targets = c->sums->targets,
                   .groups = c->sums->groups,
                   .counted = true};
  const scl_reduction sum = scl_sums_reduction(&like);
  scl_flow flow = *c->flow;
  flow.bits = true;
  void *part;
  c->reducer = scl_reducer_of(&sum, flow.source->rows);
  const size_t mark = scl_profile_enter("normal equations");
  const scl_status walked = scl_reducer_finish(
      &c->reducer, scl_flow_walk(&flow, true, count_block, c, error), &part, error);
  scl_status status = walked;
  if (walked == SCL_STATUS_OK) {
    status = finish(c, part, error);
    scl_sums_destroy(part);
  }
  scl_profile_leave(mark, 0, 0);
  return status;
}

scl_status scl_sums_count(const scl_flow *flow, scl_sums **out, scl_error *error) {
  counting c = {.flow = flow};
  const scl_sums like = {.features = scl_flow_features(flow),
                         .targets = flow->source->targets,
                         .groups = flow->group == NULL ? 1 : flow->groups};
  if (!scl_map_two_values(flow->map, &c.values))
    return scl_fail(error, SCL_STATUS_INTERNAL, "features that do not take two values are counted");
  SCL_TRY(scl_sums_create(&like, &c.sums, error));
  scl_status status = open_counting(&c, error);
  if (status == SCL_STATUS_OK) status = count_flow(&c, error);
  if (status == SCL_STATUS_OK) status = scl_sums_check(c.sums, flow->dtype, error);
  close_counting(&c);
  if (status == SCL_STATUS_OK)
    *out = c.sums;
  else
    scl_sums_destroy(c.sums);
  return status;
}
