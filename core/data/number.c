#define _GNU_SOURCE
#include "number.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

/* By the C library, in the C locale: any length, any exponent. */
static bool parse_slowly(const char *text, size_t length, double *out) {
  char small[128], *copy = small, *end;
  if (length == 0 || text[0] == ' ' || text[0] == '\t' || length > 4000) return false;
  for (size_t i = 0; i < length; i++) /* no hexadecimal: a level such as 0x1A is text */
    if (text[i] == 'x' || text[i] == 'X' || text[i] == '(') return false;
  if (length >= sizeof small && (copy = malloc(length + 1)) == NULL) return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  (void)pthread_once(&once, make_locale);
  *out = c_locale == (locale_t)0 ? strtod(copy, &end) : strtod_l(copy, &end, c_locale);
  const bool whole = end == copy + length;
  if (copy != small) free(copy);
  return whole;
}

/* Up to 19 digits with a power of ten that double holds exactly: one correctly rounded operation (Clinger 1990). */
bool scl_parse_number(const char *text, size_t length, double *out) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *at = text, *end = text + length;
  uint64_t digits = 0;
  int count = 0, scale = 0, exponent = 0;
  bool negative = false, any = false;
  if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
  for (; at < end && *at >= '0' && *at <= '9'; at++, any = true) {
    digits = digits * 10 + (uint64_t)(*at - '0');
    count += digits != 0;
  }
  if (at < end && *at == '.')
    for (at++; at < end && *at >= '0' && *at <= '9'; at++, any = true) {
      digits = digits * 10 + (uint64_t)(*at - '0');
      count += digits != 0;
      scale--;
    }
  if (any && at < end && (*at == 'e' || *at == 'E')) {
    const char *mark = at++;
    bool minus = false, found = false;
    if (at < end && (*at == '-' || *at == '+')) minus = *at++ == '-';
    for (; at < end && *at >= '0' && *at <= '9' && exponent < 10000; at++, found = true) exponent = exponent * 10 + (*at - '0');
    if (!found) at = mark;
    if (minus) exponent = -exponent;
  }
  scale += exponent;
  if (!any || at != end || count > 19 || digits > ((uint64_t)1 << 53) || scale < -22 || scale > 22) return parse_slowly(text, length, out);
  const double value = scale < 0 ? (double)digits / powers[-scale] : (double)digits * powers[scale];
  *out = negative ? -value : value;
  return true;
}
