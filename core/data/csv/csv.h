/* Comma-separated text to numbers: types found, or given by a schema; categories one-hot, missing
 * values filled, everything wrong named by file, row and column.
 *
 * A column whose fields all read as numbers is numeric; any other is a category, with one 0/1
 * column a level in the order of their bytes, named "column=level"; a missing field of a category
 * is the level "column=?", after the others. A column of dates (data/date.h) becomes days since
 * 1970-01-01; a text among dates is refused. Refused: a few texts among many numbers (more than 99
 * in 100, and at least 20), which are taken for mistakes; numbers with signs or separators ("$5",
 * "1,000.50"), unless the column is declared numeric; text that is nearly unique, unless it is
 * declared to be levels. Lines end in LF, CR LF or CR. Quotes as in RFC 4180; blanks around
 * unquoted fields do not count; empty lines are passed over; an empty field is missing. gzip is
 * known by its first bytes. */
#ifndef SCULLERY_CSV_H
#define SCULLERY_CSV_H

#include "data/table.h"
#include "rows/source.h"

typedef struct scl_csv_options {
  /* The columns as this schema says, matched by name in any order; NULL: types are found. Of the
   * options below, skip, levels, numeric and drop_categorical then do not count. */
  const scl_schema *like;
  const char *target; /* its name; NULL: see target_place */
  long target_place;  /* from 1, negative from the end; 0: no target; ignored with a name */
  bool target_said;   /* by the user; with `like`, the schema's target is optional otherwise */
  scl_choice classification, header;
  scl_choice sparse; /* rows; SCL_AUTO: of more than 1000 columns, of which less than a tenth can be
                        other than 0 in a row */
  bool drop_categorical;
  const char *const *missing; /* texts that mean a missing value; NULL-terminated */
  const char *const *skip;    /* column names to leave out; NULL-terminated or NULL */
  const char *const
      *levels; /* column names to take as categories whatever they hold; NULL-terminated or NULL */
  const char *const *numeric; /* column names that must hold numbers; NULL-terminated or NULL */
  int dates;                  /* an order of dates: SCL_DAY_FIRST, SCL_MONTH_FIRST; 0: found */
  bool all_numeric;           /* every column but the target must hold numbers */
  const char *const *names;   /* column names where the file has none; NULL-terminated or NULL */
  const char
      *roles[SCL_COLUMN_ROLES]; /* column names, NULL: none; with `like` the schema's, where the
                                          file has them and nothing is said */
  bool features_alone;          /* with `like`: columns of the schema's roles are left out */
  char separator;               /* 0: found from the first lines */
  size_t unpacked; /* most bytes of an unpacked gzip file in memory; see data/files/input.h */
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
 * and options->like, and what they point to, must outlive the source. */
scl_status scl_csv_stream(const char *path, const scl_csv_options *options, scl_table *out,
                          scl_source **source, scl_error *error);

/* Rows in file order, each read once by scl_source_next, in flat memory, by options->like
 * (required), without a target: from a file, a pipe, or "-" for the standard input. What options
 * points to must outlive the source. id: a column whose texts are carried along, or NULL. */
scl_status scl_csv_once(const char *path, const scl_csv_options *options, const char *id,
                        scl_source **source, scl_error *error);
/* Whether a source was made by scl_csv_once or scl_csv_stream. */
bool scl_csv_is(const scl_source *source);
/* Of a source of scl_csv_once, the id of row i of the last block; its text lives until the next
 * one. NULL where there is no column of ids, or the source is another. */
const char *scl_csv_id(const scl_source *source, size_t i, size_t *length);
/* Of a source of scl_csv_once: notes on what was done so far that the user should know about; the
 * caller releases the list. Of another source: none. */
scl_status scl_csv_notes(const scl_source *source, scl_note **notes, size_t *count,
                         scl_error *error);

#endif
