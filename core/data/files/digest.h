/* SHA-256 of bytes that come piece by piece. */
#ifndef SCULLERY_DIGEST_H
#define SCULLERY_DIGEST_H

#include <sha2.h>
#include <stddef.h>

enum { SCL_DIGEST_TEXT = 2 * SHA256_DIGEST_LENGTH }; /* hexadecimal digits, lower case */

typedef struct scl_digest {
  SHA2_CTX state;
} scl_digest;

void scl_digest_open(scl_digest *digest);
void scl_digest_add(scl_digest *digest, const void *bytes, size_t size);
/* The digits and a 0; the digest is then to be opened anew. */
void scl_digest_text(scl_digest *digest, char text[SCL_DIGEST_TEXT + 1]);

#endif
