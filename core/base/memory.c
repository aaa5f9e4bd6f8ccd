/* The allocator: aligned blocks with their size in front of them, counted in total. Large blocks
 * are pages of the system (pages.h), small ones are of malloc. */
#define _GNU_SOURCE
#include "base/memory.h"

#include "base/memory_left.h"
#include "base/pages.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64, MALLOC_ALIGNMENT = _Alignof(max_align_t), LARGE_FROM = 1 << 22 };

/* The 64 bytes before each block: its size, from which the totals are counted, and what malloc
 * returned for it. */
typedef struct header {
  size_t bytes;
  void *start;
  bool mapped; /* of a file: `file` is its descriptor, -1 once it is closed */
  int file;
} header;
_Static_assert(sizeof(header) <= ALIGNMENT, "room for a header");
static atomic_size_t allocated, peak;
static atomic_long fail_after = -1;
static atomic_bool spoils;

/* For tests (scl_allocate_fail_after): whether this allocation is the one that fails. */
static bool must_fail(void) {
  return atomic_load(&fail_after) >= 0 && atomic_fetch_sub(&fail_after, 1) == 0;
}

void scl_allocate_fail_after(long count) { atomic_store(&fail_after, count); }
void scl_allocate_spoil(bool spoil) { atomic_store(&spoils, spoil); }

/* Add to the total, and raise the peak to it. */
static void count_block(size_t bytes) {
  size_t now = atomic_fetch_add(&allocated, bytes) + bytes;
  size_t most = atomic_load(&peak);
  while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
  }
}

/* Large blocks come from the system as pages (pages.h); under sanitizers from malloc, because they
 * check only blocks of malloc. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool use_pages = false;
#else
static const bool use_pages = true;
#endif
static bool is_large(size_t bytes) { return use_pages && bytes >= LARGE_FROM; }

/* The system grants more memory than it has, and kills the process when the pages are touched; so
 * the free memory is checked here. It is read again whenever a sixteenth of it has been
 * requested. */
static atomic_size_t asked, enough; /* enough: a sixteenth of the free memory when it was read */
bool scl_memory_admits(size_t bytes) {
  if (atomic_fetch_add(&asked, bytes) + bytes < atomic_load(&enough)) return true;
  const size_t left = scl_memory_left();
  atomic_store(&asked, bytes);
  atomic_store(&enough, left / 16);
  return bytes <= left;
}

size_t scl_memory_left_about(void) {
  (void)scl_memory_admits(1);
  return 15 * atomic_load(&enough);
}

/* A large block from the cache of pages or from the system. Where memory is short, the cache is
 * returned to the system before a second attempt. *zeroed: whether the system has zeroed it. */
static void *map_large(size_t bytes, bool *zeroed) {
  void *block = scl_pages_reuse(bytes + ALIGNMENT);
  *zeroed = block == NULL;
  if (block != NULL) return block;
  for (int tries = 0; tries < 2; tries++) {
    if (scl_memory_admits(bytes) && (block = scl_pages_map(bytes + ALIGNMENT)) != NULL)
      return block;
    if (!scl_pages_trim()) return NULL;
  }
  return NULL;
}

/* A small block of malloc, header included. A released block of malloc serves the next one of its
 * size; one of posix_memalign does not, as glibc looks for the room to align it besides: many
 * blocks of one size took up to four times their memory. Sanitizers see the end of a block of
 * posix_memalign to the byte. A block of 0 bytes is given one byte: otherwise its address would be
 * past the end of the allocation, which the sanitizers would report as a leak. */
static header *allocate_small(size_t bytes) {
  void *start = NULL;
  if (!use_pages)
    return posix_memalign(&start, ALIGNMENT, ALIGNMENT + bytes + (bytes == 0)) == 0 ? start : NULL;
  start = malloc(ALIGNMENT + bytes + ALIGNMENT - MALLOC_ALIGNMENT);
  if (start == NULL) return NULL;
  const size_t beyond = (uintptr_t)start % ALIGNMENT;
  header *block = (void *)((char *)start + (beyond == 0 ? 0 : ALIGNMENT - beyond));
  block->start = start;
  return block;
}

