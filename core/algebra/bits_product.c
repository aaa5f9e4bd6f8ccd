/* B a by tables, and bits as floating-point features. Bits are stored by columns and are needed by
 * rows here. */
#include "algebra/bits.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

enum { EIGHT = SCL_BITS_COLUMNS, BYTE = 8, HALF = 4, STRIP_WORDS = 8 };

/* ------------ eight words to 64 bytes: bit j of byte i is bit i of word j */

/* Exchange bit j of byte i with bit i of byte j (Warren, Hacker's Delight, 7-3). */
static uint64_t transpose_bits(uint64_t x) {
  uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
  return x ^ t ^ t << 28;
}

/* One step of the transposition: exchange the bits `mask` of words i + apart with the bits that are
 * `shift` higher of words i. */
static void exchange_bits(uint64_t *x, size_t apart, unsigned shift, uint64_t mask) {
  for (size_t i = 0; i < EIGHT; i++)
    if ((i & apart) == 0) {
      const uint64_t t = (x[i] >> shift ^ x[i + apart]) & mask;
      x[i + apart] ^= t;
      x[i] ^= t << shift;
    }
}

/* Transpose an 8 x 64 matrix of bits: bit j of bytes[i] = bit i of words[j]. */
static void turn_words(const uint64_t *words, uint8_t bytes[SCL_BITS_ROWS]) {
  uint64_t x[EIGHT];
  memcpy(x, words, sizeof x);
  exchange_bits(x, 4, 32, 0x00000000ffffffffu);
  exchange_bits(x, 2, 16, 0x0000ffff0000ffffu);
  exchange_bits(x, 1, 8, 0x00ff00ff00ff00ffu);
  for (size_t b = 0; b < EIGHT; b++) {
    const uint64_t rows = transpose_bits(x[b]);
    for (unsigned i = 0; i < BYTE; i++)
      bytes[b * BYTE + i] = (uint8_t)(rows >> BYTE * i);
  }
}

/* ------------ tables */

void scl_bits_product_close(scl_bits_product *p) { SCL_RELEASE(p->tables, p->base); }

scl_status scl_bits_product_open(size_t columns, const double *a, const double *base, size_t k,
                                 scl_bits_product *out, scl_error *error) {
  const unsigned width = k == 1 ? BYTE : HALF;
  const size_t count = scl_bits_groups(columns) * EIGHT / width, each = ((size_t)1 << width) * k;
  *out = (scl_bits_product){k, width, scl_allocate_array(count * each + 1, sizeof *out->tables),
                            scl_allocate_array(k + 1, sizeof *out->base)};
  if (out->tables == NULL || out->base == NULL) {
    scl_bits_product_close(out);
    return scl_fail_memory(error, (count * each + k) * sizeof *out->tables, "sums of columns");
  }
  memcpy(out->base, base, k * sizeof *base);
  double *to = out->tables;
  for (size_t first = 0; first < count * width; first += width, to += each) {
    memset(to, 0, k * sizeof *to);
    for (unsigned b = 0; b < width; b++) {
      const size_t half = (size_t)1 << b;
      const double *column = first + b < columns ? a + (first + b) * k : NULL;
      for (size_t i = 0; i < half * k; i++)
        to[half * k + i] = to[i] + (column == NULL ? 0 : column[i % k]);
    }
  }
  return SCL_STATUS_OK;
}

/* ------------ products */

typedef struct multiplying {
  const scl_bits_product *p;
  const scl_bits *bits;
  size_t start, end;
  double *out;
} multiplying;

/* Add the sums of one group of eight columns to the products of 64 rows; bytes[i] has the bits of
 * row i. */
static void add_group(const scl_bits_product *p, size_t group, const uint8_t *bytes, double *sums) {
  enum { CHOICES = 256, FEW = 16 };
  const size_t k = p->k;
  if (k == 1) {
    const double *table = p->tables + group * CHOICES;
    for (size_t i = 0; i < SCL_BITS_ROWS; i++)
      sums[i] += table[bytes[i]];
    return;
  }
  const double *low = p->tables + group * 2 * FEW * k, *high = low + FEW * k;
  for (size_t i = 0; i < SCL_BITS_ROWS; i++, sums += k) {
    const double *a = low + (bytes[i] % FEW) * k, *b = high + (bytes[i] / FEW) * k;
    for (size_t q = 0; q < k; q++)
      sums[q] = sums[q] + a[q] + b[q];
  }
}

/* A task of the pool: the products of STRIP_WORDS words of rows, summed in the order of the
 * columns. Rows outside of start .. end are computed but not copied. */
