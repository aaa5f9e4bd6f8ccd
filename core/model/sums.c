/* Exact sums over rows: joined, divided by fold, scored, and as arrays of a saved file.
 * core/lua/sums.c calls it for the sums of a script (docs/models.md names the arrays). A file is
 * not trusted: each number that is read has to be possible for the weights that the file gives. */
#include "model/sums.h"

#include "algebra/block_totals.h"
#include "algebra/symmetric.h"
#include "rows/block_sums.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void scl_row_sums_release(scl_row_sums *sums) {
  scl_whole_sums_destroy(sums->whole);
  scl_fingerprints_release(&sums->prints);
  *sums = (scl_row_sums){0};
}

scl_status scl_row_sums_copy(const scl_row_sums *from, scl_row_sums *out, scl_error *error) {
  *out = (scl_row_sums){.printed = from->printed};
  SCL_TRY(scl_whole_sums_like(from->whole, from->whole->groups, &out->whole, error));
  SCL_TRY(scl_whole_sums_merge(out->whole, from->whole, false, error));
  return scl_fingerprints_join(&out->prints, &from->prints, error);
}

/* Sums of group g alone, which shares the totals of `from`. */
static scl_whole_sums group_of(const scl_whole_sums *from, size_t g) {
  scl_whole_sums one = *from;
  one.groups = 1;
  one.moment += g;
  one.right += g;
  one.own += g;
  one.weight += g;
  return one;
}

/* Every row to be taken out must be among the rows that were added. Sums alone cannot show that it
 * is not, so that only the fingerprints prevent a wrong subtraction. */
static scl_status check_there(scl_row_sums *all, scl_row_sums *some, scl_error *error) {
  const size_t common = scl_fingerprints_common(&all->prints, &some->prints);
  if (common == some->prints.count) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%zu of the %zu rows are not among those that were added: nothing was taken out",
                  some->prints.count - common, some->prints.count);
}

scl_status scl_row_sums_join(scl_row_sums *into, scl_row_sums *from, bool subtract,
                             scl_error *error) {
  /* After a failure nothing may have changed. So the fingerprints are appended first, which can run
   * out of memory; they are cut off again if the sums cannot be merged; and they are taken out
   * last, which cannot fail. */
  const bool printed = into->printed && from->printed;
  const size_t before = into->prints.count;
  if (subtract && printed) SCL_TRY(check_there(into, from, error));
  if (!subtract && into->whole->targets == from->whole->targets)
    SCL_TRY(scl_sums_check_targets(into->whole, from->whole, error));
  scl_status status = SCL_STATUS_OK;
  if (!subtract && printed) status = scl_fingerprints_join(&into->prints, &from->prints, error);
  if (status == SCL_STATUS_OK)
    status = scl_whole_sums_merge(into->whole, from->whole, subtract, error);
  if (status != SCL_STATUS_OK) {
    into->prints.count = before;
    return status;
  }
  into->printed = printed;
  if (!printed) scl_fingerprints_release(&into->prints);
  if (subtract && printed) scl_fingerprints_remove(&into->prints, &from->prints);
  return SCL_STATUS_OK;
}

scl_status scl_row_sums_without(const scl_row_sums *from, long without, scl_row_sums *out,
                                scl_error *error) {
  const scl_whole_sums *whole = from->whole;
  *out = (scl_row_sums){0};
  SCL_TRY(scl_whole_sums_like(whole, 1, &out->whole, error));
  for (size_t g = 0; g < whole->groups; g++) {
    scl_whole_sums one = group_of(whole, g);
    if ((long)g != without) SCL_TRY(scl_whole_sums_merge(out->whole, &one, false, error));
  }
  return SCL_STATUS_OK;
}

/* ------------ errors of a fold
 *
 * With the sums about the means of the fold's rows, C = Phi'Phi, r = Phi'y, s = y'y, and the means
 * m and h of features and targets:
 *
 *   |y - Phi a - b|^2 = s - 2 a'r + a'Ca + n (h - m'a - b)^2 */

/* The sum over targets of the formula above, for coefficients a (d x c), constants b (c) and ca = C
 * a (d x c, row-major). A quadratic form is not negative: a value below 0 comes from rounding and
 * counts as 0. */
