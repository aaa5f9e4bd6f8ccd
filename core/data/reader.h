/* Readers of files whose rows are cells, such as a database's. Their rows reach every reader of
 * comma-separated text, whole and as a stream: the same rules find types, code categories and fill
 * missing values. */
#ifndef SCULLERY_READER_H
#define SCULLERY_READER_H

#include "base/memory.h"

typedef enum scl_cell_kind {
  SCL_CELL_MISSING = 0,
  SCL_CELL_NUMBER,
  SCL_CELL_INTEGER,
  SCL_CELL_TEXT
} scl_cell_kind;

typedef struct scl_cell {
  scl_cell_kind kind;
  double number;
  int64_t integer;
  const char *text; /* UTF-8, `length` bytes, until the next row */
  size_t length;
} scl_cell;

/* What is read of a file; both may be NULL. */
typedef struct scl_reader_options {
  const char *query, *table;
} scl_reader_options;

typedef struct scl_reader {
  const char *name;
  /* Whether a file that begins with these bytes is of the format. */
  bool (*recognises)(const unsigned char *first, size_t size);
  /* Open a file for reading alone; *file is the reader's own, used on one thread at a time. */
  scl_status (*open)(const char *path, const scl_reader_options *options, void **file,
                     scl_error *error);
  /* The names of the columns, until `close`. */
  scl_status (*columns)(void *file, const char *const **names, size_t *count, scl_error *error);
  /* The next row, a cell for each column; *more = false after the last. */
  scl_status (*row)(void *file, scl_cell *cells, bool *more, scl_error *error);
  void (*close)(void *file);
} scl_reader;

/* The reader of that name, or NULL. */
const scl_reader *scl_reader_find(const char *name);
/* The reader that recognises a file by its first bytes, or NULL. SCL_STATUS_IO: it cannot be
 * read. */
scl_status scl_reader_of(const char *path, const scl_reader **out, scl_error *error);

/* A file whose rows can be read under `name` as comma-separated text (data/files/input.h), with a
 * first line of names, until it is released. The file is opened once here, so that what is wrong
 * with it is said at once. */
typedef struct scl_reader_file scl_reader_file;
scl_status scl_reader_file_create(const scl_reader *reader, const char *path,
                                  const scl_reader_options *options, scl_reader_file **out,
                                  scl_error *error);
const char *scl_reader_file_name(const scl_reader_file *file);
void scl_reader_file_destroy(scl_reader_file *file);

extern const scl_reader scl_reader_sqlite; /* where the build had its header */

#endif
