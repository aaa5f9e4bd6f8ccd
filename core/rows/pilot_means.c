/* Pilot means from the first rows of a source. Called by learn/ before a walk over all rows. */
#include "rows/pilot_means.h"

#include "algebra/pilot.h"
#include "base/profile.h"
#include "rows/chosen.h"
#include <math.h>
#include <string.h>

/* Rows to learn from, with a map and without: making features costs more than reading rows. Rows
 * whose features are made at a time. */
enum { FIRST_FEATURES = 256, FIRST_ROWS = 2048, CHUNK = 32 };
static const double SCALE_RANGE = 0x1p12;
/* Units are powers of two with exponents of at most UNIT_EXPONENT in size, and not smaller than
 * these shares of the first numbers: later numbers may be larger, and sums of 128 bits hold squares
 * of up to 2^78 units. */
enum { UNIT_EXPONENT = 400 };
static const double FINEST = 0x1p-19, FINEST_OF_ZEROS = 0x1p-10, FINEST_OF_ONE_SIZE = 0x1p-27;

/* Columns of the first rows: sums of x - first and of their squares, which lose no digits where the
 * column hardly varies. */
typedef struct column_sums {
  size_t cols;
  double count;
  double *first, *sum, *square; /* cols each */
} column_sums;

/* Sums of no rows. The caller releases out->first, which is one block of memory with the others. */
static scl_status open_sums(size_t cols, column_sums *out, scl_error *error) {
  *out = (column_sums){.cols = cols};
  out->first = scl_allocate_zero((3 * cols + 1) * sizeof(double));
  if (out->first == NULL) return scl_fail_memory(error, 3 * cols * sizeof(double), "pilot means");
  out->sum = out->first + cols;
  out->square = out->sum + cols;
  return SCL_STATUS_OK;
}

/* Add rows; the first row of all sets `first`. */
static void add_rows(column_sums *s, const void *x, scl_dtype dtype, ptrdiff_t stride,
                     size_t rows) {
  for (size_t i = 0; i < rows; i++) {
    const void *row = scl_at(x, dtype, (ptrdiff_t)i * stride);
    for (size_t j = 0; j < s->cols; j++) {
      const double number = scl_number(row, dtype, j);
      if (s->count == 0) s->first[j] = number;
      s->sum[j] += number - s->first[j];
      s->square[j] += (number - s->first[j]) * (number - s->first[j]);
    }
    s->count += 1;
  }
}

/* Standard deviation of column j: sqrt(mean of squares - square of the mean), both about the
 * first number. */
static double deviation_of(const column_sums *s, size_t j) {
  const double gap = s->sum[j] / s->count;
  return sqrt(fmax(s->square[j] / s->count - gap * gap, 0));
}

/* The pilot mean of column j: 0, unless the mean is far from 0 (scl_pilot_round). */
static double pilot_of(const column_sums *s, size_t j) {
  return scl_pilot_round(s->first[j] + s->sum[j] / s->count, deviation_of(s, j), s->first[j]);
}

/* scl_pilot.scale: a power of two near the deviation of each column. NULL where all deviations are
 * within SCALE_RANGE of 1, so that no scaling is needed. */
static scl_status scale_of(const column_sums *s, double **out, scl_error *error) {
  double least = INFINITY, most = 0;
  *out = NULL;
  for (size_t j = 0; s->count > 0 && j < s->cols; j++) {
    const double deviation = deviation_of(s, j);
    if (deviation > 0) least = fmin(least, deviation);
    most = fmax(most, deviation);
  }
  if (most == 0 || (least > 1 / SCALE_RANGE && most < SCALE_RANGE)) return SCL_STATUS_OK;
  double *scale = scl_allocate_array(s->cols + 1, sizeof *scale);
  if (scale == NULL) return scl_fail_memory(error, s->cols * sizeof *scale, "scales of columns");
  for (size_t j = 0; j < s->cols; j++) {
    const double deviation = deviation_of(s, j);
    int exponent;
    (void)frexp(deviation > 0 ? deviation : most, &exponent);
    scale[j] = ldexp(1, exponent - 1);
  }
  *out = scale;
  return SCL_STATUS_OK;
}

