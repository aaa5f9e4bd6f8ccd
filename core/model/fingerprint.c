#include "model/fingerprint.h"

#include "rows/fingerprints.h"

#include <stdio.h>
#include <string.h>

void scl_digest_matrix(scl_digest *digest, const scl_matrix *a) {
  char sizes[64];
  const int length = snprintf(sizes, sizeof sizes, "%zu x %zu;", a->rows, a->cols);
  scl_digest_add(digest, sizes, (size_t)length);
  const size_t rows = scl_min(a->rows, SCL_FINGERPRINT_ROWS);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < a->cols; j++) {
      const double number = scl_matrix_get(a, i * a->rows / rows, j);
      scl_digest_add(digest, &number, sizeof number);
    }
}

void scl_digest_csr(scl_digest *digest, const scl_csr *a) {
  char sizes[64];
  const int length = snprintf(sizes, sizeof sizes, "%zu x %zu sparse;", a->rows, a->cols);
  scl_digest_add(digest, sizes, (size_t)length);
  const size_t rows = scl_min(a->rows, SCL_FINGERPRINT_ROWS);
  for (size_t i = 0; i < rows; i++) {
    const size_t from = i * a->rows / rows;
    const int64_t end = a->starts[from + 1], entries = end - a->starts[from];
    scl_digest_add(digest, &entries, sizeof entries);
    for (int64_t k = a->starts[from]; k < end; k++) {
      const double pair[2] = {(double)a->columns[k], scl_csr_value(a, k)};
      scl_digest_add(digest, pair, sizeof pair);
    }
  }
}

void scl_digest_texts(scl_digest *digest, const scl_texts *texts, size_t most) {
  char size[64];
  const size_t rows = scl_min(texts->count, most);
  int length = snprintf(size, sizeof size, "%zu texts;", texts->count);
  scl_digest_add(digest, size, (size_t)length);
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * texts->count / rows;
    length = snprintf(size, sizeof size, "%zu:", scl_text_length(texts, at));
    scl_digest_add(digest, size, (size_t)length);
    scl_digest_add(digest, scl_text_at(texts, at), scl_text_length(texts, at));
  }
}

/* One to one in h, and in the bits of the number: a single number that differs is always seen. */
static uint64_t add_bits(uint64_t h, uint64_t bits) {
  h = (h ^ bits) * 0x9e3779b97f4a7c15u;
  return h << 29 | h >> 35;
}

/* Four independent chains of multiplications, which the processor overlaps: in a fit by several
 * processes each of them sums all rows. */
static uint64_t add_row(uint64_t sum, const double *numbers, size_t count) {
  enum { CHAINS = 4 };
  uint64_t h[CHAINS] = {sum, 0, 0, 0}, bits[CHAINS];
  for (size_t j = 0; j < count; j += CHAINS) {
    const size_t some = scl_min(count - j, CHAINS);
    if (some < CHAINS) memset(bits, 0, sizeof bits);
    memcpy(bits, numbers + j, some * sizeof *bits);
    for (size_t i = 0; i < CHAINS; i++)
      h[i] = add_bits(h[i], bits[i]);
  }
  for (size_t i = 1; i < CHAINS; i++)
    h[0] = add_bits(h[0] ^ h[0] >> 32, h[i]);
  return h[0];
}

scl_status scl_checksum_matrix(const scl_matrix *a, uint64_t *out, scl_error *error) {
  const bool plain = a->col_stride == 1 && a->dtype == SCL_DTYPE_FLOAT64;
  double *copy = scl_allocate((a->cols + 1) * sizeof *copy); /* of a row of others */
  if (copy == NULL) return scl_fail_memory(error, (a->cols + 1) * sizeof(double), "a checksum");
  uint64_t sum = add_bits(a->rows, a->cols);
  for (size_t i = 0; i < a->rows; i++) {
    for (size_t j = 0; !plain && j < a->cols; j++)
      copy[j] = scl_matrix_get(a, i, j);
    sum = add_row(sum, plain ? scl_matrix_row(a, i) : copy, a->cols);
  }
  scl_release(copy);
  *out = sum ^ sum >> 32;
  return SCL_STATUS_OK;
}

/* Of the columns and the numbers of each row. */
scl_status scl_checksum_csr(const scl_csr *a, uint64_t *out, scl_error *error) {
  size_t longest = 0;
  for (size_t i = 0; i < a->rows; i++)
    longest = scl_max(longest, (size_t)(a->starts[i + 1] - a->starts[i]));
  double *columns = scl_allocate((longest + 1) * sizeof *columns);
  if (columns == NULL) return scl_fail_memory(error, (longest + 1) * sizeof(double), "a checksum");
  uint64_t sum = a->rows;
  for (size_t i = 0; i < a->rows; i++) {
    const int64_t first = a->starts[i];
    const size_t some = (size_t)(a->starts[i + 1] - first);
    for (size_t k = 0; k < some; k++)
      columns[k] = a->columns[first + (int64_t)k];
    columns[some] = (double)a->cols;
    sum = scl_fingerprint_of(sum, SCL_DTYPE_FLOAT64, columns, some + 1);
    sum = scl_fingerprint_of(sum, a->dtype, scl_at(a->values, a->dtype, first), some);
  }
  scl_release(columns);
  *out = sum;
  return SCL_STATUS_OK;
}
