/* Texts as sparse rows: how often each term is in a text, in the column of the term. With a
 * vocabulary a term has its own column, and terms without one are left out. Without one the column
 * is |h| modulo 2^bits, for the hash h of the term (scl_hash_text) as a signed number, and terms
 * that share a column add up: the columns of scikit-learn's HashingVectorizer with alternate_sign =
 * False. */
#ifndef SCULLERY_ENCODER_H
#define SCULLERY_ENCODER_H

#include "algebra/csr.h"
#include "text/vocabulary.h"

/* The most bits of hashed columns, and units of a term. */
enum { SCL_TEXT_BITS_MOST = 30, SCL_TEXT_RUN_MOST = 16 };

typedef struct scl_text_encoder {
  scl_text_form form;
  unsigned bits;             /* 1 .. SCL_TEXT_BITS_MOST; without meaning where there are terms */
  bool named;                /* columns are those of the vocabulary */
  bool binary;               /* each number is 1 */
  scl_vocabulary vocabulary; /* {0} unless `named` */
} scl_text_encoder;

/* Release an encoder from scl_allocate, and its vocabulary; NULL does nothing. */
void scl_text_encoder_destroy(scl_text_encoder *encoder);
/* The number of columns. */
size_t scl_text_encoder_cols(const scl_text_encoder *encoder);
/* The column of a term of that text, from 0; -1: it has none. */
int32_t scl_text_encoder_column(const scl_text_encoder *encoder, const char *term, size_t length);
/* *out = the rows of the texts, in float32. They are made in parallel, and do not depend on the
 * threads. */
scl_status scl_text_encode(const scl_text_encoder *encoder, const scl_texts *texts, scl_csr *out,
                           scl_error *error);

#endif
