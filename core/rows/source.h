/* Rows on demand: a matrix in memory, a file that streams, a generator. */
#ifndef SCULLERY_SOURCE_H
#define SCULLERY_SOURCE_H

#include "algebra/matrix.h"

typedef struct scl_source scl_source;

typedef struct scl_source_class {
  /* Fill x (count x cols, either dtype) with rows first .. first+count-1, and y (count x targets,
   * float64) unless it is NULL. Called with first = 0 or where the last call ended, or, when
   * `random_access`, with any first. */
  scl_status (*read)(scl_source *source, size_t first, size_t count, scl_matrix *x, scl_matrix *y,
                     scl_error *error);
  void (*destroy)(scl_source *source);
} scl_source_class;

/* First member of every kind of source. */
struct scl_source {
  const scl_source_class *class;
  size_t rows, cols, targets; /* targets: columns of y, 0 when it has none */
  bool random_access;
  bool parallel; /* read may be called on several threads at once */
};

/* Rows of x (and of y, which may be NULL), sharing their storage. */
scl_status scl_source_matrix(const scl_matrix *x, const scl_matrix *y, scl_source **out,
                             scl_error *error);
/* The columns places[0 .. count-1] (from 0) of another source's rows, in that order; y as it is.
 * `from` is borrowed. */
scl_status scl_source_columns(scl_source *from, const size_t *places, size_t count,
                              scl_source **out, scl_error *error);
/* source may be NULL. */
void scl_source_destroy(scl_source *source);

#endif
