/* Exact sums V'r over rows. r is cut into digits, whole numbers of so few bits that float64 sums of
 * their products with V are exact; these sums are added as whole numbers. So the sum is the same
 * for every order of the rows, division into blocks, number of threads, and instruction set. */
#include "rows/whole_sums.h"

#include <math.h>
#include <string.h>

/* Rows whose sums of digits are added in float64; bits of such a sum. */
enum { MOST_ROWS = 4096, SUM_BITS = 52, MOST_WIDTH = 50 };

/* Rows first .. first+rows-1 of some rows, and some columns of r: column, .. column+k-1 of the
 * sums. */
typedef struct piece {
  const scl_whole_rows *of;
  const scl_whole_adjoint_sums *to;
  size_t first, rows, column, k;
  /* Digit q of row i and column j is digits[i stride + q plane + j], and counts
   * 2^(low + q width). */
  double *digits;
  size_t count, stride, plane;
  int low, width;
  double *sums; /* count x k x D */
} piece;

/* Bits of a digit, so that the sum of all products with an entry of V stays below 2^SUM_BITS. */
static int width_for(const piece *p) {
  double most = (double)p->rows;
  if (p->of->bits == NULL) most *= scl_whole_most(p->of->type);
  const int width = SUM_BITS - 1 - ilogb(most);
  return width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* p->sums = V' digits */
static scl_status multiply(const piece *p, scl_error *error) {
  const scl_whole_rows *of = p->of;
  const size_t d = p->to->features;
  memset(p->sums, 0, p->count * p->k * d * sizeof *p->sums);
  if (of->bits == NULL) {
    const void *v = (const char *)of->v +
                    (ptrdiff_t)p->first * of->stride * (ptrdiff_t)scl_whole_size(of->type);
    scl_whole_adjoint(of->type, p->rows, d, v, of->stride, p->digits, p->count * p->k, p->sums);
    return SCL_STATUS_OK;
  }
  return scl_bits_adjoint_whole(of->bits, of->first + p->first, p->rows, p->digits, p->count,
                                p->sums, error);
}

/* Add p->sums, and the sums of the digits themselves, to the totals. */
static scl_status add_sums(const piece *p, scl_error *error) {
  const scl_whole_adjoint_sums *to = p->to;
  const size_t d = to->features;
  for (size_t q = 0; q < p->count; q++) {
    const int power = p->low + (int)q * p->width + to->exponent;
    SCL_TRY(scl_exact_add_whole(to->sum, p->column * d, p->k * d, p->sums + q * p->k * d, power,
                                error));
    for (size_t j = 0; to->ones != NULL && j < p->k; j++) {
      double sum = 0;
      for (size_t i = 0; i < p->rows; i++)
        sum += p->digits[i * p->stride + q * p->plane + j];
      SCL_TRY(scl_exact_add_whole(to->ones, p->column + j, 1, &sum, power, error));
    }
  }
  return SCL_STATUS_OK;
}

/* Add V'r; r: rows x k. */
static scl_status add_piece(piece *p, const double *r, scl_error *error) {
  const size_t numbers = p->rows * p->k;
  int high;
  if (!scl_exact_span(r, numbers, &p->low, &high)) *p->to->finite = false;
  p->width = width_for(p);
  p->count = *p->to->finite ? scl_exact_digits(p->low, high, p->width) : 0;
  if (p->count == 0) return SCL_STATUS_OK; /* zeros */
  const size_t room = p->count * (numbers + p->k * p->to->features);
  p->digits = scl_allocate_array(room + 1, sizeof *p->digits);
  if (p->digits == NULL) return scl_fail_memory(error, room * sizeof *p->digits, "digits of rows");
  p->sums = p->digits + p->count * numbers;
  /* Of bits, one column at a time, whose digits are planes (scl_bits_adjoint_whole). */
  p->stride = p->of->bits != NULL ? 1 : p->count * p->k;
  p->plane = p->of->bits != NULL ? p->rows : p->k;
  scl_exact_cut(r, p->rows, p->k, p->low, p->width, p->count, p->digits, p->stride, p->plane);
  scl_status status = multiply(p, error);
  if (status == SCL_STATUS_OK) status = add_sums(p, error);
  scl_release(p->digits);
  return status;
}

/* Rows of bits: one column of r after the other. */
static scl_status add_bits(piece *p, const double *r, scl_error *error) {
  const size_t k = p->to->columns;
  double *column = scl_allocate_array(p->rows + 1, sizeof *column);
  if (column == NULL) return scl_fail_memory(error, p->rows * sizeof *column, "a column of rows");
  scl_status status = SCL_STATUS_OK;
  p->k = 1;
  for (p->column = 0; p->column < k && status == SCL_STATUS_OK; p->column++) {
    for (size_t i = 0; i < p->rows; i++)
      column[i] = r[i * k + p->column];
    status = add_piece(p, column, error);
  }
  scl_release(column);
  return status;
}

scl_status scl_whole_rows_adjoint(const scl_whole_rows *rows, const double *r,
                                  const scl_whole_adjoint_sums *to, scl_error *error) {
  const size_t k = to->columns;
  for (size_t at = 0; at < rows->rows; at += MOST_ROWS) {
    piece p = {
        .of = rows, .to = to, .first = at, .rows = scl_min(MOST_ROWS, rows->rows - at), .k = k};
    SCL_TRY(rows->bits != NULL && k > 1 ? add_bits(&p, r + at * k, error)
                                        : add_piece(&p, r + at * k, error));
  }
  return SCL_STATUS_OK;
}
