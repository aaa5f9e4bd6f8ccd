/* Long accumulators: exact sums of float64 numbers as whole numbers at places 2^(26 p). */
#include "algebra/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BIAS: 2^-(26 BIAS) is below every product of two numbers. ROOM: places above the highest that a
 * number reaches, for carries. MOST: additions between carries; each changes a total by less than
 * 2^53, and there is room for as many again from another sum. */
enum {
  DIGIT = SCL_EXACT_DIGIT,
  BIAS = 88,
  PLACES = 2 * BIAS,
  ROOM = 5,
  MOST = 500,
  FRACTION = 52,
  SPECIAL = 0x7ff, /* the exponent field of infinities and NaN */
  UNIT = 1075      /* a number is its fraction times 2^(field - UNIT) */
};
static const int64_t MASK = ((int64_t)1 << DIGIT) - 1, HALF = (int64_t)1 << (DIGIT - 1);

/* ------------------------------------------------------------ one number in two places */

/* The exponent field and the fraction (53 bits) of a number; subnormal ones have field 1. */
static inline int take_apart(double value, uint64_t *fraction) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  const int field = (int)(bits >> FRACTION & SPECIAL);
  *fraction = (bits & (((uint64_t)1 << FRACTION) - 1)) | (uint64_t)(field != 0) << FRACTION;
  return field == 0 ? 1 : field;
}

/* whole 2^shift = high 2^26 + low, 0 <= shift < 26, |whole| <= 2^53. */
static inline void split(int64_t whole, unsigned shift, int64_t *low, int64_t *high) {
  *low = (int64_t)((uint64_t)whole << shift) & MASK;
  *high = whole >> (DIGIT - shift);
}

/* Carry so that HALF >= -t and t < HALF, from the place below into this one and on; returns what
 * goes to the next. */
static inline int64_t carry_from(int64_t *t) {
  const int64_t carried = (*t + HALF) >> DIGIT;
  *t -= carried * ((int64_t)1 << DIGIT);
  return carried;
}

/* sum of t[p] 2^(26 (first + p)) for p < count, rounded to nearest even; changes t, which has ROOM
 * more entries of 0. */
static double round_places(int64_t *t, int count, int first) {
  int64_t carried = 0;
  int top = count + ROOM - 1;
  for (int p = 0; p <= top; p++) {
    t[p] += carried;
    carried = carry_from(&t[p]);
  }
  while (top >= 0 && t[top] == 0)
    top--;
  if (top < 0) return 0;
  /* Digits of 0 .. 2^26 - 1 of the absolute value: the leading one has the sign of all. */
  const double sign = t[top] < 0 ? -1 : 1;
  carried = 0;
  for (int p = 0; p <= top; p++) {
    t[p] = (sign < 0 ? -t[p] : t[p]) + carried;
    carried = t[p] >> DIGIT;
    t[p] &= MASK;
  }
  while (t[top] == 0)
    top--;
  const int leading = (first + top) * DIGIT + ilogb((double)t[top]);
  const int unit = leading - FRACTION > 1 - UNIT ? leading - FRACTION : 1 - UNIT;
  uint64_t number = 0;
  bool half = false, rest = false;
  for (int p = top; p >= 0; p--) {
    const int below = unit - (first + p) * DIGIT; /* bits of this digit that are rounded away */
    if (below <= 0) {
      number = number << DIGIT | (uint64_t)t[p];
    } else if (below <= DIGIT) {
      number = number << (DIGIT - below) | (uint64_t)(t[p] >> below);
      half = t[p] >> (below - 1) & 1;
      rest = (t[p] & (((int64_t)1 << (below - 1)) - 1)) != 0;
    } else {
      rest = rest || t[p] != 0;
    }
  }
  if (first * DIGIT > unit) number <<= first * DIGIT - unit;
  number += half && (rest || (number & 1));
  return sign * ldexp((double)number, unit);
}

