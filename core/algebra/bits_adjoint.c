/* B'r by tables ("four Russians"): for each 8 rows, the sums of all 256 subsets of them. Each byte of
 * a column then selects one of these sums. */
#include "algebra/bits.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { EIGHT = SCL_BITS_COLUMNS, BYTE = 8, CHOICES = 256 };

typedef struct gathering {
  const scl_bits *bits;
  size_t first;        /* the present word */
  size_t before, rows; /* rows before .. rows-1 of it are rows of r */
  const double *r;     /* the row of r at `before` */
  size_t k;            /* planes of r: 1 or 2, */
  size_t apart;        /* and the numbers from one to the next */
  double *tables;      /* (64 / 8) x 2^8 x k */
} gathering;

static size_t table_numbers(const gathering *g) {
  return (size_t)(SCL_BITS_ROWS / BYTE) * CHOICES * g->k;
}

/* to[i] = from[i] + x, for `half` entries of k numbers. */
INLINE void extend(size_t half, const size_t k, const double *from, const double *x,
                   double *restrict to) {
  for (size_t i = 0; i < half; i++)
    for (size_t q = 0; q < k; q++)
      to[i * k + q] = from[i * k + q] + x[q];
}

/* The tables of the word. The sum of a subset is that of the subset without its last row, plus that
 * row, so that each entry takes one addition of k numbers. */
static void fill_tables(const gathering *g) {
  const size_t k = g->k;
  double *to = g->tables;
  for (size_t at = 0; at < SCL_BITS_ROWS; at += BYTE) {
    memset(to, 0, k * sizeof *to);
    for (unsigned b = 0; b < BYTE; b++) {
      const size_t half = (size_t)1 << b;
      const bool mine = at + b >= g->before && at + b < g->rows;
      const double *row = mine ? g->r + (at + b - g->before) : NULL;
      if (!mine)
        memcpy(to + half * k, to, half * k * sizeof *to);
      else if (k == 1)
        extend(half, 1, to, row, to + half);
      else
        extend(half, 2, to, (const double[]){row[0], row[g->apart]}, to + 2 * half);
    }
    to += CHOICES * k;
  }
}

/* Two sums that are read and added together. */
typedef double both __attribute__((vector_size(2 * sizeof(double)), aligned(8), may_alias));

/* sums (k) += those of the first `count` bits of a word of one column; k is 1 or 2. */
INLINE void add_word(const double *tables, uint64_t word, unsigned count, const size_t k,
                     double *sums) {
  both part = {sums[0], sums[k - 1]};
  double one = sums[0];
  for (unsigned b = 0; b < count; b += BYTE, tables += CHOICES * k, word >>= BYTE) {
    const double *from = tables + (word & (CHOICES - 1)) * k;
    if (k == 1)
      one += *from;
    else
      part += *(const both *)from;
  }
  if (k == 1)
    *sums = one;
  else
    *(both *)sums = part;
}

/* Begin with word `first`, of rows start .. end-1 of the bits; r: the numbers of row `start`. */
static void begin_words(gathering *g, size_t first, size_t start, size_t end, const double *r) {
  const size_t at = scl_max(first * SCL_BITS_ROWS, start);
  g->first = first;
  g->before = at - first * SCL_BITS_ROWS;
  g->rows = end - first * SCL_BITS_ROWS;
  g->r = r + (at - start);
}

/* sums (columns x k) += those of one word, by its tables; k is 1 or 2. Two numbers of half of the
 * word's rows at a time: these tables fit into the first cache. */
INLINE void add_columns(const gathering *g, const size_t k, double *sums) {
  const unsigned count = SCL_BITS_ROWS / (unsigned)k;
  for (unsigned from = 0; from < SCL_BITS_ROWS; from += count)
    for (size_t j = 0; j < g->bits->columns; j += EIGHT) {
      const uint64_t *words = scl_bits_at(g->bits, j, g->first);
      for (size_t c = 0; c < EIGHT; c++)
        add_word(g->tables + from / BYTE * CHOICES * k, words[c] >> from, count, k,
                 sums + (j + c) * k);
    }
}

/* One or two planes. */
static scl_status add_planes(gathering *g, size_t start, size_t rows, const double *r, double *out,
                             scl_error *error) {
  const size_t k = g->k, d = g->bits->columns, padded = scl_bits_groups(d) * EIGHT,
               numbers = table_numbers(g) + padded * k;
  g->tables = scl_allocate_array(numbers, sizeof *g->tables);
  if (g->tables == NULL) return scl_fail_memory(error, numbers * sizeof *g->tables, "sums of rows");
  double *sums = g->tables + table_numbers(g);
  memset(sums, 0, padded * k * sizeof *sums);
  for (size_t w = start / SCL_BITS_ROWS; w < scl_bits_words(start + rows); w++) {
    begin_words(g, w, start, start + rows, r);
    fill_tables(g);
    if (k == 1)
      add_columns(g, 1, sums);
    else
      add_columns(g, 2, sums);
  }
  for (size_t q = 0; q < k; q++)
    for (size_t j = 0; j < d; j++)
      out[q * d + j] += sums[j * k + q];
  scl_release(g->tables);
  return SCL_STATUS_OK;
}

scl_status scl_bits_adjoint_whole(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                  size_t k, double *out, scl_error *error) {
  for (size_t q = 0; rows > 0 && q < k; q += 2) {
    gathering g = {.bits = bits, .k = scl_min(2, k - q), .apart = rows};
    SCL_TRY(add_planes(&g, start, rows, r + q * rows, out + q * bits->columns, error));
  }
  return SCL_STATUS_OK;
}