static void *allocate_block(size_t bytes, bool *zeroed) {
  *zeroed = false;
  if (must_fail() || bytes > SIZE_MAX / 2) return NULL;
  header *block = NULL;
  if (is_large(bytes))
    block = map_large(bytes, zeroed);
  else if (scl_memory_admits(bytes))
    block = allocate_small(bytes);
  if (block == NULL) return NULL;
  block->bytes = bytes;
  block->mapped = false;
  count_block(bytes);
  return (char *)block + ALIGNMENT;
}

void *scl_allocate(size_t bytes) {
  bool zeroed;
  void *memory = allocate_block(bytes, &zeroed);
  if (memory != NULL && atomic_load_explicit(&spoils, memory_order_relaxed))
    memset(memory, 0xff, bytes);
  return memory;
}

void *scl_allocate_zero(size_t bytes) {
  bool zeroed;
  void *memory = allocate_block(bytes, &zeroed);
  if (memory != NULL && !zeroed) memset(memory, 0, bytes);
  return memory;
}

void *scl_allocate_array(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / 2 / size) return NULL;
  return scl_allocate(count * size);
}

void *scl_grow(void *array, size_t count, size_t *room, size_t size) {
  if (count < *room) return array;
  const size_t larger = 2 * *room + 16;
  void *more = scl_allocate_array(larger, size);
  if (more == NULL) return NULL;
  if (count > 0) memcpy(more, array, count * size);
  scl_release(array);
  *room = larger;
  return more;
}

void scl_memory_keep_released(void) {
  enum { KEPT = 1 << 25 };
  if (getenv("MALLOC_TRIM_THRESHOLD_") != NULL || getenv("MALLOC_MMAP_THRESHOLD_") != NULL ||
      getenv("GLIBC_TUNABLES") != NULL)
    return;
  (void)mallopt(M_MMAP_THRESHOLD, LARGE_FROM);
  (void)mallopt(M_TRIM_THRESHOLD, KEPT);
}

void scl_memory_trim(void) {
  (void)scl_pages_trim();
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

static header *header_of(const void *memory) { return (void *)((uintptr_t)memory - ALIGNMENT); }

/* ------------ blocks of files */

enum { PAGE = 4096 }; /* a page of its own before each block, which ends in the header */

void *scl_allocate_mapped(size_t bytes, int file) {
  char *page = must_fail() ? MAP_FAILED
                           : mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (mmap(page + PAGE, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
      MAP_FAILED) {
    (void)munmap(page, PAGE + bytes);
    return NULL;
  }
  *header_of(page + PAGE) = (header){.bytes = bytes, .start = page, .mapped = true, .file = file};
  count_block(bytes);
  return page + PAGE;
}

bool scl_mapped_part(void *memory) {
  header *block = header_of(memory);
  const bool fine = mmap(memory, block->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                         block->file, 0) != MAP_FAILED;
  scl_mapped_close(memory);
  return fine;
}

void scl_mapped_close(void *memory) {
  header *block = header_of(memory);
  if (block->file >= 0) (void)close(block->file);
  block->file = -1;
}

static void release_mapped(header *block) {
  if (block->file >= 0) (void)close(block->file);
  (void)munmap(block->start, PAGE + block->bytes);
}

void scl_release(void *memory) {
  if (memory == NULL) return;
  header *block = header_of(memory);
  atomic_fetch_sub(&allocated, block->bytes);
  if (block->mapped)
    release_mapped(block);
  else if (is_large(block->bytes))
    scl_pages_release(block, block->bytes + ALIGNMENT);
  else
    free(use_pages ? block->start : block);
}

size_t scl_allocated_for(const void *memory) {
  return memory == NULL ? 0 : header_of(memory)->bytes;
}

void scl_release_each(size_t count, void *const *memory) {
  for (size_t i = 0; i < count; i++)
    scl_release(memory[i]);
}

size_t scl_allocated(void) { return atomic_load(&allocated); }
size_t scl_allocated_peak(void) { return atomic_load(&peak); }
void scl_allocated_peak_reset(void) { atomic_store(&peak, atomic_load(&allocated)); }
