/* Matrices of bits, and sums over their rows. A feature with two values, low and high, is stored as
 * a column of bits b (1: high). With d = high - low
 *
 *   sum over rows of phi_i phi_j = n low^2 + low d (c_i + c_j) + d^2 n_ij,
 *
 * c_i = sum b_i, n_ij = sum b_i b_j. The counts c_i = n_ii and n_ij are whole numbers: their sums
 * are exact below 2^53, for any order, number of threads and instruction set. The affine map is
 * applied once, to the counts.
 *
 * A word holds 64 rows of a column, the first row in bit 0. Eight columns are interleaved: word w
 * of column j is words[(j / 8 * apart + w) * 8 + j % 8]. Padding columns, and padding rows of the
 * last word, are 0. */
#ifndef SCULLERY_BITS_H
#define SCULLERY_BITS_H

#include "algebra/symmetric.h"

enum { SCL_BITS_ROWS = 64, SCL_BITS_COLUMNS = 8 };

typedef struct scl_bits {
  uint64_t *words;
  size_t columns, apart; /* apart: capacity of each column in words */
} scl_bits;

static inline size_t scl_bits_words(size_t rows) {
  return (rows + SCL_BITS_ROWS - 1) / SCL_BITS_ROWS;
}
static inline size_t scl_bits_groups(size_t columns) {
  return (columns + SCL_BITS_COLUMNS - 1) / SCL_BITS_COLUMNS;
}
static inline uint64_t *scl_bits_at(const scl_bits *bits, size_t column, size_t word) {
  return bits->words + (column / SCL_BITS_COLUMNS * bits->apart + word) * SCL_BITS_COLUMNS +
         column % SCL_BITS_COLUMNS;
}
static inline int scl_bits_get(const scl_bits *bits, size_t row, size_t column) {
  return (int)(*scl_bits_at(bits, column, row / SCL_BITS_ROWS) >> row % SCL_BITS_ROWS & 1);
}

/* A matrix rows x columns of zeros. */
scl_status scl_bits_create(size_t columns, size_t rows, scl_bits *out, scl_error *error);
void scl_bits_release(scl_bits *bits);

/* Rows at .. at+count-1 of `to` = rows start .. start+count-1 of `from`; the rest of the last word
 * is set to 0. */
void scl_bits_copy(const scl_bits *from, size_t start, size_t count, const scl_bits *to, size_t at);

/* `to` = the rows of `from` whose bits in `mask` (so many words) are 1, in their order; *rows: their
 * number. The rest of the last word is set to 0. */
scl_status scl_bits_select(const scl_bits *from, const uint64_t *mask, size_t words,
                           const scl_bits *to, size_t *rows, scl_error *error);

/* Words first .. first+count-1 of `bits`, count < 2^26, with a common factor. */
typedef struct scl_bits_part {
  const scl_bits *bits;
  size_t first, count;
  double factor;
} scl_bits_part;
/* a += sum over the parts of factor B'B. SCL_STATUS_CANCELLED after Ctrl-C. */
scl_status scl_bits_gram(const scl_bits_part *parts, size_t n_parts, scl_symmetric *a,
                         scl_error *error);
/* out (k planes of bits->columns numbers) += B'r, where B is rows start .. start+rows-1 of `bits` and r
 * is k planes of `rows` whole numbers of which all sums are exact; in the calling thread. Two planes
 * are looked up together. */
scl_status scl_bits_adjoint_whole(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                  size_t k, double *out, scl_error *error);
/* out += factor B'r from counts of rows, where each column of r has at most two values, as
 * indicators of classes have; exact where r and factor are whole numbers. Otherwise *taken = false,
 * and out is unchanged. */
scl_status scl_bits_adjoint_of_two(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                   size_t k, double factor, double *out, size_t stride, bool *taken,
                                   scl_error *error);

/* B a + 1 base' for one a (columns x k) and many rows, by tables of the sums of all subsets of 8
 * (k = 1) or 4 columns. */
typedef struct scl_bits_product {
  size_t k;
  unsigned width; /* columns looked up together */
  double *tables; /* (columns / width) x 2^width x k */
  double *base;   /* k */
} scl_bits_product;
scl_status scl_bits_product_open(size_t columns, const double *a, const double *base, size_t k,
                                 scl_bits_product *out, scl_error *error);
void scl_bits_product_close(scl_bits_product *p);
/* out (rows x k) for rows start .. start+rows-1. Sums are added in the order of the columns. */
scl_status scl_bits_multiply(const scl_bits_product *p, const scl_bits *bits, size_t start,
                             size_t rows, double *out, scl_error *error);
/* out (rows x columns, row stride `stride`) = high[j] where the bit is 1, else low[j], for rows
 * start .. start+rows-1. */
void scl_bits_spread(const scl_bits *bits, size_t start, size_t rows, const double *low,
                     const double *high, scl_dtype dtype, void *out, ptrdiff_t stride);
/* The same for one row and columns first .. first+count-1, to out[count]. */
void scl_bits_spread_row(const scl_bits *bits, size_t row, size_t first, size_t count,
                         const double *low, const double *high, scl_dtype dtype, void *out);
/* The instruction set that counts B'B: "plain", "avx2", "avx512". */
const char *scl_bits_way(void);

#endif
