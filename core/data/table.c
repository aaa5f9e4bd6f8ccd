#include "table.h"

#include <stdlib.h>
#include <string.h>

static void release_texts(char **list, size_t count) {
  for (size_t i = 0; list != NULL && i < count; i++) scl_release(list[i]);
  scl_release(list);
}

void scl_table_destroy(scl_table *table) {
  scl_matrix_release(&table->x);
  scl_matrix_release(&table->y);
  release_texts(table->names, table->cols);
  release_texts(table->class_names, table->class_names == NULL ? 0 : table->classes);
  scl_release(table->class_values);
  scl_release(table->part_rows);
  scl_release(table->target);
  memset(table, 0, sizeof *table);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

scl_status scl_table_number_classes(scl_table *table, scl_error *error) {
  const size_t n = table->y.rows;
  double *values = scl_allocate_array(n + 1, sizeof *values);
  size_t count = 0;
  if (values == NULL) return scl_fail_memory(error, n * sizeof *values, "labels");
  for (size_t i = 0; i < n; i++) values[i] = scl_matrix_get(&table->y, i, 0);
  qsort(values, n, sizeof *values, ascending);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || values[i] != values[i - 1]) values[count++] = values[i];
  table->classes = count;
  table->class_values = values;
  return SCL_OK;
}
