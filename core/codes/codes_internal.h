/* Shared by codes.c and codes_distance.c. */
#ifndef SCULLERY_CODES_INTERNAL_H
#define SCULLERY_CODES_INTERNAL_H

#include "codes/codes.h"

enum { SCL_CODES_LANES = 8, SCL_CODES_WORD = 64 };

/* Bit p of number t of row r is bit t % 64 of
 *   words[((r / 8 * planes + p) * plane_words + t / 64) * 8 + r % 8].
 * Rows are padded to a multiple of 8, planes to a multiple of 64 bits, with zeros. */
struct scl_codes {
  uint64_t *words;
  size_t rows, cols, levels, planes, plane_words;
};

/* The number of groups of eight rows, the last of which may be padded. */
static inline size_t scl_codes_groups(const scl_codes *codes) {
  return (codes->rows + SCL_CODES_LANES - 1) / SCL_CODES_LANES;
}
/* The number of words of one row. */
static inline size_t scl_codes_row_words(const scl_codes *codes) {
  return codes->planes * codes->plane_words;
}
/* The number of words of a group of eight rows. */
static inline size_t scl_codes_group_words(const scl_codes *codes) {
  return scl_codes_row_words(codes) * SCL_CODES_LANES;
}
/* The first word of a row; the next ones follow at a stride of 8. */
static inline uint64_t *scl_codes_row(const scl_codes *codes, size_t row) {
  return codes->words + row / SCL_CODES_LANES * scl_codes_group_words(codes) +
         row % SCL_CODES_LANES;
}

/* Codes of zeros. */
scl_status scl_codes_create(size_t rows, size_t cols, size_t levels, scl_codes **out,
                            scl_error *error);
/* Copy the words of a row to or from a contiguous array. */
void scl_codes_get_row(const scl_codes *codes, size_t row, uint64_t *words);
void scl_codes_set_row(scl_codes *codes, size_t row, const uint64_t *words);

#endif
