/* What the readers of Arrow's C streams share. arrow.c: the stream to numbers, one for each column;
 * arrow_rows.c: these to the columns of the rows. */
#ifndef SCULLERY_MODEL_ARROW_H
#define SCULLERY_MODEL_ARROW_H

#include "base/memory.h"
#include "data/csv/internal.h"

#include <scullery/scullery.h>

/* Format in the interface, and bytes of a number; 0: bits. */
typedef struct arrow_number {
  char format;
  size_t size;
  bool is_float;
} arrow_number;

/* A column of the stream: `width` columns of the numbers that are copied, from `first` on; a list
 * has width numbers. Of a column of texts one number is copied: the place of the level from 1, 0 for
 * a null, or ARROW_UNKNOWN. */
typedef struct arrow_column {
  const arrow_number *type; /* of texts: NULL, or the type of the places in a dictionary */
  const char *text;         /* the format of its texts; NULL: numbers */
  size_t first, width;
  bool is_list, nulls;
  const char *name;
  csv_levels levels;
  const char **texts; /* of the levels, in the order in which they came */
  size_t *to; /* the columns of the rows for its numbers, or for a null and for its levels in that
                 order; ARROW_NOWHERE: none */
} arrow_column;

enum { ARROW_UNKNOWN = -1 };
#define ARROW_NOWHERE SIZE_MAX

typedef struct arrow_reading {
  struct ArrowArrayStream *stream;
  struct ArrowSchema schema;
  struct ArrowArray kept; /* the batch whose numbers are the rows; released: none */
  arrow_column *columns;
  size_t count;
  void *numbers;             /* copied rows */
  size_t room;               /* rows that they have place for */
  const char *const *wanted; /* names of the columns of the rows; NULL: those of the stream */
  size_t n_wanted;
  bool moved; /* the numbers are not yet in the columns of the rows */
  scl_arrow_rows rows;
} arrow_reading;

/* The result and what it borrows from. */
typedef struct arrow_owned {
  scl_arrow_rows rows;
  struct ArrowArray kept;
  void *numbers;
  char **names;
} arrow_owned;

/* Call it before the batches are read, if columns of the rows are wanted: finds the column of the
 * stream that each of them comes from. */
scl_status arrow_find_wanted(arrow_reading *r, scl_error *error);
/* Afterwards: the columns of the rows, their numbers and their names. */
scl_status arrow_lay_out(arrow_reading *r, arrow_owned *out, scl_error *error);

#endif
