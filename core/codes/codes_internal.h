/* What the files about codes share. */
#ifndef SCULLERY_CODES_INTERNAL_H
#define SCULLERY_CODES_INTERNAL_H

#include "codes/codes.h"

enum { SCL_CODES_LANES = 8, SCL_CODES_WORD = 64 };

/* Number t of row r has its bit p in bit t % 64 of words[((r / 8 * planes + p) * words_a_plane + t
 * / 64) * 8 + r % 8]. Rows are filled up to a multiple of 8, planes to a multiple of 64 bits, with
 * zeros. */
struct scl_codes {
  uint64_t *words;
  size_t rows, cols, levels, planes, plane_words;
};

static inline size_t scl_codes_groups(const scl_codes *codes) {
  return (codes->rows + SCL_CODES_LANES - 1) / SCL_CODES_LANES;
}
/* Words of one row. */
static inline size_t scl_codes_row_words(const scl_codes *codes) {
  return codes->planes * codes->plane_words;
}
/* Words from one row of a group to the same row of the next group. */
static inline size_t scl_codes_group_words(const scl_codes *codes) {
  return scl_codes_row_words(codes) * SCL_CODES_LANES;
}
/* The first word of a row; its next words follow at distances of 8. */
static inline uint64_t *scl_codes_row(const scl_codes *codes, size_t row) {
  return codes->words + row / SCL_CODES_LANES * scl_codes_group_words(codes) +
         row % SCL_CODES_LANES;
}

/* Zeros everywhere. */
scl_status scl_codes_create(size_t rows, size_t cols, size_t levels, scl_codes **out,
                            scl_error *error);
/* The words of a row one after another, and back. */
void scl_codes_get_row(const scl_codes *codes, size_t row, uint64_t *words);
void scl_codes_set_row(scl_codes *codes, size_t row, const uint64_t *words);

#endif