/* The pilot means of all columns, written over s->first, which the caller owns afterwards. NULL:
 * all are 0. */
static double *close_sums(column_sums *s) {
  bool any = false;
  double *means = s->first;
  for (size_t j = 0; means != NULL && j < s->cols; j++) {
    means[j] = s->count > 0 ? pilot_of(s, j) : 0;
    any |= means[j] != 0;
  }
  if (!any) {
    scl_release(means);
    means = NULL;
  }
  s->first = NULL;
  return means;
}

/* ------------ one walk over the first rows */

typedef struct learning {
  const scl_flow *flow; /* of the rows, without the map */
  const scl_map *map;   /* NULL: the rows are the features */
  void *phi;            /* CHUNK rows of features */
  bool features, targets;
  column_sums x, y;
} learning;

/* Add the features of a block, CHUNK rows at a time. */
static scl_status learn_features(learning *l, const scl_flow_block *block, scl_error *error) {
  const scl_dtype dtype = l->flow->dtype;
  if (l->map == NULL) { /* not sparse */
    add_rows(&l->x, block->x, dtype, block->x_stride, block->count);
    return SCL_STATUS_OK;
  }
  for (size_t at = 0; at < block->count; at += CHUNK) {
    const size_t rows = scl_min(CHUNK, block->count - at);
    SCL_TRY(
        scl_flow_apply_map(l->flow, l->map, block, at, rows, l->phi, (ptrdiff_t)l->x.cols, error));
    add_rows(&l->x, l->phi, dtype, (ptrdiff_t)l->x.cols, rows);
  }
  return SCL_STATUS_OK;
}

/* Visit: add the features and targets of a block of first rows. */
static scl_status learn_block(void *context, const scl_flow_block *block, scl_error *error) {
  learning *l = context;
  if (l->features) SCL_TRY(learn_features(l, block, error));
  if (l->targets && block->y != NULL)
    add_rows(&l->y, block->y, SCL_DTYPE_FLOAT64, (ptrdiff_t)l->y.cols, block->count);
  return SCL_STATUS_OK;
}

/* Walk the first rows. Their features are made by learn_features, so the flow walks without its
 * map. */
static scl_status walk_first(learning *l, scl_flow *flow, scl_error *error) {
  if (l->features) SCL_TRY(open_sums(scl_flow_features(flow), &l->x, error));
  if (l->targets) SCL_TRY(open_sums(flow->source->targets, &l->y, error));
  if (l->features && l->map != NULL) {
    l->phi = scl_allocate_array(CHUNK * l->x.cols + 1, scl_dtype_size(flow->dtype));
    if (l->phi == NULL)
      return scl_fail_memory(error, CHUNK * l->x.cols * sizeof(double), "rows of features");
  }
  flow->map = NULL;
  flow->csr = l->map != NULL; /* scl_flow_apply_map takes sparse rows */
  return scl_flow_walk(flow, false, learn_block, l, error);
}

/* ------------ what is learnt */

/* The root mean square of a column less `pilot`. */
static double size_of(const column_sums *s, size_t j, double pilot) {
  return s->count > 0 ? hypot(deviation_of(s, j), s->first[j] + s->sum[j] / s->count - pilot) : 0;
}

/* The power of two above a size, within UNIT_EXPONENT. */
static double power_above(double size) {
  int exponent;
  (void)frexp(size, &exponent);
  return ldexp(1, exponent > UNIT_EXPONENT    ? UNIT_EXPONENT
                  : exponent < -UNIT_EXPONENT ? -UNIT_EXPONENT
                                              : exponent);
}

/* Powers of two above the size of each column less a pilot mean: its own, or that of `pilot` (NULL:
 * 0). A feature of two values that has one of them in the first rows may get the other later.
 * Features of one size that are small in the first rows may become as large as the others; other
 * columns are compared with themselves. */
