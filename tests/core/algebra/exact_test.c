/* Exact sums against whole numbers of 4,608 bits: random exponents over the whole range, cancellation,
 * orders, merges, subtraction back to nothing, and digits. */
#include "algebra/exact.h"
#include "expect.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A finite number whose exponent is any one of low .. high. */
static double any_number(int low, int high) {
  const double fraction = 1 + ldexp((double)(chance() >> 12), -52);
  const double value = ldexp(fraction, low + (int)(chance() % (uint64_t)(high - low + 1)));
  return chance() & 64 ? -value : value;
}

/* ------------ the reference
 *
 * Two's complement of WORDS words of 32 bits; bit 0 stands for 2^-LEAST. */
enum { WORDS = 144, LEAST = 2200 };
typedef struct large {
  uint32_t word[WORDS];
} large;

static void large_negate(large *a) {
  uint64_t carry = 1;
  for (int i = 0; i < WORDS; i++) {
    carry += (uint32_t)~a->word[i];
    a->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* a += value 2^exponent, one bit of the fraction after the other. */
static void large_add(large *a, double value, int exponent) {
  int e;
  const double part = frexp(fabs(value), &e);
  if (value == 0) return;
  uint64_t whole = (uint64_t)ldexp(part, 53);
  if (value < 0) large_negate(a);
  for (int bit = 0; bit < 53; bit++) {
    if (!(whole >> bit & 1)) continue;
    const int at = bit + e - 53 + exponent + LEAST;
    uint64_t carry = (uint64_t)1 << at % 32;
    for (int i = at / 32; i < WORDS && carry > 0; i++) {
      carry += a->word[i];
      a->word[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  if (value < 0) large_negate(a);
}

static int large_bit(const large *a, int at) { return a->word[at / 32] >> at % 32 & 1; }

/* Nearest even: by the definition, bit by bit. */
static double large_round(large a) {
  const int negative = large_bit(&a, 32 * WORDS - 1);
  int top = 32 * WORDS - 1, rest = 0;
  if (negative) large_negate(&a);
  while (top >= 0 && !large_bit(&a, top))
    top--;
  if (top < 0) return 0;
  const int unit = top - 52 > LEAST - 1074 ? top - 52 : LEAST - 1074;
  double value = 0;
  for (int i = top; i >= unit; i--)
    value = 2 * value + large_bit(&a, i);
  for (int i = 0; i < unit - 1; i++)
    rest |= large_bit(&a, i);
  if (large_bit(&a, unit - 1) && (rest || fmod(value, 2) == 1)) value++;
  value = ldexp(value, unit - LEAST);
  return negative ? -value : value;
}

/* ------------ sums of arrays */

static void shuffle(double *x, size_t count) {
  for (size_t i = count; i > 1; i--) {
    const size_t other = chance() % i;
    const double kept = x[i - 1];
    x[i - 1] = x[other];
    x[other] = kept;
  }
}

static void test_sums(size_t count, int low, int high) {
  double *x = malloc(2 * (count + 1) * sizeof *x), sum, both[2];
  large reference = {{0}};
  if (x == NULL) exit(1);
  for (size_t i = 0; i < count; i++) {
    x[i] = i % 5 == 4 ? -x[i - 3] : any_number(low, high); /* cancellation */
    large_add(&reference, x[i], 0);
  }
  const double wanted = large_round(reference);
  scl_exact_sum(x, count, 1, &sum);
  expect(sum == wanted, "a sum", sum, wanted);
  for (int order = 0; order < 3; order++) {
    shuffle(x, count);
    scl_exact_sum(x, count, 1, &sum);
    expect(sum == wanted, "a sum in another order", sum, wanted);
  }
  for (size_t i = count; i-- > 0;) {
    x[2 * i] = x[i];
    x[2 * i + 1] = -x[2 * i] / 2;
  }
  scl_exact_sum(x, count, 2, both);
  expect(both[0] == wanted, "the first of two columns", both[0], wanted);
  free(x);
}

static void test_special(void) {
  const double ends[] = {DBL_MAX, DBL_MAX, -DBL_MAX}, over[] = {DBL_MAX, DBL_MAX},
               up[] = {1, INFINITY, 2}, both[] = {INFINITY, -INFINITY}, nan[] = {NAN, 0},
               half[] = {1, 0x1p-53}, more[] = {1, 0x1p-53, 0x1p-1074},
               odd[] = {1, 0x1p-52, 0x1p-53};
  double sum;
  scl_exact_sum(ends, 3, 1, &sum);
  expect(sum == DBL_MAX, "a sum that passes the largest number on its way", sum, DBL_MAX);
  scl_exact_sum(over, 2, 1, &sum);
  expect(sum == INFINITY, "a sum beyond the largest number", sum, INFINITY);
  scl_exact_sum(up, 3, 1, &sum);
  expect(sum == INFINITY, "a sum with an infinity", sum, INFINITY);
  scl_exact_sum(both, 2, 1, &sum);
  expect(isnan(sum), "a sum of both infinities", sum, NAN);
  scl_exact_sum(half, 2, 1, &sum);
  expect(sum == 1, "half a unit goes to the even number", sum, 1);
  scl_exact_sum(more, 3, 1, &sum);
  expect(sum == 1 + DBL_EPSILON, "a little more than half a unit", sum, 1 + DBL_EPSILON);
  scl_exact_sum(odd, 3, 1, &sum);
  expect(sum == 1 + 2 * DBL_EPSILON, "half a unit of an odd number", sum, 1 + 2 * DBL_EPSILON);
  scl_exact_sum(nan, 2, 1, &sum);
  expect(isnan(sum), "a sum with NaN", sum, NAN);
  scl_exact_sum(up, 0, 1, &sum);
  expect(sum == 0 && !signbit(sum), "no numbers", sum, 0);
}

/* ------------ sums that are kept */

enum { NUMBERS = 7, ADDITIONS = 1500 };

/* e, and the reference, += or -= the same numbers. */
static void add_some(scl_exact *e, large *reference, double sign, int low, int high) {
  scl_error error = {0};
  for (int i = 0; i < ADDITIONS; i++) {
    double x[NUMBERS];
    for (int j = 0; j < NUMBERS; j++) {
      x[j] = sign * any_number(low, high);
      large_add(&reference[j], x[j], 0);
    }
    must(scl_exact_add(e, x, &error), &error);
  }
}

static void compare(const scl_exact *e, const large *reference, const char *what) {
  double all[NUMBERS];
  scl_exact_values(e, 1, NUMBERS - 1, all + 1);
  for (size_t j = 0; j < NUMBERS; j++) {
    const double wanted = large_round(reference[j]), got = scl_exact_value(e, j);
    expect(got == wanted, what, got, wanted);
    if (j > 0) expect(all[j] == wanted, "one of several values", all[j], wanted);
  }
}

static scl_exact *new_sums(void) {
  scl_exact *e;
  scl_error error = {0};
  must(scl_exact_create(NUMBERS, &e, &error), &error);
  return e;
}

static void test_kept(int low, int high) {
  scl_error error = {0};
  scl_exact *a = new_sums(), *b = new_sums(), *both = new_sums();
  large of_a[NUMBERS] = {{{0}}}, of_both[NUMBERS];
  bool equal;
  int first;
  size_t places;
  int64_t *digits;
  add_some(a, of_a, 1, low, high);
  compare(a, of_a, "a kept sum");
  memcpy(of_both, of_a, sizeof of_a);
  add_some(b, of_both, 1, low, high);
  must(scl_exact_merge(both, b, false, &error), &error);
  must(scl_exact_merge(both, a, false, &error), &error);
  compare(both, of_both, "a merged sum");
  must(scl_exact_equal(both, a, &equal, &error), &error);
  expect(!equal, "different sums are equal", equal, 0);
  must(scl_exact_merge(both, b, true, &error), &error);
  compare(both, of_a, "a sum with numbers taken out");
  must(scl_exact_equal(both, a, &equal, &error), &error);
  expect(equal, "the same sum is equal", equal, 1);

  must(scl_exact_export(a, &first, &places, &digits, &error), &error);
  must(scl_exact_merge(both, a, true, &error), &error);
  must(scl_exact_import(both, first, places, digits, &error), &error);
  compare(both, of_a, "a sum from digits");
  int64_t *again;
  int first_again;
  size_t places_again;
  must(scl_exact_export(both, &first_again, &places_again, &again, &error), &error);
  expect(first == first_again && places == places_again &&
             memcmp(digits, again, places * NUMBERS * sizeof *digits) == 0,
         "the digits of equal sums", first_again, first);
  digits[0] = (int64_t)1 << 26;
  expect(scl_exact_import(both, first, places, digits, &error) == SCL_STATUS_BAD_DATA,
         "digits out of range are refused", 0, 1);
  scl_release(digits);
  scl_release(again);
  must(scl_exact_merge(both, a, true, &error), &error);
  must(scl_exact_export(both, &first, &places, &digits, &error), &error);
  expect(places == 0 && first == 0, "nothing is left", (double)places, 0);
  scl_release(digits);
  scl_exact_destroy(a);
  scl_exact_destroy(b);
  scl_exact_destroy(both);
}

static void test_products(int low, int high) {
  scl_error error = {0};
  scl_exact *e = new_sums();
  large reference[NUMBERS] = {{{0}}};
  for (int i = 0; i < 3000; i++) {
    const double a = any_number(low, high), b = any_number(low, high);
    const size_t j = chance() % NUMBERS;
    /* Halves of 26 and 27 bits multiply exactly, whatever the exponents. */
    int of_a, of_b;
    const double x = frexp(a, &of_a), y = frexp(b, &of_b), high_x = ldexp(rint(ldexp(x, 26)), -26),
                 high_y = ldexp(rint(ldexp(y, 26)), -26);
    large_add(&reference[j], high_x * high_y, of_a + of_b);
    large_add(&reference[j], high_x * (y - high_y), of_a + of_b);
    large_add(&reference[j], (x - high_x) * high_y, of_a + of_b);
    large_add(&reference[j], (x - high_x) * (y - high_y), of_a + of_b);
    must(scl_exact_add_product(e, j, a, b, &error), &error);
  }
  compare(e, reference, "a sum of products");
  expect(scl_exact_add_one(e, 0, NAN, 0, &error) == SCL_STATUS_NUMERIC, "NaN is refused", 0, 1);
  expect(scl_exact_add_product(e, 0, INFINITY, 0, &error) == SCL_STATUS_NUMERIC,
         "infinity times 0 is refused", 0, 1);
  scl_exact_destroy(e);
}

/* ------------ digits */

/* Rows x k numbers, cut and put together again. */
static void test_digits(int low, int high, int width) {
  enum { ROWS = 50, K = NUMBERS, COUNT = ROWS * K };
  scl_error error = {0};
  double x[COUNT];
  large reference[NUMBERS] = {{{0}}};
  int from, to;
  for (size_t i = 0; i < COUNT; i++) {
    x[i] = i % 11 == 3 ? 0 : any_number(low, high);
    large_add(&reference[i % K], x[i], 0);
  }
  expect(scl_exact_span(x, COUNT, &from, &to), "a span", 0, 1);
  const size_t digits = scl_exact_digits(from, to, width), stride = digits * K;
  double *cut = malloc(ROWS * stride * sizeof *cut);
  if (cut == NULL) exit(1);
  scl_exact_cut(x, ROWS, K, from, width, digits, cut, stride, K);
  scl_exact *e = new_sums();
  for (size_t q = 0; q < digits; q++) {
    double sums[K] = {0};
    for (size_t i = 0; i < ROWS; i++)
      for (size_t j = 0; j < K; j++) {
        const double digit = cut[i * stride + q * K + j];
        expect(digit == rint(digit) && fabs(digit) <= ldexp(1, width), "a digit", digit, 0);
        sums[j] += digit;
      }
    must(scl_exact_add_whole(e, 2, K - 2, sums + 2, from + (int)q * width, &error), &error);
    must(scl_exact_add_whole(e, 0, 2, sums, from + (int)q * width, &error), &error);
  }
  compare(e, reference, "a sum of digits");
  scl_exact_destroy(e);
  free(cut);
}

static void test_span(void) {
  const double none[] = {0, -0.0}, whole[] = {1, -1, 0, 6}, bad[] = {1, INFINITY};
  int low, high;
  expect(scl_exact_span(none, 2, &low, &high) && scl_exact_digits(low, high, 26) == 0,
         "zeros have no digits", 1, 0);
  expect(scl_exact_span(whole, 4, &low, &high) && low == 0 && high == 3,
         "small whole numbers have one digit", high, 3);
  expect(!scl_exact_span(bad, 2, &low, &high), "infinity has no digits", 1, 0);
}

int main(void) {
  static const int ranges[][2] = {{0, 0},       {-20, 20},    {-1074, -1000}, {-1022, -1020},
                                  {-1074, 900}, {1000, 1013}, {-600, -500}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    const int low = ranges[i][0], high = ranges[i][1];
    for (size_t count = 1; count < 5000; count = 3 * count + 1)
      test_sums(count, low, high);
    test_kept(low, high);
    test_products(low, high);
    test_digits(low, high, 26);
    test_digits(low, high, 40);
  }
  test_special();
  test_span();
  return failures == 0 ? 0 : 1;
}
