/* The one allocator. */
#ifndef SCULLERY_MEMORY_H
#define SCULLERY_MEMORY_H

#include "base/error.h"
#include "base/numbers.h"
#include <stdbool.h>

/* Whether there is memory for `bytes` more, by scl_memory_left(), for what takes it from
 * elsewhere. */
bool scl_memory_admits(size_t bytes);
/* 64-byte aligned memory; NULL when there is none, or less than scl_memory_left() says. Contents
 * are not set. */
void *scl_allocate(size_t bytes);
/* The same, set to zero (fresh pages come zeroed from the system where they are large). */
void *scl_allocate_zero(size_t bytes);
/* count * size, refusing what overflows. */
void *scl_allocate_array(size_t count, size_t size);
/* The array with room for one more than the `count` elements of `size` bytes in it: itself, or a
 * larger copy. NULL: no memory, and the array stands as it was. */
void *scl_grow(void *array, size_t count, size_t *room, size_t size);
void scl_release(void *memory);
/* The bytes that were asked for when it was allocated; NULL: 0. */
size_t scl_allocated_for(const void *memory);
/* Each of several: SCL_RELEASE(sums->right, sums->sum) */
#define SCL_RELEASE(...)                                                                           \
  scl_release_each(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *),                          \
                   (void *const[]){__VA_ARGS__})
void scl_release_each(size_t count, void *const *memory);

/* For the command, at its start: released blocks below 4 MB serve the next ones, up to 32 MB of
 * them. The C library otherwise gives them back to the system, which zeroes them again for each
 * pass of a solver. MALLOC_... and GLIBC_TUNABLES in the environment have precedence. */
void scl_memory_keep_released(void);

/* Bytes held now, and the most held since the last reset. */
size_t scl_allocated(void);
size_t scl_allocated_peak(void);
void scl_allocated_peak_reset(void);

/* Tests only: let the next `count` allocations succeed and the one after them fail (once); a
 * negative count turns this off. */
void scl_allocate_fail_after(long count);
/* Tests only: whether the contents of new memory that is not set are NaN (every byte 0xff), so that
 * a result that depends on them shows. */
void scl_allocate_spoil(bool spoil);

#endif
