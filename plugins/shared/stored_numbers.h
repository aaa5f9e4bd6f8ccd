/* Numbers as files of columns store them. */
#ifndef SCULLERY_SHARED_STORED_NUMBERS_H
#define SCULLERY_SHARED_STORED_NUMBERS_H

#include <math.h>
#include <stdint.h>

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

/* What decimals of that scale are divided by. */
static inline double scl_decimal_unit(int scale) { return (double)powl(10, scale); }

/* A file of so many bytes may have so many rows: runs of one value or of none take bytes for
 * each page and batch at least, so that more is a damaged count. */
static inline int scl_may_have_rows(uint64_t bytes, uint64_t rows) { return rows / 16384 <= bytes; }

#endif
