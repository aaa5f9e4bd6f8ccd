/* The inner loops of support vector machines, compiled once for each instruction set. Of equal
 * values the first is chosen and sums have one order, so every set gives the same bits. */
#ifndef SCULLERY_SOLVER_SVM_LOOPS_H
#define SCULLERY_SOLVER_SVM_LOOPS_H

#include "solver/svm_partner.h"

#include <math.h>

/* The ends of the violation: the largest up - f, where it is, and the least low - f. */
typedef struct svm_ends {
  double most, least;
  size_t first;
} svm_ends;

/* f += delta (ki - kj), and the ends after it. up is -infinity where a coefficient cannot grow, low
 * infinity where it cannot shrink. */
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

/* From -2 <u, v_j> to squared distances, -1 where they may have cancelled (rows that are nearly the
 * same); how many these are. */
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

/* out = factor x, in single precision; the largest |out|, or NaN */
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

/* ------------------------------------------------------------ the table */

typedef struct svm_loops {
  void (*advance)(size_t count, double delta, const float *ki, const float *kj, const double *up,
                  const double *low, double *f, svm_ends *out);
  size_t (*partner)(size_t count, double most, double least, double kii, const float *ki,
                    const double *diagonal, const double *low, const double *f);
  void (*add_four)(size_t count, const double a[4], const float *const k[4], double *f);
  size_t (*distances)(size_t count, double square, const double *squares, double *numbers);
  float (*single)(size_t count, double factor, const double *x, float *out);
} svm_loops;

#define SVM_LOOPS(target, isa)                                                                     \
  target static void svm_advance_##isa(size_t count, double delta, const float *ki,                \
                                       const float *kj, const double *up, const double *low,       \
                                       double *f, svm_ends *out) {                                 \
    svm_advance_any(count, delta, ki, kj, up, low, f, out);                                        \
  }                                                                                                \
  target static void svm_add_four_##isa(size_t count, const double a[4], const float *const k[4],  \
                                        double *f) {                                               \
    svm_add_four_any(count, a, k, f);                                                              \
  }                                                                                                \
  target static size_t svm_distances_##isa(size_t count, double square, const double *squares,     \
                                           double *numbers) {                                      \
    return svm_distances_any(count, square, squares, numbers);                                     \
  }                                                                                                \
  target static float svm_single_##isa(size_t count, double factor, const double *x, float *out) { \
    return svm_single_any(count, factor, x, out);                                                  \
  }                                                                                                \
  static const svm_loops svm_loops_##isa = {svm_advance_##isa, svm_partner_##isa,                  \
                                            svm_add_four_##isa, svm_distances_##isa,               \
                                            svm_single_##isa};
ISA_EACH_SET(SVM_LOOPS, "avx512f")

static inline svm_loops svm_loops_get(void) { return ISA_CHOOSE_SET(svm_loops); }

#endif
