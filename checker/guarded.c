/* Memory between two inaccessible pages (guarded.h says what it detects). The mapping is page |
 * inner pages | page; the usable bytes are at the end or at the beginning of the inner pages, and
 * the rest of these is filled too. */
#define _GNU_SOURCE
#include "checker/guarded.h"

#include "base/memory.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MARGIN = 64 }; /* bytes before memory of the heap */

static size_t page(void) { return (size_t)sysconf(_SC_PAGESIZE); }

scl_status scl_guarded_create(size_t size, bool at_start, scl_guarded *out, scl_error *error) {
  /* At least one byte more than `size`, so that 0 bytes have an address too. */
  const size_t inner = (size / page() + 1) * page();
  *out = (scl_guarded){.size = size, .mapped_size = inner + 2 * page()};
  void *mapped =
      mmap(NULL, out->mapped_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED || mprotect((char *)mapped + page(), inner, PROT_READ | PROT_WRITE) != 0)
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "no guarded memory of %zu bytes", size);
  out->mapped = mapped;
  out->bytes = (unsigned char *)mapped + page() + (at_start ? 0 : inner - size);
  memset((unsigned char *)mapped + page(), SCL_GUARDED_FILL, inner);
  return SCL_STATUS_OK;
}

scl_status scl_guarded_create_plain(size_t size, scl_guarded *out, scl_error *error) {
  *out = (scl_guarded){.size = size, .mapped = scl_allocate(MARGIN + size)};
  if (out->mapped == NULL) return scl_fail_memory(error, size, "rows");
  memset(out->mapped, SCL_GUARDED_FILL, MARGIN + size);
  out->bytes = (unsigned char *)out->mapped + MARGIN;
  return SCL_STATUS_OK;
}

void scl_guarded_lock(const scl_guarded *memory) {
  if (memory->mapped_size > 0)
    (void)mprotect((char *)memory->mapped + page(), memory->mapped_size - 2 * page(), PROT_READ);
}

bool scl_guarded_untouched(const scl_guarded *memory) {
  const unsigned char *at = memory->mapped;
  for (at += memory->mapped_size > 0 ? page() : 0; at < memory->bytes; at++)
    if (*at != SCL_GUARDED_FILL) return false;
  return true;
}

void scl_guarded_destroy(scl_guarded *memory) {
  if (memory->mapped != NULL && memory->mapped_size > 0) {
    (void)munmap(memory->mapped, memory->mapped_size);
  } else if (memory->mapped != NULL) {
    memset(memory->mapped, SCL_GUARDED_FILL,
           MARGIN + memory->size); /* who kept the pointer reads NaN */
    scl_release(memory->mapped);
  }
  *memory = (scl_guarded){0};
}