static double error_of(const scl_totals *t, size_t d, size_t c, const scl_matrix *a,
                       const double *b, const double *ca) {
  double square = 0;
  for (size_t j = 0; j < c; j++) {
    double inner = t->square[j], gap = t->mean_y[j] - b[j];
    for (size_t i = 0; i < d; i++) {
      const double value = scl_matrix_get(a, i, j);
      inner += value * (ca[i * c + j] - 2 * t->right[i * c + j]);
      gap -= value * t->mean_phi[i];
    }
    square += fmax(inner, 0) + t->total * gap * gap;
  }
  return square;
}

/* The constants (c) of the scores in terms of the features and targets of the sums. The fit
 * computes (phi - p) a + b with its pilot p; the sums have phi - q and y - h. So the constant of
 * target j is b_j - h_j + (q - p)' a_j. */
static void shift_constants(const scl_whole_sums *sums, const scl_matrix *a, const scl_matrix *b,
                            const scl_matrix *pilot, double *out) {
  const size_t d = sums->features, c = sums->targets;
  for (size_t j = 0; j < c; j++) {
    out[j] = scl_matrix_get(b, 0, j) - (sums->pilot == NULL ? 0 : sums->pilot[d + j]);
    for (size_t i = 0; i < d; i++) {
      const double less = (sums->pilot == NULL ? 0 : sums->pilot[i]) -
                          (pilot == NULL ? 0 : scl_matrix_get(pilot, 0, i));
      if (less != 0) out[j] += less * scl_matrix_get(a, i, j);
    }
  }
}

/* out = moment * a (d x c). packed (d x c) receives the coefficients as a row-major array of
 * doubles. */
static scl_status multiply(const scl_symmetric *moment, const scl_matrix *a, double *packed,
                           double *out, scl_error *error) {
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      packed[i * a->cols + j] = scl_matrix_get(a, i, j);
  return scl_service_symmetric.multiply(moment, packed, a->cols, out, error);
}

scl_status scl_row_sums_error(const scl_row_sums *sums, size_t fold, const scl_map *map,
                              const scl_matrix *a, const scl_matrix *b, const scl_matrix *pilot,
                              double *square, double *weight, scl_error *error) {
  scl_whole_sums one = group_of(sums->whole, fold);
  const size_t d = one.features, c = one.targets;
  double *values = NULL, *memory = scl_allocate_zero((3 * d * c + 3 * c + d + 1) * sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, 3 * d * c * sizeof *memory, "sums");
  double *packed = memory + d * c, *product = packed + d * c, *rest = product + d * c,
         *constants = rest + 2 * c + d;
  scl_totals t = {.right = memory, .square = rest, .mean_y = rest + c, .mean_phi = rest + 2 * c};
  scl_symmetric *moment = NULL;
  scl_whole_features features = {0};
  scl_status status = SCL_STATUS_OK;
  if (one.unit == NULL) status = scl_whole_features_open(map, &features, &values, error);
  if (status == SCL_STATUS_OK)
    status = scl_whole_sums_total(&one, &features, -1, true, false, &t, &moment, error);
  if (status == SCL_STATUS_OK) status = multiply(moment, a, packed, product, error);
  if (status == SCL_STATUS_OK) {
    shift_constants(&one, a, b, pilot, constants);
    *square = error_of(&t, d, c, a, constants, product);
    *weight = t.total;
  }
  scl_symmetric_destroy(moment);
  SCL_RELEASE(values, memory);
  return status;
}

/* ------------ saving */

/* The name of an array of group g (from 0): "sums.right", then "sums.right.2", ... Written to
 * `text` where it differs from `name`. */
enum { NAME_ROOM = SCL_ARCHIVE_NAME + 1 };
static const char *name_of(const char *name, size_t g, char text[NAME_ROOM]) {
  if (g == 0) return name;
  (void)snprintf(text, NAME_ROOM, "%s.%zu", name, g + 1);
  return text;
}

/* Enter a rows x cols array, which the archive copies. */
static scl_status put(scl_array_archive *archive, const char *name, scl_dtype dtype,
                      const void *data, size_t rows, size_t cols, scl_error *error) {
  const scl_array array = {.dtype = dtype, .rank = 2, .sizes = {rows, cols}, .data = data};
  return archive->archive.put(&archive->archive, name, &array, error);
}

