/* Numbers in text that a program makes for another part of itself: the 64 bits of a double as
 * SCL_PACKED and eleven characters of six bits each, none of which is a separator, a quote, a blank
 * or a line end. The readers of comma-separated text then take the bits as they are, without a
 * decimal in between. */
#ifndef SCULLERY_PACKED_H
#define SCULLERY_PACKED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SCL_PACKED = 1, SCL_PACKED_BYTES = 12 };

/* Whether a number is packed: short whole numbers take fewer bytes as decimals, and those beyond
 * 2^53, infinities and NaN have rules of their own in text. */
static inline bool scl_packs(double value) {
  return (fabs(value) < 0x1p53 && (fabs(value) >= 1000 || value != (double)(int32_t)value)) ||
         (value == 0 && signbit(value));
}

/* SCL_PACKED_BYTES bytes. The eight last characters are the lowest 48 bits. */
static inline void scl_pack_number(double value, char *to) {
  uint64_t bits, low;
  memcpy(&bits, &value, sizeof bits);
  low = (bits & 0xffffff) | (bits & 0xffffff000000) << 8;
  low = (low & 0x00000fff00000fff) | (low & 0x00fff00000fff000) << 4;
  low = (low & 0x003f003f003f003f) | (low & 0x0fc00fc00fc00fc0) << 2;
  low |= 0x4040404040404040;
  to[0] = SCL_PACKED;
  to[1] = (char)(0x40 | (bits >> 48 & 0x3f));
  to[2] = (char)(0x40 | (bits >> 54 & 0x3f));
  to[3] = (char)(0x40 | bits >> 60);
  memcpy(to + 4, &low, sizeof low);
}

static inline double scl_unpack_number(const char *from) {
  uint64_t low, bits;
  double value;
  memcpy(&low, from + 4, sizeof low);
  low &= 0x3f3f3f3f3f3f3f3f;
  low = (low & 0x003f003f003f003f) | (low >> 2 & 0x0fc00fc00fc00fc0);
  low = (low & 0x00000fff00000fff) | (low >> 4 & 0x00fff00000fff000);
  low = (low & 0x0000000000ffffff) | (low >> 8 & 0x0000ffffff000000);
  bits = low | (uint64_t)(from[1] & 0x3f) << 48 | (uint64_t)(from[2] & 0x3f) << 54 |
         (uint64_t)(from[3] & 0x0f) << 60;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#endif
