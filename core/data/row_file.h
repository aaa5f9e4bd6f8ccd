/* Rows written as they come: comma-separated text to a file or to the standard output, or a .npy
 * file. Files are written whole or not at all. */
#ifndef SCULLERY_ROW_FILE_H
#define SCULLERY_ROW_FILE_H

#include "algebra/matrix.h"

typedef struct scl_row_file scl_row_file;

typedef struct scl_row_format {
  bool npy;                 /* of float64, or of texts where there are labels; without ids */
  const char *const *names; /* of the columns of numbers: the first line of text */
  size_t cols;
  const char *id; /* name of a column of texts before them; NULL: none */
  /* Texts that the numbers 1, 2, ... of the one column stand for; NULL: numbers are themselves. */
  const char *const *labels;
  size_t n_labels;
  bool no_header;  /* text without its first line */
  bool append;     /* after the lines of the file that is there, whose first line is the same */
  unsigned digits; /* significant digits of numbers in text; 0: as many as tell them apart */
} scl_row_format;

typedef struct scl_text_part {
  const char *text;
  size_t length;
} scl_text_part;

/* path: NULL for the standard output. What the format points to is copied. */
scl_status scl_row_file_open(const char *path, const scl_row_format *format, scl_row_file **out,
                             scl_error *error);
/* Rows, with their ids where the format has them. Fails as soon as a byte could not be written. */
scl_status scl_row_file_write(scl_row_file *file, const scl_matrix *rows, const scl_text_part *ids,
                              scl_error *error);
/* Make it the file, or say why not. Afterwards the file can only be closed. */
scl_status scl_row_file_commit(scl_row_file *file, scl_error *error);
/* Where it was not committed, nothing stays. file may be NULL. */
void scl_row_file_close(scl_row_file *file);

#endif
