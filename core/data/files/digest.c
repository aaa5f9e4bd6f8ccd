/* SHA-256 by libmd's functions (sha2.h). */
#include "data/files/digest.h"

#include <stdio.h>

void scl_digest_open(scl_digest *digest) { SHA256Init(&digest->state); }

void scl_digest_add(scl_digest *digest, const void *bytes, size_t size) {
  SHA256Update(&digest->state, bytes, size);
}

void scl_digest_text(scl_digest *digest, char text[SCL_DIGEST_TEXT + 1]) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256Final(bytes, &digest->state);
  for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
    (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}
