/* Cyclic convolution of real sequences of length N, a power of two, for LANES rows at once: number
 * i of row l is at [i LANES + l], so that every loop runs over adjacent numbers without shuffles.
 *
 * A sequence is a polynomial a(X) modulo X^N - 1. Chinese remainders take it apart:
 *
 *   X^2h - 1     = (X^h - 1) (X^h + 1)                     lo + hi, lo - hi
 *   X^2h + 1     ~ X^h - i, complex                        re = lo, im = hi   (real a)
 *   X^4h - s^4   = (X^h - s) (X^h + s) (X^h - is) (X^h + is)
 *
 * down to numbers, the values of a at the N-th roots of unity (real a: one of each conjugate pair).
 * Convolution is the product of these numbers, so their order does not matter. Every node of the
 * tree has one root s, which is constant in its inner loop. N numbers hold the whole transform.
 *
 * kissfft is packaged in single precision alone, FFTW is GPL, pocketfft is C++; and all of them
 * would bring each spectrum into an order that a convolution does not need. */
#ifndef SCULLERY_SAMPLER_TENSORSKETCH_CONVOLUTION_H
#define SCULLERY_SAMPLER_TENSORSKETCH_CONVOLUTION_H

#include "shared/isa.h"
#include <scullery/plugin.h>

/* The parts of a node never overlap. */
#if defined(__GNUC__) && !defined(__clang__)
#define CONVOLUTION_APART _Pragma("GCC ivdep")
#else
#define CONVOLUTION_APART
#endif

enum { LANES_f64 = 8, LANES_f32 = 16 };

/* The square roots s that split the nodes, as a heap: node i splits X^m - r into the children 2 i,
 * with root s, s^2 = r, and 2 i + 1, with root -s; node 1 is X^(N/4) - i. Entry i holds the root of
 * node i, cosine and sine, up to N/2 nodes. */
typedef struct convolution_roots {
  double *angle; /* as parts of a turn */
  double *f64;   /* pairs */
  float *f32;
} convolution_roots;

/* Fills the angles of entries 1 .. nodes-1, and cosine and sine of the even ones, the left
 * children: a right child's root is minus its sibling's. */
static inline void convolution_fill_roots(size_t nodes, convolution_roots *roots) {
  for (size_t i = 1; i < nodes; i++) {
    roots->angle[i] = i == 1 ? 0.25 : roots->angle[i / 2] / 2 + (i % 2 == 1 ? 0.5 : 0);
    if (i % 2 == 1) continue;
    roots->f64[2 * i] = cos(2 * SCL_PI * roots->angle[i]);
    roots->f64[2 * i + 1] = sin(2 * SCL_PI * roots->angle[i]);
    roots->f32[2 * i] = (float)roots->f64[2 * i];
    roots->f32[2 * i + 1] = (float)roots->f64[2 * i + 1];
  }
}

/* A node of 4 count complex numbers as four parts; the roots s of the node, u and v = s u of its
 * children. */
#define CONVOLUTION_FOUR(real) \
  const real sr = root[0], si = root[1], ur = next[0], ui = next[1]; \
  const real vr = sr * ur - si * ui, vi = sr * ui + si * ur; \
  real *restrict r0 = re, *restrict r1 = re + count, *restrict r2 = re + 2 * count, \
                 *restrict r3 = re + 3 * count; \
  real *restrict i0 = im, *restrict i1 = im + count, *restrict i2 = im + 2 * count, \
                 *restrict i3 = im + 3 * count;

/* For one dtype: a node of m complex numbers into its parts and back (m times the inverse); a whole
 * sequence into its values and back (N times the inverse); the values of a product. */