/* An exact sum as its places, and in a row before them the first place in every column. */
static scl_status put_exact(scl_array_archive *archive, const char *name, scl_exact *e,
                            scl_error *error) {
  int first;
  size_t places;
  int64_t *numbers = NULL;
  const size_t count = scl_exact_count(e);
  SCL_TRY(scl_exact_export(e, &first, &places, &numbers, error));
  int64_t *all = scl_allocate_array((places + 1) * count + 1, sizeof *all);
  scl_status status = SCL_STATUS_OK;
  if (all == NULL) status = scl_fail_memory(error, (places + 1) * count * sizeof *all, "sums");
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    all[i] = first;
  if (status == SCL_STATUS_OK && places > 0)
    memcpy(all + count, numbers, places * count * sizeof *all);
  if (status == SCL_STATUS_OK)
    status = put(archive, name, SCL_DTYPE_INT64, all, places + 1, count, error);
  SCL_RELEASE(numbers, all);
  return status;
}

/* The packed lower triangle of the moments (d (d + 1) / 2 numbers) as one row of int64: the low
 * words; where the totals have 128 bits, a second row with the high words. */
static scl_status put_moment(scl_array_archive *archive, const char *name,
                             const scl_whole_totals *totals, size_t d, scl_error *error) {
  const size_t count = d * (d + 1) / 2;
  const bool wide = totals->high != NULL;
  int64_t *low = scl_allocate_array((wide ? 2 : 1) * count + 1, sizeof *low);
  if (low == NULL) return scl_fail_memory(error, count * sizeof *low, "sums");
  scl_whole_totals_export(totals, low, wide ? low + count : NULL);
  const scl_status status = put(archive, name, SCL_DTYPE_INT64, low, wide ? 2 : 1, count, error);
  scl_release(low);
  return status;
}

scl_status scl_row_sums_save(scl_row_sums *sums, scl_array_archive *archive, scl_error *error) {
  scl_whole_sums *whole = sums->whole;
  const size_t groups = whole->groups;
  const int64_t facts[3] = {(int64_t)whole->shift, sums->printed, (int64_t)groups};
  char text[NAME_ROOM];
  SCL_TRY(put(archive, "sums.facts", SCL_DTYPE_INT64, facts, 1, 3, error));
  for (size_t g = 0; whole->unit == NULL && g < groups; g++)
    whole->weight[g] = scl_exact_value(whole->own[g], 2 * whole->targets);
  SCL_TRY(put(archive, "sums.weight", SCL_DTYPE_FLOAT64, whole->weight, 1, groups, error));
  if (whole->unit != NULL) {
    SCL_TRY(put(archive, "sums.unit", SCL_DTYPE_FLOAT64, whole->unit, 1, whole->features, error));
    SCL_TRY(put(archive, "sums.pilot", SCL_DTYPE_FLOAT64, whole->pilot, 1,
                whole->features + whole->targets, error));
  }
  for (size_t g = 0; g < groups; g++) {
    SCL_TRY(put_moment(archive, name_of("sums.moment", g, text), &whole->moment[g], whole->features,
                       error));
    SCL_TRY(put_exact(archive, name_of("sums.right", g, text), whole->right[g], error));
    SCL_TRY(put_exact(archive, name_of("sums.own", g, text), whole->own[g], error));
  }
  if (!sums->printed) return SCL_STATUS_OK;
  scl_fingerprints_sort(&sums->prints);
  return put(archive, "sums.rows", SCL_DTYPE_INT64, sums->prints.values, 1, sums->prints.count,
             error);
}

/* ------------ loading */

/* The array of that name, which must have this type and shape (SIZE_MAX: any). It belongs to
 * `saved`. */
static scl_status get(const scl_saved *saved, const char *name, scl_dtype dtype, size_t rows,
                      size_t cols, const scl_array **out, scl_error *error) {
  const scl_array *array = *out = scl_saved_array(saved, name);
  if (array != NULL && array->dtype == dtype && array->rank == 2 &&
      (rows == SIZE_MAX || array->sizes[0] == rows) &&
      (cols == SIZE_MAX || array->sizes[1] == cols))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its array '%s' is missing, or has another type or shape", name);
}

/* The reverse of put_exact. The row of first places must hold the same number in every column,
 * within what an exact sum can have. */
