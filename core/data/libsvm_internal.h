/* Lines of LIBSVM text, shared by reading whole and by blocks. */
#ifndef SCULLERY_LIBSVM_INTERNAL_H
#define SCULLERY_LIBSVM_INTERNAL_H

#include "base/memory.h"
#include <stdbool.h>

/* Called for the label (index 0) and each index:value of a row (from 0); false where the reader
 * cannot take it, for the reason in `refusal`. */
typedef struct libsvm_consumer {
  bool (*take)(void *context, size_t row, size_t index, double value);
  void *context;
  const char *refusal;
} libsvm_consumer;

/* Where in the file a word stands. */
typedef struct libsvm_place {
  const char *path, *line;
  size_t row, number; /* the row of X and the line of the file, both from 1 */
} libsvm_place;

/* Whole lines of text; *place is that of the next line afterwards. */
scl_status libsvm_scan(libsvm_place *place, const char *text, size_t length,
                       const libsvm_consumer *c, scl_error *error);

#endif
