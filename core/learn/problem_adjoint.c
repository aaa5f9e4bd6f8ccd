/* Exact sums V'r. r is cut into digits, whole numbers of so few bits that float64 sums of their
 * products with V are exact; these sums are added as whole numbers. So the sum is the same for
 * every order of the rows, division into blocks, number of threads, and instruction set. */
#include "learn/problem_internal.h"
#include <math.h>
#include <string.h>

/* Rows whose products with digits are added in float64; bits of such a sum; most bits of a
 * digit. */
enum { MOST_ROWS = 4096, SUM_BITS = 52, MOST_WIDTH = 50 };

scl_status scl_adjoint_open(const scl_flow *flow, size_t features, size_t k, scl_adjoint *out,
                            scl_error *error) {
  *out = (scl_adjoint){.flow = flow, .features = features, .k = k, .finite = true};
  SCL_TRY(scl_exact_create(features * k, &out->sum, error));
  return scl_exact_create(k, &out->ones, error);
}

void scl_adjoint_close(scl_adjoint *a) {
  scl_exact_destroy(a->sum);
  scl_exact_destroy(a->ones);
  a->sum = a->ones = NULL;
}

/* ------------------------------------------------------------ some rows of a run */

/* Rows first .. first+rows-1 of a run, and some columns of r: column, .. column+k-1 of the sums. */
typedef struct piece {
  scl_adjoint *a;
  const scl_run *run;
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
  if (p->run->block->whole != NULL) most *= scl_whole_most(scl_flow_whole(p->a->flow));
  const int width = SUM_BITS - 1 - ilogb(most);
  return width < MOST_WIDTH ? width : MOST_WIDTH;
}

/* p->sums (count x k x D) = V' digits. Whole numbers: all columns of digits in one product. */
static scl_status multiply_digits(const piece *p, scl_error *error) {
  const scl_flow_block *block = p->run->block;
  const scl_flow *flow = p->a->flow;
  const size_t d = p->a->features, at = p->run->start + p->first;
  scl_status status = SCL_STATUS_OK;
  memset(p->sums, 0, p->count * p->k * d * sizeof *p->sums);
  if (block->whole != NULL)
    scl_whole_adjoint(scl_flow_whole(flow), p->rows, d, scl_flow_whole_row(flow, block, at),
                      block->phi_stride, p->digits, p->count * p->k, p->sums);
  for (size_t q = 0; block->bits != NULL && status == SCL_STATUS_OK && q < p->count; q++)
    status = scl_bits_adjoint(block->bits, at, p->rows, p->digits + q * p->plane, 1,
                              p->sums + q * d, 1, error);
  return status;
}

/* Add p->sums, and the sums of the digits themselves, to the totals. */
static scl_status add_sums(const piece *p, scl_error *error) {
  const size_t d = p->a->features;
  for (size_t q = 0; q < p->count; q++) {
    const int power = p->low + (int)q * p->width;
    SCL_TRY(scl_exact_add_whole(p->a->sum, p->column * d, p->k * d, p->sums + q * p->k * d, power,
                                error));
    for (size_t j = 0; j < p->k; j++) {
      double sum = 0;
      for (size_t i = 0; i < p->rows; i++)
        sum += p->digits[i * p->stride + q * p->plane + j];
      SCL_TRY(scl_exact_add_whole(p->a->ones, p->column + j, 1, &sum, power, error));
    }
  }
  return SCL_STATUS_OK;
}

/* Add V'r to the totals; r: rows x k. The piece's digits, width and sums are set here. */
static scl_status add_piece(piece *p, const double *r, scl_error *error) {
  const size_t numbers = p->rows * p->k;
  int high;
  if (!scl_exact_span(r, numbers, &p->low, &high)) p->a->finite = false;
  p->width = width_for(p);
  p->count = p->a->finite ? scl_exact_digits(p->low, high, p->width) : 0;
  if (p->count == 0) return SCL_STATUS_OK; /* zeros */
  const size_t room = p->count * (numbers + p->k * p->a->features);
  p->digits = scl_allocate_array(room + 1, sizeof *p->digits);
  if (p->digits == NULL) return scl_fail_memory(error, room * sizeof *p->digits, "digits of rows");
  p->sums = p->digits + p->count * numbers;
  /* Of bits, one column at a time: the tables of a single column are the fastest. */
  p->stride = p->run->block->bits != NULL ? 1 : p->count * p->k;
  p->plane = p->run->block->bits != NULL ? p->rows : p->k;
  scl_exact_cut(r, p->rows, p->k, p->low, p->width, p->count, p->digits, p->stride, p->plane);
  scl_status status = multiply_digits(p, error);
  if (status == SCL_STATUS_OK) status = add_sums(p, error);
  scl_release(p->digits);
  return status;
}

/* Rows of bits: one column of r after the other. */
static scl_status add_bits(piece *p, const double *r, scl_error *error) {
  const size_t k = p->a->k;
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

scl_status scl_adjoint_add(scl_adjoint *a, const scl_run *run, const double *r, scl_error *error) {
  const size_t rows = run->rows.count;
  for (size_t at = 0; at < rows; at += MOST_ROWS) {
    piece p = {.a = a, .run = run, .first = at, .rows = scl_min(MOST_ROWS, rows - at), .k = a->k};
    const double *own = r + at * a->k;
    SCL_TRY(run->block->bits != NULL && a->k > 1 ? add_bits(&p, own, error)
                                                 : add_piece(&p, own, error));
  }
  return SCL_STATUS_OK;
}

void scl_adjoint_value(const scl_adjoint *a, const double *unit, const double *base, double *out) {
  const size_t d = a->features, k = a->k;
  for (size_t q = 0; q < k; q++) {
    const double one = scl_exact_value(a->ones, q);
    for (size_t j = 0; j < d; j++) {
      const double phi = unit[j] * scl_exact_value(a->sum, q * d + j);
      out[j * k + q] = !a->finite ? NAN : base == NULL ? phi : phi + base[j] * one;
    }
  }
}
