/* Decimal text to double and back, exact and independent of the locale. */
#ifndef SCULLERY_NUMBER_H
#define SCULLERY_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of text[0 .. length) as a number ("1", "-2.5", "1e-3", "inf", "nan"), correctly
 * rounded; false when it is none (blanks around it, hexadecimal). */
bool scl_parse_number(const char *text, size_t length, double *out);

/* digits * 10^scale, correctly rounded; false where that takes the digits' text. */
bool scl_scale_digits(uint64_t digits, int scale, double *out);

/* The same for numbers as people write them: a currency sign ($, or the euro, pound or yen sign in
 * UTF-8) before, thousands in groups of three after commas, a percent sign after: "$1,000.50" is
 * 1000.5 and "5%" is 5. */
bool scl_parse_loose_number(const char *text, size_t length, double *out);

/* The shortest decimal of 15 to 17 digits (6 to 9 for a float32) that reads back as the same
 * number. Returns its length. */
size_t scl_format_number(double value, bool float32, char text[32]);

/* The same of a double, but whole numbers below 2^53 have no exponent. No 0 byte follows. */
size_t scl_write_number(double value, char text[32]);
/* The decimal of a whole number; returns its length. No 0 byte follows. */
size_t scl_write_integer(int64_t value, char *to);

#endif
