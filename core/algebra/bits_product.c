/* B a by tables, and bits as numbers: both need bits by rows. */
#include "algebra/bits.h"
#include "base/pool.h"
#include <string.h>

enum { EIGHT = SCL_BITS_COLUMNS, BYTE = 8, HALF = 4, STRIP_WORDS = 8 };

/* ------------------------------------------------------------ eight words to 64 bytes: bit j of
 * byte i is bit i of word j */

/* Exchange bit j of byte i with bit i of byte j (Warren, Hacker's Delight, 7-3). */
static uint64_t turned(uint64_t x) {
  uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aau;
  x ^= t ^ t << 7;
  t = (x ^ x >> 14) & 0x0000cccc0000ccccu;
  x ^= t ^ t << 14;
  t = (x ^ x >> 28) & 0x00000000f0f0f0f0u;
  return x ^ t ^ t << 28;
}

/* Exchange the bits of `mask` of high words with those `shift` above them of low words. */
static void exchange(uint64_t *x, size_t apart, unsigned shift, uint64_t mask) {
  for (size_t i = 0; i < EIGHT; i++)
    if ((i & apart) == 0) {
      const uint64_t t = (x[i] >> shift ^ x[i + apart]) & mask;
      x[i + apart] ^= t;
      x[i] ^= t << shift;
    }
}

static void turn_words(const uint64_t *words, uint8_t bytes[SCL_BITS_ROWS]) {
  uint64_t x[EIGHT];
  memcpy(x, words, sizeof x);
  exchange(x, 4, 32, 0x00000000ffffffffu);
  exchange(x, 2, 16, 0x0000ffff0000ffffu);
  exchange(x, 1, 8, 0x00ff00ff00ff00ffu);
  for (size_t b = 0; b < EIGHT; b++) {
    const uint64_t rows = turned(x[b]);
    for (unsigned i = 0; i < BYTE; i++)
      bytes[b * BYTE + i] = (uint8_t)(rows >> BYTE * i);
  }
}

/* ------------------------------------------------------------ tables */

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

/* ------------------------------------------------------------ products */

typedef struct multiplying {
  const scl_bits_product *p;
  const scl_bits *bits;
  size_t start, end;
  double *out;
} multiplying;

/* 64 rows of one group of columns. */
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

/* ------------------------------------------------------------ numbers */

typedef struct spreading {
  const scl_bits *bits;
  size_t start, end;
  const double *low, *high;
  scl_dtype dtype;
  void *out;
  ptrdiff_t stride;
} spreading;

/* Rows from .. to-1, of one word. The numbers of eight columns are those of `low` with the bits of
 * low ^ high changed where a byte of the word says so. */
#define SPREAD(suffix, type, pattern)                                                              \
  static void spread_##suffix(const spreading *s, size_t word, size_t from, size_t to) {           \
    pattern masks[1 << BYTE][EIGHT], low[EIGHT] = {0}, change[EIGHT] = {0};                        \
    uint8_t bytes[SCL_BITS_ROWS];                                                                  \
    for (size_t b = 0; b < 1 << BYTE; b++)                                                         \
      for (size_t l = 0; l < EIGHT; l++)                                                           \
        masks[b][l] = (pattern)0 - (pattern)(b >> l & 1);                                          \
    for (size_t j = 0; j < s->bits->columns; j += EIGHT) {                                         \
      const size_t count = scl_min(EIGHT, s->bits->columns - j);                                   \
      type *out = (type *)s->out + (ptrdiff_t)(from - s->start) * s->stride + (ptrdiff_t)j;        \
      turn_words(scl_bits_at(s->bits, j, word), bytes);                                            \
      for (size_t l = 0; l < count; l++) {                                                         \
        const type a = (type)s->low[j + l], b = (type)s->high[j + l];                              \
        memcpy(&low[l], &a, sizeof a);                                                             \
        memcpy(&change[l], &b, sizeof b);                                                          \
        change[l] ^= low[l];                                                                       \
      }                                                                                            \
      for (size_t i = from; i < to; i++, out += s->stride) {                                       \
        const pattern *mask = masks[bytes[i % SCL_BITS_ROWS]];                                     \
        pattern numbers[EIGHT];                                                                    \
        for (size_t l = 0; l < EIGHT; l++)                                                         \
          numbers[l] = low[l] ^ (change[l] & mask[l]);                                             \
        memcpy(out, numbers, count * sizeof *out);                                                 \
      }                                                                                            \
    }                                                                                              \
  }
SPREAD(f64, double, uint64_t)
SPREAD(f32, float, uint32_t)

static void spread_word(void *context, size_t index) {
  const spreading *s = context;
  const size_t word = s->start / SCL_BITS_ROWS + index, row = word * SCL_BITS_ROWS;
  (s->dtype == SCL_DTYPE_FLOAT64 ? spread_f64 : spread_f32)(s, word, scl_max(row, s->start),
                                                            scl_min(row + SCL_BITS_ROWS, s->end));
}

void scl_bits_spread(const scl_bits *bits, size_t start, size_t rows, const double *low,
                     const double *high, scl_dtype dtype, void *out, ptrdiff_t stride) {
  spreading s = {bits, start, start + rows, low, high, dtype, out, stride};
  if (rows > 0) scl_pool_run(scl_bits_words(start + rows) - start / SCL_BITS_ROWS, spread_word, &s);
}
