/* Decimals of files: the doubles that the compiler makes of the same digits. Numbers with two
 * roundings are other ones for 9007199254740993 and 9007199254740995. */
#include "shared/stored_numbers.h"

static int expect(scl_wide value, int scale, double wanted) {
  const double got = scl_decimal_number(value, scale);
  if (got == wanted) return 0;
  (void)fprintf(stderr, "stored_numbers_test: got %.17g, wanted %.17g\n", got, wanted);
  return 1;
}

int main(void) {
  const scl_wide large = (scl_wide)9999999999999999999ULL * 10000000000000000000ULL +
                         (scl_wide)9999999999999999999ULL; /* 38 digits */
  int failures = expect(12345, 2, 123.45);
  failures += expect(0, 30, 0);
  failures += expect(-7, 25, -7e-25);
  failures += expect(15, -3, 15e3);
  failures += expect(9007199254740993, 2, 90071992547409.93);
  failures += expect(1234567890123456789, 1, 123456789012345678.9);
  failures += expect(-6917529027641081857, 3, -6917529027641081.857);
  failures += expect(large, 38, 1.0);
  failures += expect(-large, 4, -9999999999999999999999999999999999.9999);
  failures += expect(9007199254740995, 3, 9007199254740.995);
  return failures == 0 ? 0 : 1;
}
