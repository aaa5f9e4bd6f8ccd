/* Comma-separated text to numbers: types found, categories one-hot, missing values filled,
 * everything wrong named by file, row and column.
 *
 * A column whose fields all read as numbers is numeric; any other is a category, with one 0/1
 * column a level in the order of their bytes, named "column=level"; a missing field of a category
 * is the level "column=?", after the others. A few texts among many numbers (more than 99 in 100,
 * and at least 20) are taken for mistakes and refused. Quotes as in RFC 4180; blanks around
 * unquoted fields do not count; empty lines are passed over; an empty field is missing. gzip is
 * known by its first bytes. */
#ifndef SCULLERY_CSV_H
#define SCULLERY_CSV_H

#include "data/table.h"
#include "rows/source.h"

typedef enum scl_choice { SCL_AUTO = -1, SCL_NO = 0, SCL_YES = 1 } scl_choice;
typedef enum scl_missing { SCL_MISSING_MEDIAN = 0, SCL_MISSING_ERROR, SCL_MISSING_ROW } scl_missing;

typedef struct scl_csv_options {
  const char *target; /* its name; NULL: see target_place */
  long target_place;  /* from 1, negative from the end; 0: no target; ignored with a name */
  scl_choice classification, header;
  bool drop_categorical;
  const char *const *missing; /* texts that mean a missing value; NULL-terminated */
  const char *const *skip;    /* column names to leave out; NULL-terminated or NULL */
  const char *const
      *levels; /* column names to take as categories whatever they hold; NULL-terminated or NULL */
  const char *const *numeric; /* column names that must hold numbers; NULL-terminated or NULL */
  bool all_numeric;           /* every column but the target must hold numbers */
  const char *const *names;   /* column names where the file has none; NULL-terminated or NULL */
  char separator;             /* 0: found from the first lines */
  scl_dtype dtype;
  scl_missing fill; /* for missing numbers: the median of the column in the first file, an error, or
                       the row left out */
} scl_csv_options;

void scl_csv_defaults(scl_csv_options *options);

/* All files stacked: one schema (types, levels, medians from the first file) for all of them. *out
 * is the caller's to destroy; after an error it is empty. */
scl_status scl_csv_read(const char *const *paths, size_t n_paths, const scl_csv_options *options,
                        scl_table *out, scl_error *error);
/* The same rows from disk, block by block, in flat memory: out has everything but x and y. A
 * missing number becomes the mean of its column, since a median wants all of it. options->missing
 * and what it points to must outlive the source. */
scl_status scl_csv_stream(const char *path, const scl_csv_options *options, scl_table *out,
                          scl_source **source, scl_error *error);

#endif
