/* Float64 numbers as sums of whole numbers of few bits. */
#include "algebra/exact_internal.h"

#include <math.h>
#include <stdlib.h>

bool scl_exact_span(const double *values, size_t count, int *low, int *high) {
  int least = INT32_MAX, most = INT32_MIN;
  for (size_t i = 0; i < count; i++) {
    uint64_t fraction;
    if (values[i] == 0) continue;
    const int field = take_apart(values[i], &fraction);
    if (field == SPECIAL) return false;
    const int end = field + __builtin_ctzll(fraction);
    least = end < least ? end : least;
    most = field > most ? field : most;
  }
  *low = most == INT32_MIN ? 0 : least - UNIT;
  *high = most == INT32_MIN ? 0 : most - UNIT + FRACTION + 1;
  return true;
}

/* scl_exact_cut from the bits of each number: slower, for any range of exponents. */
static void cut_bits(const double *values, size_t rows, size_t k, int low, int width, size_t digits,
                     double *out, size_t stride, size_t plane) {
  const uint64_t mask = ((uint64_t)1 << width) - 1;
  for (size_t i = 0; i < rows * k; i++) {
    uint64_t fraction;
    int from = low + UNIT - take_apart(values[i], &fraction); /* of the digit in the fraction */
    double *to = out + i / k * stride + i % k;
    for (size_t q = 0; q < digits; q++, from += width, to += plane) {
      const uint64_t digit = from >= 64      ? 0
                             : from >= 0     ? fraction >> from & mask
                             : from > -width ? fraction << -from & mask
                                             : 0;
      *to = signbit(values[i]) ? -(double)(int64_t)digit : (double)(int64_t)digit;
    }
  }
}

/* The most bits, and the largest |low|, for which scl_exact_cut computes with finite whole
 * numbers. */
enum { SPAN_MOST = 900, LOW_MOST = 2000 };

/* Digits by rounding: the numbers are multiplied by 2^-low, which makes them whole, and digit by
 * digit, from the highest, is rounded off and subtracted. All steps are exact. Plane 0 of `out`
 * holds the remainder meanwhile, which becomes digit 0. */
void scl_exact_cut(const double *values, size_t rows, size_t k, int low, int width, size_t digits,
                   double *out, size_t stride, size_t plane) {
  static const double magic = 0x1.8p52; /* x + magic - magic = rint(x) for |x| < 2^51 */
  const double one = ldexp(1, -low / 2), other = ldexp(1, -low - -low / 2);
  if (digits * (size_t)width > SPAN_MOST || abs(low) > LOW_MOST) {
    cut_bits(values, rows, k, low, width, digits, out, stride, plane);
    return;
  }
  if (stride == k) {
    stride = k = rows * k;
    rows = 1;
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < k; j++)
      out[i * stride + j] = values[i * k + j] * one * other;
  for (size_t q = digits; --q > 0;) {
    const double up = ldexp(1, (int)q * width), down = 1 / up;
    for (size_t i = 0; i < rows; i++) {
      double *rest = out + i * stride, *digit = rest + q * plane;
      for (size_t j = 0; j < k; j++) {
        digit[j] = (rest[j] * down + magic) - magic;
        rest[j] -= digit[j] * up;
      }
    }
  }
}
