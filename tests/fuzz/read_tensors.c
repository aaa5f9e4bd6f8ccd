/* Files of arrays with a description (saved models): the digest is made to fit, so that what is
 * behind it is reached. */
#include "data/digest.h"
#include "data/safetensors.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX = 8, DIGITS_AT = PREFIX + sizeof "{\"__metadata__\":{\"sha256\":\"" - 1 };

static void sign(char *bytes, size_t size) {
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

void fuzz_read(const uint8_t *data, size_t size) {
  char *bytes = fuzz_text(data, size);
  scl_tensor_file file;
  scl_error error = {0};
  if (fuzz_choice(data, size, 0) % 8 != 1) {
    set_length(bytes, size);
    sign(bytes, size);
  }
  const char *path = fuzz_file(0, (const uint8_t *)bytes, size, false);
  const scl_status status = scl_safetensors_read(path, &file, &error);
  fuzz_check(status, &error);
  if (status == SCL_STATUS_OK) {
    if (strlen(file.text) > size) fuzz_fail("a text longer than the file");
    scl_tensor_file_release(&file);
  }
  free(bytes);
}