#define CONVOLUTION_DEFINE(real, dtype, LANES) \
  ISA_INLINE void convolution_split4_##dtype(size_t count, const real *root, const real *next, \
                                             real *re, real *im) { \
    CONVOLUTION_FOUR(real) \
    CONVOLUTION_APART \
    for (size_t k = 0; k < count; k++) { \
      const real ar = ur * r1[k] - ui * i1[k], ai = ur * i1[k] + ui * r1[k]; \
      const real br = sr * r2[k] - si * i2[k], bi = sr * i2[k] + si * r2[k]; \
      const real cr = vr * r3[k] - vi * i3[k], ci = vr * i3[k] + vi * r3[k]; \
      const real pr = r0[k] + br, pi = i0[k] + bi, qr = r0[k] - br, qi = i0[k] - bi; \
      const real tr = ar + cr, ti = ai + ci, wr = ar - cr, wi = ai - ci; \
      r0[k] = pr + tr, i0[k] = pi + ti; \
      r1[k] = pr - tr, i1[k] = pi - ti; \
      r2[k] = qr - wi, i2[k] = qi + wr; \
      r3[k] = qr + wi, i3[k] = qi - wr; \
    } \
  } \
  ISA_INLINE void convolution_join4_##dtype(size_t count, const real *root, const real *next, \
                                            real *re, real *im) { \
    CONVOLUTION_FOUR(real) \
    CONVOLUTION_APART \
    for (size_t k = 0; k < count; k++) { \
      const real pr = r0[k] + r1[k], pi = i0[k] + i1[k], tr = r0[k] - r1[k], ti = i0[k] - i1[k]; \
      const real qr = r2[k] + r3[k], qi = i2[k] + i3[k], wr = i2[k] - i3[k], wi = r3[k] - r2[k]; \
      const real ar = tr + wr, ai = ti + wi, br = pr - qr, bi = pi - qi, cr = tr - wr, \
                 ci = ti - wi; \
      r0[k] = pr + qr, i0[k] = pi + qi; \
      r1[k] = ur * ar + ui * ai, i1[k] = ur * ai - ui * ar; \
      r2[k] = sr * br + si * bi, i2[k] = sr * bi - si * br; \
      r3[k] = vr * cr + vi * ci, i3[k] = vr * ci - vi * cr; \
    } \
  } \
  ISA_INLINE void convolution_split2_##dtype(const real *root, real *restrict re, \
                                             real *restrict im) { \
    CONVOLUTION_APART \
    for (size_t k = 0; k < LANES; k++) { \
      const real ar = root[0] * re[LANES + k] - root[1] * im[LANES + k], \
                 ai = root[0] * im[LANES + k] + root[1] * re[LANES + k]; \
      re[LANES + k] = re[k] - ar, im[LANES + k] = im[k] - ai; \
      re[k] += ar, im[k] += ai; \
    } \
  } \
  ISA_INLINE void convolution_join2_##dtype(const real *root, real *restrict re, \
                                            real *restrict im) { \
    CONVOLUTION_APART \
    for (size_t k = 0; k < LANES; k++) { \
      const real ar = re[k] - re[LANES + k], ai = im[k] - im[LANES + k]; \
      re[k] += re[LANES + k], im[k] += im[LANES + k]; \
      re[LANES + k] = root[0] * ar + root[1] * ai, im[LANES + k] = root[0] * ai - root[1] * ar; \
    } \
  } \
  /* acc = acc x, complex */ \
  ISA_INLINE void convolution_times_##dtype(size_t count, real *restrict re, real *restrict im, \
                                            const real *restrict xr, const real *restrict xi) { \
    CONVOLUTION_APART \
    for (size_t k = 0; k < count; k++) { \
      const real pr = re[k] * xr[k] - im[k] * xi[k], pi = re[k] * xi[k] + im[k] * xr[k]; \
      re[k] = pr, im[k] = pi; \
    } \
  } \
  ISA_INLINE void convolution_plus_minus_##dtype(size_t count, real factor, real *restrict lo, \
                                                 real *restrict hi) { \
    CONVOLUTION_APART \
    for (size_t k = 0; k < count; k++) { \
      const real a = lo[k], b = factor * hi[k]; \
      lo[k] = a + b; \
      hi[k] = a - b; \
    } \
  }

CONVOLUTION_DEFINE(double, f64, LANES_f64)
CONVOLUTION_DEFINE(float, f32, LANES_f32)

/* The recursions, compiled once for each instruction set: nodes deep in the tree fit the first
 * cache, whatever N is. */
#define CONVOLUTION_TREE(target, isa, real, dtype, LANES) \
  target static void convolution_down_##dtype##_##isa(size_t m, size_t node, const real *roots, \
                                                      real *re, real *im) { \
    if (m == 2) convolution_split2_##dtype(roots + 4 * node, re, im); \
    if (m < 4) return; \
    const size_t step = m / 4 * LANES; \
    convolution_split4_##dtype(step, roots + 4 * node, roots + 8 * node, re, im); \
    for (size_t child = 0; m > 4 && child < 4; child++) \
      convolution_down_##dtype##_##isa(m / 4, 4 * node + child, roots, re + child * step, \
                                       im + child * step); \
  } \
  target static void convolution_up_##dtype##_##isa(size_t m, size_t node, const real *roots, \
                                                    real *re, real *im) { \
    if (m == 2) convolution_join2_##dtype(roots + 4 * node, re, im); \
    if (m < 4) return; \
    const size_t step = m / 4 * LANES; \
    for (size_t child = 0; m > 4 && child < 4; child++) \
      convolution_up_##dtype##_##isa(m / 4, 4 * node + child, roots, re + child * step, \
                                     im + child * step); \
    convolution_join4_##dtype(step, roots + 4 * node, roots + 8 * node, re, im); \
  } \
  target static void convolution_forward_##dtype##_##isa(size_t size, const real *roots, \
                                                         real *x) { \
    for (size_t half = size / 2; half > 0; half /= 2) { \
      real *hi = x + half * LANES; \
      convolution_plus_minus_##dtype(half *LANES, 1, x, hi); \
      if (half > 1) \
        convolution_down_##dtype##_##isa(half / 2, 1, roots, hi, hi + half / 2 * LANES); \
    } \
  } \
  target static void convolution_backward_##dtype##_##isa(size_t size, const real *roots, \
                                                          real *x) { \
    for (size_t half = 1; half < size; half *= 2) { \
      real *hi = x + half * LANES; \
      if (half > 1) convolution_up_##dtype##_##isa(half / 2, 1, roots, hi, hi + half / 2 * LANES); \
      convolution_plus_minus_##dtype(half *LANES, half > 1 ? 2 : 1, x, hi); \
    } \
  } \
  target static void convolution_multiply_##dtype##_##isa(size_t size, real *acc, const real *x) { \
    for (size_t k = 0; k < (size < 2 ? size : 2) * LANES; k++) \
      acc[k] *= x[k]; \
    for (size_t half = 2; half < size; half *= 2) { \
      const size_t re = half * LANES, im = re + half / 2 * LANES; \
      convolution_times_##dtype(half / 2 * LANES, acc + re, acc + im, x + re, x + im); \
    } \
  }

#endif
