/* B'r by tables ("four Russians"): for each 8 rows or 4 rows, the sums of all 256 or 16 subsets of
 * them. Each byte or half byte of a column then selects one of these sums. */
#include "algebra/bits.h"
#include "base/pool.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { EIGHT = SCL_BITS_COLUMNS, STRIP_GROUPS = 32, BYTE = 8, CHOICES = 256 };
enum { CHUNK_WORDS = 32 }; /* whose tables are made together */

typedef struct gathering {
  const scl_bits *bits;
  size_t first, words; /* words of the present chunk */
  size_t before, rows; /* rows before .. rows-1 of these words are rows of r */
  const double *r;     /* the row of r at `before` */
  size_t k;
  size_t step, apart; /* r of row i and column q: r[i step + q apart] */
  unsigned width;     /* bits looked up together */
  double *tables;     /* words x (64 / width) x 2^width x k */
  double *out;
  size_t stride;
} gathering;

static size_t table_numbers(const gathering *g) {
  return SCL_BITS_ROWS / g->width * ((size_t)1 << g->width) * g->k;
}

/* to[i] = from[i] + x, for `half` entries of k numbers. */
INLINE void extend(size_t half, const size_t k, const double *from, const double *x,
                   double *restrict to) {
  for (size_t i = 0; i < half; i++)
    for (size_t q = 0; q < k; q++)
      to[i * k + q] = from[i * k + q] + x[q];
}

/* Task: the tables of one word. The sum of a subset is that of the subset without its last row,
 * plus that row, so that each entry takes one addition of k numbers. */
static void fill_tables(void *context, size_t word) {
  const gathering *g = context;
  const size_t k = g->k;
  double *to = g->tables + word * table_numbers(g);
  for (size_t at = word * SCL_BITS_ROWS; at < (word + 1) * SCL_BITS_ROWS; at += g->width) {
    memset(to, 0, k * sizeof *to);
    for (unsigned b = 0; b < g->width; b++) {
      const size_t half = (size_t)1 << b;
      const bool mine = at + b >= g->before && at + b < g->rows;
      const double *row = mine ? g->r + (at + b - g->before) * g->step : NULL;
      if (!mine)
        memcpy(to + half * k, to, half * k * sizeof *to);
      else if (k == 1)
        extend(half, 1, to, row, to + half);
      else if (k == 2)
        extend(half, 2, to, (const double[]){row[0], row[g->apart]}, to + 2 * half);
      else
        extend(half, k, to, row, to + half * k);
    }
    to += ((size_t)1 << g->width) * k;
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

/* The same for a single column of residuals: all sums of the strip fit into a small array. */
static void add_strip_of_one(const gathering *g, size_t begin, size_t end) {
  double sums[STRIP_GROUPS * EIGHT] = {0};
  for (size_t w = 0; w < g->words; w++)
    for (size_t j = begin; j < end; j += EIGHT) {
      const uint64_t *words = scl_bits_at(g->bits, j, g->first + w);
      for (size_t c = 0; c < EIGHT; c++)
        add_word(g->tables + w * table_numbers(g), words[c], SCL_BITS_ROWS, 1,
                 sums + j - begin + c);
    }
  for (size_t j = begin; j < end; j++)
    g->out[j * g->stride] += sums[j - begin];
}

/* Several targets: add the sums of one word of one column. */
static void add_several(const double *tables, uint64_t word, size_t k, double *sums) {
  enum { FEWER = 16, HALF = 4 };
  for (unsigned b = 0; b < SCL_BITS_ROWS; b += HALF, tables += FEWER * k) {
    const double *from = tables + (word >> b & (FEWER - 1)) * k;
    for (size_t q = 0; q < k; q++)
      sums[q] += from[q];
  }
}

/* A strip of columns, word by word, so that a word's tables stay in cache. */
static void add_strip(void *context, size_t index) {
  const gathering *g = context;
  const size_t begin = index * STRIP_GROUPS * EIGHT,
               end = scl_min(begin + STRIP_GROUPS * EIGHT, g->bits->columns);
  if (g->k == 1) {
    add_strip_of_one(g, begin, end);
    return;
  }
  for (size_t w = 0; w < g->words; w++)
    for (size_t j = begin; j < end; j++)
      add_several(g->tables + w * table_numbers(g), *scl_bits_at(g->bits, j, g->first + w), g->k,
                  g->out + j * g->stride);
}

/* Begin with word `first`, of rows start .. end-1 of the bits; r: the numbers of row `start`. */
static void begin_words(gathering *g, size_t first, size_t start, size_t end, const double *r) {
  const size_t at = scl_max(first * SCL_BITS_ROWS, start);
  g->first = first;
  g->before = at - first * SCL_BITS_ROWS;
  g->rows = end - first * SCL_BITS_ROWS;
  g->r = r + (at - start) * g->step;
}

scl_status scl_bits_adjoint(const scl_bits *bits, size_t start, size_t rows, const double *r,
                            size_t k, double *out, size_t stride, scl_error *error) {
  if (rows == 0 || k == 0) return SCL_STATUS_OK;
  gathering g = {
      .bits = bits, .k = k, .step = k, .apart = 1, .width = k == 1 ? BYTE : 4, .out = out};
  const size_t each = table_numbers(&g), begin = start / SCL_BITS_ROWS,
               end = scl_bits_words(start + rows),
               strips = (scl_bits_groups(bits->columns) + STRIP_GROUPS - 1) / STRIP_GROUPS;
  g.stride = stride;
  g.tables = scl_allocate_array(scl_min(end - begin, CHUNK_WORDS) * each, sizeof *g.tables);
  if (g.tables == NULL)
    return scl_fail_memory(error, CHUNK_WORDS * each * sizeof *g.tables, "sums of rows");
  for (size_t w = begin; w < end; w += CHUNK_WORDS) {
    begin_words(&g, w, start, start + rows, r);
    g.words = scl_min(CHUNK_WORDS, end - w);
    scl_pool_run(g.words, fill_tables, &g);
    scl_pool_run(strips, add_strip, &g);
  }
  scl_release(g.tables);
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ whole numbers */

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
    fill_tables(g, 0);
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
    gathering g = {.bits = bits, .k = scl_min(2, k - q), .step = 1, .apart = rows, .width = BYTE};
    SCL_TRY(add_planes(&g, start, rows, r + q * rows, out + q * bits->columns, error));
  }
  return SCL_STATUS_OK;
}
