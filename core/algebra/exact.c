/* Long accumulators: exact sums of float64 numbers as whole numbers at places 2^(26 p). */
#include "algebra/exact_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BIAS: 2^-(26 BIAS) is below every product of two numbers. ROOM: places above the highest that a
 * number reaches, for carries. MOST: additions between carries; each changes a total by less than
 * 2^53, and there is room for as many again from another sum. */
enum { BIAS = 88, PLACES = 2 * BIAS, ROOM = 5, MOST = 500 };
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
static const int64_t MASK = ((int64_t)1 << DIGIT) - 1, HALF = (int64_t)1 << (DIGIT - 1);

/* ------------ one number in two places */

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
  enum { LEADING = 4 }; /* digits that hold the rounded number and its first bits beyond */
  int64_t carried = 0;
  int top = count + ROOM - 1;
  for (int p = 0; p <= top; p++) {
    t[p] += carried;
    carried = carry_from(&t[p]);
  }
  while (top >= 0 && t[top] == 0)
    top--;
  if (top < 0) return 0;
  /* The leading digits, and half a unit for the sign of what is below them: the digits are balanced,
   * so that this is the sign of the first one that is not 0. */
  wide whole = 0;
  int64_t below = 0;
  for (int p = top; p > top - LEADING; p--)
    whole = whole * ((wide)1 << DIGIT) + (p >= 0 ? t[p] : 0);
  for (int p = top - LEADING; p >= 0 && below == 0; p--)
    below = t[p];
  whole = 2 * whole + (below > 0) - (below < 0);
  /* |whole| >= 2^78; round to 53 bits, fewer for a subnormal number. */
  const int unit = (first + top + 1 - LEADING) * DIGIT - 1;
  const unsigned_wide size = (unsigned_wide)(whole < 0 ? -whole : whole);
  const int bits = 128 - __builtin_clzll((uint64_t)(size >> 64)), beyond = bits - FRACTION - 1,
            below_unit = 1 - UNIT - unit, drop = beyond > below_unit ? beyond : below_unit;
  if (drop > bits) return whole < 0 ? -0.0 : 0;
  const unsigned_wide half = (unsigned_wide)1 << (drop - 1), rest = size & (2 * half - 1);
  uint64_t number = (uint64_t)(size >> drop);
  number += rest > half || (rest == half && (number & 1));
  return ldexp(whole < 0 ? -(double)number : (double)number, unit + drop);
}

/* ------------ the sum of an array */

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

/* ------------ sums that are kept */

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

/* The bits of 1.5 * 2^52 + x less those of 1.5 * 2^52: rint(x), for |x| < 2^51. */
static inline int64_t whole_of(double magic_and_x) {
  static const double magic = 0x1.8p52;
  int64_t bits, zero;
  memcpy(&bits, &magic_and_x, sizeof bits);
  memcpy(&zero, &magic, sizeof zero);
  return bits - zero;
}

/* The exponent field of the largest of the numbers. */
static int largest_field(const double *values, size_t count) {
  uint64_t most = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits &= INT64_MAX;
    most = bits > most ? bits : most;
  }
  return (int)(most >> FRACTION);
}

/* Subtract from the numbers their multiples of 2^(26 p), and add these to t. Exact while |rest| is
 * below 2^(26 p + 51). Returns whether anything is left. */
static bool take_digit(double *rest, size_t count, int p, int64_t *t) {
  static const double magic = 0x1.8p52;
  const double up = ldexp(1, p * DIGIT), down = 1 / up;
  int left = 0;
  for (size_t i = 0; i < count; i++) {
    const double moved = rest[i] * down + magic;
    t[i] += whole_of(moved);
    rest[i] -= (moved - magic) * up;
    left |= rest[i] != 0;
  }
  return left;
}

/* number[at + i] += values[i] for i < count <= RUN: digit by digit from the highest, which has up to
 * 50 bits. Numbers of extreme exponents, and what few digits leave, are added one by one. */
