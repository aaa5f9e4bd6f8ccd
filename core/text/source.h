/* Texts as a source of sparse rows, which are made again in each pass: their memory is that of a
 * block. */
#ifndef SCULLERY_TEXT_SOURCE_H
#define SCULLERY_TEXT_SOURCE_H

#include "rows/source.h"
#include "text/encoder.h"

/* A reference to the texts and to y, which may be NULL; the encoder is borrowed. */
scl_status scl_source_texts(const scl_texts *texts, const scl_text_encoder *encoder,
                            const scl_matrix *y, scl_source **out, scl_error *error);

#endif