static scl_status get_exact(const scl_saved *saved, const char *name, scl_exact *e,
                            scl_error *error) {
  const scl_array *array;
  const size_t count = scl_exact_count(e);
  SCL_TRY(get(saved, name, SCL_DTYPE_INT64, SIZE_MAX, count, &array, error));
  const int64_t *numbers = array->data;
  for (size_t i = 0; array->sizes[0] > 0 && i < count; i++)
    if (numbers[i] != numbers[0] || numbers[0] < INT16_MIN || numbers[0] > INT16_MAX)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its array '%s' has no places", name);
  if (array->sizes[0] == 0)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its array '%s' has no places", name);
  return scl_exact_import(e, (int)numbers[0], array->sizes[0] - 1, numbers + count, error);
}

/* A bound of the absolute value of a whole-number feature (at most 2047, algebra/whole.h). The
 * features of a row of fractional weight w are multiplied by sqrt(w) / 2^(e+1) < 1 before they are
 * rounded (rows/whole_sums.h), so that they keep this bound. */
static const double MOST_FEATURE = 4096;

static scl_status refuse(const char *name, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "its array '%s' has a number that sums of these weights cannot reach", name);
}

/* The moments of group g. |sum of w v_i v_j| is at most MOST_FEATURE^2 times the weights (in units
 * of 2^-shift); for float features whole->weight bounds the entries themselves. A diagonal entry is
 * a sum of squares and is not negative. Totals outside of these bounds could overflow when more
 * rows are added. */
static scl_status get_moment(const scl_saved *saved, const char *name, scl_whole_sums *whole,
                             size_t g, scl_error *error) {
  const scl_array *array;
  const size_t d = whole->features, count = d * (d + 1) / 2;
  SCL_TRY(get(saved, name, SCL_DTYPE_INT64, SIZE_MAX, count, &array, error));
  const bool floats = whole->unit != NULL, wide = array->sizes[0] == 2;
  const double most =
      floats ? whole->weight[g]
             : ldexp(MOST_FEATURE * MOST_FEATURE * whole->weight[g], (int)whole->shift);
  if (array->sizes[0] != (wide ? 2 : 1) || (!floats && wide != (whole->shift > 0)))
    return refuse(name, error);
  if (wide) SCL_TRY(scl_whole_totals_widen(&whole->moment[g], 0, error));
  const int64_t *low = array->data, *high = wide ? low + count : NULL;
  for (size_t i = 0, at = 0; i < d; i++)
    for (size_t j = 0; j <= i; j++, at++) {
      const double value =
          wide ? ldexp((double)high[at], 64) + (double)(uint64_t)low[at] : (double)low[at];
      if (fabs(value) > most || (i == j && value < 0)) return refuse(name, error);
    }
  scl_whole_totals_import(&whole->moment[g], low, high);
  return SCL_STATUS_OK;
}

/* Sums of targets are numbers; sums of features and of weights are within their ranges. */
static scl_status check_exact(const scl_whole_sums *whole, size_t g, const char *right,
                              const char *own, scl_error *error) {
  const size_t c = whole->targets, d = whole->features;
  const double weight = whole->weight[g], most = MOST_FEATURE * weight,
               total = scl_exact_value(whole->own[g], 2 * c);
  for (size_t i = 0; i < c * d; i++)
    if (!isfinite(scl_exact_value(whole->right[g], i))) return refuse(right, error);
  for (size_t i = c * d; i < (c + 1) * d; i++)
    if (!(fabs(scl_exact_value(whole->right[g], i)) <= (whole->unit != NULL ? DBL_MAX : most)))
      return refuse(right, error);
  for (size_t j = 0; j < 2 * c; j++)
    if (!isfinite(scl_exact_value(whole->own[g], j)) ||
        (j >= c && scl_exact_value(whole->own[g], j) < 0))
      return refuse(own, error);
  const bool fits = whole->unit != NULL ? total <= 0x1p53 : total <= weight * (1 + 1e-9);
  return total >= 0 && fits ? SCL_STATUS_OK : refuse(own, error);
}

/* The arrays of group g, each in its range. */
static scl_status get_group(const scl_saved *saved, scl_whole_sums *whole, size_t g,
                            scl_error *error) {
  char of_moment[NAME_ROOM], of_right[NAME_ROOM], of_own[NAME_ROOM];
  const char *right = name_of("sums.right", g, of_right), *own = name_of("sums.own", g, of_own);
  SCL_TRY(get_moment(saved, name_of("sums.moment", g, of_moment), whole, g, error));
  SCL_TRY(get_exact(saved, right, whole->right[g], error));
  SCL_TRY(get_exact(saved, own, whole->own[g], error));
  return check_exact(whole, g, right, own, error);
}

