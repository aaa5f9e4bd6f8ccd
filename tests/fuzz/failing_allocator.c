/* An allocator that fails on purpose, to be preloaded (allocations.lua). It counts every allocation
 * of the process, the interpreter's, the libraries' and ours alike.
 *
 * FAIL_AT=n:     the n-th allocation fails, those behind it do not.
 * FAIL_FROM=n:   all from the n-th on fail.
 * FAIL_LIST=f:   nothing fails; at the end, f has the number of allocations in its first line, and
 *                then the number of the first allocation of each call stack. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

enum { DEPTH = 16, SLOTS = 1 << 16 };

static atomic_long counted;
static long fail_at = -1, fail_from = -1;
static const char *list;
static struct {
  uint64_t hash;
  long first;
} seen[SLOTS]; /* the list is made with one thread */
static _Thread_local bool inside;

/* Keep the call stack's first allocation. */
static void note(long n) {
  void *frames[DEPTH];
  inside = true;
  const int depth = backtrace(frames, DEPTH);
  inside = false;
  uint64_t hash = 14695981039346656037u;
  for (int i = 0; i < depth; i++)
    hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * 1099511628211u;
  hash |= 1;
  for (size_t at = hash >> 40, tries = 0; tries < SLOTS; at++, tries++) {
    if (seen[at % SLOTS].hash == hash) return;
    if (seen[at % SLOTS].hash != 0) continue;
    seen[at % SLOTS].hash = hash;
    seen[at % SLOTS].first = n;
    return;
  }
}

/* Whether the next allocation shall fail. */
static bool fails(void) {
  if (inside) return false;
  const long n = atomic_fetch_add(&counted, 1) + 1;
  if (list != NULL) note(n);
  if (n != fail_at && (fail_from < 0 || n < fail_from)) return false;
  errno = ENOMEM;
  return true;
}

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("FAIL_AT"), *from = getenv("FAIL_FROM");
  void *frame[1];
  inside = true;
  (void)backtrace(frame, 1); /* it loads a library at its first call */
  inside = false;
  list = getenv("FAIL_LIST");
  fail_at = at == NULL ? -1 : atol(at);
  fail_from = from == NULL ? -1 : atol(from);
}

__attribute__((destructor)) static void finish(void) {
  if (list == NULL) return;
  inside = true;
  FILE *file = fopen(list, "w");
  if (file == NULL) return;
  (void)fprintf(file, "%ld\n", atomic_load(&counted));
  for (size_t i = 0; i < SLOTS; i++) {
    if (seen[i].hash != 0) (void)fprintf(file, "%ld\n", seen[i].first);
  }
  (void)fclose(file);
}

void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }

void *realloc(void *old, size_t bytes) {
  return bytes > 0 && fails() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  return fails() ? NULL : __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *block = fails() ? NULL : __libc_memalign(alignment, bytes);
  if (block == NULL) return ENOMEM;
  *out = block;
  return 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if ((flags & MAP_ANONYMOUS) != 0 && fails()) return MAP_FAILED;
  const long mapped = syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
  return mapped == -1 ? MAP_FAILED : (void *)mapped; /* NOLINT: an address */
}
