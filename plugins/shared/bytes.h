/* Models to bytes and back: whole numbers in 8 bytes and float64, little-endian on every machine.
 * After a failure the rest does nothing, so that one look at `status` at the end is enough. A
 * reader trusts nothing: sizes come with their range, numbers are finite. */
#ifndef SCULLERY_SHARED_BYTES_H
#define SCULLERY_SHARED_BYTES_H

#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

enum { BYTES_CHUNK = 512, BYTES_TITLE = 16 };

static inline void bytes_encode(uint64_t value, unsigned char *out) {
  for (size_t i = 0; i < 8; i++)
    out[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t bytes_decode(const unsigned char *from) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;)
    value = value << 8 | from[i];
  return value;
}

/* ---------------------------------------------------------------- writing */

typedef struct byte_writer {
  scl_write write;
  void *context;
  scl_error *error;
  scl_status status;
} byte_writer;

static inline void bytes_put(byte_writer *w, const void *bytes, size_t size) {
  if (w->status == SCL_STATUS_OK) w->status = w->write(w->context, bytes, size, w->error);
}

static inline void bytes_put_size(byte_writer *w, size_t value) {
  unsigned char out[8];
  bytes_encode(value, out);
  bytes_put(w, out, sizeof out);
}

static inline void bytes_put_numbers(byte_writer *w, const double *numbers, size_t count) {
  unsigned char chunk[8 * BYTES_CHUNK];
  for (size_t at = 0; at < count && w->status == SCL_STATUS_OK; at += BYTES_CHUNK) {
    const size_t here = count - at < BYTES_CHUNK ? count - at : BYTES_CHUNK;
    for (size_t i = 0; i < here; i++) {
      uint64_t bits;
      memcpy(&bits, &numbers[at + i], sizeof bits);
      bytes_encode(bits, chunk + 8 * i);
    }
    bytes_put(w, chunk, 8 * here);
  }
}

/* What follows ("knn 1"), at most 15 characters. */
static inline void bytes_put_title(byte_writer *w, const char *title) {
  char out[BYTES_TITLE] = {0};
  memcpy(out, title, strlen(title) < BYTES_TITLE ? strlen(title) : BYTES_TITLE - 1);
  bytes_put(w, out, sizeof out);
}

/* ---------------------------------------------------------------- reading */

typedef struct byte_reader {
  const scl_host *host;
  scl_read read;
  void *context;
  scl_error *error;
  scl_status status;
} byte_reader;

static inline void bytes_get(byte_reader *r, void *bytes, size_t size) {
  if (r->status == SCL_STATUS_OK) r->status = r->read(r->context, bytes, size, r->error);
}

/* A whole number in low .. high; `what` names it. 0 after a failure. */
static inline size_t bytes_get_size(byte_reader *r, size_t low, size_t high, const char *what) {
  unsigned char in[8];
  bytes_get(r, in, sizeof in);
  if (r->status != SCL_STATUS_OK) return 0;
  const uint64_t value = bytes_decode(in);
  if (value >= low && value <= high) return (size_t)value;
  r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                            "the model's bytes are damaged: %s is %llu, and takes %zu to %zu", what,
                            (unsigned long long)value, low, high);
  return 0;
}

static inline void bytes_get_numbers(byte_reader *r, double *out, size_t count) {
  unsigned char chunk[8 * BYTES_CHUNK];
  for (size_t at = 0; at < count && r->status == SCL_STATUS_OK; at += BYTES_CHUNK) {
    const size_t here = count - at < BYTES_CHUNK ? count - at : BYTES_CHUNK;
    bytes_get(r, chunk, 8 * here);
    for (size_t i = 0; r->status == SCL_STATUS_OK && i < here; i++) {
      const uint64_t bits = bytes_decode(chunk + 8 * i);
      memcpy(&out[at + i], &bits, sizeof bits);
      if (!isfinite(out[at + i]))
        r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                                  "the model's bytes are damaged: a number is not finite");
    }
  }
}

/* rows x cols numbers in fresh memory; NULL after a failure. */
static inline double *bytes_get_array(byte_reader *r, size_t rows, size_t cols) {
  if (r->status != SCL_STATUS_OK) return NULL;
  double *out =
      cols > SIZE_MAX / 16 / (rows + 1) ? NULL : r->host->allocate((rows * cols + 1) * sizeof *out);
  if (out == NULL) {
    r->status = r->host->fail(r->error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for %zu x %zu numbers of a model", rows, cols);
    return NULL;
  }
  bytes_get_numbers(r, out, rows * cols);
  if (r->status == SCL_STATUS_OK) return out;
  r->host->release(out);
  return NULL;
}

static inline void bytes_expect_title(byte_reader *r, const char *title) {
  char in[BYTES_TITLE], want[BYTES_TITLE] = {0};
  bytes_get(r, in, sizeof in);
  if (r->status != SCL_STATUS_OK) return;
  memcpy(want, title, strlen(title) < BYTES_TITLE ? strlen(title) : BYTES_TITLE - 1);
  if (memcmp(in, want, sizeof in) != 0)
    r->status = r->host->fail(
        r->error, SCL_STATUS_BAD_DATA,
        "the model's bytes are damaged, or of another solver: they do not begin with '%s'", title);
}

#endif
