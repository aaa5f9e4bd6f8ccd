/* What the harnesses of readers share (libFuzzer): each file read_*.c has fuzz_read, and is a
 * program with reader.c. The last bytes of an input choose options, so that a seed is a file as it
 * is. Afterwards nothing may be held, and every refusal has a sentence. */
#ifndef SCULLERY_FUZZ_READER_H
#define SCULLERY_FUZZ_READER_H

#include "algebra/matrix.h"

void fuzz_read(const uint8_t *data, size_t size);
extern bool fuzz_may_keep; /* memory afterwards, as of plugins that were loaded */

/* A file in memory with these bytes; it stands under this path until the next call with that
 * place (0 or 1). Packed by gzip where `packed`. */
const char *fuzz_file(int place, const uint8_t *data, size_t size, bool packed);
/* Byte `back` from the end, 0 where the input is shorter. */
static inline unsigned fuzz_choice(const uint8_t *data, size_t size, size_t back) {
  return back < size ? data[size - 1 - back] : 0;
}
/* Abort unless the status fits the sentence. */
void fuzz_check(scl_status status, const scl_error *error);
/* Abort, with the reason. */
void fuzz_fail(const char *why);
/* Read every number of a matrix. */
void fuzz_touch(const scl_matrix *a);
/* The input as a text in fresh memory, with a 0 behind it: a read past its end is seen. */
char *fuzz_text(const uint8_t *data, size_t size);
/* Make the bytes a file of arrays whose length of the header can be and whose digest fits, where
 * they have room for both. */
void fuzz_sign(char *bytes, size_t size);

#endif
