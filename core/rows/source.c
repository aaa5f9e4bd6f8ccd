/* Kinds of row sources in memory, and reading in order from sources that give blocks. */
#include "rows/source.h"

#include <string.h>

typedef struct matrix_source {
  scl_source base;
  scl_matrix x, y;
} matrix_source;

/* Slot `read` of a source of matrices in memory. */
static scl_status matrix_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  (void)error;
  matrix_source *self = (matrix_source *)source;
  scl_matrix rows = scl_matrix_slice(&self->x, first, count, 0, self->x.cols);
  scl_matrix_assign(&rows, x);
  scl_matrix_release(&rows);
  if (y != NULL && self->y.storage != NULL) {
    rows = scl_matrix_slice(&self->y, first, count, 0, self->y.cols);
    scl_matrix_assign(&rows, y);
    scl_matrix_release(&rows);
  }
  return SCL_STATUS_OK;
}

static void matrix_destroy(scl_source *source) {
  matrix_source *self = (matrix_source *)source;
  scl_matrix_release(&self->x);
  scl_matrix_release(&self->y);
  scl_release(self);
}

static const scl_source_class matrix_class = {.read = matrix_read, .destroy = matrix_destroy};

scl_status scl_source_matrix(const scl_matrix *x, const scl_matrix *y, scl_source **out,
                             scl_error *error) {
  if (y != NULL && y->rows != x->rows)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X and y have %zu and %zu rows", x->rows, y->rows);
  matrix_source *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return scl_fail_memory(error, sizeof *self, "a source of rows");
  self->base = (scl_source){.class = &matrix_class,
                            .rows = x->rows,
                            .cols = x->cols,
                            .targets = y == NULL ? 0 : y->cols,
                            .random_access = true,
                            .parallel = true};
  self->x = scl_matrix_share(x);
  if (y != NULL) self->y = scl_matrix_share(y);
  *out = &self->base;
  return SCL_STATUS_OK;
}

/* ------------ sparse rows in memory */

typedef struct csr_source {
  scl_source base;
  scl_csr x;
  scl_matrix y;
} csr_source;

/* Slot `read_sparse`: a view. */
static scl_status csr_read(scl_source *source, size_t first, size_t count, scl_csr *x,
                           scl_matrix *y, scl_error *error) {
  const csr_source *self = (const csr_source *)source;
  (void)error;
  *x = scl_csr_slice(&self->x, first, count);
  if (y == NULL || self->y.storage == NULL) return SCL_STATUS_OK;
  scl_matrix rows = scl_matrix_slice(&self->y, first, count, 0, self->y.cols);
  scl_matrix_assign(&rows, y);
  scl_matrix_release(&rows);
  return SCL_STATUS_OK;
}

static void csr_destroy(scl_source *source) {
  csr_source *self = (csr_source *)source;
  scl_csr_release(&self->x);
  scl_matrix_release(&self->y);
  scl_release(self);
}

scl_status scl_source_csr(const scl_csr *x, const scl_matrix *y, scl_source **out,
                          scl_error *error) {
  static const scl_source_class csr_class = {.read_sparse = csr_read, .destroy = csr_destroy};
  if (y != NULL && y->rows != x->rows)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X and y have %zu and %zu rows", x->rows, y->rows);
  csr_source *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return scl_fail_memory(error, sizeof *self, "a source of rows");
  self->base = (scl_source){.class = &csr_class,
                            .rows = x->rows,
                            .cols = x->cols,
                            .targets = y == NULL ? 0 : y->cols,
                            .random_access = true,
                            .parallel = true,
                            .sparse = true,
                            .memory = &self->x};
  self->x = scl_csr_share(x);
  if (y != NULL) self->y = scl_matrix_share(y);
  *out = &self->base;
  return SCL_STATUS_OK;
}

/* ------------ some columns of another */

typedef struct columns_source {
  scl_source base;
  scl_source *from;
  size_t *places;
} columns_source;

/* Slot `read` where the other source has sparse rows, of which only the wanted columns are made. */
static scl_status sparse_columns_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                      scl_matrix *y, scl_error *error) {
  const columns_source *self = (const columns_source *)source;
  scl_csr rows;
  SCL_TRY(scl_source_sparse(self->from, first, count, &rows, y, error));
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < source->cols; j++)
      scl_matrix_set(x, i, j, scl_csr_get(&rows, i, self->places[j]));
  scl_csr_release(&rows);
  return SCL_STATUS_OK;
}

