/* Compressed sparse rows. References are counted atomically, so that views can be shared between
 * threads. */
#include "algebra/csr.h"
#include "base/text.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct scl_csr_storage {
  atomic_size_t references;
  int64_t *starts;
  int32_t *columns;
  void *values;
};

scl_status scl_csr_adopt(size_t rows, size_t cols, int64_t *starts, int32_t *columns, void *values,
                         scl_dtype dtype, scl_csr *out, scl_error *error) {
  scl_csr_storage *storage = scl_allocate(sizeof *storage);
  memset(out, 0, sizeof *out);
  if (storage == NULL) {
    SCL_RELEASE(starts, columns, values);
    return scl_fail_memory(error, sizeof *storage, "sparse rows");
  }
  atomic_init(&storage->references, 1);
  storage->starts = starts;
  storage->columns = columns;
  storage->values = values;
  *out = (scl_csr){storage, starts, columns, values, rows, cols, dtype};
  return SCL_STATUS_OK;
}

scl_status scl_csr_create(size_t rows, size_t cols, size_t entries, scl_dtype dtype, scl_csr *out,
                          scl_error *error) {
  memset(out, 0, sizeof *out);
  int64_t *starts =
      rows < SIZE_MAX / sizeof *starts ? scl_allocate_zero((rows + 1) * sizeof *starts) : NULL;
  int32_t *columns = scl_allocate_array(entries, sizeof *columns);
  void *values = scl_allocate_array(entries, scl_dtype_size(dtype));
  if (starts != NULL && columns != NULL && values != NULL)
    return scl_csr_adopt(rows, cols, starts, columns, values, dtype, out, error);
  SCL_RELEASE(starts, columns, values);
  char text[32];
  const double bytes = (double)rows * 8 + (double)entries * (4 + (double)scl_dtype_size(dtype));
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "not enough memory for %zu sparse rows of %zu numbers (%s)", rows, entries,
                  scl_bytes_text(bytes, text));
}

scl_status scl_csr_borrow(size_t rows, size_t cols, const int64_t *starts, const int32_t *columns,
                          const void *values, scl_dtype dtype, scl_csr *out, scl_error *error) {
  SCL_TRY(scl_csr_adopt(rows, cols, NULL, NULL, NULL, dtype, out, error));
  out->starts = (int64_t *)(uintptr_t)starts;
  out->columns = (int32_t *)(uintptr_t)columns;
  out->values = (void *)(uintptr_t)values;
  return SCL_STATUS_OK;
}

scl_csr scl_csr_share(const scl_csr *a) {
  if (a->storage != NULL) atomic_fetch_add(&a->storage->references, 1);
  return *a;
}

scl_csr scl_csr_slice(const scl_csr *a, size_t first, size_t rows) {
  scl_csr view = scl_csr_share(a);
  view.starts = a->starts + first;
  view.rows = rows;
  return view;
}

void scl_csr_release(scl_csr *a) {
  scl_csr_storage *storage = a->storage;
  memset(a, 0, sizeof *a);
  if (storage == NULL || atomic_fetch_sub(&storage->references, 1) != 1) return;
  SCL_RELEASE(storage->starts, storage->columns, storage->values, storage);
}

size_t scl_csr_bytes(const scl_csr *a) {
  if (a->storage == NULL) return 0;
  return scl_allocated_for(a->storage->starts) + scl_allocated_for(a->storage->columns) +
         scl_allocated_for(a->storage->values);
}

scl_const_csr scl_csr_const(const scl_csr *a, size_t first, size_t rows) {
  scl_const_csr view;
  memset(&view, 0, sizeof view);
  view.starts = a->starts + first;
  view.columns = a->columns;
  view.values = a->values;
  view.dtype = a->dtype;
  view.rows = rows;
  view.cols = a->cols;
  return view;
}