enum { RUN = 256 };
static scl_status add_run(scl_exact *e, size_t at, const double *values, size_t count,
                          scl_error *error) {
  enum { FEW = 6, SAFE = 36 };
  double rest[RUN];
  const int most = largest_field(values, count),
            high = position_of(most - UNIT + FRACTION + DIGIT - 50).place;
  bool left = true;
  memcpy(rest, values, count * sizeof *rest);
  for (int p = high; left && abs(p - BIAS) < SAFE && p > high - FEW; p--) {
    SCL_TRY(open_place(e, p, error));
    left = take_digit(rest, count, p - BIAS, e->totals[p] + at);
  }
  for (size_t i = 0; left && i < count; i++)
    if (rest[i] != 0) SCL_TRY(add_number(e, at + i, rest[i], 0, error));
  return SCL_STATUS_OK;
}

scl_status scl_exact_add(scl_exact *e, const double *values, scl_error *error) {
  SCL_TRY(make_room(e, 1, error));
  for (size_t at = 0; at < e->count; at += RUN)
    SCL_TRY(add_run(e, at, values + at, scl_min(e->count - at, RUN), error));
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

enum { CARRIES = 3 }; /* places that carries of int64 totals reach */

/* t[p][i] = digit p of number at + i; the places are those of e and CARRIES more. */
static void load_run(const scl_exact *e, size_t at, size_t count, int64_t (*t)[RUN]) {
  const int places = e->high - e->low + CARRIES;
  memset(t, 0, (size_t)places * sizeof *t);
  for (int p = e->low; p < e->high; p++)
    if (e->totals[p] != NULL) memcpy(t[p - e->low], e->totals[p] + at, count * sizeof **t);
  for (int p = 0; p + 1 < places; p++)
    for (size_t i = 0; i < count; i++)
      t[p + 1][i] += carry_from(&t[p][i]);
}

static bool all_zero(const int64_t *t, size_t count) {
  int64_t any = 0;
  for (size_t i = 0; i < count; i++)
    any |= t[i];
  return any == 0;
}

/* t: places x RUN digits. out[i] = the sum of t[p][i] 2^(26 (first + p)), rounded, for i < count;
 * false: there are too many digits. Of four places two and two are exact in float64, so that one
 * addition rounds. */
static bool round_run(int64_t (*t)[RUN], int places, int first, size_t count, double *out) {
  enum { SAFE = 30 }; /* places within which nothing is subnormal or infinite */
  const double unit = ldexp(1, DIGIT);
  int low = 0, high = places;
  while (low < high && all_zero(t[low], count))
    low++;
  while (high > low && all_zero(t[high - 1], count))
    high--;
  if (high - low > 4 || first + low < -SAFE || first + high > SAFE) return false;
  const double scale = ldexp(1, (first + low) * DIGIT);
  for (size_t i = 0; i < count; i++) {
    double pair[2] = {0, 0};
    for (int p = low; p < high; p++)
      pair[(p - low) / 2] += (double)t[p][i] * ((p - low) % 2 ? unit : 1);
    out[i] = (pair[0] + pair[1] * unit * unit) * scale;
  }
  return true;
}

void scl_exact_values(const scl_exact *e, size_t first, size_t count, double *out) {
  enum { MOST_PLACES = 12 };
  int64_t t[MOST_PLACES + CARRIES][RUN];
  const int places = e->high - e->low;
  for (size_t at = 0; at < count; at += RUN) {
    const size_t run = scl_min(count - at, RUN);
    bool rounded = false;
    if (places <= MOST_PLACES) {
      load_run(e, first + at, run, t);
      rounded = round_run(t, places + CARRIES, e->low - BIAS, run, out + at);
    }
    for (size_t i = 0; i < run && !rounded; i++)
      out[at + i] = scl_exact_value(e, first + at + i);
  }
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
