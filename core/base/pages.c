/* Large blocks as pages of the system, in huge pages where these are fast, with a cache of released
 * blocks for reuse. */
#define _GNU_SOURCE
#include "base/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 1 << 21, PAGE = 4096, MOST_CACHED = 12 };

typedef struct cached_block {
  char *block;
  size_t bytes;
} cached_block;

/* The cached blocks, the last released one last. */
static struct {
  pthread_mutex_t lock;
  cached_block blocks[MOST_CACHED];
  size_t count, bytes;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Maps more than needed, and unmaps what is before and after an aligned block: huge pages need
 * alignment to their size. */
void *scl_pages_map(size_t bytes) {
  char *start =
      mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  const size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE,
               used = whole_pages(bytes);
  if (before > 0) (void)munmap(start, before);
  if (HUGE_PAGE - before > used - bytes)
    (void)munmap(start + before + used, HUGE_PAGE - before - (used - bytes));
  (void)madvise(start + before, used, MADV_HUGEPAGE);
  return start + before;
}

/* Processor time of this thread. */
static long long thread_nanoseconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1000000000LL * now.tv_sec + now.tv_nsec;
}

/* Whether the system needed more than SLOW nanoseconds of processor time to provide a huge page;
 * small pages take about a millisecond. False for pages that exist already, and on systems without
 * MADV_POPULATE_WRITE. */
static bool is_slow(char *page) {
#ifdef MADV_POPULATE_WRITE
  enum { SLOW = 2000000 };
  const long long before = thread_nanoseconds();
  (void)madvise(page, PAGE, MADV_POPULATE_WRITE);
  return thread_nanoseconds() - before > SLOW;
#else
  (void)page;
  return false;
#endif
}

/* After a slow huge page the next ranges use small pages, and then a huge one is tried again. Each
 * slow page doubles the length of the run of small ones, each fast page halves it. */
void scl_pages_prepare(void *part, size_t bytes) {
  enum { MOST_SMALL = 32 };
  static atomic_int small, run = 1; /* left of this run of small ranges; length of the next run */
  const size_t before = (HUGE_PAGE - (uintptr_t)part % HUGE_PAGE) % HUGE_PAGE;
  for (size_t at = before; at < bytes; at += HUGE_PAGE) {
    char *page = (char *)part + at;
    if (atomic_load(&small) > 0) {
      (void)atomic_fetch_sub(&small, 1);
      (void)madvise(page, HUGE_PAGE, MADV_NOHUGEPAGE);
    } else if (is_slow(page)) {
      const int next = atomic_load(&run);
      atomic_store(&small, next);
      atomic_store(&run, next < MOST_SMALL ? 2 * next : next);
    } else
      atomic_store(&run, (atomic_load(&run) + 1) / 2);
  }
}

/* The caller holds the lock. */
static cached_block take_cached(size_t index) {
  const cached_block one = cache.blocks[index];
  cache.count--;
  cache.bytes -= one.bytes;
  memmove(cache.blocks + index, cache.blocks + index + 1,
          (cache.count - index) * sizeof *cache.blocks);
  return one;
}

/* Pages beyond the request are unmapped, since scl_pages_release derives the size from it. */
void *scl_pages_reuse(size_t bytes) {
  const size_t used = whole_pages(bytes);
  cached_block one = {0};
  (void)pthread_mutex_lock(&cache.lock);
  for (size_t i = cache.count; i-- > 0 && one.block == NULL;)
    if (cache.blocks[i].bytes >= used && cache.blocks[i].bytes - used <= used / 4)
      one = take_cached(i);
  (void)pthread_mutex_unlock(&cache.lock);
  if (one.bytes > used) (void)munmap(one.block + used, one.bytes - used);
  return one.block;
}

/* The oldest blocks leave the cache to make room. They are unmapped after the lock is released,
 * because that is slow. */
void scl_pages_release(void *block, size_t bytes) {
  const size_t used = whole_pages(bytes);
  cached_block out[MOST_CACHED];
  size_t leaving = 0;
  if (used > SCL_PAGES_CACHE) {
    (void)munmap(block, used);
    return;
  }
  (void)pthread_mutex_lock(&cache.lock);
  while (cache.count == MOST_CACHED || cache.bytes + used > SCL_PAGES_CACHE)
    out[leaving++] = take_cached(0);
  cache.blocks[cache.count++] = (cached_block){block, used};
  cache.bytes += used;
  (void)pthread_mutex_unlock(&cache.lock);
  for (size_t i = 0; i < leaving; i++)
    (void)munmap(out[i].block, out[i].bytes);
}

bool scl_pages_trim(void) {
  cached_block out[MOST_CACHED];
  (void)pthread_mutex_lock(&cache.lock);
  const size_t leaving = cache.count;
  memcpy(out, cache.blocks, leaving * sizeof *out);
  cache.count = cache.bytes = 0;
  (void)pthread_mutex_unlock(&cache.lock);
  for (size_t i = 0; i < leaving; i++)
    (void)munmap(out[i].block, out[i].bytes);
  return leaving > 0;
}