double scl_csr_get(const scl_csr *a, size_t i, size_t j) {
  int64_t low = a->starts[i], high = a->starts[i + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if ((size_t)a->columns[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < a->starts[i + 1] && (size_t)a->columns[low] == j ? scl_csr_value(a, low) : 0;
}

/* Check the columns and numbers of row i. */
static scl_status check_row(const scl_csr *a, size_t i, scl_error *error) {
  for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
    const int64_t column = a->columns[k];
    if (column < 0 || (size_t)column >= a->cols)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "row %zu has column %lld of %zu columns", i + 1,
                      (long long)column + 1, a->cols);
    if (k > a->starts[i] && a->columns[k - 1] == column)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "row %zu has column %lld twice", i + 1,
                      (long long)column + 1);
    if (k > a->starts[i] && a->columns[k - 1] > column)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "row %zu has column %lld after column %lld: columns must ascend", i + 1,
                      (long long)column + 1, (long long)a->columns[k - 1] + 1);
    if (!isfinite(scl_csr_value(a, k)))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "row %zu, column %lld is %s: every number must be finite", i + 1,
                      (long long)column + 1, isnan(scl_csr_value(a, k)) ? "NaN" : "infinite");
  }
  return SCL_STATUS_OK;
}

scl_status scl_csr_check(const scl_csr *a, size_t entries, scl_error *error) {
  for (size_t i = 0; i < a->rows; i++)
    if (a->starts[i] < 0 || a->starts[i + 1] < a->starts[i] || (size_t)a->starts[i + 1] > entries)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "row %zu has the numbers from %lld to %lld of %zu: starts must ascend", i + 1,
                      (long long)a->starts[i], (long long)a->starts[i + 1], entries);
  for (size_t i = 0; i < a->rows; i++)
    SCL_TRY(check_row(a, i, error));
  return SCL_STATUS_OK;
}

scl_status scl_csr_take(const scl_csr *a, const size_t *places, size_t count, scl_csr *out,
                        scl_error *error) {
  const size_t size = scl_dtype_size(a->dtype);
  int64_t entries = 0;
  for (size_t i = 0; i < count; i++)
    entries += a->starts[places[i] + 1] - a->starts[places[i]];
  SCL_TRY(scl_csr_create(count, a->cols, (size_t)entries, a->dtype, out, error));
  int64_t to = 0;
  for (size_t i = 0; i < count; i++) {
    const int64_t from = a->starts[places[i]];
    const size_t some = (size_t)(a->starts[places[i] + 1] - from);
    memcpy(out->columns + to, a->columns + from, some * sizeof *out->columns);
    memcpy((char *)out->values + (size_t)to * size, (const char *)a->values + (size_t)from * size,
           some * size);
    to += (int64_t)some;
    out->starts[i + 1] = to;
  }
  return SCL_STATUS_OK;
}

/* Copy the rows of a to the end of `out`, which has `rows` rows before them. */
static void append_rows(const scl_csr *a, size_t rows, scl_csr *out) {
  const size_t size = scl_dtype_size(a->dtype), entries = scl_csr_entries(a);
  const int64_t before = out->starts[rows];
  for (size_t i = 0; i < a->rows; i++)
    out->starts[rows + i + 1] = before + (a->starts[i + 1] - a->starts[0]);
  if (entries == 0) return;
  memcpy(out->columns + before, a->columns + a->starts[0], entries * sizeof *out->columns);
  memcpy((char *)out->values + (size_t)before * size,
         (const char *)a->values + (size_t)a->starts[0] * size, entries * size);
}

scl_status scl_csr_join(const scl_csr *parts, size_t count, scl_csr *out, scl_error *error) {
  size_t rows = 0, entries = 0;
  for (size_t k = 0; k < count; k++) {
    rows += parts[k].rows;
    entries += scl_csr_entries(&parts[k]);
  }
  SCL_TRY(scl_csr_create(rows, parts[0].cols, entries, parts[0].dtype, out, error));
  rows = 0;
  for (size_t k = 0; k < count; rows += parts[k++].rows)
    append_rows(&parts[k], rows, out);
  return SCL_STATUS_OK;
}

