/* Sparse rows of CSV files: lines are parsed into one column for each column of the file, in which a
 * category is the place of its level, from 1, or 0 for none; then each row becomes the numbers that are
 * not 0. */
#include "data/csv/internal.h"

#include <stdlib.h>

enum {
  WIDE = 1000, /* columns of X, above which it is sparse */
  FILLED = 10  /* where less than a tenth of its numbers can be other than 0 */
};

static int compare(const void *a, const void *b) {
  const csv_column *left = *(csv_column *const *)a, *right = *(csv_column *const *)b;
  return (left->first_out > right->first_out) - (left->first_out < right->first_out);
}

scl_status csv_settle_places(csv_schema *schema, scl_error *error) {
  schema->order = scl_allocate_array(schema->columns + 1, sizeof *schema->order);
  if (schema->order == NULL) return scl_fail_memory(error, schema->columns * 8, "columns");
  size_t count = 0;
  for (size_t j = 0; j < schema->columns; j++)
    if (schema->column[j].outs > 0 && !schema->column[j].target)
      schema->order[count++] = &schema->column[j];
  qsort(schema->order, count, sizeof *schema->order, compare);
  const scl_choice wanted = schema->options->sparse;
  schema->sparse = wanted == SCL_YES || (wanted == SCL_AUTO && schema->cols_out > WIDE &&
                                         count * FILLED < schema->cols_out);
  schema->parsed = schema->sparse ? count : schema->cols_out;
  for (size_t k = 0; k < count; k++)
    schema->order[k]->place = schema->sparse ? k : schema->order[k]->first_out;
  return SCL_STATUS_OK;
}

scl_status csv_make_sparse(const csv_schema *schema, const scl_matrix *parsed, scl_csr *out,
                           scl_error *error) {
  size_t entries = 0, to = 0;
  for (size_t i = 0; i < parsed->rows; i++)
    for (size_t k = 0; k < schema->parsed; k++)
      entries += scl_matrix_get(parsed, i, k) != 0;
  SCL_TRY(scl_csr_create(parsed->rows, schema->cols_out, entries, parsed->dtype, out, error));
  for (size_t i = 0; i < parsed->rows; i++) {
    for (size_t k = 0; k < schema->parsed; k++) {
      const csv_column *column = schema->order[k];
      const double value = scl_matrix_get(parsed, i, k);
      if (value == 0) continue;
      const bool level = column->categorical && !column->aside;
      out->columns[to] = (int32_t)(column->first_out + (level ? (size_t)value - 1 : 0));
      scl_set_number(out->values, out->dtype, to++, level ? 1 : value);
    }
    out->starts[i + 1] = (int64_t)to;
  }
  return SCL_STATUS_OK;
}
