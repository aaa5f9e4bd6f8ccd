/* Comma-separated text to numbers: types found, categories one-hot, missing values filled, everything wrong named by file, row and column. */
#ifndef SCULLERY_CSV_H
#define SCULLERY_CSV_H

#include "engine/source.h"
#include "table.h"

typedef enum scl_choice { SCL_AUTO = -1, SCL_NO = 0, SCL_YES = 1 } scl_choice;
typedef enum scl_missing { SCL_MISSING_MEDIAN = 0, SCL_MISSING_ERROR } scl_missing;

typedef struct scl_csv_options {
  const char *target;  /* its name; NULL: see target_place */
  long target_place;   /* from 1, negative from the end; 0: no target; ignored with a name */
  scl_choice classification, header;
  bool drop_categorical;
  const char *const *missing; /* texts that mean a missing value; NULL-terminated */
  const char *const *skip;    /* column names to leave out; NULL-terminated or NULL */
  const char *const *levels;  /* column names to take as categories whatever they hold; NULL-terminated or NULL */
  const char *const *names;   /* column names where the file has none; NULL-terminated or NULL */
  char separator;             /* 0: found from the first line */
  scl_dtype dtype;
  scl_missing fill;
} scl_csv_options;

void scl_csv_defaults(scl_csv_options *options);

/* All files stacked: one schema (types, levels, medians from the first file) for all of them. */
scl_status scl_csv_read(const char *const *paths, size_t n_paths, const scl_csv_options *options, scl_table *out, scl_error *error);
/* options->missing must outlive the source. The same rows from disk, block by block; out has everything but x and y. A missing number becomes the column's mean (flat memory knows no median). */
scl_status scl_csv_stream(const char *path, const scl_csv_options *options, scl_table *out, scl_source **source, scl_error *error);

#endif
