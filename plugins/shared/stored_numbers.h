/* Numbers as files of columns store them. */
#ifndef SCULLERY_SHARED_STORED_NUMBERS_H
#define SCULLERY_SHARED_STORED_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef __int128 scl_wide;
__extension__ typedef unsigned __int128 scl_wide_bits;

/* A float16 (IEEE 754 binary16). */
static inline double scl_half_number(unsigned bits) {
  const int exponent = (int)(bits >> 10 & 0x1f);
  const double fraction = bits & 0x3ff;
  const double size = exponent == 0    ? ldexp(fraction, -24)
                      : exponent == 31 ? (fraction == 0 ? HUGE_VAL : (double)NAN)
                                       : ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 ? -size : size;
}

/* The double nearest to value / 10^scale. Both are doubles up to 2^53 and 10^22, and a quotient of
 * doubles is rounded once; others go by their digits, as two roundings can miss the nearest. */
static inline double scl_decimal_number(scl_wide value, int scale) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const scl_wide exact = (scl_wide)1 << 53;
  if (value >= -exact && value <= exact && scale >= 0 && scale <= 22)
    return (double)value / powers[scale];
  char text[64]; /* 39 digits, a sign and an exponent */
  char *at = text + 48;
  (void)snprintf(at, sizeof text - 48, "e%d", -scale);
  scl_wide_bits rest = value < 0 ? -(scl_wide_bits)value : (scl_wide_bits)value;
  for (; rest > 0 || *at == 'e'; rest /= 10)
    *--at = (char)('0' + (int)(rest % 10));
  if (value < 0) *--at = '-';
  return strtod(at, NULL);
}

/* A file of so many bytes may have so many rows: runs of one value or of none take bytes for
 * each page and batch at least, so that more is a damaged count. */
static inline int scl_may_have_rows(uint64_t bytes, uint64_t rows) { return rows / 16384 <= bytes; }

#endif
