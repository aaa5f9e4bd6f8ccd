/* Compressed blocks of files of columns. */
#include "shared/compression.h"

#ifdef SCULLERY_COMPRESSION /* the headers are there */

#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

/* Each unpacks all, and returns whether that was `wanted` bytes. */

static scl_status open_snappy(const scl_reading *file, const char *what, const uint8_t *from,
                              size_t size, uint8_t *to, size_t wanted, bool *done,
                              scl_error *error) {
  static const char *const names[] = {"snappy_uncompressed_length", "snappy_uncompress", NULL};
  struct {
    __typeof__(&snappy_uncompressed_length) length;
    __typeof__(&snappy_uncompress) unpack;
  } snappy;
  READ_TRY(scl_library_find(file->host, file->path, what, "libsnappy.so.1", "libsnappy1v5", names,
                            &snappy, error));
  size_t length = 0;
  *done = snappy.length((const char *)from, size, &length) == SNAPPY_OK && length == wanted &&
          snappy.unpack((const char *)from, size, (char *)to, &length) == SNAPPY_OK &&
          length == wanted;
  return SCL_STATUS_OK;
}

/* With the head of gzip, or of zlib, which some writers take. */
static scl_status open_gzip(const scl_reading *file, const char *what, const uint8_t *from,
                            size_t size, uint8_t *to, size_t wanted, bool *done, scl_error *error) {
  static const char *const names[] = {"inflateInit2_", "inflate", "inflateEnd", NULL};
  struct {
    __typeof__(&inflateInit2_) init;
    __typeof__(&inflate) inflate;
    __typeof__(&inflateEnd) end;
  } zlib;
  enum { GZIP_OR_ZLIB = 15 + 32 };
  z_stream z = {.next_in = (z_const Bytef *)from,
                .avail_in = (uInt)size,
                .next_out = to,
                .avail_out = (uInt)wanted};
  READ_TRY(
      scl_library_find(file->host, file->path, what, "libz.so.1", "zlib1g", names, &zlib, error));
  if (size > UINT_MAX || wanted > UINT_MAX ||
      zlib.init(&z, GZIP_OR_ZLIB, ZLIB_VERSION, (int)sizeof z) != Z_OK)
    return SCL_STATUS_OK;
  const int code = zlib.inflate(&z, Z_FINISH);
  *done = code == Z_STREAM_END && z.total_out == wanted;
  (void)zlib.end(&z);
  return SCL_STATUS_OK;
}

/* A frame of zstd, whose own size of what it holds is not needed. */
static scl_status open_zstd(const scl_reading *file, const char *what, const uint8_t *from,
                            size_t size, uint8_t *to, size_t wanted, bool *done, scl_error *error) {
  static const char *const names[] = {"ZSTD_decompress", NULL};
  __typeof__(&ZSTD_decompress) unpack;
  READ_TRY(scl_library_find(file->host, file->path, what, "libzstd.so.1", "libzstd1", names,
                            &unpack, error));
  *done = unpack(to, wanted, from, size) == wanted;
  return SCL_STATUS_OK;
}

/* Blocks of LZ4, each behind the sizes of what it unpacks to and of itself, most significant
 * byte first. */
static bool unpack_hadoop(__typeof__(&LZ4_decompress_safe) unpack, const uint8_t *from, size_t size,
                          uint8_t *to, size_t wanted) {
  size_t got = 0;
  while (size >= 8) {
    const uint32_t whole =
        (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
    const uint32_t packed =
        (uint32_t)from[4] << 24 | (uint32_t)from[5] << 16 | (uint32_t)from[6] << 8 | from[7];
    if (packed > size - 8 || packed > INT_MAX || whole > wanted - got) return false;
    if (unpack((const char *)from + 8, (char *)to + got, (int)packed, (int)whole) != (int)whole)
      return false;
    from += 8 + packed;
    size -= 8 + (size_t)packed;
    got += whole;
  }
  return size == 0 && got == wanted;
}

/* With the framing of Hadoop, else as one block. */
static scl_status open_lz4(const scl_reading *file, const char *what, bool hadoop,
                           const uint8_t *from, size_t size, uint8_t *to, size_t wanted, bool *done,
                           scl_error *error) {
  static const char *const names[] = {"LZ4_decompress_safe", NULL};
  __typeof__(&LZ4_decompress_safe) unpack;
  READ_TRY(scl_library_find(file->host, file->path, what, "liblz4.so.1", "liblz4-1", names, &unpack,
                            error));
  if (size > INT_MAX || wanted > INT_MAX) return SCL_STATUS_OK;
  *done = hadoop && unpack_hadoop(unpack, from, size, to, wanted);
  if (!*done) *done = unpack((const char *)from, (char *)to, (int)size, (int)wanted) == (int)wanted;
  return SCL_STATUS_OK;
}

/* A frame of LZ4 as its command writes it, with blocks and a checksum. */
static scl_status open_lz4_frame(const scl_reading *file, const char *what, const uint8_t *from,
                                 size_t size, uint8_t *to, size_t wanted, bool *done,
                                 scl_error *error) {
  static const char *const names[] = {"LZ4F_createDecompressionContext", "LZ4F_decompress",
                                      "LZ4F_freeDecompressionContext", NULL};
  struct {
    __typeof__(&LZ4F_createDecompressionContext) create;
    __typeof__(&LZ4F_decompress) unpack;
    __typeof__(&LZ4F_freeDecompressionContext) release;
  } lz4;
  LZ4F_dctx *context = NULL;
  READ_TRY(scl_library_find(file->host, file->path, what, "liblz4.so.1", "liblz4-1", names, &lz4,
                            error));
  if (lz4.create(&context, LZ4F_VERSION) != 0)
    return file->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", file->path);
  size_t got = 0, taken = 0, hint = 1;
  while (hint > 0 && taken < size) {
    size_t room = wanted - got, more = size - taken;
    hint = lz4.unpack(context, to + got, &room, from + taken, &more, NULL);
    if (hint > (size_t)1 << 40 || (room == 0 && more == 0)) break; /* an error, or no progress */
    got += room;
    taken += more;
  }
  *done = hint == 0 && got == wanted;
  (void)lz4.release(context);
  return SCL_STATUS_OK;
}

scl_status scl_unpack(const scl_reading *file, scl_codec codec, const uint8_t *from, size_t size,
                      uint8_t *to, size_t wanted, const char *what, scl_error *error) {
  bool done = false;
  switch (codec) {
  case SCL_CODEC_NONE:
    done = size == wanted;
    if (done && size > 0) memcpy(to, from, size);
    break;
  case SCL_CODEC_SNAPPY:
    READ_TRY(open_snappy(file, what, from, size, to, wanted, &done, error));
    break;
  case SCL_CODEC_GZIP:
    READ_TRY(open_gzip(file, what, from, size, to, wanted, &done, error));
    break;
  case SCL_CODEC_ZSTD:
    READ_TRY(open_zstd(file, what, from, size, to, wanted, &done, error));
    break;
  case SCL_CODEC_LZ4_RAW:
  case SCL_CODEC_LZ4_HADOOP:
    READ_TRY(
        open_lz4(file, what, codec == SCL_CODEC_LZ4_HADOOP, from, size, to, wanted, &done, error));
    break;
  case SCL_CODEC_LZ4_FRAME:
    READ_TRY(open_lz4_frame(file, what, from, size, to, wanted, &done, error));
    break;
  }
  if (done) return SCL_STATUS_OK;
  return scl_reading_refuse(file, error, "%s: its compressed bytes are damaged", what);
}
#endif
