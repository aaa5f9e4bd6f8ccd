/* Normal equations of features that take two values, from bits. Of feature t, phi_t = s_t (low + d
 * b_t) with bits b_t and d = high - low, and with the counts of bits.h
 *
 *   sum phi_t phi_u = s_t s_u (n low^2 + low d (c_t + c_u) + d^2 n_tu)
 *   sum phi_t y     = s_t (low sum y + d sum b_t y)
 *   sum phi_t       = s_t (low n + d c_t)
 *
 * Counts are whole numbers in float64, and the affine map is applied once, after the walk: the
 * moments are the same for any blocks, threads and instruction set. Where rows have a few weights,
 * n, c and n_tu are sums over them of the weight times a count: exact where weights are whole
 * numbers. sum b_t y is counted where targets take two values, as classes do; otherwise it is
 * float64, added in the order of the rows in a leaf (reduce.h). */
#include "rows/ways.h"
#include "rows/weight_values.h"
#include "rows/whole_sums.h"
#include <string.h>

/* Most and least rows of one group and weight that are gathered before they are counted, and the
 * bytes of all gathered rows. Counting many rows at once is faster, because each count adds to the
 * whole D x D matrix. */
enum { GATHERED_ROWS = 16384, LEAST_GATHERED = 512 };
static const double GATHERED_BYTES = 64e6;

/* Rows that wait to be counted. */
typedef struct gathered {
  scl_bits bits;
  size_t rows;
} gathered;

/* The state of the way: what is shared by all parts. */
typedef struct counting {
  const scl_flow *flow;
  scl_two_values values;
  scl_weight_values weights;
  scl_sums *sums;    /* groups, and the counts as moments; the rest comes from parts */
  bool exact;        /* weights are whole numbers: all sums are exact (whole_sums.h) */
  gathered *waiting; /* groups x weights, `places` of them */
  size_t places;
} counting;

static bool bits_claims(const scl_flow *flow) {
  return scl_flow_has_bits(flow) && scl_weights_are_few(flow);
}

/* ------------ counting */

/* Count the rows that wait in a group, of all weights at once, into its matrix of counts.
 * Afterwards none wait. */
static scl_status count_group(counting *c, size_t group, scl_error *error) {
  scl_bits_part parts[SCL_WEIGHT_VALUES];
  const size_t n = c->weights.count;
  for (size_t v = 0; v < n; v++) {
    gathered *from = &c->waiting[group * n + v];
    parts[v] = (scl_bits_part){&from->bits, 0, scl_bits_words(from->rows), c->weights.value[v]};
    from->rows = 0;
  }
  return scl_bits_gram(parts, n, c->sums->moment[group], error);
}

/* Append rows start .. end-1 to those of the same group and weight that wait. Count these whenever
 * their room is full. */
static scl_status gather_bits(counting *c, const scl_bits *from, size_t group, size_t weight,
                              size_t start, size_t end, scl_error *error) {
  gathered *to = &c->waiting[group * c->weights.count + weight];
  const size_t room = to->bits.apart * SCL_BITS_ROWS;
  while (start < end) {
    if (to->rows == room) SCL_TRY(count_group(c, group, error));
    const size_t rows = scl_min(room - to->rows, end - start);
    scl_bits_copy(from, start, rows, &to->bits, to->rows);
    to->rows += rows;
    start += rows;
  }
  return SCL_STATUS_OK;
}

/* right += weight B'y, where y takes more than two values. */
static scl_status add_products(const scl_bits *bits, size_t start, size_t rows, const double *y,
                               size_t targets, double weight, double *right, scl_error *error) {
  if (weight == 1)
    return scl_bits_adjoint(bits, start, rows, y, targets, right, targets + 1, error);
  double *scaled = scl_allocate_array(rows * targets, sizeof *scaled);
  if (scaled == NULL)
    return scl_fail_memory(error, rows * targets * sizeof *scaled, "weighted targets");
  for (size_t i = 0; i < rows * targets; i++)
    scaled[i] = weight * y[i];
  const scl_status status =
      scl_bits_adjoint(bits, start, rows, scaled, targets, right, targets + 1, error);
  scl_release(scaled);
  return status;
}

/* Add rows start .. end-1 of a block, of one group and one weight. Rows of weight 0 add nothing. */
static scl_status add_run(counting *c, scl_sums *part, const scl_flow_block *block, size_t group,
                          size_t weight, size_t start, size_t end, scl_error *error) {
  const size_t rows = end - start, targets = part->targets;
  const double factor = c->weights.value[weight], *y = block->y + start * targets;
  if (rows > 0 && factor > 0 && c->exact) {
    const scl_whole_rows run = {.bits = block->bits,
                                .first = start,
                                .rows = rows,
                                .group = group,
                                .y = block->y == NULL ? NULL : y,
                                .weights = block->weights == NULL ? NULL : block->weights + start};
    SCL_TRY(gather_bits(c, block->bits, group, weight, start, end, error));
    return scl_whole_sums_add_right(part->whole, &run, error);
  }
  double *right = part->right + group * part->features * (targets + 1);
  bool taken = false;
  if (rows == 0 || factor == 0) return SCL_STATUS_OK;
  SCL_TRY(gather_bits(c, block->bits, group, weight, start, end, error));
  scl_sums_add_targets(part, block, group, start, end);
  if (targets == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_bits_adjoint_of_two(block->bits, start, rows, y, targets, factor, right, targets + 1,
                                  &taken, error));
  return taken ? SCL_STATUS_OK
               : add_products(block->bits, start, rows, y, targets, factor, right, error);
}

