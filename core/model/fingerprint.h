/* Fingerprints of data, in place of the rows in models, checkpoints and records of experiments: some
 * rows, or a checksum of all. Numbers are read by row and column, so that a view has those of its
 * copy. */
#ifndef SCULLERY_FINGERPRINT_H
#define SCULLERY_FINGERPRINT_H

#include "algebra/csr.h"
#include "data/files/digest.h"
#include "text/texts.h"

/* Add the sizes and up to 1024 rows, spread evenly: numbers as little-endian float64, those of a
 * sparse row each after its column. */
void scl_digest_matrix(scl_digest *digest, const scl_matrix *a);
void scl_digest_csr(scl_digest *digest, const scl_csr *a);
/* Add up to `most` texts, spread evenly, each behind its length. */
enum { SCL_FINGERPRINT_ROWS = 1024 };
void scl_digest_texts(scl_digest *digest, const scl_texts *texts, size_t most);

/* 64 bits that depend on the sizes and on all numbers. */
scl_status scl_checksum_matrix(const scl_matrix *a, uint64_t *out, scl_error *error);
scl_status scl_checksum_csr(const scl_csr *a, uint64_t *out, scl_error *error);

#endif
