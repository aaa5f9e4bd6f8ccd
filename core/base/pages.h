/* Blocks of pages from the system, on huge pages (fewer faults, fewer misses of the address cache).
 * The system zeroes every new page, which costs as much as a pass over it: blocks that were given
 * back not long ago are kept for the next of about their size, SCL_PAGES_KEPT bytes at most. */
#ifndef SCULLERY_PAGES_H
#define SCULLERY_PAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_PAGES_KEPT = 96 << 20 };

/* `bytes` at a multiple of a huge page, zeroed; NULL: the system has none. */
void *scl_pages_map(size_t bytes);
/* Before the first writes to part of a block, of any memory; its contents stay. Huge pages are
 * dear where the system has to find the memory first, as on virtual machines whose host takes free
 * ones back: there small ones, of which it has some at hand, take their place. */
void scl_pages_prepare(void *part, size_t bytes);
/* A block that was kept, with whatever is in it, or NULL. */
void *scl_pages_kept(size_t bytes);
/* The end of a block of so many bytes, from either. */
void scl_pages_release(void *block, size_t bytes);
/* Blocks that are kept go back to the system; whether there were any. */
bool scl_pages_give_back(void);

#endif
