#include "rows/source.h"

#include <string.h>

typedef struct matrix_source {
  scl_source base;
  scl_matrix x, y;
} matrix_source;

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

static const scl_source_class matrix_class = {matrix_read, matrix_destroy};

scl_status scl_source_matrix(const scl_matrix *x, const scl_matrix *y, scl_source **out,
                             scl_error *error) {
  if (y != NULL && y->rows != x->rows)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X has %zu rows and y has %zu", x->rows, y->rows);
  matrix_source *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return scl_fail_memory(error, sizeof *self, "a source of rows");
  self->base = (scl_source){&matrix_class, x->rows, x->cols, y == NULL ? 0 : y->cols, true, true};
  self->x = scl_matrix_share(x);
  if (y != NULL) self->y = scl_matrix_share(y);
  *out = &self->base;
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ some columns of another */

typedef struct columns_source {
  scl_source base;
  scl_source *from;
  size_t *places;
} columns_source;

static scl_status columns_read(scl_source *source, size_t first, size_t count, scl_matrix *x,
                               scl_matrix *y, scl_error *error) {
  const columns_source *self = (const columns_source *)source;
  scl_matrix all = {0};
  SCL_TRY(scl_matrix_create(count, self->from->cols, SCL_DTYPE_FLOAT64, &all, error));
  const scl_status status = self->from->class->read(self->from, first, count, &all, y, error);
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

static const scl_source_class columns_class = {columns_read, columns_destroy};

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
  *self = (columns_source){.base = {&columns_class, from->rows, count, from->targets,
                                    from->random_access, from->parallel},
                           .from = from,
                           .places = copy};
  *out = &self->base;
  return SCL_STATUS_OK;
}

void scl_source_destroy(scl_source *source) {
  if (source != NULL) source->class->destroy(source);
}
