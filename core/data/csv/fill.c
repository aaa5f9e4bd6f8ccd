/* Missing numbers: medians, filling in, leaving rows out. Called by source.c after each block of
 * rows is parsed. */
#include "base/interrupt.h"
#include "data/csv/internal.h"

#include <math.h>
#include <stdlib.h>

bool csv_column_has_gaps(const csv_column *column) {
  return !column->categorical && column->missing > 0 && column->outs > 0;
}

/* ------------ medians */

static void swap(double *a, double *b) {
  const double kept = *a;
  *a = *b;
  *b = kept;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Reorders so that values[k] is the one that sorting would put there, with none larger before it
 * (Hoare, "Algorithm 65: find", 1961). Some orders of values remove only two per round: after MANY
 * rounds the rest is sorted, so that the worst case is n log n. */
static void select_place(double *values, size_t count, size_t k) {
  enum { MANY = 100 };
  size_t low = 0, high = count - 1;
  for (int round = 0; low < high; round++) {
    if (round == MANY) {
      qsort(values + low, high - low + 1, sizeof *values, compare);
      return;
    }
    const double pivot = values[low + (high - low) / 2];
    size_t i = low, j = high;
    for (;;) {
      while (values[i] < pivot)
        i++;
      while (values[j] > pivot)
        j--;
      if (i >= j) break;
      swap(&values[i++], &values[j--]);
    }
    if (k <= j)
      high = j;
    else
      low = j + 1;
  }
}

/* The median, of two middle values their mean; NaN for none. The values are reordered. Both halves
 * are halved before the sum, which cannot overflow. */
static double median_of(double *values, size_t count) {
  const size_t middle = count / 2;
  if (count == 0) return NAN;
  select_place(values, count, middle);
  if (count % 2 == 1) return values[middle];
  double below = values[0];
  for (size_t i = 1; i < middle; i++)
    below = fmax(below, values[i]);
  return below / 2 + values[middle] / 2;
}

/* The median of every step-th of the first rows; NaN where they hold no number. */
static double column_median(const scl_matrix *x, size_t column, size_t rows, size_t step,
                            double *values) {
  size_t count = 0;
  for (size_t i = 0; i < rows; i += step) {
    const double value = scl_matrix_get(x, i, column);
    if (!isnan(value)) values[count++] = value;
  }
  return median_of(values, count);
}

/* Medians of all columns of numbers into column->fill: of the first rows of X (of all where those
 * hold none); exact where a number is missing, of at most 1024 evenly spaced rows elsewhere. */
static scl_status find_medians(csv_schema *schema, const scl_matrix *x, size_t first_rows,
                               scl_error *error) {
  if (schema->options->like != NULL || schema->options->fill == SCL_MISSING_ERROR)
    return SCL_STATUS_OK;
  enum { SAMPLE = 1024 };
  double *values = scl_allocate_array(x->rows + 1, sizeof *values);
  if (values == NULL) return scl_fail_memory(error, x->rows * sizeof *values, "medians");
  for (size_t j = 0; j < schema->columns && !scl_interrupted(); j++) {
    csv_column *column = &schema->column[j];
    if (column->categorical || column->aside || column->outs == 0) continue;
    const size_t step = column->missing > 0 ? 1 : (first_rows + SAMPLE - 1) / SAMPLE;
    column->fill = column_median(x, column->place, first_rows, scl_max(step, 1), values);
    if (isnan(column->fill)) column->fill = column_median(x, column->place, x->rows, 1, values);
  }
  scl_release(values);
  return scl_interrupt_check(error);
}

/* ------------ filling in */

/* The error that names the first missing number; file, row and column j count from 0. */
static scl_status refuse_missing(const csv_schema *schema, size_t file, size_t row, size_t j,
                                 scl_error *error) {
  return scl_fail(
      error, SCL_STATUS_BAD_DATA, "%s: row %zu, column %zu (%s): the value is missing%s",
      schema->paths[file], row + 1, j + 1, schema->column[j].name,
      schema->options->fill == SCL_MISSING_ERROR ? " (missing_values = \"median\" fills it)"
                                                 : ", and the schema says nothing to fill it with");
}

/* Missing numbers in rows first .. first+rows-1 of x become column->fill. Where they are refused,
 * or nothing is known to fill them with, an error names the row; row `first` is row `row` of the
 * file, both from 0. */
static scl_status fill(const csv_schema *schema, scl_matrix *x, size_t first, size_t rows,
                       size_t file, size_t row, scl_error *error) {
  size_t refused_row = SIZE_MAX, refused_column = 0;
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_column *column = &schema->column[j];
    if (!csv_column_has_gaps(column)) continue;
    SCL_TRY(scl_interrupt_check(error));
    const bool refused = schema->options->fill == SCL_MISSING_ERROR || isnan(column->fill);
    for (size_t i = 0; i < rows; i++) {
      if (!isnan(scl_matrix_get(x, first + i, column->place))) continue;
      if (!refused) {
        scl_matrix_set(x, first + i, column->place, column->fill);
      } else if (i < refused_row) {
        refused_row = i;
        refused_column = j;
      }
    }
  }
  return refused_row == SIZE_MAX
             ? SCL_STATUS_OK
             : refuse_missing(schema, file, row + refused_row, refused_column, error);
}

