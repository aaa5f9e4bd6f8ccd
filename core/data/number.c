/* Numbers from text and to text, independent of the locale. Used by all readers and writers of
 * text. */
#define _GNU_SOURCE
#include "data/number.h"
#include "base/memory.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 2000 }; /* a longer number is copied to memory of its own */

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* Whether the C library may be asked: it would also accept hexadecimal and nan(...), but a
 * level such as 0x1A is text. */
static bool may_be_number(const char *text, size_t length) {
  if (length == 0) return false;
  const char first = text[0] == '-' || text[0] == '+' ? text[length > 1] : text[0];
  if (!(first >= '0' && first <= '9') && first != '.' && strchr("iInN", first) == NULL)
    return false;
  for (size_t i = 0; i < length; i++)
    if (text[i] == 'x' || text[i] == 'X' || text[i] == '(' || text[i] == 0) return false;
  return true;
}

/* Whether the text consists of the characters of a decimal number; only such texts are copied
 * when they are longer than LONGEST. */
static bool has_digits_alone(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!(text[i] >= '0' && text[i] <= '9') && strchr("+-.eE", text[i]) == NULL) return false;
  return true;
}

/* By the C library, in the C locale: any exponent, "inf", "nan". */
static bool parse_slowly(const char *text, size_t length, double *out) {
  char room[LONGEST + 1], *copy = room, *end;
  if (!may_be_number(text, length)) return false;
  if (length > LONGEST && !has_digits_alone(text, length)) return false;
  if (length > LONGEST && (copy = scl_allocate(length + 1)) == NULL) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  (void)pthread_once(&once, make_locale);
  if (c_locale != (locale_t)0) *out = strtod_l(copy, &end, c_locale);
  const bool whole = c_locale != (locale_t)0 && end == copy + length;
  if (copy != room) scl_release(copy);
  return whole;
}

/* digits * 10^scale where digits has more than 53 bits: in the 64 bits of an x87 long double
 * both factors are exact up to 10^27, so one operation is off by at most half a unit of its
 * last place; rounding that to 53 bits is right unless the 11 bits that are dropped are next
 * to their middle. Returns false where the result is not sure, or long double has no 64 bits. */
static bool scale_long(uint64_t digits, int scale, double *out) {
#if LDBL_MANT_DIG == 64 && (defined(__x86_64__) || defined(__i386__))
  static const long double powers[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                       1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                       1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                       1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
  if (scale < -27 || scale > 27) return false;
  const long double value =
      scale < 0 ? (long double)digits / powers[-scale] : (long double)digits * powers[scale];
  uint64_t mantissa;
  memcpy(&mantissa, &value, sizeof mantissa);
  const unsigned falling = (unsigned)(mantissa & 0x7ff);
  *out = (double)value;
  return falling < 0x3ff || falling > 0x401;
#else
  (void)digits;
  (void)scale;
  (void)out;
  return false;
#endif
}

/* The exponent after an e at `at`, or `at` itself where there is none. */
static const char *parse_exponent(const char *at, const char *end, int *exponent) {
  const char *mark = at;
  bool minus = false, any = false;
  *exponent = 0;
  if (at == end || (*at != 'e' && *at != 'E')) return at;
  at++;
  if (at < end && (*at == '-' || *at == '+')) minus = *at++ == '-';
  for (; at < end && *at >= '0' && *at <= '9' && *exponent < 10000; at++, any = true)
    *exponent = *exponent * 10 + (*at - '0');
  if (minus) *exponent = -*exponent;
  return any ? at : mark;
}

/* Digits of 53 bits with a power of ten that is exact: one correctly rounded operation
 * (Clinger, "How to read floating point numbers accurately", 1990). */
bool scl_scale_digits(uint64_t digits, int scale, double *out) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (digits > (uint64_t)1 << 53 || scale < -22 || scale > 22) {
    *out = 0;
    return digits == 0 || scale_long(digits, scale, out);
  }
  *out = scale < 0 ? (double)digits / powers[-scale] : (double)digits * powers[scale];
  return true;
}

