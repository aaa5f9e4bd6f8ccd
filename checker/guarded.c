/* Memory between two inaccessible pages (guarded.h says what it detects). The mapping is page |
 * inner pages | page; the usable bytes are at the end or at the beginning of the inner pages, and
 * the rest of these is filled too.
 *
 * Mappings of one inner page are used again, the longest unused one first, as making one costs as
 * much as most calls of a plugin. Until then they stay filled. */
#define _GNU_SOURCE
#include "checker/guarded.h"

#include "base/memory.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  MARGIN = 64,  /* bytes before memory of the heap */
  RESTING = 32, /* mappings that rest before the first of them is used again */
  MOST = 4096   /* that rest */
};

/* The inner pages of the mappings that rest, filled and writable: a queue. */
static struct {
  unsigned char *pages[MOST];
  size_t first, count;
  pthread_mutex_t lock;
} resting = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* The mapping that rested longest; NULL where too few rest, or for more pages than one. */
static unsigned char *take(size_t inner) {
  unsigned char *pages = NULL;
  if (inner != page()) return NULL;
  (void)pthread_mutex_lock(&resting.lock);
  if (resting.count >= RESTING) {
    pages = resting.pages[resting.first];
    resting.first = (resting.first + 1) % MOST;
    resting.count--;
  }
  (void)pthread_mutex_unlock(&resting.lock);
  return pages;
}

/* Whether the mapping now rests; false where enough do, or where it has more pages than one. */
static bool rest(unsigned char *pages, size_t inner) {
  if (inner != page()) return false;
  (void)pthread_mutex_lock(&resting.lock);
  const bool room = resting.count < MOST;
  if (room) resting.pages[(resting.first + resting.count++) % MOST] = pages;
  (void)pthread_mutex_unlock(&resting.lock);
  return room;
}

static bool is_filled(const unsigned char *bytes, size_t size) {
  return size == 0 || (bytes[0] == SCL_GUARDED_FILL && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Ends the process where a mapping was written to while it rested. */
static void demand_filled(const unsigned char *pages) {
  if (is_filled(pages, page())) return;
  (void)fputs("scullery: the process was ended: the plugin kept the memory of an earlier call and "
              "wrote to it\n",
              stderr);
  _exit(EXIT_FAILURE);
}

__attribute__((destructor)) static void check_resting(void) {
  for (size_t i = 0; i < resting.count; i++)
    demand_filled(resting.pages[(resting.first + i) % MOST]);
}

/* A new mapping; NULL where there is no memory. */
static unsigned char *map_pages(size_t inner) {
  unsigned char *mapped =
      mmap(NULL, inner + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return NULL;
  if (mprotect(mapped + page(), inner, PROT_READ | PROT_WRITE) != 0) {
    (void)munmap(mapped, inner + 2 * page());
    return NULL;
  }
  memset(mapped + page(), SCL_GUARDED_FILL, inner);
  return mapped + page();
}

scl_status scl_guarded_create(size_t size, bool at_start, scl_guarded *out, scl_error *error) {
  /* At least one byte more than `size`, so that 0 bytes have an address too. */
  const size_t inner = (size / page() + 1) * page();
  unsigned char *pages = take(inner);
  *out = (scl_guarded){.size = size};
  if (pages != NULL) demand_filled(pages);
  if (pages == NULL) pages = map_pages(inner);
  if (pages == NULL)
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "no guarded memory of %zu bytes", size);
  out->pages = pages;
  out->inner = inner;
  out->bytes = pages + (at_start ? 0 : inner - size);
  return SCL_STATUS_OK;
}

scl_status scl_guarded_create_plain(size_t size, scl_guarded *out, scl_error *error) {
  *out = (scl_guarded){.size = size, .pages = scl_allocate(MARGIN + size)};
  if (out->pages == NULL) return scl_fail_memory(error, size, "rows");
  memset(out->pages, SCL_GUARDED_FILL, MARGIN + size);
  out->bytes = out->pages + MARGIN;
  return SCL_STATUS_OK;
}

void scl_guarded_lock(scl_guarded *memory) {
  memory->locked = memory->inner > 0 && mprotect(memory->pages, memory->inner, PROT_READ) == 0;
}

bool scl_guarded_untouched(const scl_guarded *memory) {
  return is_filled(memory->pages, (size_t)(memory->bytes - memory->pages));
}

/* Fills a mapping, which then rests, or releases it. */
static void leave_pages(const scl_guarded *memory) {
  const bool writable =
      !memory->locked || mprotect(memory->pages, memory->inner, PROT_READ | PROT_WRITE) == 0;
  if (writable) memset(memory->pages, SCL_GUARDED_FILL, memory->inner);
  if (!writable || !rest(memory->pages, memory->inner))
    (void)munmap(memory->pages - page(), memory->inner + 2 * page());
}

void scl_guarded_destroy(scl_guarded *memory) {
  if (memory->pages != NULL && memory->inner > 0) {
    leave_pages(memory);
  } else if (memory->pages != NULL) {
    memset(memory->pages, SCL_GUARDED_FILL,
           MARGIN + memory->size); /* who kept the pointer reads NaN */
    scl_release(memory->pages);
  }
  *memory = (scl_guarded){0};
}
