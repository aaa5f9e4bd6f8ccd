/* Arena: memory that is released all at once, at the end of a job. It takes the place of one
 * release for each block, on every way out of a function.
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
  struct scl_arena_chunk *chunks; /* the first is being filled; NULL: nothing was taken */
  size_t last;                    /* bytes of the last chunk that several blocks share; 0: none */
} scl_arena;

/* 64-byte aligned memory, not set, valid until scl_arena_end; NULL when there is none. Small blocks
 * share chunks of scl_allocate, whose sizes double; a large block has one of its own. */
void *scl_arena_take(scl_arena *arena, size_t bytes);
/* The same, set to zero. */
void *scl_arena_take_zero(scl_arena *arena, size_t bytes);
/* count * size, refusing what overflows. */
void *scl_arena_take_array(scl_arena *arena, size_t count, size_t size);
/* Release everything. The arena is empty then, and may be used again. */
void scl_arena_end(scl_arena *arena);

#endif
