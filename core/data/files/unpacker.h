/* zlib's state for unpacking, whose memory comes from our allocator, so that tests can make it
 * fail. */
#ifndef SCULLERY_UNPACKER_H
#define SCULLERY_UNPACKER_H

#include "base/memory.h"
#include <zlib.h>

static inline void *scl_unpacker_take(void *context, unsigned count, unsigned size) {
  (void)context;
  return scl_allocate_array(count, size);
}

static inline void scl_unpacker_give_back(void *context, void *memory) {
  (void)context;
  scl_release(memory);
}

/* For inflateInit2. */
static inline z_stream scl_unpacker(void) {
  return (z_stream){.zalloc = scl_unpacker_take, .zfree = scl_unpacker_give_back};
}

#endif
