/* B'r by tables ("four Russians"): for each 8 rows (k = 1) or 4 rows, the sums of all 256 or 16
 * subsets of them. Each byte or half byte of a column then selects one of these sums. */
#include "algebra/bits.h"
#include "base/pool.h"
#include <string.h>

enum { EIGHT = SCL_BITS_COLUMNS, STRIP_GROUPS = 32, CHUNK_WORDS = 32 };

typedef struct gathering {
  const scl_bits *bits;
  size_t first, words; /* words of the present chunk */
  size_t before, rows; /* rows before .. rows-1 of these words are rows of r */
  const double *r;     /* the row of r at `before` */
  size_t k;
  unsigned width; /* bits looked up together */
  double *tables; /* words x (64 / width) x 2^width x k */
  double *out;
  size_t stride;
} gathering;

static size_t table_numbers(const gathering *g) {
  return SCL_BITS_ROWS / g->width * ((size_t)1 << g->width) * g->k;
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
      const double *row = mine ? g->r + (at + b - g->before) * k : NULL;
      for (size_t i = 0; i < half; i++)
        for (size_t j = 0; j < k; j++)
          to[(half + i) * k + j] = to[i * k + j] + (row == NULL ? 0 : row[j]);
    }
    to += ((size_t)1 << g->width) * k;
  }
}

/* One target: add the sums of one word of eight columns, side by side. */
static void add_one(const double *tables, const uint64_t *words, double *sums) {
  enum { CHOICES = 256, BYTE = 8 };
  for (unsigned b = 0; b < SCL_BITS_ROWS; b += BYTE, tables += CHOICES)
    for (size_t j = 0; j < EIGHT; j++)
      sums[j] += tables[words[j] >> b & (CHOICES - 1)];
}

/* Several targets: add the sums of one word of one column. */
static void add_several(const double *tables, uint64_t word, size_t k, double *sums) {
  enum { CHOICES = 16, HALF = 4 };
  for (unsigned b = 0; b < SCL_BITS_ROWS; b += HALF, tables += CHOICES * k) {
    const double *from = tables + (word >> b & (CHOICES - 1)) * k;
    for (size_t q = 0; q < k; q++)
      sums[q] += from[q];
  }
}

/* The same for a single column of residuals: all sums of the strip fit into a small array. */
static void add_strip_of_one(const gathering *g, size_t begin, size_t end) {
  double sums[STRIP_GROUPS * EIGHT] = {0};
  for (size_t w = 0; w < g->words; w++)
    for (size_t j = begin; j < end; j += EIGHT)
      add_one(g->tables + w * table_numbers(g), scl_bits_at(g->bits, j, g->first + w),
              sums + j - begin);
  for (size_t j = begin; j < end; j++)
    g->out[j * g->stride] += sums[j - begin];
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

scl_status scl_bits_adjoint(const scl_bits *bits, size_t start, size_t rows, const double *r,
                            size_t k, double *out, size_t stride, scl_error *error) {
  if (rows == 0 || k == 0) return SCL_STATUS_OK;
  gathering g = {.bits = bits, .k = k, .width = k == 1 ? 8 : 4, .out = out, .stride = stride};
  const size_t each = table_numbers(&g), begin = start / SCL_BITS_ROWS,
               end = scl_bits_words(start + rows),
               strips = (scl_bits_groups(bits->columns) + STRIP_GROUPS - 1) / STRIP_GROUPS;
  g.tables = scl_allocate_array(scl_min(end - begin, CHUNK_WORDS) * each, sizeof *g.tables);
  if (g.tables == NULL)
    return scl_fail_memory(error, CHUNK_WORDS * each * sizeof *g.tables, "sums of rows");
  for (g.first = begin; g.first < end; g.first += CHUNK_WORDS) {
    const size_t at = scl_max(g.first * SCL_BITS_ROWS, start);
    g.words = scl_min(CHUNK_WORDS, end - g.first);
    g.before = at - g.first * SCL_BITS_ROWS;
    g.rows = start + rows - g.first * SCL_BITS_ROWS;
    g.r = r + (at - start) * k;
    scl_pool_run(g.words, fill_tables, &g);
    scl_pool_run(strips, add_strip, &g);
  }
  scl_release(g.tables);
  return SCL_STATUS_OK;
}
