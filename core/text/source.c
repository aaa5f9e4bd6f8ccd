/* A source that makes rows of texts as they are read. */
#include "text/source.h"

typedef struct text_source {
  scl_source base;
  scl_texts texts;
  const scl_text_encoder *encoder;
  scl_matrix y;
} text_source;

static scl_status read_texts(scl_source *source, size_t first, size_t count, scl_csr *x,
                             scl_matrix *y, scl_error *error) {
  const text_source *self = (const text_source *)source;
  scl_texts some = scl_texts_slice(&self->texts, first, count);
  const scl_status status = scl_text_encode(self->encoder, &some, x, error);
  scl_texts_release(&some);
  if (status != SCL_STATUS_OK || y == NULL || self->y.storage == NULL) return status;
  scl_matrix targets = scl_matrix_slice(&self->y, first, count, 0, self->y.cols);
  scl_matrix_assign(&targets, y);
  scl_matrix_release(&targets);
  return SCL_STATUS_OK;
}

static void destroy_texts(scl_source *source) {
  text_source *self = (text_source *)source;
  scl_texts_release(&self->texts);
  scl_matrix_release(&self->y);
  scl_release(self);
}

scl_status scl_source_texts(const scl_texts *texts, const scl_text_encoder *encoder,
                            const scl_matrix *y, scl_source **out, scl_error *error) {
  static const scl_source_class text_class = {.read_sparse = read_texts, .destroy = destroy_texts};
  if (y != NULL && y->rows != texts->count)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X and y have %zu and %zu rows", texts->count,
                    y->rows);
  text_source *self = scl_allocate_zero(sizeof *self);
  if (self == NULL) return scl_fail_memory(error, sizeof *self, "a source of rows");
  self->base = (scl_source){.class = &text_class,
                            .rows = texts->count,
                            .cols = scl_text_encoder_cols(encoder),
                            .targets = y == NULL ? 0 : y->cols,
                            .random_access = true,
                            .parallel = true,
                            .sparse = true};
  self->texts = scl_texts_share(texts);
  self->encoder = encoder;
  if (y != NULL) self->y = scl_matrix_share(y);
  *out = &self->base;
  return SCL_STATUS_OK;
}
