#define _GNU_SOURCE
#include "reader.h"
#include "base/interrupt.h"
#include "data/files/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

bool fuzz_may_keep;

void fuzz_fail(const char *why) {
  (void)fprintf(stderr, "harness: %s\n", why);
  abort();
}

static void write_all(int descriptor, const uint8_t *data, size_t size) {
  if (ftruncate(descriptor, 0) != 0 || lseek(descriptor, 0, SEEK_SET) != 0 ||
      write(descriptor, data, size) != (ssize_t)size)
    fuzz_fail("the file in memory cannot be written");
}

static void write_packed(int descriptor, const uint8_t *data, size_t size) {
  z_stream z = {.next_in = (unsigned char *)(uintptr_t)data, .avail_in = (unsigned)size};
  if (deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    fuzz_fail("no memory");
  const size_t room = deflateBound(&z, size);
  uint8_t *packed = malloc(room);
  if (packed == NULL) fuzz_fail("no memory");
  z.next_out = packed;
  z.avail_out = (unsigned)room;
  (void)deflate(&z, Z_FINISH);
  write_all(descriptor, packed, room - z.avail_out);
  (void)deflateEnd(&z);
  free(packed);
}

const char *fuzz_file(int place, const uint8_t *data, size_t size, bool packed) {
  static int descriptors[2];
  static char paths[2][40];
  if (paths[place][0] == 0) {
    descriptors[place] = memfd_create("input", MFD_CLOEXEC);
    (void)snprintf(paths[place], sizeof paths[place], "/proc/self/fd/%d", descriptors[place]);
  }
  (packed ? write_packed : write_all)(descriptors[place], data, size);
  return paths[place];
}

void fuzz_check(scl_status status, const scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  if (error->status != status) fuzz_fail("the status differs from that of the sentence");
  if (strlen(error->message) < 8) fuzz_fail("a refusal without a sentence");
  if (status == SCL_STATUS_INTERNAL) fuzz_fail(error->message);
}

void fuzz_touch(const scl_matrix *a) {
  volatile double sink = 0;
  for (size_t i = 0; i < a->rows && i < 1000; i++)
    for (size_t j = 0; j < a->cols && j < 1000; j++)
      sink = scl_matrix_get(a, i, j);
  if (a->rows > 0 && a->cols > 0) sink = scl_matrix_get(a, a->rows - 1, a->cols - 1);
  (void)sink;
}

char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (text == NULL) fuzz_fail("no memory");
  if (size > 0) memcpy(text, data, size);
  text[size] = 0;
  return text;
}

enum { PREFIX = 8, DIGITS_AT = PREFIX + sizeof "{\"__metadata__\":{\"sha256\":\"" - 1 };

static void set_digest(char *bytes, size_t size) {
  char digits[SCL_DIGEST_TEXT + 1];
  scl_digest digest;
  if (size < DIGITS_AT + SCL_DIGEST_TEXT) return;
  memset(bytes + DIGITS_AT, '0', SCL_DIGEST_TEXT);
  scl_digest_open(&digest);
  scl_digest_add(&digest, bytes, size);
  scl_digest_text(&digest, digits);
  memcpy(bytes + DIGITS_AT, digits, SCL_DIGEST_TEXT);
}

/* The length of the header is that of the input where the input says another: most changes would
 * only break that. */
static void set_length(char *bytes, size_t size) {
  uint64_t length = 0;
  for (size_t b = 0; size >= PREFIX && b < PREFIX; b++)
    length |= (uint64_t)(unsigned char)bytes[b] << 8 * b;
  if (size < PREFIX || length <= size - PREFIX) return;
  for (size_t b = 0; b < PREFIX; b++)
    bytes[b] = (char)(unsigned char)((size - PREFIX) >> 8 * b);
}

void fuzz_sign(char *bytes, size_t size) {
  set_length(bytes, size);
  set_digest(bytes, size);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  (void)argv;
  return setenv("SCULLERY_THREADS", "2", 0); /* unless asked for others */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_read(data, size);
  if (scl_allocated() > 0 && !fuzz_may_keep) fuzz_fail("memory is held that nobody releases");
  if (scl_interrupted()) fuzz_fail("an interrupt that nobody asked for");
  return 0;
}