static scl_status units_of(const learning *l, bool own, const double *pilot, double **out,
                           scl_error *error) {
  const column_sums *s = &l->x;
  const bool one_size = l->map != NULL && scl_map_of_one_size(l->map);
  double most = 0;
  double *unit = *out = scl_allocate_array(s->cols + 1, sizeof *unit);
  if (unit == NULL) return scl_fail_memory(error, s->cols * sizeof *unit, "scales of features");
  const bool two_values = l->map != NULL && scl_map_gaps(l->map, unit);
  for (size_t j = 0; j < s->cols; j++)
    most = fmax(most, size_of(s, j, 0));
  for (size_t j = 0; j < s->cols; j++) {
    const double less = own             ? pilot_of(s, j)
                        : pilot != NULL ? pilot[j]
                                        : 0,
                 whole = size_of(s, j, 0),
                 least = two_values  ? unit[j] / 2
                         : one_size  ? FINEST_OF_ONE_SIZE * most
                         : whole > 0 ? FINEST * whole
                                     : FINEST_OF_ZEROS * most;
    unit[j] = most > 0 ? power_above(fmax(size_of(s, j, less), least)) : 1;
  }
  return SCL_STATUS_OK;
}

/* Learn from the first rows of the flow. */
static scl_status learn_first(learning *l, const scl_flow *flow, scl_error *error) {
  scl_beginning rows =
      scl_source_begin(flow->source, flow->map == NULL ? FIRST_ROWS : FIRST_FEATURES);
  scl_flow first = {.source = &rows.base,
                    .stages = flow->stages,
                    .n_stages = flow->n_stages,
                    .map = flow->map,
                    .groups = 1,
                    .dtype = flow->dtype,
                    .block_rows = flow->block_rows,
                    .csr = flow->map != NULL || !l->features};
  l->flow = &first;
  l->map = flow->map;
  const size_t mark = scl_profile_enter("pilot means");
  const scl_status status = walk_first(l, &first, error);
  scl_profile_leave(mark, 0, 0);
  scl_release(l->phi);
  return status;
}

/* Bad data in the first rows is not reported here: the walk over all rows fails for the same
 * reason, and names the row. */
static scl_status defer_bad_data(scl_status status) {
  return status == SCL_STATUS_BAD_DATA ? SCL_STATUS_OK : status;
}

scl_status scl_pilot_learn(const scl_flow *flow, bool targets, scl_pilot *out, scl_error *error) {
  const bool dense = scl_flow_entries(flow) == 0 && !scl_flow_has_bits(flow) &&
                     scl_flow_whole(flow) == SCL_WHOLE_NONE && !scl_flow_has_csr(flow);
  learning l = {.features = dense, .targets = targets};
  *out = (scl_pilot){0};
  if (!dense && !targets) return SCL_STATUS_OK;
  scl_status status = learn_first(&l, flow, error);
  double *scale = NULL, *unit = NULL;
  if (status == SCL_STATUS_OK) status = scale_of(&l.x, &scale, error);
  if (status == SCL_STATUS_OK && dense) status = units_of(&l, true, NULL, &unit, error);
  *out = (scl_pilot){close_sums(&l.x), close_sums(&l.y), scale, unit};
  if (status == SCL_STATUS_OK) return status;
  scl_pilot_release(out);
  return defer_bad_data(status);
}

scl_status scl_pilot_units(const scl_flow *flow, double **out, scl_error *error) {
  learning l = {.features = true};
  *out = NULL;
  scl_status status = learn_first(&l, flow, error);
  if (status == SCL_STATUS_OK) status = units_of(&l, false, flow->pilot, out, error);
  scl_release(l.x.first);
  return defer_bad_data(status);
}

void scl_pilot_release(scl_pilot *pilot) {
  SCL_RELEASE(pilot->features, pilot->targets, pilot->scale, pilot->unit);
  *pilot = (scl_pilot){0};
}
