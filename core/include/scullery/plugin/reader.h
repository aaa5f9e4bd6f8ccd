/* scullery/plugin/reader.h: readers of files whose rows are cells of named columns, such as a
 * table of a database. The host asks each reader whether it recognises a file by its first bytes,
 * makes an instance with the options that the user gave (a query, a name), and reads the rows of
 * the columns that are wanted, in blocks. Types, categories and missing values are then found by
 * the same rules as those of text. A reader never writes to the file. */
#ifndef SCULLERY_PLUGIN_READER_H
#define SCULLERY_PLUGIN_READER_H

#include "host.h"

enum { SCL_READER_FIRST = 4096 }; /* bytes by which a format is recognised */

/* What the cells of a column are. */
enum {
  SCL_CELL_FLOAT64 = 0, /* NaN is a missing cell */
  SCL_CELL_INT64,
  SCL_CELL_TEXT,      /* UTF-8, no zero byte */
  SCL_CELL_DATE,      /* integers: days since 1970-01-01 */
  SCL_CELL_TIMESTAMP, /* integers: time since 1970-01-01T00:00:00, `per_second` units a second */
  SCL_CELL_ANY        /* each cell has a type of its own */
};
typedef int32_t scl_cell_type;

/* A file that is opened. */
typedef struct scl_reader_file {
  scl_head head;
  const char *path; /* valid until `open` returns */
  /* Not 0: the user stopped it. What may take long without a return to the host asks now and then,
   * and fails with SCL_STATUS_CANCELLED. [one] */
  int32_t (*cancelled)(void);
} scl_reader_file;
#define SCL_LEAST_READER_FILE SCL_THROUGH(scl_reader_file, cancelled)

typedef struct scl_reader_column {
  const char *name; /* UTF-8 */
  scl_cell_type type;
  uint32_t reserved;
} scl_reader_column;

/* What a file has. Its arrays are the reader's own, valid until `close`. */
typedef struct scl_reader_schema {
  scl_head head;
  size_t columns; /* 1 or more */
  const scl_reader_column *column;
  /* Parts of the rows at which reading can begin (row groups, batches), in the order of the rows:
   * 0 of a reader that only goes from the first row to the last. */
  size_t parts;
  const uint64_t *part_rows; /* rows of each part */
} scl_reader_schema;
#define SCL_LEAST_READER_SCHEMA SCL_THROUGH(scl_reader_schema, part_rows)

typedef struct scl_cell_text {
  const char *bytes; /* not NULL where length > 0 */
  size_t length;
} scl_cell_text;

/* The cells of one column in a block of rows. Arrays that the type does not have are NULL. */
typedef struct scl_column_cells {
  const uint8_t *missing;     /* a byte for each row, 1: missing; NULL: none is */
  const uint8_t *types;       /* SCL_CELL_ANY: the type of each row's cell */
  const double *numbers;      /* FLOAT64: one for each row */
  const int64_t *integers;    /* INT64, DATE, TIMESTAMP */
  const scl_cell_text *texts; /* TEXT: one for each row, or those of a dictionary: */
  const uint32_t *codes;      /* NULL, or the place of each row's text in `texts` */
  size_t n_texts;             /* with codes: the number of texts; a missing row's code counts not */
  int64_t per_second;         /* TIMESTAMP: 1, 1000, 1000000 or 1000000000 */
} scl_column_cells;

/* A block of rows, valid until the next call of a slot with the file. */
typedef struct scl_row_block {
  scl_head head;
  size_t rows; /* 0: there are no more */
  const scl_column_cells
      *columns; /* as many as are wanted, in the order in which they were chosen */
} scl_row_block;
#define SCL_LEAST_ROW_BLOCK SCL_THROUGH(scl_row_block, columns)

/* Slots with a file are called by one thread at a time; several files, of one path too, may be open
 * at once on several threads. What is wrong with a file is SCL_STATUS_BAD_DATA with a sentence that
 * begins with the path and names the column and the row, from 1, where there are such. Memory is
 * never taken for a count that the file states and its size cannot hold. */
typedef struct scl_reader {
  scl_head head;
  scl_kind kind; /* SCL_KIND_READER */
  uint32_t reserved;
  const char *format; /* what such a file is, for sentences: "a Parquet file" */
  /* Not 0: a file that begins with these bytes is of the format. They are the first
   * SCL_READER_FIRST bytes, or all of a smaller file. [any] */
  int32_t (*recognises)(const unsigned char *first, size_t size);
  /* Open the file for reading alone: *opened is the reader's own until `close`. [any] */
  scl_status (*open)(const void *self, const scl_reader_file *file, void **opened,
                     scl_error *error);
  /* Called once, after `open`. [one] */
  scl_status (*schema)(void *opened, scl_reader_schema *out, scl_error *error);
  /* The columns that `rows` gives from now on, by their places, each once; reading begins with the
   * first row. Called before the first `seek` or `rows`, also where all columns are wanted. The
   * reader does not read the others where the format allows that. NULL: `rows` gives all columns,
   * and the host takes some. [one] */
  scl_status (*choose)(void *opened, const size_t *columns, size_t count, scl_error *error);
  /* The next rows are those of that part and of the parts behind it. NULL where parts are 0.
   * [one] */
  scl_status (*seek)(void *opened, size_t part, scl_error *error);
  /* The next rows, as many as the reader likes. A block does not go beyond a part. [one] */
  scl_status (*rows)(void *opened, scl_row_block *out, scl_error *error);
  void (*close)(void *opened);
  /* Write a small file of the format, with missing cells and two parts or more where there are
   * such, with which the checker of plugins tries the other slots. NULL: they are not tried.
   * [one] */
  scl_status (*example)(const void *self, const char *path, scl_error *error);
} scl_reader;
#define SCL_LEAST_READER SCL_THROUGH(scl_reader, example)
#define SCL_READER(...) SCL_VTABLE(SCL_KIND_READER, scl_reader, __VA_ARGS__)

#endif