/* Read all columns of the other source, and copy those that are wanted. */
static scl_status columns_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                               scl_matrix *y, scl_error *error) {
  const columns_source *self = (const columns_source *)source;
  scl_matrix all = {0};
  SCL_TRY(scl_matrix_create(count, self->from->cols, SCL_DTYPE_FLOAT64, &all, error));
  const scl_status status = scl_source_read(self->from, first, count, &all, y, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    for (size_t j = 0; j < source->cols; j++)
      scl_matrix_set(x, i, j, scl_matrix_get(&all, i, self->places[j]));
  scl_matrix_release(&all);
  return status;
}

static void columns_destroy(scl_source *source) {
  scl_release(((columns_source *)source)->places);
  scl_release(source);
}

static const scl_source_class columns_class = {.read = columns_read, .destroy = columns_destroy},
                              sparse_columns_class = {.read = sparse_columns_read,
                                                      .destroy = columns_destroy};

scl_status scl_source_columns(scl_source *from, const size_t *places, size_t count,
                              scl_source **out, scl_error *error) {
  for (size_t j = 0; j < count; j++)
    if (places[j] >= from->cols)
      return scl_fail(error, SCL_STATUS_BAD_SHAPE, "there is no column %zu: X has %zu",
                      places[j] + 1, from->cols);
  columns_source *self = scl_allocate_zero(sizeof *self);
  size_t *copy = self == NULL ? NULL : scl_allocate_array(count + 1, sizeof *copy);
  if (copy == NULL) {
    scl_release(self);
    return scl_fail_memory(error, count * sizeof *copy, "a choice of columns");
  }
  memcpy(copy, places, count * sizeof *copy);
  *self = (columns_source){.base = {.class = from->sparse ? &sparse_columns_class : &columns_class,
                                    .rows = from->rows,
                                    .cols = count,
                                    .targets = from->targets,
                                    .random_access = from->random_access,
                                    .parallel = from->parallel},
                           .from = from,
                           .places = copy};
  *out = &self->base;
  return SCL_STATUS_OK;
}

/* ------------ rows that are not there */

static scl_status read_absent(scl_source *source, size_t first, size_t count, scl_matrix *x,
                              scl_matrix *y, scl_error *error) {
  (void)source, (void)first, (void)count, (void)x, (void)y;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "this needs the rows, and there are only the sums over them");
}

static void destroy_absent(scl_source *source) { scl_release(source); }

scl_status scl_source_absent(size_t rows, size_t cols, size_t targets, scl_source **out,
                             scl_error *error) {
  static const scl_source_class absent_class = {.read = read_absent, .destroy = destroy_absent};
  scl_source *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return scl_fail_memory(error, sizeof *self, "a source of rows");
  *self = (scl_source){.class = &absent_class,
                       .rows = rows,
                       .cols = cols,
                       .targets = targets,
                       .random_access = true};
  *out = self;
  return SCL_STATUS_OK;
}

/* ------------ rows that come in order */

static void release_block(scl_source *source) {
  scl_matrix_release(&source->x);
  scl_matrix_release(&source->y);
  scl_csr_release(&source->csr);
  source->taken = 0;
}

scl_status scl_source_next(scl_source *source, scl_matrix *x, scl_matrix *y, scl_error *error) {
  *x = (scl_matrix){0};
  if (y != NULL) *y = (scl_matrix){0};
  const scl_status status = source->class->next(source, x, y, error);
  if (status == SCL_STATUS_OK) return status;
  scl_matrix_release(x);
  if (y != NULL) scl_matrix_release(y);
  return status;
}

scl_status scl_source_next_sparse(scl_source *source, scl_csr *x, scl_matrix *y, scl_error *error) {
  *x = (scl_csr){0};
  if (y != NULL) *y = (scl_matrix){0};
  const scl_status status = source->class->next_sparse(source, x, y, error);
  if (status == SCL_STATUS_OK) return status;
  scl_csr_release(x);
  if (y != NULL) scl_matrix_release(y);
  return status;
}

void scl_source_rewind(scl_source *source) {
  release_block(source);
  source->done = 0;
  if (source->class->rewind != NULL) source->class->rewind(source);
}

/* Rows of the block that came last which were not read yet. */
static size_t rows_left(const scl_source *source) {
  return (source->sparse ? source->csr.rows : source->x.rows) - source->taken;
}

/* Make sure that the block has rows that were not read yet. Fails at the end: the file has fewer
 * rows than when it was opened. */
static scl_status have_rows(scl_source *source, scl_error *error) {
  if (rows_left(source) > 0) return SCL_STATUS_OK;
  release_block(source);
  SCL_TRY(source->sparse ? scl_source_next_sparse(source, &source->csr, &source->y, error)
                         : scl_source_next(source, &source->x, &source->y, error));
  if (rows_left(source) > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_IO, "%s: the file has fewer rows than when it was first read",
                  source->name);
}

/* Copy `count` rows of a, from row `from` on, to the rows of b from `to` on. */
static void copy_rows(const scl_matrix *a, size_t from, size_t count, const scl_matrix *b,
                      size_t to) {
  scl_matrix rows = scl_matrix_slice(a, from, count, 0, a->cols),
             place = scl_matrix_slice(b, to, count, 0, b->cols);
  scl_matrix_assign(&rows, &place);
  scl_matrix_release(&rows);
  scl_matrix_release(&place);
}