/* ------------ leaving rows out */

/* Whether row `row` of x has all numbers of the columns with gaps. */
static bool row_is_whole(const csv_schema *schema, const scl_matrix *x, size_t row) {
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_column *column = &schema->column[j];
    if (csv_column_has_gaps(column) && isnan(scl_matrix_get(x, row, column->place))) return false;
  }
  return true;
}

/* Moves the whole rows of x and y in [first, first + rows) down to row `to` and on; returns how
 * many there are. */
static size_t drop_rows(const csv_schema *schema, scl_matrix *x, scl_matrix *y, size_t first,
                        size_t rows, size_t to) {
  const size_t bytes = x->cols * scl_dtype_size(x->dtype), start = to;
  for (size_t i = first; i < first + rows; i++) {
    if (!row_is_whole(schema, x, i)) continue;
    if (i != to) {
      memmove((char *)x->data + to * bytes, (const char *)x->data + i * bytes, bytes);
      if (schema->target >= 0) scl_matrix_set(y, to, 0, scl_matrix_get(y, i, 0));
    }
    to++;
  }
  return to - start;
}

/* ------------ all of it */

/* The number of the first chunk of the next file after chunk k; *rows: the rows of the chunks in
 * between. */
static size_t end_of_file(const csv_lines *l, size_t k, size_t *rows) {
  const size_t file = l->chunks[k].file;
  for (*rows = 0; k < l->count && l->chunks[k].file == file; k++)
    *rows += l->chunks[k].rows;
  return k;
}

static void drop_from_files(const csv_schema *schema, const csv_lines *l, size_t *file_rows,
                            scl_matrix *x, scl_matrix *y) {
  size_t first = 0, to = 0, rows;
  for (size_t k = 0, next; k < l->count; k = next, first += rows) {
    next = end_of_file(l, k, &rows);
    const size_t kept = drop_rows(schema, x, y, first, rows, to);
    if (file_rows != NULL) file_rows[l->chunks[k].file] += kept;
    to += kept;
  }
  x->rows = to;
  if (schema->target >= 0) y->rows = to;
}

scl_status csv_find_medians(csv_schema *schema, const csv_lines *l, const scl_matrix *x,
                            scl_error *error) {
  size_t first_rows;
  (void)end_of_file(l, 0, &first_rows);
  return find_medians(schema, x, first_rows, error);
}

scl_status csv_fill(const csv_schema *schema, const csv_lines *l, size_t *file_rows, scl_matrix *x,
                    scl_error *error) {
  size_t first = 0, rows;
  for (size_t k = 0, next; k < l->count; k = next, first += rows) {
    const csv_chunk *chunk = &l->chunks[k];
    next = end_of_file(l, k, &rows);
    SCL_TRY(fill(schema, x, first, rows, chunk->file, chunk->first_row, error));
    if (file_rows != NULL) file_rows[chunk->file] += rows;
  }
  return SCL_STATUS_OK;
}

/* Rows are dropped before medians are taken, as only the rows that stay count. */
scl_status csv_settle_missing(csv_schema *schema, const csv_lines *l, bool all, size_t *file_rows,
                              scl_matrix *x, scl_matrix *y, scl_error *error) {
  if (schema->options->fill == SCL_MISSING_ROW) {
    const size_t rows = x->rows;
    drop_from_files(schema, l, file_rows, x, y);
    if (file_rows != NULL) schema->dropped += rows - x->rows; /* counted once, at opening */
    return all ? find_medians(schema, x, file_rows == NULL ? x->rows : file_rows[0], error)
               : SCL_STATUS_OK;
  }
  if (all) SCL_TRY(csv_find_medians(schema, l, x, error));
  return csv_fill(schema, l, file_rows, x, error);
}
