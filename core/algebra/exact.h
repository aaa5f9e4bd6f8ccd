/* Exact sums of float64 numbers. A finite number is a whole multiple of a power of two, so that a
 * sum is a whole number of some smallest unit. It is stored as whole numbers t_p of 64 bits,
 *
 *   sum = sum over places p of t_p 2^(26 p),
 *
 * which are carried before they overflow. Places are allocated when they are first needed. The sum
 * is exact for any numbers that are added later, and does not depend on their order or on how the
 * work is divided. It is rounded once, to nearest even, when it is read. (Long accumulators:
 * Kulisch 1971; of this form: Neal 2015, arXiv:1505.05571.) */
#ifndef SCULLERY_EXACT_H
#define SCULLERY_EXACT_H

#include "base/memory.h"

enum { SCL_EXACT_DIGIT = 26 }; /* bits between places */

/* sums[j] = the sum of column j of `values` (count x k), rounded once. Infinities and NaN have the
 * same effect as in a float64 sum. Takes 1 to 2 ns for each number. */
void scl_exact_sum(const double *values, size_t count, size_t k, double *sums);

/* ------------ sums that are kept
 *
 * `count` numbers, which share their places. A number that is not finite, or a power of two out of
 * range, is SCL_STATUS_NUMERIC. */
typedef struct scl_exact scl_exact;

scl_status scl_exact_create(size_t count, scl_exact **out, scl_error *error);
void scl_exact_destroy(scl_exact *e);
size_t scl_exact_count(const scl_exact *e);

/* number[i] += values[i], for all i */
scl_status scl_exact_add(scl_exact *e, const double *values, scl_error *error);
/* number[i] += value 2^exponent; += a b */
scl_status scl_exact_add_one(scl_exact *e, size_t i, double value, int exponent, scl_error *error);
scl_status scl_exact_add_product(scl_exact *e, size_t i, double a, double b, scl_error *error);
/* number[first + i] += whole[i] 2^exponent, for whole numbers |whole[i]| <= 2^53, i < count */
scl_status scl_exact_add_whole(scl_exact *e, size_t first, size_t count, const double *whole,
                               int exponent, scl_error *error);
/* into += from, or into -= from; both have as many numbers. */
scl_status scl_exact_merge(scl_exact *into, const scl_exact *from, bool subtract, scl_error *error);

/* Number i rounded to nearest even; infinite if it is beyond the largest float64 number. */
double scl_exact_value(const scl_exact *e, size_t i);
/* out[i] = number first + i so rounded, for i < count. Takes some 3 ns for each. */
void scl_exact_values(const scl_exact *e, size_t first, size_t count, double *out);
/* The number i and *rest = the exact number less the returned value, rounded: 106 bits together. */
double scl_exact_value_and_rest(const scl_exact *e, size_t i, double *rest);
scl_status scl_exact_equal(scl_exact *a, scl_exact *b, bool *equal, scl_error *error);

/* The numbers as places x count whole numbers -2^25 <= t < 2^25, the first place being *first:
 * equal numbers give equal arrays. The caller releases *out. For zeros *places = 0 and *first =
 * 0. */
scl_status scl_exact_export(scl_exact *e, int *first, size_t *places, int64_t **out,
                            scl_error *error);
/* Add the numbers of such an array. SCL_STATUS_BAD_DATA: it is not a valid one. */
scl_status scl_exact_import(scl_exact *e, int first, size_t places, const int64_t *from,
                            scl_error *error);

/* For sums that several processes add: the places low .. high-1 beyond which all numbers are 0,
 * after a carry; memory for these places, and for the next one; the totals of these places,
 * (high - low) x count numbers below 2^26 in size; and other numbers with such totals, or with sums
 * of up to 2^30 of them, which takes no memory. */
scl_status scl_exact_places(scl_exact *e, int *low, int *high, scl_error *error);
scl_status scl_exact_open_places(scl_exact *e, int low, int high, scl_error *error);
void scl_exact_get_places(const scl_exact *e, int low, int high, int64_t *totals);
scl_status scl_exact_set_places(scl_exact *e, int low, int high, const int64_t *totals,
                                scl_error *error);

/* ------------ digits
 *
 * Numbers as sums of whole numbers of few bits, whose products with whole numbers a float64 sum
 * takes exactly:  value = sum over q of digit_q 2^(low + q width),  |digit_q| <= 2^width. */

/* All values are multiples of 2^*low, and below 2^*high in size; zeros: 0 and 0. false: one is not
 * finite. */
bool scl_exact_span(const double *values, size_t count, int *low, int *high);
static inline size_t scl_exact_digits(int low, int high, int width) {
  return (size_t)((high - low + width - 1) / width);
}
/* out[q plane + i stride + j] = digit q of values[i k + j], for rows x k values and q < digits, of
 * which there is at least one; width <= 50. */
void scl_exact_cut(const double *values, size_t rows, size_t k, int low, int width, size_t digits,
                   double *out, size_t stride, size_t plane);

#endif
