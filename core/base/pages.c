#define _GNU_SOURCE
#include "base/pages.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE_PAGE = 1 << 21, PAGE = 4096, MOST_KEPT = 12 };

typedef struct kept {
  char *block;
  size_t bytes;
} kept;

/* The blocks that are kept, the last released one last. */
static struct {
  pthread_mutex_t lock;
  kept blocks[MOST_KEPT];
  size_t count, bytes;
} store = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t whole_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

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

static long long thread_nanoseconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1000000000LL * now.tv_sec + now.tv_nsec;
}

/* Whether a huge page took the system longer than small ones take, about a millisecond. What is
 * there already takes no time; an old system does not populate, and takes none either. */
static bool is_dear(char *page) {
#ifdef MADV_POPULATE_WRITE
  enum { DEAR = 2000000 };
  const long long before = thread_nanoseconds();
  (void)madvise(page, PAGE, MADV_POPULATE_WRITE);
  return thread_nanoseconds() - before > DEAR;
#else
  (void)page;
  return false;
#endif
}

/* After a dear one the next is small, and then another huge one is tried. Each dear one doubles how
 * many are small, and each other one halves it. */
void scl_pages_prepare(void *part, size_t bytes) {
  enum { MOST_SMALL = 32 };
  static atomic_int small, run = 1; /* how many of the next are to be small; after a dear one */
  const size_t before = (HUGE_PAGE - (uintptr_t)part % HUGE_PAGE) % HUGE_PAGE;
  for (size_t at = before; at < bytes; at += HUGE_PAGE) {
    char *page = (char *)part + at;
    if (atomic_load(&small) > 0) {
      (void)atomic_fetch_sub(&small, 1);
      (void)madvise(page, HUGE_PAGE, MADV_NOHUGEPAGE);
    } else if (is_dear(page)) {
      const int next = atomic_load(&run);
      atomic_store(&small, next);
      atomic_store(&run, next < MOST_SMALL ? 2 * next : next);
    } else
      atomic_store(&run, (atomic_load(&run) + 1) / 2);
  }
}

/* The lock is held. */
static kept take(size_t index) {
  const kept one = store.blocks[index];
  store.count--;
  store.bytes -= one.bytes;
  memmove(store.blocks + index, store.blocks + index + 1,
          (store.count - index) * sizeof *store.blocks);
  return one;
}

/* What is more than needed goes back: a block's size follows from what was asked for. */
void *scl_pages_kept(size_t bytes) {
  const size_t used = whole_pages(bytes);
  kept one = {0};
  (void)pthread_mutex_lock(&store.lock);
  for (size_t i = store.count; i-- > 0 && one.block == NULL;)
    if (store.blocks[i].bytes >= used && store.blocks[i].bytes - used <= used / 4) one = take(i);
  (void)pthread_mutex_unlock(&store.lock);
  if (one.bytes > used) (void)munmap(one.block + used, one.bytes - used);
  return one.block;
}

void scl_pages_release(void *block, size_t bytes) {
  const size_t used = whole_pages(bytes);
  kept out[MOST_KEPT];
  size_t leaving = 0;
  if (used > SCL_PAGES_KEPT) {
    (void)munmap(block, used);
    return;
  }
  (void)pthread_mutex_lock(&store.lock);
  while (store.count == MOST_KEPT || store.bytes + used > SCL_PAGES_KEPT)
    out[leaving++] = take(0);
  store.blocks[store.count++] = (kept){block, used};
  store.bytes += used;
  (void)pthread_mutex_unlock(&store.lock);
  for (size_t i = 0; i < leaving; i++)
    (void)munmap(out[i].block, out[i].bytes);
}

bool scl_pages_give_back(void) {
  kept out[MOST_KEPT];
  (void)pthread_mutex_lock(&store.lock);
  const size_t leaving = store.count;
  memcpy(out, store.blocks, leaving * sizeof *out);
  store.count = store.bytes = 0;
  (void)pthread_mutex_unlock(&store.lock);
  for (size_t i = 0; i < leaving; i++)
    (void)munmap(out[i].block, out[i].bytes);
  return leaving > 0;
}
