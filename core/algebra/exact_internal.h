/* The parts of a float64 number, for exact sums and digits. */
#ifndef SCULLERY_EXACT_INTERNAL_H
#define SCULLERY_EXACT_INTERNAL_H

#include "algebra/exact.h"

#include <string.h>

enum {
  DIGIT = SCL_EXACT_DIGIT,
  FRACTION = 52,
  SPECIAL = 0x7ff, /* the exponent field of infinities and NaN */
  UNIT = 1075      /* a number is its fraction times 2^(field - UNIT) */
};

/* The exponent field and the fraction (53 bits) of a number; subnormal ones have field 1. */
static inline int take_apart(double value, uint64_t *fraction) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int field = (int)(bits >> FRACTION & SPECIAL);
  *fraction = (bits & (((uint64_t)1 << FRACTION) - 1)) | (uint64_t)(field != 0) << FRACTION;
  return field == 0 ? 1 : field;
}

#endif
