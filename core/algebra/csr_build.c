/* Compressed sparse rows of numbers that come in another order. */
#include "algebra/csr.h"

#include <stdlib.h>
#include <string.h>

/* A number of a row that is sorted. */
typedef struct placed {
  int32_t column;
  double value;
} placed;

static int compare(const void *a, const void *b) {
  const int32_t left = ((const placed *)a)->column, right = ((const placed *)b)->column;
  return (left > right) - (left < right);
}

/* Whether the columns of row i do not descend. */
static bool is_sorted(const scl_csr *a, size_t i) {
  for (int64_t k = a->starts[i] + 1; k < a->starts[i + 1]; k++)
    if (a->columns[k - 1] > a->columns[k]) return false;
  return true;
}

/* Sort row i by way of `room`. */
static void sort_row(scl_csr *a, size_t i, placed *room) {
  const int64_t first = a->starts[i];
  const size_t count = (size_t)(a->starts[i + 1] - first);
  for (size_t k = 0; k < count; k++)
    room[k] = (placed){a->columns[first + (int64_t)k], scl_csr_value(a, first + (int64_t)k)};
  qsort(room, count, sizeof *room, compare);
  for (size_t k = 0; k < count; k++) {
    a->columns[first + (int64_t)k] = room[k].column;
    scl_set_number(a->values, a->dtype, (size_t)first + k, room[k].value);
  }
}

scl_status scl_csr_sort(scl_csr *a, scl_error *error) {
  size_t longest = 0;
  for (size_t i = 0; i < a->rows; i++)
    if (!is_sorted(a, i)) longest = scl_max(longest, (size_t)(a->starts[i + 1] - a->starts[i]));
  if (longest == 0) return SCL_STATUS_OK;
  placed *room = scl_allocate_array(longest, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, longest * sizeof *room, "a row");
  for (size_t i = 0; i < a->rows; i++)
    if (!is_sorted(a, i)) sort_row(a, i, room);
  scl_release(room);
  return SCL_STATUS_OK;
}

/* By counting: starts[i + 1] moves from the beginning of row i to its end. */
scl_status scl_csr_of_places(size_t rows, size_t cols, size_t entries, const int64_t *row,
                             const int32_t *column, const void *values, scl_dtype dtype,
                             scl_csr *out, scl_error *error) {
  SCL_TRY(scl_csr_create(rows, cols, entries, dtype, out, error));
  for (size_t k = 0; k < entries; k++)
    if ((size_t)row[k] + 2 <= rows) out->starts[row[k] + 2]++;
  for (size_t i = 2; i <= rows; i++)
    out->starts[i] += out->starts[i - 1];
  for (size_t k = 0; k < entries; k++) {
    const size_t to = (size_t)out->starts[row[k] + 1]++;
    out->columns[to] = column[k];
    scl_set_number(out->values, dtype, to,
                   dtype == SCL_DTYPE_FLOAT64 ? ((const double *)values)[k]
                                              : (double)((const float *)values)[k]);
  }
  return scl_csr_sort(out, error);
}
