/* The search for the partner of a step of sequential minimal optimisation, for each instruction set.
 * Lanes are independent of each other, and fractions are compared without division, so every set
 * finds the same. */
#ifndef SCULLERY_SOLVER_SVM_PARTNER_H
#define SCULLERY_SOLVER_SVM_PARTNER_H

#include "shared/isa.h"

#include <stdint.h>

enum { SVM_LANES = 32 }; /* counts of the choosing loops are multiples of it */

/* The best of each lane: the fraction above / below, found at row at + lane. */
typedef struct svm_lanes {
  double above[SVM_LANES], below[SVM_LANES];
  int64_t at[SVM_LANES];
} svm_lanes;

/* The best of all, of equal ones the first; `count` where nothing is above 0. */
ISA_INLINE size_t svm_best_lane(const svm_lanes *s, size_t count) {
  size_t best = count;
  double top = 0, bottom = 1;
  for (size_t l = 0; l < SVM_LANES; l++) {
    const size_t place = (size_t)s->at[l] + l;
    const double mine = s->above[l] * bottom, theirs = top * s->below[l];
    if (mine > theirs || (mine == theirs && s->above[l] > 0 && place < best)) {
      best = place;
      top = s->above[l];
      bottom = s->below[l];
    }
  }
  return best;
}

/* The j of the largest decrease g_j^2 / (K_ii + K_jj - 2 K_ij), g_j = most - (low_j - f_j) > 0;
 * `count` where no g_j is positive. `least` replaces denominators that are smaller. */
ISA_INLINE size_t svm_partner_any(size_t count, double most, double least, double kii,
                                  const float *restrict ki, const double *restrict diagonal,
                                  const double *restrict low, const double *restrict f) {
  svm_lanes s;
  for (size_t l = 0; l < SVM_LANES; l++) {
    s.above[l] = 0;
    s.below[l] = 1;
    s.at[l] = 0;
  }
  for (size_t k = 0; k < count; k += SVM_LANES)
    for (size_t l = 0; l < SVM_LANES; l++) {
      const double gap = most - (low[k + l] - f[k + l]), decrease = gap > 0 ? gap : 0;
      const double bent = kii + diagonal[k + l] - 2 * (double)ki[k + l];
      const double square = decrease * decrease, curve = bent > least ? bent : least;
      const double mine = square * s.below[l], theirs = s.above[l] * curve;
      s.at[l] = mine > theirs ? (int64_t)k : s.at[l];
      s.above[l] = mine > theirs ? square : s.above[l];
      s.below[l] = mine > theirs ? curve : s.below[l];
    }
  return svm_best_lane(&s, count);
}

#define SVM_PARTNER(target, isa, loop)                                                             \
  target static size_t svm_partner_##isa(size_t count, double most, double least, double kii,      \
                                         const float *ki, const double *diagonal,                  \
                                         const double *low, const double *f) {                     \
    return loop(count, most, least, kii, ki, diagonal, low, f);                                    \
  }
SVM_PARTNER(, plain, svm_partner_any)

#if defined(__GNUC__) && defined(__x86_64__)
/* Compilers make branches of the choices above for AVX2: here they are masks. Eight lanes at a time
 * stay in registers. */
typedef double svm_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef float svm_four_f32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int64_t svm_four_i64 __attribute__((vector_size(32), aligned(8), may_alias));

#define SVM_CHOOSE(mask, a, b)                                                                     \
  (svm_four)(((svm_four_i64)(a) & (mask)) | ((svm_four_i64)(b) & ~(mask)))

ISA_INLINE size_t svm_partner_by_masks(size_t count, double most, double least, double kii,
                                       const float *ki, const double *diagonal, const double *low,
                                       const double *f) {
  enum { FOUR = 4, FOURS = 2 };
  svm_lanes s;
  const svm_four zero = {0}, floor = zero + least;
  for (size_t l = 0; l < SVM_LANES; l += FOUR * FOURS) {
    svm_four above[FOURS] = {zero, zero}, below[FOURS] = {zero + 1, zero + 1};
    svm_four_i64 at[FOURS] = {{0}, {0}};
    for (size_t k = 0; k < count; k += SVM_LANES)
      for (size_t v = 0; v < FOURS; v++) {
        const size_t j = k + l + v * FOUR;
        const svm_four gap = most - (*(const svm_four *)(low + j) - *(const svm_four *)(f + j)),
                       decrease = (svm_four)((svm_four_i64)gap & (gap > 0)),
                       bent =
                           kii + *(const svm_four *)(diagonal + j) -
                           2 * __builtin_convertvector(*(const svm_four_f32 *)(ki + j), svm_four),
                       square = decrease * decrease, curve = SVM_CHOOSE(bent > least, bent, floor);
        const svm_four_i64 better = square * below[v] > above[v] * curve;
        at[v] = (at[v] & ~better) | ((int64_t)k & better);
        above[v] = SVM_CHOOSE(better, square, above[v]);
        below[v] = SVM_CHOOSE(better, curve, below[v]);
      }
    for (size_t v = 0; v < FOURS; v++) {
      *(svm_four *)(s.above + l + v * FOUR) = above[v];
      *(svm_four *)(s.below + l + v * FOUR) = below[v];
      *(svm_four_i64 *)(s.at + l + v * FOUR) = at[v];
    }
  }
  return svm_best_lane(&s, count);
}
SVM_PARTNER(__attribute__((target("avx2"))), avx2, svm_partner_by_masks)
SVM_PARTNER(__attribute__((target("avx512f"))), avx512, svm_partner_any)
#endif

#endif