/* ------------------------------------------------------------ the sum of an array */

enum { SUM_PLACES = (SPECIAL + 17) / DIGIT + 2, SUM_FIRST = -42 };

/* Add a finite number to the totals t of sum_column. False: it is not finite. A negative number is
 * added as its two's complement, (x ^ -1) + 1, without a branch. */
static bool add_to_totals(double value, int64_t *t) {
  uint64_t fraction;
  int64_t low, high;
  const int field = take_apart(value, &fraction);
  if (field == SPECIAL) return false;
  /* field - UNIT = 26 (place + SUM_FIRST) + shift */
  const unsigned from = (unsigned)(field - UNIT - SUM_FIRST * DIGIT), place = from / DIGIT;
  const int64_t sign = signbit(value) ? -1 : 0;
  split((int64_t)fraction, from % DIGIT, &low, &high);
  t[place] += (low ^ sign) - sign;
  t[place + 1] += (high ^ sign) - sign;
  return true;
}

/* Carry between the places of t, so that further numbers can be added. */
static void carry_totals(int64_t *t) {
  int64_t carried = 0;
  for (int p = 0; p < SUM_PLACES + ROOM; p++) {
    t[p] += carried;
    carried = carry_from(&t[p]);
  }
}

/* Up to CHUNK numbers are summed together. 2^e is above the sum of their absolute values. First
 * their parts that are multiples of 2^(e - CHUNK_BITS) are added: these sums need at most
 * CHUNK_BITS bits, so that float64 additions are exact in any order. Then what is left of the
 * numbers is summed in the same way. (Error-free extraction: Rump, Ogita and Oishi 2008.) */
enum { CHUNK = 1024, CHUNK_BITS = 50, LANES = 8 };
static const double CHUNK_LARGEST = 0x1p1000;

static double sum_lanes(const double *lanes) {
  double sum = 0;
  for (size_t l = 0; l < LANES; l++)
    sum += lanes[l];
  return sum;
}

