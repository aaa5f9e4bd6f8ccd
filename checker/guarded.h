/* Memory between two inaccessible pages: a read or write past its end, or before its beginning,
 * ends the process at once. For checks of plugins. */
#ifndef SCULLERY_CHECKER_GUARDED_H
#define SCULLERY_CHECKER_GUARDED_H

#include "base/error.h"
#include <stdbool.h>

typedef struct scl_guarded {
  unsigned char *bytes; /* the usable bytes */
  size_t size;
  unsigned char *pages; /* the inner pages, or the memory of the heap */
  size_t inner;         /* bytes of the inner pages; 0: from the heap */
  bool locked;
} scl_guarded;

enum {
  SCL_GUARDED_FILL = 0xff
}; /* every byte of it at first: each float is NaN, each integer -1 */

/* `size` bytes that end at the page behind them, so that they are aligned to the largest power of
 * two that divides size; or, at_start, that begin behind the page before them. 0 is a size. */
scl_status scl_guarded_create(size_t size, bool at_start, scl_guarded *out, scl_error *error);
/* The same from the heap, without the pages: twenty times as cheap, for the later ones of many. */
scl_status scl_guarded_create_plain(size_t size, scl_guarded *out, scl_error *error);
/* Makes it read-only: a later write ends the process. Memory of the heap stays writable. */
void scl_guarded_lock(scl_guarded *memory);
/* Whether the bytes between the page before it and its beginning are unchanged. */
bool scl_guarded_untouched(const scl_guarded *memory);
/* The memory is inaccessible afterwards, or for some time filled: who kept the pointer reads NaN,
 * and a write to it ends the process later. */
void scl_guarded_destroy(scl_guarded *memory);

#endif