/* Slot `add`: the rows of a block are ordered by group and value of the weight, and each such run
 * is added by itself. */
static scl_status bits_add(scl_summing *s, const scl_flow_block *block, scl_sums *part,
                           scl_error *error) {
  counting *c = s->state;
  const size_t n = c->weights.count;
  for (size_t g = 0; g < c->sums->groups; g++)
    for (size_t v = 0; v < n; v++)
      SCL_TRY(add_run(c, part, block, g, v, block->group_start[g * n + v],
                      block->group_start[g * n + v + 1], error));
  return SCL_STATUS_OK;
}

/* ------------ from counts to sums */

/* What the affine map from counts to sums needs, for one group. */
typedef struct scaling {
  const counting *c;
  double rows;          /* n */
  const double *counts; /* c_t */
} scaling;

/* Change a tile of counts n_tu into moments, in place: the first formula at the head of this
 * file. */
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

/* Products of the features with the targets, and sums of the features, from counts: the second
 * and third formula at the head of this file. */
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

/* Counts of one group to moments. Their diagonal, the counts c_t, is copied first, because the
 * tiles are overwritten in place. */
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

/* ------------ one walk */

/* Rows that one weight of one group can gather: as many as GATHERED_BYTES allow, within the
 * bounds. */
static size_t room_rows(const counting *c) {
  const double fit =
      8 * GATHERED_BYTES /
      ((double)scl_max(c->sums->features, 1) * (double)c->sums->groups * (double)c->weights.count);
  const size_t all = c->flow->source->rows + 1;
  return scl_min(fit > GATHERED_ROWS    ? GATHERED_ROWS
                 : fit < LEAST_GATHERED ? LEAST_GATHERED
                                        : (size_t)fit,
                 all);
}

/* Let the walk make bits, and treat the rows of one group and weight as a group, so that they are
 * adjacent in a block. */
static void show_bits(const counting *c, scl_summing *s) {
  s->walked.bits = true;
  s->like.counted = true;
  s->like.exact = c->exact;
  if (c->weights.group == NULL) return;
  s->walked.group = c->weights.group;
  s->walked.groups = c->sums->groups * c->weights.count;
}

/* Slot `open`. What it allocates is in s->state, which bits_close releases, also after a
 * failure. */
static scl_status bits_open(scl_summing *s, scl_error *error) {
  counting *c = s->state = scl_allocate_zero(sizeof *c);
  if (c == NULL) return scl_fail_memory(error, sizeof *c, "features as bits");
  c->flow = s->flow;
  (void)scl_map_two_values(c->flow->map, &c->values);
  c->exact = scl_flow_is_exact(c->flow);
  SCL_TRY(scl_sums_create(&s->like, &c->sums, error));
  SCL_TRY(scl_weight_values_find(c->flow, &c->weights, error));
  const size_t n = c->places = c->sums->groups * c->weights.count;
  c->waiting = scl_allocate_zero((n + 1) * sizeof *c->waiting);
  if (c->waiting == NULL) return scl_fail_memory(error, n * sizeof *c->waiting, "features as bits");
  for (size_t i = 0; i < n; i++)
    if (c->weights.value[i % c->weights.count] > 0)
      SCL_TRY(scl_bits_create(c->sums->features, room_rows(c), &c->waiting[i].bits, error));
  show_bits(c, s);
  return SCL_STATUS_OK;
}

static void bits_close(scl_summing *s) {
  counting *c = s->state;
  if (c == NULL) return;
  for (size_t i = 0; c->waiting != NULL && i < c->places; i++)
    scl_bits_release(&c->waiting[i].bits);
  scl_weight_values_release(&c->weights);
  scl_sums_destroy(c->sums);
  SCL_RELEASE(c->waiting, c);
}

/* Slot `finish`: put the sums of the parts and the counts together. Exact counts become the moments
 * of the exact sums; other counts are changed into moments. */
static scl_status bits_finish(scl_summing *s, scl_sums **whole, scl_error *error) {
  counting *c = s->state;
  scl_sums *sums = c->sums, *part = *whole;
  const size_t groups = sums->groups, d = sums->features, k = sums->targets;
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(count_group(c, g, error));
  if (c->exact) {
    for (size_t g = 0; g < groups; g++) {
      part->whole->moment[g].low = sums->moment[g];
      sums->moment[g] = NULL;
      scl_whole_totals_of_counts(part->whole->moment[g].low);
    }
    return SCL_STATUS_OK;
  }
  memcpy(sums->right, part->right, groups * d * (k + 1) * sizeof(double));
  scl_sums_copy_targets(part, sums);
  for (size_t g = 0; g < groups; g++)
    SCL_TRY(scale_group(c, g, error));
  scl_sums_destroy(part);
  *whole = sums;
  c->sums = NULL;
  return SCL_STATUS_OK;
}

const scl_sums_way scl_way_bits = {.name = "bits",
                                   .claims = bits_claims,
                                   .rows = scl_sums_dense_rows,
                                   .first_of = scl_sums_of_first,
                                   .open = bits_open,
                                   .close = bits_close,
                                   .add = bits_add,
                                   .finish = bits_finish};