/* The sum of `count` numbers, a multiple of LANES, in LANES partial sums. */
static double sum_of(const double *x, size_t count) {
  double lanes[LANES] = {0};
  for (size_t i = 0; i < count; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      lanes[l] += x[i + l];
  return sum_lanes(lanes);
}

/* The sum of their absolute values. */
static double size_of(const double *x, size_t count) {
  double lanes[LANES] = {0};
  for (size_t i = 0; i < count; i += LANES)
    for (size_t l = 0; l < LANES; l++)
      lanes[l] += fabs(x[i + l]);
  return sum_lanes(lanes);
}

/* Adds the numbers of x, which it spoils. false: they are too large, or one is not finite;
 * nothing is added. */
static bool sum_chunk(double *x, size_t count, int64_t *t) {
  double leading[CHUNK], size = size_of(x, count);
  if (!(size < CHUNK_LARGEST)) return false;
  for (; size > 0; size = size_of(x, count)) {
    /* x + magic - magic: x to a multiple of 2^(e - CHUNK_BITS) */
    const double magic = ldexp(1.5, ilogb(size) + 2 - CHUNK_BITS + FRACTION);
    for (size_t i = 0; i < count; i++) {
      leading[i] = (x[i] + magic) - magic;
      x[i] -= leading[i];
    }
    (void)add_to_totals(sum_of(leading, count), t);
  }
  return true;
}

/* The sum of `count` numbers that are `stride` apart. If some are not finite: the float64 sum of
 * these, which is an infinity or NaN. */
static double sum_column(const double *values, size_t count, size_t stride) {
  int64_t t[SUM_PLACES + ROOM] = {0};
  double x[CHUNK], special = 0; /* the sum of what is not finite */
  for (size_t at = 0; at < count; at += CHUNK) {
    const size_t end = scl_min(at + CHUNK, count), padded = (end - at + LANES - 1) / LANES * LANES;
    for (size_t i = at; i < end; i++)
      x[i - at] = values[i * stride];
    for (size_t i = end - at; i < padded; i++)
      x[i] = 0;
    if (!sum_chunk(x, padded, t))
      for (size_t i = at; i < end; i++)
        if (!add_to_totals(values[i * stride], t)) special += values[i * stride];
    carry_totals(t);
  }
  return special != 0 ? special : round_places(t, SUM_PLACES, SUM_FIRST);
}

void scl_exact_sum(const double *values, size_t count, size_t k, double *sums) {
  for (size_t j = 0; j < k; j++)
    sums[j] = sum_column(values + j, count, k);
}

/* ------------------------------------------------------------ sums that are kept */

struct scl_exact {
  size_t count;
  unsigned added;          /* additions since the last carry */
  int low, high;           /* of the opened places and those between: low .. high-1 */
  int64_t *totals[PLACES]; /* of place p - BIAS; NULL: zeros */
};

scl_status scl_exact_create(size_t count, scl_exact **out, scl_error *error) {
  scl_exact *e = scl_allocate_zero(sizeof *e);
  if (e == NULL) return scl_fail_memory(error, sizeof *e, "exact sums");
  e->count = count;
  *out = e;
  return SCL_STATUS_OK;
}

void scl_exact_destroy(scl_exact *e) {
  if (e == NULL) return;
  scl_release_each(PLACES, (void *const *)e->totals);
  scl_release(e);
}

size_t scl_exact_count(const scl_exact *e) { return e->count; }

/* Make sure that place p of the array has totals. SCL_STATUS_NUMERIC: p is out of range. */
static scl_status open_place(scl_exact *e, int p, scl_error *error) {
  if (p < 0 || p >= PLACES)
    return scl_fail(error, SCL_STATUS_NUMERIC, "a power of two is out of range");
  if (e->totals[p] != NULL) return SCL_STATUS_OK;
  e->totals[p] = scl_allocate_zero((e->count + 1) * sizeof *e->totals[p]);
  if (e->totals[p] == NULL)
    return scl_fail_memory(error, e->count * sizeof *e->totals[p], "exact sums");
  const bool none = e->low == e->high;
  e->low = none || p < e->low ? p : e->low;
  e->high = none || p >= e->high ? p + 1 : e->high;
  return SCL_STATUS_OK;
}

/* 2^exponent is 2^shift at a place of the array. */
typedef struct position {
  int place;
  unsigned shift;
} position;

static position position_of(int exponent) {
  const int from = exponent + BIAS * DIGIT;
  if (from < 0) return (position){-1, 0};
  return (position){from / DIGIT, (unsigned)(from % DIGIT)};
}

/* Whether a total of place p has a carry. */
static bool has_carry(const scl_exact *e, int p) {
  for (size_t i = 0; i < e->count; i++)
    if (e->totals[p][i] < -HALF || e->totals[p][i] >= HALF) return true;
  return false;
}

/* Make all totals digits of -2^25 .. 2^25 - 1. */
static scl_status carry_all(scl_exact *e, scl_error *error) {
  for (int p = e->low; p < e->high; p++) {
    if (e->totals[p] == NULL || !has_carry(e, p)) continue;
    SCL_TRY(open_place(e, p + 1, error));
    int64_t *t = e->totals[p], *next = e->totals[p + 1];
    for (size_t i = 0; i < e->count; i++)
      next[i] += carry_from(&t[i]);
  }
  e->added = 0;
  return SCL_STATUS_OK;
}

/* Call it before `additions` additions of less than 2^53 to each number: carries first if the
 * totals might overflow. */
static scl_status make_room(scl_exact *e, unsigned additions, scl_error *error) {
  if (e->added + additions > MOST) SCL_TRY(carry_all(e, error));
  e->added += additions;
  return SCL_STATUS_OK;
}

/* number[i] += value 2^exponent. The caller has called make_room. */
static scl_status add_number(scl_exact *e, size_t i, double value, int exponent, scl_error *error) {
  uint64_t fraction;
  int64_t low, high;
  const int field = take_apart(value, &fraction);
  const position at = position_of(field - UNIT + exponent);
  if (value == 0) return SCL_STATUS_OK;
  if (field == SPECIAL)
    return scl_fail(error, SCL_STATUS_NUMERIC, "a number of an exact sum is not finite");
  SCL_TRY(open_place(e, at.place, error));
  SCL_TRY(open_place(e, at.place + 1, error));
  split(signbit(value) ? -(int64_t)fraction : (int64_t)fraction, at.shift, &low, &high);
  e->totals[at.place][i] += low;
  e->totals[at.place + 1][i] += high;
  return SCL_STATUS_OK;
}

scl_status scl_exact_add(scl_exact *e, const double *values, scl_error *error) {
  SCL_TRY(make_room(e, 1, error));
  for (size_t i = 0; i < e->count; i++)
    SCL_TRY(add_number(e, i, values[i], 0, error));
  return SCL_STATUS_OK;
}

scl_status scl_exact_add_one(scl_exact *e, size_t i, double value, int exponent, scl_error *error) {
  SCL_TRY(make_room(e, 1, error));
  return add_number(e, i, value, exponent, error);
}

/* a b as the sum of two float64 numbers, of which fma gives the second one exactly. Both factors
 * are scaled to [1/2, 1), so that nothing overflows or underflows. */
scl_status scl_exact_add_product(scl_exact *e, size_t i, double a, double b, scl_error *error) {
  int of_a, of_b;
  const double x = frexp(a, &of_a), y = frexp(b, &of_b), product = x * y;
  SCL_TRY(make_room(e, 2, error));
  if (product == 0) return SCL_STATUS_OK;
  SCL_TRY(add_number(e, i, product, of_a + of_b, error));
  return add_number(e, i, fma(x, y, -product), of_a + of_b, error);
}

scl_status scl_exact_add_whole(scl_exact *e, size_t first, size_t count, const double *whole,
                               int exponent, scl_error *error) {
  const position at = position_of(exponent);
  SCL_TRY(make_room(e, 1, error));
  SCL_TRY(open_place(e, at.place, error));
  SCL_TRY(open_place(e, at.place + 1, error));
  int64_t *t = e->totals[at.place] + first, *next = e->totals[at.place + 1] + first;
  for (size_t i = 0; i < count; i++) {
    int64_t low, high;
    split((int64_t)whole[i], at.shift, &low, &high);
    t[i] += low;
    next[i] += high;
  }
  return SCL_STATUS_OK;
}

scl_status scl_exact_merge(scl_exact *into, const scl_exact *from, bool subtract,
                           scl_error *error) {
  const int64_t sign = subtract ? -1 : 1;
  SCL_TRY(carry_all(into, error));
  for (int p = from->low; p < from->high; p++) {
    if (from->totals[p] == NULL) continue;
    SCL_TRY(open_place(into, p, error));
    for (size_t i = 0; i < into->count; i++)
      into->totals[p][i] += sign * from->totals[p][i];
  }
  into->added = from->added + 1;
  return SCL_STATUS_OK;
}

double scl_exact_value(const scl_exact *e, size_t i) {
  int64_t t[PLACES + ROOM];
  const int places = e->high - e->low;
  memset(t, 0, (size_t)(places + ROOM) * sizeof *t);
  for (int p = e->low; p < e->high; p++)
    if (e->totals[p] != NULL) t[p - e->low] = e->totals[p][i];
  return round_places(t, places, e->low - BIAS);
}

/* The rest is the total less the rounded value, which is subtracted at its places, rounded
 * again. */
double scl_exact_value_and_rest(const scl_exact *e, size_t i, double *rest) {
  enum { BELOW = 3 }; /* places that the value may reach below the lowest total */
  int64_t t[PLACES + ROOM + BELOW];
  uint64_t fraction;
  int64_t low, high;
  const double value = scl_exact_value(e, i);
  const int places = e->high - e->low + BELOW, field = take_apart(value, &fraction);
  *rest = 0;
  if (value == 0 || field == SPECIAL) return value;
  const position at = position_of(field - UNIT);
  memset(t, 0, (size_t)(places + ROOM) * sizeof *t);
  for (int p = e->low; p < e->high; p++)
    if (e->totals[p] != NULL) t[p - e->low + BELOW] = e->totals[p][i];
  split(signbit(value) ? (int64_t)fraction : -(int64_t)fraction, at.shift, &low, &high);
  t[at.place - e->low + BELOW] += low;
  t[at.place - e->low + BELOW + 1] += high;
  *rest = round_places(t, places, e->low - BELOW - BIAS);
  return value;
}

static bool is_zero(const scl_exact *e, int p) {
  for (size_t i = 0; p >= e->low && p < e->high && e->totals[p] != NULL && i < e->count; i++)
    if (e->totals[p][i] != 0) return false;
  return true;
}

scl_status scl_exact_equal(scl_exact *a, scl_exact *b, bool *equal, scl_error *error) {
  SCL_TRY(carry_all(a, error));
  SCL_TRY(carry_all(b, error));
  *equal = a->count == b->count;
  for (int p = 0; p < PLACES && *equal; p++)
    *equal = a->totals[p] != NULL && b->totals[p] != NULL
                 ? memcmp(a->totals[p], b->totals[p], a->count * sizeof(int64_t)) == 0
                 : is_zero(a, p) && is_zero(b, p);
  return SCL_STATUS_OK;
}

scl_status scl_exact_export(scl_exact *e, int *first, size_t *places, int64_t **out,
                            scl_error *error) {
  SCL_TRY(carry_all(e, error));
  int low = e->low, high = e->high;
  while (low < high && is_zero(e, low))
    low++;
  while (low < high && is_zero(e, high - 1))
    high--;
  *places = (size_t)(high - low);
  *first = *places == 0 ? 0 : low - BIAS;
  *out = scl_allocate_zero((*places * e->count + 1) * sizeof **out);
  if (*out == NULL) return scl_fail_memory(error, *places * e->count * sizeof **out, "exact sums");
  for (int p = low; p < high; p++)
    if (e->totals[p] != NULL)
      memcpy(*out + (size_t)(p - low) * e->count, e->totals[p], e->count * sizeof **out);
  return SCL_STATUS_OK;
}

scl_status scl_exact_places(scl_exact *e, int *low, int *high, scl_error *error) {
  SCL_TRY(carry_all(e, error));
  *low = e->low;
  *high = e->high;
  return SCL_STATUS_OK;
}

scl_status scl_exact_open_places(scl_exact *e, int low, int high, scl_error *error) {
  for (int p = low; low < high && p <= high && p < PLACES; p++)
    SCL_TRY(open_place(e, p, error));
  return SCL_STATUS_OK;
}

void scl_exact_get_places(const scl_exact *e, int low, int high, int64_t *totals) {
  memset(totals, 0, (size_t)(high - low) * e->count * sizeof *totals);
  for (int p = low; p < high; p++)
    if (e->totals[p] != NULL)
      memcpy(totals + (size_t)(p - low) * e->count, e->totals[p], e->count * sizeof *totals);
}

scl_status scl_exact_set_places(scl_exact *e, int low, int high, const int64_t *totals,
                                scl_error *error) {
  for (int p = low; p < high; p++) {
    SCL_TRY(open_place(e, p, error));
    memcpy(e->totals[p], totals + (size_t)(p - low) * e->count, e->count * sizeof *totals);
  }
  return carry_all(e, error);
}

scl_status scl_exact_import(scl_exact *e, int first, size_t places, const int64_t *from,
                            scl_error *error) {
  if (places > PLACES - ROOM || first < -BIAS || first > BIAS - ROOM - (int)places)
    return scl_fail(error, SCL_STATUS_BAD_DATA, "an exact sum has places out of range");
  for (size_t i = 0; i < places * e->count; i++)
    if (from[i] < -HALF || from[i] >= HALF)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "an exact sum has a digit out of range");
  SCL_TRY(make_room(e, 1, error));
  for (size_t p = 0; p < places; p++) {
    const int place = first + BIAS + (int)p;
    SCL_TRY(open_place(e, place, error));
    for (size_t i = 0; i < e->count; i++)
      e->totals[place][i] += from[p * e->count + i];
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ digits */

bool scl_exact_span(const double *values, size_t count, int *low, int *high) {
  int least = INT32_MAX, most = INT32_MIN;
  for (size_t i = 0; i < count; i++) {
    uint64_t fraction;
    if (values[i] == 0) continue;
    const int field = take_apart(values[i], &fraction);
    if (field == SPECIAL) return false;
    const int end = field + __builtin_ctzll(fraction);
    least = end < least ? end : least;
    most = field > most ? field : most;
  }
  *low = most == INT32_MIN ? 0 : least - UNIT;
  *high = most == INT32_MIN ? 0 : most - UNIT + FRACTION + 1;
  return true;
}

/* scl_exact_cut from the bits of each number: slower, for any range of exponents. */
static void cut_bits(const double *values, size_t rows, size_t k, int low, int width, size_t digits,
                     double *out, size_t stride, size_t plane) {
  const uint64_t mask = ((uint64_t)1 << width) - 1;
  for (size_t i = 0; i < rows * k; i++) {
    uint64_t fraction;
    int from = low + UNIT - take_apart(values[i], &fraction); /* of the digit in the fraction */
    double *to = out + i / k * stride + i % k;
    for (size_t q = 0; q < digits; q++, from += width, to += plane) {
      const uint64_t digit = from >= 64      ? 0
                             : from >= 0     ? fraction >> from & mask
                             : from > -width ? fraction << -from & mask
                                             : 0;
      *to = signbit(values[i]) ? -(double)(int64_t)digit : (double)(int64_t)digit;
    }
  }
}

/* The most bits, and the largest |low|, for which scl_exact_cut computes with finite whole
 * numbers. */
enum { SPAN_MOST = 900, LOW_MOST = 2000 };

/* Digits by rounding: the numbers are multiplied by 2^-low, which makes them whole, and digit by
 * digit, from the highest, is rounded off and subtracted. All steps are exact. Plane 0 of `out`
 * holds the remainder meanwhile, which becomes digit 0. */
void scl_exact_cut(const double *values, size_t rows, size_t k, int low, int width, size_t digits,
                   double *out, size_t stride, size_t plane) {
  static const double magic = 0x1.8p52; /* x + magic - magic = rint(x) for |x| < 2^51 */
  const double one = ldexp(1, -low / 2), other = ldexp(1, -low - -low / 2);
  if (digits * (size_t)width > SPAN_MOST || abs(low) > LOW_MOST) {
    cut_bits(values, rows, k, low, width, digits, out, stride, plane);
    return;
  }
  if (stride == k) {
    stride = k = rows * k;
    rows = 1;
  }
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < k; j++)
      out[i * stride + j] = values[i * k + j] * one * other;
  for (size_t q = digits; --q > 0;) {
    const double up = ldexp(1, (int)q * width), down = 1 / up;
    for (size_t i = 0; i < rows; i++) {
      double *rest = out + i * stride, *digit = rest + q * plane;
      for (size_t j = 0; j < k; j++) {
        digit[j] = (rest[j] * down + magic) - magic;
        rest[j] -= digit[j] * up;
      }
    }
  }
}
