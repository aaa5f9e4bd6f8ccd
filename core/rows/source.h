/* Rows on demand: a matrix in memory, a file, a generator. Rows of which most numbers are 0 may come
 * as compressed sparse rows (`sparse`). */
#ifndef SCULLERY_SOURCE_H
#define SCULLERY_SOURCE_H

#include "algebra/csr.h"

typedef struct scl_source scl_source;

/* A kind of source has either `read`, if any row can be read or rows are made on demand, or `next`
 * (and perhaps `rewind`), if rows come in the order of a file. */
typedef struct scl_source_class {
  /* Fill x (count x cols, either dtype) with rows first .. first+count-1, and y (count x targets,
   * float64) unless it is NULL. Unless `random_access`, the rows between the end of the last call
   * and `first` are read and dropped, after a return to the first row if there are none. */
  scl_status (*read)(scl_source *source, size_t first, size_t count, scl_matrix *x, scl_matrix *y,
                     scl_error *error);
  void (*destroy)(scl_source *source);
  /* Make the next block of rows in *x and, with targets, in *y. Both are empty before the call, and
   * remain empty at the end of the file. The caller releases them, also after an error. */
  scl_status (*next)(scl_source *source, scl_matrix *x, scl_matrix *y, scl_error *error);
  /* Go back to the first row. NULL: rows can be read only once. */
  void (*rewind)(scl_source *source);
  /* After `rewind`: begin at the last place that is known in the file with at most `rows` rows
   * before it, *passed of them, which are not made. NULL: every row is made. */
  scl_status (*skip)(scl_source *source, size_t rows, size_t *passed, scl_error *error);
  /* Of sources with `sparse`, instead of `read` or `next`: *x is a view of rows, or new rows, which
   * the caller releases; *x is empty before the call. y as for `read` and `next`. */
  scl_status (*read_sparse)(scl_source *source, size_t first, size_t count, scl_csr *x,
                            scl_matrix *y, scl_error *error);
  scl_status (*next_sparse)(scl_source *source, scl_csr *x, scl_matrix *y, scl_error *error);
} scl_source_class;

/* First member of every kind of source. */
struct scl_source {
  const scl_source_class *class;
  size_t rows, cols,
      targets; /* targets: columns of y, 0 when it has none; rows: 0 where rows can be
                                 read once only */
  bool random_access;
  bool seeks;            /* `skip` takes no longer for rows far behind */
  bool parallel;         /* read may be called on several threads at once */
  bool sparse;           /* scl_source_sparse gives its rows, */
  const scl_csr *memory; /* as views of these; NULL: rows are made when they are read */
  const char *name;      /* of the file, for messages, where there is `next` */
  /* Where there is `next`, for scl_source_read: the block that came last, how many of its rows were
   * read, and how many rows of the source. */
  scl_matrix x, y;
  scl_csr csr; /* instead of x */
  size_t taken, done;
};

/* Numbers of a sparse row: the mean of all rows, or a guess. */
double scl_source_entries(const scl_source *source);
/* As scl_source_class.read, of every kind of source. The columns of x are adjacent. */
scl_status scl_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                           scl_matrix *y, scl_error *error);
/* *x = rows first .. first+count-1 of a source with `sparse`, which the caller releases; it may share
 * their storage. y and the order of calls as for scl_source_read, which gives the same rows dense. */
scl_status scl_source_sparse(scl_source *source, size_t first, size_t count, scl_csr *x,
                             scl_matrix *y, scl_error *error);
/* The next block of a source that has `next`, into x and y, which the caller releases (y may be
 * NULL without targets); no storage: there are no more rows. Not to be mixed with
 * scl_source_read. */
scl_status scl_source_next(scl_source *source, scl_matrix *x, scl_matrix *y, scl_error *error);
/* The same of a source that has `next_sparse`. */
scl_status scl_source_next_sparse(scl_source *source, scl_csr *x, scl_matrix *y, scl_error *error);
/* Begin again and pass over the first rows, up to `rows`, without reading them: *passed = how many
 * were passed over. For sources that are read in order; the next row to be read is *passed. */
scl_status scl_source_skip(scl_source *source, size_t rows, size_t *passed, scl_error *error);
/* Release the block that came last, and begin again. */
void scl_source_rewind(scl_source *source);

/* Rows of x (and of y, which may be NULL), sharing their storage. */
scl_status scl_source_matrix(const scl_matrix *x, const scl_matrix *y, scl_source **out,
                             scl_error *error);
/* The same of compressed sparse rows, of at most INT32_MAX columns. */
scl_status scl_source_csr(const scl_csr *x, const scl_matrix *y, scl_source **out,
                          scl_error *error);
/* The columns places[0 .. count-1] (from 0) of another source's rows, in that order; y as it is.
 * `from` is borrowed. */
scl_status scl_source_columns(scl_source *from, const size_t *places, size_t count,
                              scl_source **out, scl_error *error);
/* A source that has only sizes, for models that are fitted from sums: reading rows fails. */
scl_status scl_source_absent(size_t rows, size_t cols, size_t targets, scl_source **out,
                             scl_error *error);
/* source may be NULL. */
void scl_source_destroy(scl_source *source);

#endif