bool scl_parse_number(const char *text, size_t length, double *out) {
  const char *at = text, *end = text + length;
  uint64_t digits = 0;
  size_t count = 0;
  int scale = 0, exponent = 0;
  bool negative = false, any = false;
  if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  for (; at < end && *at >= '0' && *at <= '9'; at++, any = true) {
    digits = digits * 10 + (uint64_t)(*at - '0');
    count += count > 0 || *at != '0';
  }
  if (at < end && *at == '.')
    for (at++; at < end && *at >= '0' && *at <= '9' && scale > -10000; at++, any = true) {
      digits = digits * 10 + (uint64_t)(*at - '0');
      count += count > 0 || *at != '0';
      scale--;
    }
  if (any) at = parse_exponent(at, end, &exponent);
  scale += exponent;
  if (!any || at != end || count > 19) return parse_slowly(text, length, out);
  double value;
  if (!scl_scale_digits(digits, scale, &value)) return parse_slowly(text, length, out);
  *out = negative ? -value : value;
  return true;
}

/* Past a currency sign. */
static const char *skip_currency(const char *at, const char *end) {
  static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    const size_t length = strlen(signs[i]);
    if ((size_t)(end - at) > length && memcmp(at, signs[i], length) == 0) return at + length;
  }
  return at;
}

/* Copies a number without its commas, each of which must be before three digits and after one
 * to three. False: a comma is elsewhere. */
static bool drop_commas(const char *at, const char *end, char *to, size_t *used) {
  size_t group = 0;
  bool commas = false;
  for (; at < end && (*at == ',' || (*at >= '0' && *at <= '9')); at++) {
    if (*at != ',') {
      to[(*used)++] = *at;
      group++;
    } else if (group == 0 || group > 3 || (commas && group != 3)) {
      return false;
    } else {
      commas = true;
      group = 0;
    }
  }
  if (commas && group != 3) return false;
  for (; at < end; at++) {
    if (*at == ',') return false;
    to[(*used)++] = *at;
  }
  return true;
}

bool scl_parse_loose_number(const char *text, size_t length, double *out) {
  enum { LONGEST_LOOSE = 64 };
  char plain[LONGEST_LOOSE];
  const char *at = text, *end = text + length;
  size_t used = 0;
  if (length == 0 || length >= LONGEST_LOOSE) return false;
  if (*at == '-' || *at == '+') plain[used++] = *at++;
  at = skip_currency(at, end);
  if (at < end && (*at == '-' || *at == '+') && used == 0) plain[used++] = *at++;
  if (at < end && end[-1] == '%') end--;
  while (at < end && end[-1] == ' ')
    end--;
  if (at >= end || (*at != '.' && (*at < '0' || *at > '9'))) return false;
  return drop_commas(at, end, plain, &used) && scl_parse_number(plain, used, out);
}

/* Tries 15, 16 and 17 digits (float32: 6 to 9) until the text reads back as the same number. */
size_t scl_format_number(double value, bool float32, char text[32]) {
  (void)pthread_once(&once, make_locale);
  if (isnan(value)) return (size_t)snprintf(text, 32, "nan");
  if (value == floor(value) && fabs(value) < 1e15) return (size_t)snprintf(text, 32, "%.0f", value);
  const locale_t before = c_locale == (locale_t)0 ? c_locale : uselocale(c_locale);
  int length = 0;
  for (int digits = float32 ? 6 : 15; digits <= (float32 ? 9 : 17); digits++) {
    length = snprintf(text, 32, "%.*g", digits, value);
    const double back = strtod(text, NULL);
    if (float32 ? (float)back == (float)value : back == value) break;
  }
  if (before != (locale_t)0) (void)uselocale(before);
  return (size_t)length;
}

static size_t write_digits(uint64_t value, char *to) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (size_t i = 0; i < count; i++)
    to[i] = digits[count - 1 - i];
  return count;
}

size_t scl_write_integer(int64_t value, char *to) {
  const bool negative = value < 0;
  *to = '-';
  return negative + write_digits(negative ? 0 - (uint64_t)value : (uint64_t)value, to + negative);
}

size_t scl_write_number(double value, char text[32]) {
  const bool whole =
      fabs(value) < 0x1p53 && value == floor(value) && !(value == 0 && signbit(value));
  return whole ? scl_write_integer((int64_t)value, text) : scl_format_number(value, false, text);
}
