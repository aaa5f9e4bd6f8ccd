/* What everything in the engine stands on: status with a sentence, and one allocator. */
#ifndef SCULLERY_BASE_H
#define SCULLERY_BASE_H

#include <scullery/plugin.h>
#include <stdbool.h>

/* Return early with the status of a call that failed. */
#define SCL_TRY(call)                                                                              \
  do {                                                                                             \
    const scl_status scl_try_ = (call);                                                            \
    if (scl_try_ != SCL_STATUS_OK) return scl_try_;                                                \
  } while (0)

/* Store a sentence and return the status. `error` may be NULL. */
SCL_PRINTF(3, 4) scl_status scl_fail(scl_error *error, scl_status status, const char *format, ...);

/* Put "what: " before the sentence that `error` holds; returns its status. */
SCL_PRINTF(2, 3) scl_status scl_prefix(scl_error *error, const char *format, ...);

/* SCL_STATUS_NO_MEMORY with the bytes that were asked for, and for what. */
scl_status scl_fail_memory(scl_error *error, size_t bytes, const char *what);

/* 64-byte aligned memory; NULL when there is none, or when nine tenths of the machine's would be
 * held. Contents are not set. */
void *scl_allocate(size_t bytes);
/* The same, set to zero (fresh pages come zeroed from the system where they are large). */
void *scl_allocate_zero(size_t bytes);
/* count * size, refusing what overflows. */
void *scl_allocate_array(size_t count, size_t size);
void scl_release(void *memory);
char *scl_copy_text(const char *text);

/* Bytes held now, and the most held since the last reset. */
size_t scl_allocated(void);
size_t scl_allocated_peak(void);
void scl_allocated_peak_reset(void);

/* Tests only: let the next `count` allocations succeed and the one after them fail (once); a
 * negative count turns this off. */
void scl_allocate_fail_after(long count);

/* The number of bytes in words: "1.6 GB". Writes into text and returns it. */
const char *scl_bytes_text(double bytes, char text[32]);

static inline size_t scl_min(size_t a, size_t b) {
  return a < b ? a : b;
}
static inline size_t scl_max(size_t a, size_t b) {
  return a > b ? a : b;
}

#endif
