/* Blocks of huge pages from the system: fewer page faults and TLB misses. The system zeroes every
 * new page, which costs as much as a pass over it; a cache of at most SCL_PAGES_CACHE bytes
 * therefore holds recently released blocks for reuse by requests of about the same size. */
#ifndef SCULLERY_PAGES_H
#define SCULLERY_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_PAGES_CACHE = 96 << 20 };

/* A new block, zeroed and aligned to a huge page; NULL: out of memory. */
void *scl_pages_map(size_t bytes);
/* Call before the first write to part of a block of any memory; contents are unchanged. Where the
 * system is slow to provide huge pages, as on virtual machines whose host reclaims free memory,
 * this selects small pages instead. */
void scl_pages_prepare(void *part, size_t bytes);
/* A block from the cache, with undefined contents; NULL: none of a suitable size. */
void *scl_pages_reuse(size_t bytes);
/* Release a block of scl_pages_map or scl_pages_reuse to the cache or the system. `bytes`: as it
 * was requested. */
void scl_pages_release(void *block, size_t bytes);
/* Return cached blocks to the system. True if any were cached. */
bool scl_pages_trim(void);

#endif