static scl_status multiply_strip(void *context, size_t index, scl_error *error) {
  const multiplying *job = context;
  const size_t k = job->p->k, begin = job->start / SCL_BITS_ROWS + index * STRIP_WORDS,
               words = scl_min(STRIP_WORDS, scl_bits_words(job->end) - begin),
               numbers = words * SCL_BITS_ROWS * k;
  uint8_t bytes[SCL_BITS_ROWS];
  double *sums = scl_allocate_array(numbers, sizeof *sums);
  if (sums == NULL) return scl_fail_memory(error, numbers * sizeof *sums, "products of rows");
  for (size_t i = 0; i < words * SCL_BITS_ROWS; i++)
    memcpy(sums + i * k, job->p->base, k * sizeof *sums);
  for (size_t g = 0; g < scl_bits_groups(job->bits->columns); g++)
    for (size_t w = 0; w < words; w++) {
      turn_words(scl_bits_at(job->bits, g * EIGHT, begin + w), bytes);
      add_group(job->p, g, bytes, sums + w * SCL_BITS_ROWS * k);
    }
  const size_t first = begin * SCL_BITS_ROWS, from = scl_max(first, job->start),
               to = scl_min(first + words * SCL_BITS_ROWS, job->end);
  memcpy(job->out + (from - job->start) * k, sums + (from - first) * k,
         (to - from) * k * sizeof *sums);
  scl_release(sums);
  return SCL_STATUS_OK;
}

scl_status scl_bits_multiply(const scl_bits_product *p, const scl_bits *bits, size_t start,
                             size_t rows, double *out, scl_error *error) {
  multiplying job = {p, bits, start, start + rows, out};
  const size_t words = scl_bits_words(start + rows) - start / SCL_BITS_ROWS;
  if (rows == 0) return SCL_STATUS_OK;
  return scl_pool_try((words + STRIP_WORDS - 1) / STRIP_WORDS, multiply_strip, &job, error);
}

/* ------------ numbers */

/* Some rows of one word, and columns first .. first+count-1. */
typedef struct spread_part {
  const scl_bits *bits;
  size_t row, rows, first, count;
  const double *low, *high;
  scl_dtype dtype;
  void *out; /* of the first row and column */
  ptrdiff_t stride;
} spread_part;

/* Columns j .. j+count-1 of the part, one by one: those that are not a whole group of eight. */
static void spread_few(const spread_part *s, size_t j, size_t count) {
  for (size_t i = 0; i < s->rows; i++)
    for (size_t l = j; l < j + count; l++)
      scl_set_number(s->out, s->dtype, (size_t)((ptrdiff_t)i * s->stride) + l,
                     scl_bits_get(s->bits, s->row + i, s->first + l) ? s->high[s->first + l]
                                                                     : s->low[s->first + l]);
}

/* Write the part: whole groups of eight columns by the loops of base/loops.h, the others one by
 * one. */
static void spread_rows(const spread_part *s) {
  const scl_loops *loops = scl_loops_get();
  const size_t before = scl_min(s->count, (EIGHT - s->first % EIGHT) % EIGHT),
               groups = (s->count - before) / EIGHT, within = groups * EIGHT,
               column = s->first + before, first = s->row % SCL_BITS_ROWS;
  spread_few(s, 0, before);
  spread_few(s, before + within, s->count - before - within);
  if (groups == 0) return;
  const uint64_t *words = scl_bits_at(s->bits, column, s->row / SCL_BITS_ROWS);
  if (s->dtype == SCL_DTYPE_FLOAT64)
    loops->spread_f64(groups, s->bits->apart, words, first, s->rows, s->low + column,
                      s->high + column, (double *)s->out + before, s->stride);
  else
    loops->spread_f32(groups, s->bits->apart, words, first, s->rows, s->low + column,
                      s->high + column, (float *)s->out + before, s->stride);
}

typedef struct spreading {
  spread_part all;
  size_t end;
} spreading;

/* A task of the pool: the rows of one word, of which the first and the last word may be partial. */
static void spread_word(void *context, size_t index) {
  const spreading *s = context;
  spread_part part = s->all;
  const size_t first = (s->all.row / SCL_BITS_ROWS + index) * SCL_BITS_ROWS;
  part.row = scl_max(first, s->all.row);
  part.rows = scl_min(first + SCL_BITS_ROWS, s->end) - part.row;
  part.out =
      scl_at_mutable(s->all.out, s->all.dtype, (ptrdiff_t)(part.row - s->all.row) * s->all.stride);
  spread_rows(&part);
}

void scl_bits_spread(const scl_bits *bits, size_t start, size_t rows, const double *low,
                     const double *high, scl_dtype dtype, void *out, ptrdiff_t stride) {
  spreading s = {{bits, start, rows, 0, bits->columns, low, high, dtype, out, stride},
                 start + rows};
  if (rows > 0) scl_pool_run(scl_bits_words(start + rows) - start / SCL_BITS_ROWS, spread_word, &s);
}

void scl_bits_spread_row(const scl_bits *bits, size_t row, size_t first, size_t count,
                         const double *low, const double *high, scl_dtype dtype, void *out) {
  spread_rows(&(spread_part){bits, row, 1, first, count, low, high, dtype, out, 0});
}
