/* The inner loops of support vector machines, compiled once for each instruction set. Of equal
 * values the first is chosen and sums have one order, so every set gives the same bits. */
#include "shared/isa.h"
#include "svm.h"

#include <stdint.h>

/* The best of each lane: the fraction above / below, found at row at + lane. Fractions are compared
 * by products (a d > c b), which saves a division per row. */
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

#define SVM_PARTNER(target, isa, loop) \
  target static size_t svm_partner_##isa(size_t count, double most, double least, double kii, \
                                         const float *ki, const double *diagonal, \
                                         const double *low, const double *f) { \
    return loop(count, most, least, kii, ki, diagonal, low, f); \
  }
SVM_PARTNER(, plain, svm_partner_any)

#if defined(__GNUC__) && defined(__x86_64__)
/* AVX2 version of the choice above with masks, as compilers turn it into branches. Eight lanes
 * at a time stay in registers. */
typedef double svm_four __attribute__((vector_size(32), aligned(8), may_alias));
typedef float svm_four_f32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int64_t svm_four_i64 __attribute__((vector_size(32), aligned(8), may_alias));

#define SVM_CHOOSE(mask, a, b) \
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

/* ------------ all loops */

/* f += delta (ki - kj), and the ends of the violation after it. up is -infinity where a coefficient
 * cannot grow, low infinity where it cannot shrink; rows of the padding have both. */
ISA_INLINE void svm_advance_any(size_t count, double delta, const float *restrict ki,
                                const float *restrict kj, const double *restrict up,
                                const double *restrict low, double *restrict f, svm_ends *out) {
  double most[SVM_LANES], least[SVM_LANES];
  int64_t at[SVM_LANES];
  for (size_t l = 0; l < SVM_LANES; l++) {
    most[l] = -INFINITY;
    least[l] = INFINITY;
    at[l] = 0;
  }
  for (size_t k = 0; k < count; k += SVM_LANES)
    for (size_t l = 0; l < SVM_LANES; l++) {
      const double value = f[k + l] + delta * ((double)ki[k + l] - (double)kj[k + l]);
      const double above = up[k + l] - value, below = low[k + l] - value;
      f[k + l] = value;
      at[l] = above > most[l] ? (int64_t)k : at[l];
      most[l] = above > most[l] ? above : most[l];
      least[l] = below < least[l] ? below : least[l];
    }
  *out = (svm_ends){-INFINITY, INFINITY, 0};
  for (size_t l = 0; l < SVM_LANES; l++) {
    const size_t place = (size_t)at[l] + l;
    if (most[l] > out->most || (most[l] == out->most && place < out->first)) {
      out->most = most[l];
      out->first = place;
    }
    if (least[l] < out->least) out->least = least[l];
  }
}

/* f += a_0 k_0 + a_1 k_1 + a_2 k_2 + a_3 k_3 */
ISA_INLINE void svm_add_four_any(size_t count, const double a[4], const float *const k[4],
                                 double *restrict f) {
  const float *restrict k0 = k[0], *restrict k1 = k[1], *restrict k2 = k[2], *restrict k3 = k[3];
  for (size_t j = 0; j < count; j++)
    f[j] +=
        a[0] * (double)k0[j] + a[1] * (double)k1[j] + a[2] * (double)k2[j] + a[3] * (double)k3[j];
}

/* Turns -2 <u, v_j> in `numbers` into squared distances, given the squared lengths. A distance that
 * may have cancelled (rows that are nearly the same) becomes -1; returns how many did. */
ISA_INLINE size_t svm_distances_any(size_t count, double square, const double *restrict squares,
                                    double *restrict numbers) {
  size_t doubtful = 0;
  for (size_t j = 0; j < count; j++) {
    const double both = square + squares[j], distance = both + numbers[j];
    const int good = distance > 1e-6 * both;
    numbers[j] = good ? distance : -1;
    doubtful += good ? 0 : 1;
  }
  return doubtful;
}

/* out = factor x, in single precision. Returns the largest |out|, or NaN if one is NaN. */
ISA_INLINE float svm_single_any(size_t count, double factor, const double *restrict x,
                                float *restrict out) {
  float largest[SVM_LANES] = {0}, most = 0;
  size_t j = 0;
  for (; j + SVM_LANES <= count; j += SVM_LANES)
    for (size_t l = 0; l < SVM_LANES; l++) {
      const float value = (float)(factor * x[j + l]), size = value < 0 ? -value : value;
      out[j + l] = value;
      largest[l] = size <= largest[l] ? largest[l] : size; /* keeps a NaN */
    }
  for (; j < count; j++) {
    out[j] = (float)(factor * x[j]);
    largest[0] = fabsf(out[j]) <= largest[0] ? largest[0] : fabsf(out[j]);
  }
  for (size_t l = 0; l < SVM_LANES; l++)
    most = largest[l] <= most ? most : largest[l];
  return most;
}

/* ------------ the table */

#define SVM_LOOPS(target, isa) \
  target static void svm_advance_##isa(size_t count, double delta, const float *ki, \
                                       const float *kj, const double *up, const double *low, \
                                       double *f, svm_ends *out) { \
    svm_advance_any(count, delta, ki, kj, up, low, f, out); \
  } \
  target static void svm_add_four_##isa(size_t count, const double a[4], const float *const k[4], \
                                        double *f) { \
    svm_add_four_any(count, a, k, f); \
  } \
  target static size_t svm_distances_##isa(size_t count, double square, const double *squares, \
                                           double *numbers) { \
    return svm_distances_any(count, square, squares, numbers); \
  } \
  target static float svm_single_##isa(size_t count, double factor, const double *x, float *out) { \
    return svm_single_any(count, factor, x, out); \
  } \
  static const svm_loops svm_loops_##isa = {svm_advance_##isa, svm_partner_##isa, \
                                            svm_add_four_##isa, svm_distances_##isa, \
                                            svm_single_##isa};
ISA_EACH_SET(SVM_LOOPS, "avx512f")

svm_loops svm_loops_get(void) { return ISA_CHOOSE_SET(svm_loops); }
