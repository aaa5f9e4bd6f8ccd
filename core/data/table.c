/* Tables that readers fill, and sets of numeric labels. Used by the readers of CSV, IDX and LIBSVM
 * files. */
#include "data/table.h"
#include "base/memory_left.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

void scl_table_destroy(scl_table *table) {
  scl_matrix_release(&table->x);
  scl_matrix_release(&table->y);
  scl_csr_release(&table->csr);
  scl_release_texts(table->names, table->cols);
  scl_release_texts(table->class_names, table->class_names == NULL ? 0 : table->classes);
  scl_schema_destroy(table->schema);
  SCL_RELEASE(table->class_values, table->part_rows, table->target, table->notes);
  memset(table, 0, sizeof *table);
}

scl_status scl_table_admit(const scl_table *table, scl_dtype dtype, scl_error *error) {
  const double wanted = (double)table->rows * (double)table->cols * (double)scl_dtype_size(dtype),
               left = (double)scl_memory_left();
  enum { A_NAME = 64 }; /* bytes that the name of a column takes in the script */
  char wanted_text[32], left_text[32];
  if (wanted + A_NAME * (double)table->cols > left)
    return scl_fail(
        error, SCL_STATUS_NO_MEMORY,
        "not enough memory: X would be a %zu x %zu %s matrix of %s, beside the names of its "
        "columns, and %s are free",
        table->rows, table->cols, scl_dtype_name(dtype), scl_bytes_text(wanted, wanted_text),
        scl_bytes_text(left, left_text));
  return SCL_STATUS_OK;
}

/* The first place whose value is not below the given one. */
static size_t place_of(const scl_labels *labels, double value) {
  size_t low = 0, high = labels->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (labels->values[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool make_room(scl_labels *labels) {
  double *values = scl_grow(labels->values, labels->count, &labels->room, sizeof *values);
  if (values != NULL) labels->values = values;
  return values != NULL;
}

/* The place of the last label is tried first, as labels often repeat. */
bool scl_labels_add(scl_labels *labels, double value) {
  if (labels->overflow || (labels->last < labels->count && labels->values[labels->last] == value))
    return true;
  labels->last = place_of(labels, value);
  if (labels->last < labels->count && labels->values[labels->last] == value) return true;
  if (labels->count == (labels->most == 0 ? SCL_MOST_LABELS : labels->most)) {
    labels->overflow = true;
    return true;
  }
  if (!make_room(labels)) return false;
  memmove(labels->values + labels->last + 1, labels->values + labels->last,
          (labels->count - labels->last) * sizeof *labels->values);
  labels->values[labels->last] = value;
  labels->count++;
  return true;
}

/* The first value that is not a whole number; NULL: all are whole. */
static const double *first_decimal(const scl_labels *labels) {
  for (size_t i = 0; i < labels->count; i++)
    if (labels->values[i] != floor(labels->values[i])) return &labels->values[i];
  return NULL;
}

void scl_labels_decide(const scl_labels *labels, bool named, size_t rows, scl_table *out) {
  enum { FEW_CLASSES = 30 };
  const size_t count = labels->count;
  const bool few = !labels->overflow && count > 0, whole = few && first_decimal(labels) == NULL;
  out->classification =
      (few && count == 2 && rows > 2) ||
      (named && whole && count <= FEW_CLASSES && (count <= 2 || 2 * count <= rows));
  out->whole_values =
      !out->classification && whole && count >= 3 && count <= SCL_FEW_VALUES && 2 * count <= rows
          ? count
          : 0;
}

/* Releases the labels and returns the error: too many (decimal NULL), or decimals among many. */
static scl_status refuse_labels(scl_labels *labels, const double *decimal, scl_error *error) {
  const size_t count = labels->count;
  const double sample = decimal == NULL ? 0 : *decimal;
  scl_release(labels->values);
  *labels = (scl_labels){0};
  if (decimal == NULL)
    return scl_fail(
        error, SCL_STATUS_BAD_DATA,
        "the target has more than %d different labels; task = \"regression\" takes them as values",
        SCL_MOST_LABELS);
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "the target has %zu different values, and some are not whole numbers (%.6g): task "
      "= \"regression\" takes them as values, and a classification has few labels",
      count, sample);
}

scl_status scl_table_take_labels(scl_table *table, scl_labels *labels, scl_error *error) {
  enum { MOST_DECIMALS = 50 };
  const double *decimal = labels->count > MOST_DECIMALS ? first_decimal(labels) : NULL;
  if (labels->overflow || decimal != NULL)
    return refuse_labels(labels, labels->overflow ? NULL : decimal, error);
  table->classes = labels->count;
  table->class_values = labels->values;
  *labels = (scl_labels){0};
  return SCL_STATUS_OK;
}

scl_status scl_table_number_classes(scl_table *table, scl_error *error) {
  scl_labels labels = {0};
  for (size_t i = 0; i < table->y.rows && !labels.overflow; i++) {
    if (scl_labels_add(&labels, scl_matrix_get(&table->y, i, 0))) continue;
    scl_release(labels.values);
    return scl_fail_memory(error, labels.count * sizeof *labels.values, "labels");
  }
  return scl_table_take_labels(table, &labels, error);
}
