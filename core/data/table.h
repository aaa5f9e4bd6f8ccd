/* What a reader makes of files: numbers, names, labels. */
#ifndef SCULLERY_TABLE_H
#define SCULLERY_TABLE_H

#include "engine/matrix.h"

typedef struct scl_table {
  scl_matrix x, y;      /* y empty without a target; labels: 1-based places in class_names, or the numbers themselves */
  size_t cols;          /* of x */
  char **names;         /* one a column, or NULL where names are made up */
  bool classification;
  size_t classes;
  char **class_names;   /* text labels, sorted; else NULL */
  double *class_values; /* numeric labels, sorted; else NULL */
  size_t parts, *part_rows;
  size_t rows;
  char *target;
} scl_table;

void scl_table_destroy(scl_table *table);
/* Sorted distinct numbers of column y into class_values; SCL_BAD_DATA past `most` of them when most > 0. */
scl_status scl_table_number_classes(scl_table *table, scl_error *error);

#endif