scl_status scl_csr_beside(const scl_csr *parts, size_t count, scl_csr *out, scl_error *error) {
  const size_t size = scl_dtype_size(parts[0].dtype);
  size_t cols = 0, entries = 0;
  for (size_t k = 0; k < count; k++) {
    cols += parts[k].cols;
    entries += scl_csr_entries(&parts[k]);
  }
  SCL_TRY(scl_csr_create(parts[0].rows, cols, entries, parts[0].dtype, out, error));
  size_t to = 0;
  for (size_t i = 0; i < out->rows; i++) {
    size_t before = 0;
    for (size_t k = 0; k < count; before += parts[k++].cols) {
      const int64_t from = parts[k].starts[i];
      const size_t some = (size_t)(parts[k].starts[i + 1] - from);
      for (size_t e = 0; e < some; e++)
        out->columns[to + e] = (int32_t)((size_t)parts[k].columns[from + (int64_t)e] + before);
      memcpy((char *)out->values + to * size, (const char *)parts[k].values + (size_t)from * size,
             some * size);
      to += some;
    }
    out->starts[i + 1] = (int64_t)to;
  }
  return SCL_STATUS_OK;
}

scl_status scl_csr_columns(const scl_csr *a, size_t first, size_t cols, scl_csr *out,
                           scl_error *error) {
  size_t entries = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++)
      entries += (size_t)a->columns[k] >= first && (size_t)a->columns[k] - first < cols;
  SCL_TRY(scl_csr_create(a->rows, cols, entries, a->dtype, out, error));
  size_t to = 0;
  for (size_t i = 0; i < a->rows; i++) {
    for (int64_t k = a->starts[i]; k < a->starts[i + 1]; k++) {
      const size_t column = (size_t)a->columns[k];
      if (column < first || column - first >= cols) continue;
      out->columns[to] = (int32_t)(column - first);
      scl_set_number(out->values, a->dtype, to++, scl_csr_value(a, k));
    }
    out->starts[i + 1] = (int64_t)to;
  }
  return SCL_STATUS_OK;
}

scl_status scl_csr_convert(const scl_csr *a, scl_dtype dtype, scl_csr *out, scl_error *error) {
  const size_t entries = scl_csr_entries(a);
  SCL_TRY(scl_csr_create(a->rows, a->cols, entries, dtype, out, error));
  for (size_t i = 0; i < a->rows; i++)
    out->starts[i + 1] = a->starts[i + 1] - a->starts[0];
  if (entries > 0) memcpy(out->columns, a->columns + a->starts[0], entries * sizeof *out->columns);
  for (size_t k = 0; k < entries; k++)
    scl_set_number(out->values, dtype, k, scl_csr_value(a, a->starts[0] + (int64_t)k));
  return SCL_STATUS_OK;
}

scl_status scl_csr_of_matrix(const scl_matrix *a, scl_csr *out, scl_error *error) {
  size_t entries = 0;
  for (size_t i = 0; i < a->rows; i++)
    for (size_t j = 0; j < a->cols; j++)
      entries += scl_matrix_get(a, i, j) != 0;
  SCL_TRY(scl_csr_create(a->rows, a->cols, entries, a->dtype, out, error));
  size_t k = 0;
  for (size_t i = 0; i < a->rows; i++) {
    for (size_t j = 0; j < a->cols; j++) {
      const double value = scl_matrix_get(a, i, j);
      if (value == 0) continue;
      out->columns[k] = (int32_t)j;
      scl_set_number(out->values, a->dtype, k++, value);
    }
    out->starts[i + 1] = (int64_t)k;
  }
  return SCL_STATUS_OK;
}

void scl_csr_fill(const scl_csr *a, size_t first, size_t rows, scl_dtype dtype, void *out,
                  ptrdiff_t stride) {
  for (size_t i = 0; i < rows; i++) {
    void *row = scl_at_mutable(out, dtype, (ptrdiff_t)i * stride);
    memset(row, 0, a->cols * scl_dtype_size(dtype));
    for (int64_t k = a->starts[first + i]; k < a->starts[first + i + 1]; k++)
      scl_set_number(row, dtype, (size_t)a->columns[k], scl_csr_value(a, k));
  }
}

size_t scl_csr_dense_rows(size_t cols, scl_dtype dtype) {
  static const double bytes = 64e6;
  const double fit = bytes / ((double)scl_max(cols, 1) * (double)scl_dtype_size(dtype));
  return fit < 1 ? 1 : (size_t)fit;
}
