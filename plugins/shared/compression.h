/* Compressed blocks of files of columns, unpacked by libraries that are opened when a file
 * needs them. */
#ifndef SCULLERY_SHARED_COMPRESSION_H
#define SCULLERY_SHARED_COMPRESSION_H

#include "shared/reading.h"

typedef enum scl_codec {
  SCL_CODEC_NONE = 0,
  SCL_CODEC_SNAPPY,
  SCL_CODEC_GZIP,
  SCL_CODEC_ZSTD,
  SCL_CODEC_LZ4_RAW,    /* a block of LZ4 */
  SCL_CODEC_LZ4_HADOOP, /* blocks, each behind its two sizes; some writers give a block alone */
  SCL_CODEC_LZ4_FRAME
} scl_codec;

/* to[0 .. wanted) = the unpacked bytes of from[0 .. size). SCL_STATUS_BAD_DATA: they are
 * damaged, or not `wanted` bytes; SCL_STATUS_UNSUPPORTED: the library is not there. */
scl_status scl_unpack(const scl_reading *file, scl_codec codec, const uint8_t *from, size_t size,
                      uint8_t *to, size_t wanted, const char *what, scl_error *error);

/* Whether a block of `size` bytes may be unpacked to `wanted`: no codec packs more tightly but
 * by long repetitions, so that memory is not taken for what a damaged file claims. */
static inline bool scl_may_unpack(size_t size, uint64_t wanted) {
  enum { SMALL = 1 << 26, RATIO = 2000 };
  return wanted <= SMALL || wanted / RATIO <= size;
}

#endif
