#define _GNU_SOURCE
#include "base/base.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

scl_status scl_fail(scl_error *error, scl_status status, const char *format, ...) {
  if (error == NULL) return status;
  va_list arguments;
  va_start(arguments, format);
  error->status = status;
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

scl_status scl_prefix(scl_error *error, const char *format, ...) {
  if (error == NULL) return SCL_STATUS_INTERNAL;
  char sentence[sizeof error->message];
  memcpy(sentence, error->message, sizeof sentence);
  va_list arguments;
  va_start(arguments, format);
  int used = vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  if (used < 0) return error->status;
  const size_t room = sizeof error->message, start = scl_min((size_t)used, room - 3);
  memcpy(error->message + start, ": ", 3);
  const size_t length = scl_min(strlen(sentence), room - start - 3);
  memcpy(error->message + start + 2, sentence, length);
  error->message[start + 2 + length] = 0;
  return error->status;
}

const char *scl_bytes_text(double bytes, char text[32]) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1000;
    unit++;
  }
  (void)snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.3g %s", bytes, units[unit]);
  return text;
}

scl_status scl_fail_memory(scl_error *error, size_t bytes, const char *what) {
  char text[32];
  return scl_fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %s (%s)", what,
                  scl_bytes_text((double)bytes, text));
}

/* Each allocation carries its size in the 64 bytes before it, so that what is held can be told. */
enum { ALIGNMENT = 64, HUGE_PAGE = 1 << 21, LARGE_FROM = 1 << 22 };
static atomic_size_t held, peak;
static atomic_long fail_after = -1;

static bool must_fail(void) {
  long left = atomic_load(&fail_after);
  if (left < 0) return false;
  left = atomic_fetch_sub(&fail_after, 1);
  return left == 0;
}

void scl_allocate_fail_after(long count) {
  atomic_store(&fail_after, count);
}

static void note_held(size_t bytes) {
  size_t now = atomic_fetch_add(&held, bytes) + bytes;
  size_t most = atomic_load(&peak);
  while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
  }
}

/* Large blocks come straight from the system: zeroed already, on huge pages (fewer faults, fewer
 * misses of the address cache). The sanitizers watch malloc alone, so they keep to it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool use_pages = false;
#else
static const bool use_pages = true;
#endif
static bool is_large(size_t bytes) {
  return use_pages && bytes >= LARGE_FROM;
}

/* `bytes` at a multiple of HUGE_PAGE. */
static void *map_pages(size_t bytes) {
  char *start =
      mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  const size_t before = (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE, page = 4096,
               used = (bytes + page - 1) / page * page;
  if (before > 0) (void)munmap(start, before);
  if (HUGE_PAGE - before > used - bytes)
    (void)munmap(start + before + used, HUGE_PAGE - before - (used - bytes));
  (void)madvise(start + before, used, MADV_HUGEPAGE);
  return start + before;
}

/* Nine tenths of the machine's memory: the system would promise more, and end the process when it
 * is used. */
static size_t limit(void) {
  static atomic_size_t known;
  size_t bytes = atomic_load(&known);
  if (bytes != 0) return bytes;
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  bytes = pages > 0 && size > 0 ? (size_t)pages / 10 * 9 * (size_t)size : SIZE_MAX / 2;
  atomic_store(&known, bytes);
  return bytes;
}

void *scl_allocate(size_t bytes) {
  if (must_fail() || bytes > SIZE_MAX / 2 || atomic_load(&held) + bytes > limit()) return NULL;
  void *block = NULL;
  if (is_large(bytes))
    block = map_pages(bytes + ALIGNMENT);
  else if (posix_memalign(&block, ALIGNMENT, bytes + ALIGNMENT) != 0)
    block = NULL;
  if (block == NULL) return NULL;
  *(size_t *)block = bytes;
  note_held(bytes);
  return (char *)block + ALIGNMENT;
}

void *scl_allocate_zero(size_t bytes) {
  void *memory = scl_allocate(bytes);
  if (memory != NULL && !is_large(bytes)) memset(memory, 0, bytes);
  return memory;
}

void *scl_allocate_array(size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / 2 / size) return NULL;
  return scl_allocate(count * size);
}

void scl_release(void *memory) {
  if (memory == NULL) return;
  void *block = (char *)memory - ALIGNMENT;
  const size_t bytes = *(size_t *)block;
  atomic_fetch_sub(&held, bytes);
  if (is_large(bytes))
    (void)munmap(block, bytes + ALIGNMENT);
  else
    free(block);
}

char *scl_copy_text(const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = scl_allocate(bytes);
  if (copy != NULL) memcpy(copy, text, bytes);
  return copy;
}

size_t scl_allocated(void) {
  return atomic_load(&held);
}
size_t scl_allocated_peak(void) {
  return atomic_load(&peak);
}
void scl_allocated_peak_reset(void) {
  atomic_store(&peak, atomic_load(&held));
}
