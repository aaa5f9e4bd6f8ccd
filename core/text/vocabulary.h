/* The vocabulary of texts: the terms that have a column each. Columns are in the order of the bytes
 * of the terms. It is constant once it is made. */
#ifndef SCULLERY_VOCABULARY_H
#define SCULLERY_VOCABULARY_H

#include "text/terms.h"
#include "text/texts.h"

typedef struct scl_vocabulary {
  scl_texts terms;
  uint32_t *slots; /* a hash table: places in `terms` from 1, 0: free */
  size_t mask;     /* its size less 1 */
} scl_vocabulary;

/* Of terms that are all different; takes a reference to them. SCL_STATUS_BAD_DATA: two are equal. */
scl_status scl_vocabulary_create(const scl_texts *terms, scl_vocabulary *out, scl_error *error);
/* Learn the terms that are in at least min_count of the texts; of more than `most` of them those in
 * most texts, of equally frequent ones the first in the order of bytes. *found, unless NULL: how
 * many different terms there were. The result does not depend on threads or on the order of the
 * texts. */
scl_status scl_vocabulary_learn(const scl_text_form *form, const scl_texts *texts, size_t min_count,
                                size_t most, scl_vocabulary *out, size_t *found, scl_error *error);
void scl_vocabulary_release(scl_vocabulary *vocabulary);

/* The column of a term, from 0; -1: it has none. */
int32_t scl_vocabulary_find(const scl_vocabulary *vocabulary, const char *term, size_t length);

#endif
