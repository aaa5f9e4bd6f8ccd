/* Columns of bits, and sums over their rows. A feature that takes two values, low and high, is a
 * column of bits b (1: high), and with d = high - low
 *
 *   sum over rows of phi_i phi_j = n low^2 + low d (c_i + c_j) + d^2 n_ij,
 *
 * c_i = sum b_i, n_ij = sum b_i b_j. The counts c_i = n_ii and n_ij are whole numbers: sums of them
 * are exact below 2^53, whatever the order, the threads and the instruction set. The affine map
 * comes last and once.
 *
 * Words hold 64 rows of a column, the first in bit 0. Eight columns lie side by side: word w of
 * column j is words[(j / 8 * apart + w) * 8 + j % 8]. Columns beyond the last are 0, and so are the
 * rows behind the last of a run. */
#ifndef SCULLERY_BITS_H
#define SCULLERY_BITS_H

#include "algebra/symmetric.h"

enum { SCL_BITS_ROWS = 64, SCL_BITS_COLUMNS = 8 };

typedef struct scl_bits {
  uint64_t *words;
  size_t columns, apart; /* apart: words of room for each column */
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

/* Room for that many rows, all 0. */
scl_status scl_bits_create(size_t columns, size_t rows, scl_bits *out, scl_error *error);
void scl_bits_release(scl_bits *bits);

/* Rows at .. of `to` = rows start .. start+count-1 of `from`, and 0 behind the last in its word. */
void scl_bits_copy(const scl_bits *from, size_t start, size_t count, const scl_bits *to, size_t at);

/* Words first .. first+count-1 of bits, fewer than 2^26, with one factor. */
typedef struct scl_bits_part {
  const scl_bits *bits;
  size_t first, count;
  double factor;
} scl_bits_part;
/* a += sum over the parts of factor B'B. Until Ctrl-C. */
scl_status scl_bits_gram(const scl_bits_part *parts, size_t n_parts, scl_symmetric *a,
                         scl_error *error);
/* The first k of every `stride` numbers of out (columns x stride) += B'r: r (rows x k) belongs to
 * rows start .. start+rows-1. Sums of 8 (k = 1) or 4 rows are looked up, and added in the order of
 * the rows: the same bits for any threads and instruction set. */
scl_status scl_bits_adjoint(const scl_bits *bits, size_t start, size_t rows, const double *r,
                            size_t k, double *out, size_t stride, scl_error *error);
/* out += factor B'r where each column of r takes at most two values, as classes do: from counts of
 * rows, exact where r and factor are whole numbers. Otherwise *taken = false, and out is as before. */
scl_status scl_bits_adjoint_of_two(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                   size_t k, double factor, double *out, size_t stride, bool *taken,
                                   scl_error *error);

/* B a + 1 base' for one a (columns x k) and many rows: of 8 (k = 1) or 4 columns, the sums of all
 * choices of them. */
typedef struct scl_bits_product {
  size_t k;
  unsigned width; /* columns looked up together */
  double *tables; /* (columns / width) x 2^width x k */
  double *base;   /* k */
} scl_bits_product;
scl_status scl_bits_product_open(size_t columns, const double *a, const double *base, size_t k,
                                 scl_bits_product *out, scl_error *error);
void scl_bits_product_close(scl_bits_product *p);
/* out (rows x k), of rows start .. start+rows-1. Sums are added in the order of the columns. */
scl_status scl_bits_multiply(const scl_bits_product *p, const scl_bits *bits, size_t start,
                             size_t rows, double *out, scl_error *error);
/* out (rows x columns at stride) = low[j] or high[j], whichever the bit of rows start ..
 * start+rows-1 says. */
void scl_bits_spread(const scl_bits *bits, size_t start, size_t rows, const double *low,
                     const double *high, scl_dtype dtype, void *out, ptrdiff_t stride);
/* The same of one row, and of columns first .. first+count-1 alone, to out (count). */
void scl_bits_spread_row(const scl_bits *bits, size_t row, size_t first, size_t count,
                         const double *low, const double *high, scl_dtype dtype, void *out);
/* How B'B is counted: "plain", "avx2", "avx512". */
const char *scl_bits_way(void);

#endif
