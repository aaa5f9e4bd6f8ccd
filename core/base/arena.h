/* Arena: blocks of memory that are all released by one call at the end of a job, in place of one
 * release for each block on every return path.
 *
 *   scl_arena arena = {0};
 *   double *sums = scl_arena_take(&arena, n * sizeof *sums);
 *   ...
 *   scl_arena_end(&arena);
 *
 * An arena belongs to one thread. */
#ifndef SCULLERY_ARENA_H
#define SCULLERY_ARENA_H

#include "base/memory.h"

typedef struct scl_arena {
  struct scl_arena_chunk *chunks; /* the first is being filled; NULL: empty */
  size_t last;                    /* size of the last shared chunk in bytes; 0: none yet */
} scl_arena;

/* A 64-byte aligned block, uninitialised, valid until scl_arena_end. NULL: out of memory. Small
 * blocks share chunks, whose sizes double; a large block is a chunk by itself. */
void *scl_arena_take(scl_arena *arena, size_t bytes);
/* Release all blocks. The arena is empty afterwards and can be used again. */
void scl_arena_end(scl_arena *arena);

#endif
