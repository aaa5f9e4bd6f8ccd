/* Numbers among the words of a text, in one pass over their bytes: most are whole or decimal numbers
 * of few digits, which are made here; data/number.h makes the others. TEXT_PADDING bytes after a
 * text may be read. Shared by the readers of LIBSVM and Matrix Market files. */
#ifndef SCULLERY_WORDS_H
#define SCULLERY_WORDS_H

#include "data/number.h"

#include <stddef.h>
#include <string.h>

enum { TEXT_PADDING = 16 };

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }
static inline bool ends_line(char c) { return c == '\n' || c == '#' || c == 0; }
static inline bool ends_word(char c) { return c == ' ' || c == '\t' || c == '\r' || ends_line(c); }

static inline const char *word_end(const char *at) {
  while (!ends_word(*at))
    at++;
  return at;
}

static inline const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r')
    at++;
  return at;
}

/* Eight characters as one number, the first of them in the lowest byte, and whether all are
 * digits; their value by three products of parts that are side by side. */
static inline uint64_t eight_characters(const char *at) {
  uint64_t bytes;
  memcpy(&bytes, at, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  bytes = __builtin_bswap64(bytes);
#endif
  return bytes;
}
static inline bool are_digits(uint64_t bytes) {
  const uint64_t high = 0xF0F0F0F0F0F0F0F0;
  return ((bytes & high) | (((bytes + 0x0606060606060606) & high) >> 4)) == 0x3333333333333333;
}
static inline uint64_t value_of_eight(uint64_t bytes) {
  bytes = (bytes & 0x0F0F0F0F0F0F0F0F) * (1 + (10 << 8)) >> 8;
  bytes = (bytes & 0x00FF00FF00FF00FF) * (1 + (100 << 16)) >> 16;
  return (bytes & 0x0000FFFF0000FFFF) * (1 + ((uint64_t)10000 << 32)) >> 32;
}

/* Appends the digits at `at` to *digits, which 19 of them fit; returns the first character that is
 * none. */
static inline const char *take_digits(const char *at, uint64_t *digits) {
  while (are_digits(eight_characters(at))) {
    *digits = *digits * 100000000 + value_of_eight(eight_characters(at));
    at += 8;
  }
  for (; is_digit(*at); at++)
    *digits = *digits * 10 + (uint64_t)(*at - '0');
  return at;
}

/* The number at *at, and *at after it: here a decimal number of at most 19 digits, leading zeros
 * included, without an exponent; any other word by scl_parse_number. False: the word is not a
 * number. */
static inline bool take_number(const char **at, double *out) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
  const char *word = *at, *end = word + (*word == '-' || *word == '+'), *first = end;
  uint64_t digits = 0;
  ptrdiff_t decimals = 0;
  end = take_digits(end, &digits);
  ptrdiff_t count = end - first;
  if (*end == '.') {
    first = end + 1;
    end = take_digits(first, &digits);
    decimals = end - first;
    count += decimals;
  }
  double value = (double)digits / powers[decimals < 20 ? decimals : 0];
  if (count > 0 && count <= 19 && ends_word(*end) &&
      (digits <= (uint64_t)1 << 53 || scl_scale_digits(digits, -(int)decimals, &value))) {
    *out = *word == '-' ? -value : value;
    *at = end;
    return true;
  }
  end = word_end(word);
  *at = end;
  return scl_parse_number(word, (size_t)(end - word), out);
}

#endif
