#include "rows/source.h"

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

void scl_source_destroy(scl_source *source) {
  if (source != NULL) source->class->destroy(source);
}
