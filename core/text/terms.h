/* The terms of a text: its words or characters, and runs of them (n-grams), as the texts by which
 * they are hashed and named.
 *
 * Words: the longest runs of letters (letters.h), of at least two characters unless `single`; the
 * words of a term stand with one space between them. Characters: those of the text, where a run of
 * white space is one space. Bytes that are not part of valid UTF-8 separate words, and are the
 * character U+FFFD. */
#ifndef SCULLERY_TERMS_H
#define SCULLERY_TERMS_H

#include "base/memory.h"
#include <stdint.h>

typedef struct scl_text_form {
  bool characters;    /* terms are runs of characters; else of words */
  bool single;        /* words of one character are words too */
  bool exact;         /* upper case is not changed to lower case */
  size_t least, most; /* lengths of the runs, at least 1 */
} scl_text_form;

/* What was read of a text: unit i (a word or a character) is text starts[i] .. ends[i]-1. {0} is
 * empty; it is used for one text after the other. */
typedef struct scl_terms {
  char *text;
  size_t *starts, *ends;
  size_t count;
  size_t text_room, unit_room;
} scl_terms;

scl_status scl_terms_read(scl_terms *terms, const scl_text_form *form, const char *text,
                          size_t length, scl_error *error);
void scl_terms_release(scl_terms *terms);

/* The runs of `length` units of the text that was read: there are scl_terms_runs of them, and run i
 * is the returned text of *bytes bytes. */
static inline size_t scl_terms_runs(const scl_terms *terms, size_t length) {
  return terms->count < length ? 0 : terms->count - length + 1;
}
static inline const char *scl_terms_run(const scl_terms *terms, size_t i, size_t length,
                                        size_t *bytes) {
  *bytes = terms->ends[i + length - 1] - terms->starts[i];
  return terms->text + terms->starts[i];
}

/* MurmurHash3 of 32 bits, seed 0 (Austin Appleby, public domain), of the bytes in little-endian
 * order. */
uint32_t scl_hash_text(const char *text, size_t length);

#endif
