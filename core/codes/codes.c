/* Storage of packed codes, and the conversion between numbers and bit planes. */
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/text.h"
#include "codes/codes_internal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ------------ storage */

scl_status scl_codes_create(size_t rows, size_t cols, size_t levels, scl_codes **out,
                            scl_error *error) {
  *out = NULL;
  size_t planes = 1; /* ceil(log2 levels), at least 1 */
  while (((size_t)1 << planes) < levels)
    planes++;
  const size_t plane_words = (cols + SCL_CODES_WORD - 1) / SCL_CODES_WORD;
  const size_t lanes = (rows + SCL_CODES_LANES - 1) / SCL_CODES_LANES * SCL_CODES_LANES;
  const double bytes =
      (double)lanes * (double)planes * (double)plane_words * (double)sizeof(uint64_t);
  char text[32];
  if (bytes > 1e15)
    return scl_fail(error, SCL_STATUS_NO_MEMORY, "%zu codes of %zu numbers would take %s", rows,
                    cols, scl_bytes_text(bytes, text));
  scl_codes *codes = scl_allocate_zero(sizeof *codes);
  uint64_t *words = scl_allocate_zero(lanes * planes * plane_words * sizeof *words);
  if (codes == NULL || words == NULL) {
    scl_release(codes);
    scl_release(words);
    return scl_fail_memory(error, (size_t)bytes, "codes");
  }
  /* All zero, so that the padding of rows and words counts no difference. */
  *codes = (scl_codes){words, rows, cols, levels, planes, plane_words};
  *out = codes;
  return SCL_STATUS_OK;
}

void scl_codes_destroy(scl_codes *codes) {
  if (codes == NULL) return;
  scl_release(codes->words);
  scl_release(codes);
}

size_t scl_codes_rows(const scl_codes *codes) { return codes->rows; }
size_t scl_codes_cols(const scl_codes *codes) { return codes->cols; }
size_t scl_codes_levels(const scl_codes *codes) { return codes->levels; }
size_t scl_codes_planes(const scl_codes *codes) { return codes->planes; }
size_t scl_codes_bytes(const scl_codes *codes) {
  return scl_codes_groups(codes) * scl_codes_group_words(codes) * sizeof *codes->words;
}

void scl_codes_get_row(const scl_codes *codes, size_t row, uint64_t *words) {
  const uint64_t *from = scl_codes_row(codes, row);
  const size_t count = scl_codes_row_words(codes);
  for (size_t w = 0; w < count; w++)
    words[w] = from[w * SCL_CODES_LANES];
}

void scl_codes_set_row(scl_codes *codes, size_t row, const uint64_t *words) {
  uint64_t *to = scl_codes_row(codes, row);
  const size_t count = scl_codes_row_words(codes);
  for (size_t w = 0; w < count; w++)
    to[w * SCL_CODES_LANES] = words[w];
}

scl_status scl_codes_select(const scl_codes *codes, const size_t *which, size_t count,
                            scl_codes **out, scl_error *error) {
  SCL_TRY(scl_codes_create(count, codes->cols, codes->levels, out, error));
  const size_t words = scl_codes_row_words(codes);
  for (size_t i = 0; i < count; i++) {
    const uint64_t *from = scl_codes_row(codes, which[i]);
    uint64_t *to = scl_codes_row(*out, i);
    for (size_t w = 0; w < words; w++)
      to[w * SCL_CODES_LANES] = from[w * SCL_CODES_LANES];
  }
  return SCL_STATUS_OK;
}

/* ------------ numbers to bits */

/* Rows of one task. A multiple of the lanes: no two tasks write words of the same group. */
enum { ROWS_EACH = 64 * SCL_CODES_LANES };

typedef struct packing {
  const scl_matrix *numbers;
  scl_codes *codes;
  atomic_size_t bad_row; /* first row with an invalid number; the number of rows if all are valid */
} packing;

/* Whether the value is a whole number in 0 .. levels-1. NaN fails the first comparison. */
static bool fits(double value, size_t levels) {
  return value >= 0 && value < (double)levels && value == floor(value);
}

/* Read numbers first .. first+count-1 of one row, count <= 64. An invalid number becomes 0. Returns
 * whether all numbers are valid. */
static bool read_code_numbers(const scl_matrix *a, size_t row, size_t first, size_t count,
                              size_t levels, int32_t number[SCL_CODES_WORD]) {
  bool good = true;
  for (size_t b = 0; b < count; b++) {
    const double value = scl_matrix_get(a, row, first + b);
    const bool fit = fits(value, levels);
    number[b] = fit ? (int32_t)value : 0;
    good = good && fit;
  }
  return good;
}

/* Pack one row, 64 numbers at a time: bit b of a word of plane p is bit p of number b. A row with
 * an invalid number lowers p->bad_row. */
