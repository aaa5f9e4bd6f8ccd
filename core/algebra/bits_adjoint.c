/* B'r by tables ("four Russians"): for each 8 rows or 4 rows, the sums of all 256 or 16 subsets of
 * them. Each byte or half byte of a column then selects one of these sums. */
#include "algebra/bits.h"
#include "base/pool.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { EIGHT = SCL_BITS_COLUMNS, STRIP_GROUPS = 32, BYTE = 8, CHOICES = 256 };
/* Words whose tables are made together: their tables take at most half a megabyte. */
enum { CHUNK_WORDS = 32 };

typedef struct gathering {
  const scl_bits *bits;
  size_t first, words; /* words of the present chunk */
  size_t before, rows; /* rows before .. rows-1 of these words are rows of r */
  const double *r;     /* the row of r at `before` */
  size_t k;
  size_t step, apart; /* r of row i and column q: r[i step + q apart] */
  unsigned width;     /* bits looked up together */
  double *tables;     /* words x (64 / width) x 2^width x k */
  double *out;        /* of column j of the bits and q: out[j stride + q plane] */
  size_t stride, plane;
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

/* One or two columns of r, whose bytes are looked up: all sums of the strip fit into a small array.
 * 64/k rows at a time, so that their tables stay in the first cache. */
INLINE void add_strip_of_few(const gathering *g, size_t begin, size_t end, const size_t k) {
  const unsigned count = SCL_BITS_ROWS / (unsigned)k;
  double sums[STRIP_GROUPS * EIGHT * 2] = {0};
  for (size_t w = 0; w < g->words; w++)
    for (unsigned from = 0; from < SCL_BITS_ROWS; from += count)
      for (size_t j = begin; j < end; j += EIGHT) {
        const double *tables = g->tables + w * table_numbers(g) + from / BYTE * CHOICES * k;
        const uint64_t *words = scl_bits_at(g->bits, j, g->first + w);
        for (size_t c = 0; c < EIGHT; c++)
          add_word(tables, words[c] >> from, count, k, sums + (j - begin + c) * k);
      }
  for (size_t j = begin; j < end; j++)
    for (size_t q = 0; q < k; q++)
      g->out[j * g->stride + q * g->plane] += sums[(j - begin) * k + q];
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
  if (g->width == BYTE) {
    if (g->k == 1)
      add_strip_of_few(g, begin, end, 1);
    else
      add_strip_of_few(g, begin, end, 2);
    return;
  }
  for (size_t w = 0; w < g->words; w++)
    for (size_t j = begin; j < end; j++)
      add_several(g->tables + w * table_numbers(g), *scl_bits_at(g->bits, j, g->first + w), g->k,
                  g->out + j * g->stride);
}

/* Run g on rows start .. start+rows-1. */
static scl_status gather(gathering *g, size_t start, size_t rows, scl_error *error) {
  const double *r = g->r;
  const size_t each = table_numbers(g), begin = start / SCL_BITS_ROWS,
               end = scl_bits_words(start + rows),
               chunk = g->width == BYTE ? CHUNK_WORDS / g->k : CHUNK_WORDS,
               strips = (scl_bits_groups(g->bits->columns) + STRIP_GROUPS - 1) / STRIP_GROUPS;
  g->tables = scl_allocate_array(scl_min(end - begin, chunk) * each, sizeof *g->tables);
  if (g->tables == NULL)
    return scl_fail_memory(error, chunk * each * sizeof *g->tables, "sums of rows");
  for (g->first = begin; g->first < end; g->first += chunk) {
    const size_t at = scl_max(g->first * SCL_BITS_ROWS, start);
    g->words = scl_min(chunk, end - g->first);
    g->before = at - g->first * SCL_BITS_ROWS;
    g->rows = start + rows - g->first * SCL_BITS_ROWS;
    g->r = r + (at - start) * g->step;
    scl_pool_run(g->words, fill_tables, g);
    scl_pool_run(strips, add_strip, g);
  }
  scl_release(g->tables);
  return SCL_STATUS_OK;
}

scl_status scl_bits_adjoint(const scl_bits *bits, size_t start, size_t rows, const double *r,
                            size_t k, double *out, size_t stride, scl_error *error) {
  gathering g = {.bits = bits,
                 .r = r,
                 .k = k,
                 .step = k,
                 .apart = 1,
                 .width = k == 1 ? BYTE : 4,
                 .out = out,
                 .stride = stride,
                 .plane = 1};
  return rows == 0 || k == 0 ? SCL_STATUS_OK : gather(&g, start, rows, error);
}

scl_status scl_bits_adjoint_whole(const scl_bits *bits, size_t start, size_t rows, const double *r,
                                  size_t k, double *out, scl_error *error) {
  const size_t d = bits->columns;
  for (size_t q = 0; rows > 0 && q < k; q += 2) {
    gathering g = {.bits = bits,
                   .r = r + q * rows,
                   .k = scl_min(2, k - q),
                   .step = 1,
                   .apart = rows,
                   .width = BYTE,
                   .out = out + q * d,
                   .stride = 1,
                   .plane = d};
    SCL_TRY(gather(&g, start, rows, error));
  }
  return SCL_STATUS_OK;
}