/* The fingerprints, which must ascend: whoever compares them relies on the order. */
static scl_status get_prints(const scl_saved *saved, scl_row_sums *out, scl_error *error) {
  const scl_array *array;
  if (!out->printed) return SCL_STATUS_OK;
  SCL_TRY(get(saved, "sums.rows", SCL_DTYPE_INT64, 1, SIZE_MAX, &array, error));
  const uint64_t *values = array->data;
  for (size_t i = 0; i < array->sizes[1]; i++) {
    if (i > 0 && values[i] < values[i - 1])
      return scl_fail(error, SCL_STATUS_BAD_DATA, "its array 'sums.rows' is not in order");
    SCL_TRY(scl_fingerprints_add(&out->prints, values[i], error));
  }
  out->prints.sorted = true;
  return SCL_STATUS_OK;
}

/* The units of float features, powers of two, and what was subtracted from them. */
static scl_status get_units(const scl_saved *saved, scl_whole_sums *whole, scl_error *error) {
  const scl_array *units, *means;
  const size_t d = whole->features, c = whole->targets;
  int exponent;
  SCL_TRY(get(saved, "sums.unit", SCL_DTYPE_FLOAT64, 1, d, &units, error));
  SCL_TRY(get(saved, "sums.pilot", SCL_DTYPE_FLOAT64, 1, d + c, &means, error));
  const double *unit = units->data, *pilot = means->data;
  for (size_t j = 0; j < d; j++)
    if (!(unit[j] > 0) || !isfinite(unit[j]) || frexp(unit[j], &exponent) != 0.5)
      return refuse("sums.unit", error);
  for (size_t j = 0; j < d + c; j++)
    if (!isfinite(pilot[j])) return refuse("sums.pilot", error);
  const scl_flow less = {.pilot = pilot, .target_pilot = pilot + d};
  return scl_block_sums_open(whole, unit, &less, error);
}

/* Create the sums from `sums.facts` (shift, whether there are fingerprints, number of groups) and
 * `sums.weight`, and set their units if the features are floats. The caller releases *out, also
 * after a failure. */
static scl_status get_facts(const scl_saved *saved, size_t features, size_t targets,
                            scl_row_sums *out, scl_error *error) {
  enum { MOST_FOLDS = 1000 };
  const double most_weight = 0x1p40;
  const scl_array *facts, *weight;
  SCL_TRY(get(saved, "sums.facts", SCL_DTYPE_INT64, 1, 3, &facts, error));
  const int64_t *numbers = facts->data;
  const bool floats = scl_saved_array(saved, "sums.unit") != NULL;
  if ((floats
           ? numbers[0] != SCL_BLOCK_SHIFT
           : numbers[0] != 0 && numbers[0] != SCL_WEIGHT_SHIFT && numbers[0] != SCL_COUNT_SHIFT) ||
      numbers[1] < 0 || numbers[1] > 1 || numbers[2] < 1 || numbers[2] > MOST_FOLDS)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its array 'sums.facts' is not of sums");
  const size_t groups = (size_t)numbers[2];
  SCL_TRY(get(saved, "sums.weight", SCL_DTYPE_FLOAT64, 1, groups, &weight, error));
  const double *weights = weight->data;
  for (size_t g = 0; g < groups; g++)
    if (!(weights[g] >= 0 && weights[g] <= (floats ? 0x1p126 : most_weight)))
      return refuse("sums.weight", error);
  SCL_TRY(scl_whole_sums_create(features, targets, groups, SCL_MOMENTS_OWN, &out->whole, error));
  memcpy(out->whole->weight, weights, groups * sizeof *weights);
  if (floats) SCL_TRY(get_units(saved, out->whole, error));
  out->whole->shift = (unsigned)numbers[0];
  out->printed = numbers[1] == 1;
  return SCL_STATUS_OK;
}

scl_status scl_saved_sums(const scl_saved *saved, size_t features, size_t targets,
                          scl_row_sums *out, scl_error *error) {
  *out = (scl_row_sums){0};
  SCL_TRY(get_facts(saved, features, targets, out, error));
  for (size_t g = 0; g < out->whole->groups; g++)
    SCL_TRY(get_group(saved, out->whole, g, error));
  return get_prints(saved, out, error);
}
