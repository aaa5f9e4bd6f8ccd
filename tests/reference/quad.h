/* Numbers of 113 bits (about 34 digits) and the few functions of them that the references need, made
 * from the four operations alone: no library of the compiler's is linked. */
#ifndef SCULLERY_TESTS_REFERENCE_QUAD_H
#define SCULLERY_TESTS_REFERENCE_QUAD_H

#include <math.h>
#include <stddef.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad; /* 113 bits too on 64-bit ARM */
#endif

static inline quad quad_abs(quad x) { return x < 0 ? -x : x; }
static inline quad quad_max(quad x, quad y) { return x > y ? x : y; }
static inline quad quad_min(quad x, quad y) { return x < y ? x : y; }

/* Newton's method from the double's root. */
static inline quad quad_sqrt(quad x) {
  if (!(x > 0)) return 0;
  quad root = sqrt((double)x);
  for (int step = 0; step < 3; step++)
    root = (root + x / root) / 2;
  return root;
}

/* log 2 = 2 artanh(1/3) */
static inline quad quad_log2(void) {
  enum { TERMS = 80 };
  quad power = (quad)2 / 3, sum = 0;
  for (int k = 1; k < TERMS; k += 2, power /= 9)
    sum += power / k;
  return sum;
}

/* Whole multiples of log 2 are taken off; the Taylor series of the rest over 2^k is squared k times. */
static inline quad quad_exp(quad x) {
  enum { HALVINGS = 6, TERMS = 18 };
  if (x < -700) return 0;
  static quad two = 0;
  if (two == 0) two = quad_log2();
  const double whole = floor((double)(x / two) + 0.5);
  const quad r = (x - (quad)whole * two) / (1 << HALVINGS);
  quad sum = 1;
  for (int k = TERMS; k > 0; k--)
    sum = 1 + sum * r / k;
  for (int k = 0; k < HALVINGS; k++)
    sum *= sum;
  return sum * (quad)ldexp(1, (int)whole);
}

/* For x in the range of double: its logarithm, and one step of third order from there. */
static inline quad quad_log(quad x) {
  const quad start = log((double)x), w = x * quad_exp(-start) - 1;
  return start + w - w * w / 2 + w * w * w / 3;
}

static inline quad quad_dot(size_t n, const quad *a, const quad *b) {
  quad sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static inline quad quad_square_distance(size_t d, const quad *u, const quad *v) {
  quad sum = 0;
  for (size_t j = 0; j < d; j++)
    sum += (u[j] - v[j]) * (u[j] - v[j]);
  return sum;
}

#endif
