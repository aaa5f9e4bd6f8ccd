/* Lines of LIBSVM text, shared by reading whole and by blocks. */
#ifndef SCULLERY_LIBSVM_INTERNAL_H
#define SCULLERY_LIBSVM_INTERNAL_H

#include "data/files/input.h"
#include "data/libsvm.h"
#include <stdbool.h>

/* How words are taken. */
typedef struct libsvm_format {
  size_t base;         /* what indices count from: 0 or 1 */
  size_t features;     /* columns; 0: any */
  const char *refusal; /* why an index past them is refused */
  scl_dtype dtype;     /* of the values */
} libsvm_format;

/* Where in a file a text begins: the number of its row and of its line, both from 1. */
typedef struct libsvm_place {
  const char *path;
  size_t row, line;
} libsvm_place;

/* Rows of a text. Row i ends before entry ends[i]; columns count from 0, and no value is 0. */
typedef struct libsvm_rows {
  size_t rows, entries, lines, row_room, entry_room;
  double *labels;
  int64_t *ends;
  int32_t *columns;
  void *values;   /* entry_room of them in the format's dtype */
  size_t cols;    /* the largest column, from 1 */
  bool fractions; /* a label is not a whole number */
} libsvm_rows;

/* Parse whole lines of text into *rows, in place of what it held; the byte after them is 0 or
 * belongs to a later line (data/words.h). */
scl_status libsvm_parse(const libsvm_format *format, const libsvm_place *place, const char *text,
                        size_t length, libsvm_rows *rows, scl_error *error);
void libsvm_rows_release(libsvm_rows *rows);

/* Files as blocks of whole lines, whose rows are parsed on all threads. */
typedef struct libsvm_lines {
  char **paths;
  size_t files, file; /* the file of the block, from 0 */
  libsvm_format format;
  size_t unpacked;
  bool bounded;    /* gzip, because the rows are kept */
  bool needs_rows; /* a file without rows is refused */
  scl_input *input;
  char *buffer;
  size_t room, used, taken; /* of the buffer: bytes, filled, and parsed */
  bool ended;               /* the file has no more bytes */
  /* Of a share: its first line begins at this byte of `file` or later (0 once it was found), and its
   * last one before byte `stop` of `stop_file`. */
  size_t from, stop_file, stop;
  size_t *file_lines; /* of each file, so far */
  libsvm_place place;
  libsvm_rows *pieces; /* the block: the rows of its pieces, in order */
  size_t room_pieces, count, rows, entries;
  size_t block_bytes, file_bytes, bytes; /* of text: of the block, parsed so far, of all files */
} libsvm_lines;

scl_status libsvm_lines_open(const char *const *paths, size_t files, libsvm_lines *lines,
                             scl_error *error);
/* The next block that has rows, of one file; count = 0 at the end of the last file. */
scl_status libsvm_lines_next(libsvm_lines *lines, scl_error *error);
void libsvm_lines_rewind(libsvm_lines *lines);
/* Where the next block begins, behind `rows` rows of the source; and begin there, after a rewind. */
scl_mark libsvm_lines_mark(const libsvm_lines *lines, size_t rows);
scl_status libsvm_lines_go(libsvm_lines *lines, const scl_mark *mark, scl_error *error);
void libsvm_lines_close(libsvm_lines *lines);

/* Also of reading whole: where the rows of all blocks are collected. */
typedef struct libsvm_source {
  scl_source base;
  libsvm_lines lines;
  scl_csr block; /* of a dense stream: rows of which some were given */
  scl_matrix block_labels;
  size_t given;      /* of them */
  size_t *file_rows; /* of each file */
  scl_marks marks;   /* of a stream: its blocks */
  /* whole; of several processes that divide the files, the rows of this one's share, and what the
   * shares before it have */
  int64_t *starts;
  int32_t *columns;
  void *values;
  double *labels;
  size_t rows, entries, row_room, entry_room, rows_before, entries_before;
} libsvm_source;

/* What one pass finds out. */
typedef struct libsvm_found {
  size_t rows, entries, cols;
  bool fractions;    /* a label is not a whole number */
  scl_labels labels; /* where they may be classes */
} libsvm_found;

/* ------------ several processes (libsvm_divided.c) */

/* Give this process its share of the bytes of all files, in which rows and lines are numbered from its
 * beginning. *divided: whether the processes read
 * shares; whole: the rows of all are to be in memory. */
scl_status libsvm_divide(libsvm_source *s, bool whole, bool *divided, scl_error *error);
/* After the pass over the share, with its status: what all have found. *again: the files are to be
 * read by each process, as some share could not be, and the sentence about it counts rows and lines
 * from the beginning. */
scl_status libsvm_join(libsvm_source *s, scl_status mine, libsvm_found *found, bool *again,
                       scl_error *error);
/* The rows of all shares into the table, once for all processes of the machine. */
scl_status libsvm_join_rows(libsvm_source *s, const libsvm_found *found, bool sparse,
                            scl_table *out, bool *again, scl_error *error);

#endif
