#include "model/sums.h"

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
  SCL_TRY(scl_whole_sums_create(from->whole->features, from->whole->targets, from->whole->groups,
                                true, &out->whole, error));
  SCL_TRY(scl_whole_sums_merge(out->whole, from->whole, false, error));
  return scl_fingerprints_join(&out->prints, &from->prints, error);
}

scl_status scl_row_sums_join(scl_row_sums *into, scl_row_sums *from, bool subtract,
                             scl_error *error) {
  const bool printed = into->printed && from->printed;
  if (subtract && printed) {
    const size_t common = scl_fingerprints_common(&into->prints, &from->prints);
    if (common < from->prints.count)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%zu of the %zu rows are not among those that were added: nothing was taken "
                      "out",
                      from->prints.count - common, from->prints.count);
  }
  SCL_TRY(scl_whole_sums_merge(into->whole, from->whole, subtract, error));
  into->printed = printed;
  if (!printed) {
    scl_fingerprints_release(&into->prints);
    return SCL_STATUS_OK;
  }
  if (!subtract) return scl_fingerprints_join(&into->prints, &from->prints, error);
  scl_fingerprints_remove(&into->prints, &from->prints);
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ saving */

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

static scl_status put_moment(scl_array_archive *archive, const scl_whole_totals *totals, size_t d,
                             scl_error *error) {
  const size_t count = d * (d + 1) / 2;
  const bool wide = totals->high != NULL;
  int64_t *low = scl_allocate_array((wide ? 2 : 1) * count + 1, sizeof *low);
  if (low == NULL) return scl_fail_memory(error, count * sizeof *low, "sums");
  scl_whole_totals_export(totals, low, wide ? low + count : NULL);
  const scl_status status =
      put(archive, "sums.moment", SCL_DTYPE_INT64, low, wide ? 2 : 1, count, error);
  scl_release(low);
  return status;
}

scl_status scl_row_sums_save(scl_row_sums *sums, scl_array_archive *archive, scl_error *error) {
  scl_whole_sums *whole = sums->whole;
  const int64_t facts[2] = {(int64_t)whole->shift, sums->printed};
  if (whole->groups != 1)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "sums of several folds are not saved");
  SCL_TRY(put(archive, "sums.facts", SCL_DTYPE_INT64, facts, 1, 2, error));
  SCL_TRY(put(archive, "sums.weight", SCL_DTYPE_FLOAT64, whole->weight, 1, 1, error));
  SCL_TRY(put_moment(archive, &whole->moment[0], whole->features, error));
  SCL_TRY(put_exact(archive, "sums.right", whole->right[0], error));
  SCL_TRY(put_exact(archive, "sums.own", whole->own[0], error));
  if (!sums->printed) return SCL_STATUS_OK;
  scl_fingerprints_sort(&sums->prints);
  return put(archive, "sums.rows", SCL_DTYPE_INT64, sums->prints.values, 1, sums->prints.count,
             error);
}

/* ------------------------------------------------------------ loading */

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

static scl_status get_moment(const scl_saved *saved, scl_whole_sums *whole, scl_error *error) {
  const scl_array *array;
  const size_t d = whole->features, count = d * (d + 1) / 2;
  const bool wide = whole->shift > 0;
  SCL_TRY(get(saved, "sums.moment", SCL_DTYPE_INT64, wide ? 2 : 1, count, &array, error));
  if (wide) SCL_TRY(scl_whole_totals_widen(&whole->moment[0], 0, error));
  const int64_t *low = array->data;
  scl_whole_totals_import(&whole->moment[0], low, wide ? low + count : NULL);
  return SCL_STATUS_OK;
}

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

scl_status scl_saved_sums(const scl_saved *saved, size_t features, size_t targets,
                          scl_row_sums *out, scl_error *error) {
  const scl_array *facts, *weight;
  *out = (scl_row_sums){0};
  SCL_TRY(get(saved, "sums.facts", SCL_DTYPE_INT64, 1, 2, &facts, error));
  SCL_TRY(get(saved, "sums.weight", SCL_DTYPE_FLOAT64, 1, 1, &weight, error));
  const int64_t *numbers = facts->data;
  const double total = *(const double *)weight->data;
  if (numbers[0] < 0 || numbers[0] > 126 || numbers[1] < 0 || numbers[1] > 1 ||
      !(total >= 0 && isfinite(total)))
    return scl_fail(error, SCL_STATUS_BAD_DATA, "its array 'sums.facts' is not of sums");
  SCL_TRY(scl_whole_sums_create(features, targets, 1, true, &out->whole, error));
  out->whole->shift = (unsigned)numbers[0];
  out->whole->weight[0] = total;
  out->printed = numbers[1] == 1;
  SCL_TRY(get_moment(saved, out->whole, error));
  SCL_TRY(get_exact(saved, "sums.right", out->whole->right[0], error));
  SCL_TRY(get_exact(saved, "sums.own", out->whole->own[0], error));
  return get_prints(saved, out, error);
}