/* Take the targets of the next `some` rows to rows `to` .. of y, and go on behind these rows. */
static void pass_rows(scl_source *source, size_t some, const scl_matrix *y, size_t to) {
  if (y != NULL && source->targets > 0) copy_rows(&source->y, source->taken, some, y, to);
  source->taken += some;
  source->done += some;
}

/* Called first by a read of rows in order: the next row is `first`. */
static scl_status begin_in_order(scl_source *source, size_t first, scl_error *error) {
  const size_t read = source->done + rows_left(source);
  const bool back = first < source->done;
  const bool far = first > read;
  size_t passed;
  if (source->class->skip != NULL && first > 0 &&
      (back || (far && (source->seeks || source->done == 0))))
    SCL_TRY(scl_source_skip(source, first, &passed, error));
  else if (back || first == 0)
    scl_source_rewind(source);
  while (source->done < first) {
    SCL_TRY(have_rows(source, error));
    pass_rows(source, scl_min(first - source->done, rows_left(source)), NULL, 0);
  }
  return SCL_STATUS_OK;
}

/* scl_source_read of sources with `next`: rows are taken from the block that came last, and from
 * the blocks after it. */
static scl_status read_in_order(scl_source *source, size_t first, size_t count, scl_matrix *x,
                                scl_matrix *y, scl_error *error) {
  SCL_TRY(begin_in_order(source, first, error));
  for (size_t to = 0, some; to < count; to += some) {
    SCL_TRY(have_rows(source, error));
    some = scl_min(count - to, rows_left(source));
    copy_rows(&source->x, source->taken, some, x, to);
    pass_rows(source, some, y, to);
  }
  return SCL_STATUS_OK;
}

/* The same of sources with `next_sparse`: a view where the rows are in one block, else a copy. */
static scl_status sparse_in_order(scl_source *source, size_t first, size_t count, scl_csr *x,
                                  scl_matrix *y, scl_error *error) {
  scl_status status = begin_in_order(source, first, error);
  for (size_t to = 0, some; status == SCL_STATUS_OK && to < count; to += some) {
    status = have_rows(source, error);
    if (status != SCL_STATUS_OK) break;
    some = scl_min(count - to, rows_left(source));
    scl_csr parts[2] = {*x, scl_csr_slice(&source->csr, source->taken, some)};
    *x = parts[1];
    if (to > 0) {
      status = scl_csr_join(parts, 2, x, error);
      scl_csr_release(&parts[0]);
      scl_csr_release(&parts[1]);
    }
    pass_rows(source, some, y, to);
  }
  if (status != SCL_STATUS_OK) scl_csr_release(x);
  return status;
}

double scl_source_entries(const scl_source *source) {
  enum { GUESS = 100 };
  const scl_csr *x = source->memory;
  if (x != NULL && x->rows > 0) return (double)scl_csr_entries(x) / (double)x->rows;
  return (double)scl_min(source->cols, GUESS);
}

scl_status scl_source_sparse(scl_source *source, size_t first, size_t count, scl_csr *x,
                             scl_matrix *y, scl_error *error) {
  *x = (scl_csr){0};
  return (source->class->read_sparse != NULL ? source->class->read_sparse
                                             : sparse_in_order)(source, first, count, x, y, error);
}

/* scl_source_read of sources with `sparse`; the columns of x are adjacent. */
static scl_status read_dense(scl_source *source, size_t first, size_t count, scl_matrix *x,
                             scl_matrix *y, scl_error *error) {
  scl_csr rows;
  SCL_TRY(scl_source_sparse(source, first, count, &rows, y, error));
  scl_csr_fill(&rows, 0, count, x->dtype, x->data, x->row_stride);
  scl_csr_release(&rows);
  return SCL_STATUS_OK;
}

scl_status scl_source_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                           scl_matrix *y, scl_error *error) {
  if (source->sparse) return read_dense(source, first, count, x, y, error);
  return (source->class->read != NULL ? source->class->read : read_in_order)(source, first, count,
                                                                             x, y, error);
}

scl_status scl_source_skip(scl_source *source, size_t rows, size_t *passed, scl_error *error) {
  *passed = 0;
  if (source->class->skip == NULL) return SCL_STATUS_OK;
  scl_source_rewind(source);
  const scl_status status = source->class->skip(source, rows, passed, error);
  if (status == SCL_STATUS_OK)
    source->done = *passed;
  else
    scl_source_rewind(source); /* a seek that failed may have moved it */
  return status;
}

void scl_source_destroy(scl_source *source) {
  if (source == NULL) return;
  release_block(source);
  source->class->destroy(source);
}
