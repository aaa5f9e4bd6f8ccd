/* The result of a reader: numbers, names, labels. */
#ifndef SCULLERY_TABLE_H
#define SCULLERY_TABLE_H

#include "algebra/csr.h"
#include "data/schema.h"

typedef struct scl_table {
  scl_matrix x, y; /* y empty without a target; labels: 1-based places in class_names, or the
                      numbers themselves */
  scl_csr csr;     /* instead of x, where rows are sparse; without names */
  size_t cols;     /* of x */
  char **names;    /* one a column, or NULL where names are made up: name_prefix and the number */
  const char *name_prefix;
  bool classification;
  size_t classes;
  char **class_names;   /* text labels, sorted; else NULL */
  double *class_values; /* numeric labels, sorted; else NULL */
  size_t parts, *part_rows;
  size_t rows;
  bool alike; /* several processes have read the numbers together */
  char *target;
  size_t
      whole_values; /* of a regression whose target holds 3 to 20 different numbers, all whole, that
                          nobody called values: how many; else 0 */
  scl_schema *schema; /* of a CSV file; else NULL */
  scl_note *notes;
  size_t n_notes;
} scl_table;

void scl_table_destroy(scl_table *table);

/* Refuses an x of rows x cols that is, with the names of the columns, larger than the memory that
 * is left, before the system would take it from under other programs. */
scl_status scl_table_admit(const scl_table *table, scl_dtype dtype, scl_error *error);

/* A sorted set of numeric labels. */
enum { SCL_MOST_LABELS = 10000 };
typedef struct scl_labels {
  double *values;
  size_t count, room, last;
  size_t most;   /* 0: SCL_MOST_LABELS */
  bool overflow; /* more than `most` came */
} scl_labels;
/* False when there is no memory. */
bool scl_labels_add(scl_labels *labels, double value);

/* Decides whether the numbers of a target are classes, where the user did not say it, and writes
 * classification and whole_values: two different numbers are classes; so are few whole ones (at
 * most 30, most of them more than once) in a column whose name suggests it (named). All others are
 * values. */
enum { SCL_FEW_VALUES = 20 };
void scl_labels_decide(const scl_labels *labels, bool named, size_t rows, scl_table *out);

/* The distinct numbers of column y into class_values. */
scl_status scl_table_number_classes(scl_table *table, scl_error *error);
/* The labels of a set become class_values, which takes them over; SCL_STATUS_BAD_DATA when they
 * overflowed, or are many and no whole numbers: a regression. */
scl_status scl_table_take_labels(scl_table *table, scl_labels *labels, scl_error *error);

#endif