static void pack_row(packing *p, size_t row) {
  scl_codes *codes = p->codes;
  uint64_t *to = scl_codes_row(codes, row);
  int32_t number[SCL_CODES_WORD];
  for (size_t w = 0; w < codes->plane_words; w++) {
    const size_t first = w * SCL_CODES_WORD, count = scl_min(SCL_CODES_WORD, codes->cols - first);
    if (!read_code_numbers(p->numbers, row, first, count, codes->levels, number)) {
      size_t bad = atomic_load(&p->bad_row); /* an atomic minimum: several threads pack rows */
      while (row < bad && !atomic_compare_exchange_weak(&p->bad_row, &bad, row)) {
      }
    }
    for (size_t plane = 0; plane < codes->planes; plane++) {
      uint64_t word = 0;
      for (size_t b = 0; b < count; b++)
        word |= (uint64_t)((uint32_t)number[b] >> plane & 1) << b;
      to[(plane * codes->plane_words + w) * SCL_CODES_LANES] = word;
    }
  }
}

/* A task of the pool: rows index * ROWS_EACH and following. After Ctrl-C the rest stays unpacked;
 * scl_codes_pack then discards the codes. */
static void pack_rows(void *context, size_t index) {
  packing *p = context;
  if (scl_interrupted()) return;
  const size_t last = scl_min((index + 1) * ROWS_EACH, p->codes->rows);
  for (size_t row = index * ROWS_EACH; row < last; row++)
    pack_row(p, row);
}

/* Report the first number of a row that is not valid in a code. */
static scl_status refuse_code(const scl_matrix *numbers, size_t row, size_t levels,
                              scl_error *error) {
  size_t col = 0;
  while (col + 1 < numbers->cols && fits(scl_matrix_get(numbers, row, col), levels))
    col++;
  const double value = scl_matrix_get(numbers, row, col);
  char text[32];
  (void)snprintf(text, sizeof text, isnan(value) ? "NaN" : "%.17g", value);
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "row %zu, column %zu is %s; a code is a whole number from 0 to %zu", row + 1,
                  col + 1, text, levels - 1);
}

/* *levels = the largest number + 1, at least 2. Fails at the first number that no code can hold. */
static scl_status find_levels(const scl_matrix *numbers, size_t *levels, scl_error *error) {
  double most = 1;
  for (size_t i = 0; i < numbers->rows; i++)
    for (size_t j = 0; j < numbers->cols; j++) {
      const double value = scl_matrix_get(numbers, i, j);
      if (!fits(value, SCL_CODES_LEVELS)) return refuse_code(numbers, i, SCL_CODES_LEVELS, error);
      most = fmax(most, value);
    }
  *levels = (size_t)most + 1;
  return SCL_STATUS_OK;
}

scl_status scl_codes_pack(const scl_matrix *numbers, size_t levels, scl_codes **out,
                          scl_error *error) {
  *out = NULL;
  if (numbers->cols == 0)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "a code has at least one number, and the matrix has no columns");
  if (levels > SCL_CODES_LEVELS)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "'levels' got %zu; it takes at most %d", levels,
                    (int)SCL_CODES_LEVELS);
  /* Packing checks every number against `levels`, so that find_levels is needed only without it. */
  if (levels == 0) SCL_TRY(find_levels(numbers, &levels, error));
  scl_codes *codes;
  SCL_TRY(scl_codes_create(numbers->rows, numbers->cols, levels, &codes, error));
  packing p = {.numbers = numbers, .codes = codes};
  atomic_init(&p.bad_row, numbers->rows);
  scl_pool_run((numbers->rows + ROWS_EACH - 1) / ROWS_EACH, pack_rows, &p);
  scl_status status = scl_interrupt_check(error);
  if (status == SCL_STATUS_OK && p.bad_row < numbers->rows)
    status = refuse_code(numbers, p.bad_row, levels, error);
  if (status == SCL_STATUS_OK)
    *out = codes;
  else
    scl_codes_destroy(codes);
  return status;
}

/* ------------ bits to numbers */

typedef struct unpacking {
  const scl_codes *codes;
  scl_matrix *out;
} unpacking;

/* A task of the pool: rows index * ROWS_EACH and following, from bits back to numbers. Number t of
 * a row has its bit p in plane p, word t / 64, bit t % 64. */
static void unpack_rows(void *context, size_t index) {
  const unpacking *u = context;
  const scl_codes *codes = u->codes;
  const size_t last = scl_min((index + 1) * ROWS_EACH, codes->rows);
  for (size_t row = index * ROWS_EACH; row < last; row++) {
    const uint64_t *from = scl_codes_row(codes, row);
    for (size_t t = 0; t < codes->cols; t++) {
      uint64_t number = 0;
      for (size_t plane = 0; plane < codes->planes; plane++)
        number |= (from[(plane * codes->plane_words + t / SCL_CODES_WORD) * SCL_CODES_LANES] >>
                       t % SCL_CODES_WORD &
                   1)
                  << plane;
      scl_matrix_set(u->out, row, t, (double)number);
    }
  }
}

void scl_codes_unpack(const scl_codes *codes, scl_matrix *out) {
  unpacking u = {codes, out};
  scl_pool_run((codes->rows + ROWS_EACH - 1) / ROWS_EACH, unpack_rows, &u);
}
