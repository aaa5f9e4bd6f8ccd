/* The allocator of the engine. Blocks are 64-byte aligned and counted. */
#ifndef SCULLERY_MEMORY_H
#define SCULLERY_MEMORY_H

#include "base/error.h"
#include "base/numbers.h"
#include <stdbool.h>

/* Whether `bytes` more fit into scl_memory_left(): for memory that another allocator provides. */
bool scl_memory_admits(size_t bytes);
/* scl_memory_left(), as it was when a sixteenth of it had last been requested, less this sixteenth:
 * without reading files. */
size_t scl_memory_left_about(void);
/* An uninitialised block. NULL: out of memory, or scl_memory_left() is less than `bytes`. */
void *scl_allocate(size_t bytes);
/* The same, set to zero. Large blocks of new pages are zeroed by the system. */
void *scl_allocate_zero(size_t bytes);
/* count * size bytes; NULL also where the product overflows. */
void *scl_allocate_array(size_t count, size_t size);
/* Make room for one more element in an array of `count` elements of `size` bytes with capacity
 * *room. Returns the array, or a larger copy that replaces it; NULL: out of memory, and the array
 * is unchanged. */
void *scl_grow(void *array, size_t count, size_t *room, size_t size);
void scl_release(void *memory);
/* The size in bytes with which a block was allocated; 0 for NULL. */
size_t scl_allocated_for(const void *memory);
/* Release several blocks: SCL_RELEASE(sums->right, sums->sum) */
#define SCL_RELEASE(...) \
  scl_release_each(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *), \
                   (void *const[]){__VA_ARGS__})
void scl_release_each(size_t count, void *const *memory);

/* The first `bytes` bytes (not 0) of a file as a block: what is written to it is seen by all
 * processes that map the file. The block has the descriptor, and scl_release closes it; NULL: it
 * could not be mapped, and the descriptor is the caller's. */
void *scl_allocate_mapped(size_t bytes, int file);
/* From now on the block is this process's own: it has the bytes of the file, and writing copies the
 * pages that are written. False: it could not be mapped, and can only be released. */
bool scl_mapped_part(void *memory);
/* Close the descriptor of a block that will not be parted. */
void scl_mapped_close(void *memory);

/* Let malloc keep up to 32 MB of released blocks below 4 MB for reuse. By default it returns them
 * to the system, which zeroes the pages again for each pass of a solver. Called by the command at
 * its start; MALLOC_... variables and GLIBC_TUNABLES have precedence. */
void scl_memory_keep_released(void);
/* Give released memory back to the system, where the C library can. */
void scl_memory_trim(void);

/* Bytes allocated now, and their peak since the last reset. */
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
