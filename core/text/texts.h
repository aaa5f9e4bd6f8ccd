/* Many texts in one piece of memory: their bytes one after the other, and where each begins. A
 * scl_texts is a view of reference-counted storage, passed by value. */
#ifndef SCULLERY_TEXTS_H
#define SCULLERY_TEXTS_H

#include "base/memory.h"

typedef struct scl_texts_storage scl_texts_storage;

typedef struct scl_texts {
  scl_texts_storage *storage; /* NULL in an empty scl_texts */
  const char *bytes;
  const int64_t *offsets; /* count + 1: text i is bytes offsets[i] .. offsets[i+1]-1 */
  size_t count;
} scl_texts;

static inline size_t scl_text_length(const scl_texts *texts, size_t i) {
  return (size_t)(texts->offsets[i + 1] - texts->offsets[i]);
}
static inline const char *scl_text_at(const scl_texts *texts, size_t i) {
  return texts->bytes + texts->offsets[i];
}

/* Another view, which takes a reference: all texts, or texts first .. first+count-1. */
scl_texts scl_texts_share(const scl_texts *texts);
scl_texts scl_texts_slice(const scl_texts *texts, size_t first, size_t count);
/* Release the reference of this view. *texts becomes empty. */
void scl_texts_release(scl_texts *texts);
/* *out = a copy of the texts places[0 .. count-1], in that order. */
scl_status scl_texts_take(const scl_texts *texts, const size_t *places, size_t count,
                          scl_texts *out, scl_error *error);
/* *out = text i of `a` followed by a newline and text i of `b`, which has as many. */
scl_status scl_texts_join(const scl_texts *a, const scl_texts *b, scl_texts *out, scl_error *error);
/* The bytes of the texts of a view. */
size_t scl_texts_bytes(const scl_texts *texts);
bool scl_texts_equal(const scl_texts *a, const scl_texts *b);
/* How many texts have bytes that are not valid UTF-8; the first of them, from 1 (0: none), and the
 * line of its first such byte. */
size_t scl_texts_invalid(const scl_texts *texts, size_t *first, size_t *line);

/* Texts that are being collected; {0} has none. */
typedef struct scl_texts_builder {
  char *bytes;
  int64_t *offsets; /* count + 1, NULL before the first text */
  size_t count, used, bytes_room, offsets_room;
} scl_texts_builder;

/* Append `length` bytes to the text that is being collected. */
scl_status scl_texts_add(scl_texts_builder *builder, const char *bytes, size_t length,
                         scl_error *error);
/* End this text; the next bytes belong to the next one. */
scl_status scl_texts_end(scl_texts_builder *builder, scl_error *error);
/* Append all texts of a view: as they are, or their bytes read as ISO 8859-1, in UTF-8. */
scl_status scl_texts_append(scl_texts_builder *builder, const scl_texts *texts, scl_error *error);
scl_status scl_texts_append_latin1(scl_texts_builder *builder, const scl_texts *texts,
                                   scl_error *error);
/* *out = the texts that were ended. The builder becomes empty, also after an error. */
scl_status scl_texts_finish(scl_texts_builder *builder, scl_texts *out, scl_error *error);
void scl_texts_builder_release(scl_texts_builder *builder);

#endif
