/* Blocks of memory that are released together, cut from a few chunks. */
#include "base/arena.h"

/* A chunk is one block of scl_allocate: this header, padded to ALIGNMENT, and then the bytes of its
 * blocks. */
typedef struct scl_arena_chunk {
  struct scl_arena_chunk *next;
  size_t used, size;
} scl_arena_chunk;

/* Bytes: alignment of blocks; the first chunk, which later ones double; the largest chunk; blocks
 * of LARGE or more have a separate chunk. */
enum { ALIGNMENT = 64, FIRST = 1 << 12, MOST = 1 << 20, LARGE = 1 << 16 };

/* The sanitizers check the ends of chunks, but not of blocks inside them: there every block has a
 * separate chunk. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool share_chunks = false;
#else
static const bool share_chunks = true;
#endif

/* Cut the next `bytes` of a chunk, which has them. */
static void *take_from(scl_arena_chunk *chunk, size_t bytes) {
  void *block = (char *)chunk + ALIGNMENT + chunk->used;
  chunk->used += bytes;
  return block;
}

void *scl_arena_take(scl_arena *arena, size_t bytes) {
  scl_arena_chunk *first = arena->chunks;
  if (bytes > SIZE_MAX / 4) return NULL;
  const size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  if (first != NULL && share_chunks && whole <= first->size - first->used)
    return take_from(first, whole);
  const bool full = !share_chunks || whole >= LARGE;
  const size_t size = full ? bytes : scl_max(whole, scl_min(scl_max(2 * arena->last, FIRST), MOST));
  scl_arena_chunk *chunk = scl_allocate(ALIGNMENT + size);
  if (chunk == NULL) return NULL;
  *chunk = (scl_arena_chunk){.size = size};
  /* A full chunk goes second, so that the first still has free bytes. */
  scl_arena_chunk **place = full && first != NULL ? &first->next : &arena->chunks;
  chunk->next = *place;
  *place = chunk;
  if (!full) arena->last = size;
  return take_from(chunk, full ? bytes : whole);
}

void scl_arena_end(scl_arena *arena) {
  scl_arena_chunk *chunk = arena->chunks;
  *arena = (scl_arena){0};
  while (chunk != NULL) {
    scl_arena_chunk *next = chunk->next;
    scl_release(chunk);
    chunk = next;
  }
}
