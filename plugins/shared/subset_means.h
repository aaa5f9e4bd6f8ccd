/* Means over the supports of s of d columns: a normalised elementary symmetric polynomial.
 *
 *   p_s = (1 / C(d, s)) sum over |N| = s of prod_{j in N} c_j
 *
 * With p_k(j) the mean over the k-subsets of the first j columns (Newton and Girard's sums divided
 * by C(j, k)):
 *
 *   p_k(j) = ((j-k)/j) p_k(j-1) + (k/j) c_j p_{k-1}(j-1)
 *
 * These are means of means, so that |c_j| <= 1 never leaves [-1, 1]. */
#ifndef SCULLERY_SHARED_SUBSET_MEANS_H
#define SCULLERY_SHARED_SUBSET_MEANS_H

#include "shared/log_gamma.h"
#include <math.h>
#include <stddef.h>

/* At column j of d (from 1) the p_k with k in [low, high] change, high first: those from which p_s
 * can still be reached. */
typedef struct subset_range {
  size_t low, high;
} subset_range;

static inline subset_range subset_step(size_t dim, size_t degree, size_t j) {
  const size_t left = dim - j;
  return (subset_range){left < degree ? degree - left : 1, j < degree ? j : degree};
}

/* p_s of c_1 .. c_d; p has s + 1 numbers of scratch. */
static inline double subset_mean(size_t dim, size_t degree, const double *c, double *p) {
  p[0] = 1;
  for (size_t k = 1; k <= degree; k++)
    p[k] = 0;
  for (size_t j = 1; j <= dim; j++) {
    const subset_range range = subset_step(dim, degree, j);
    const double each = 1 / (double)j, factor = c[j - 1];
    for (size_t k = range.high; k >= range.low && k > 0; k--)
      p[k] = (double)(j - k) * each * p[k] + (double)k * each * factor * p[k - 1];
  }
  return p[degree];
}

/* log C(d, s). Few factors are summed: differences of large lgamma lose digits. */
static inline double subset_log_count(size_t dim, size_t degree) {
  enum { FEW = 1000 };
  const size_t least = degree < dim - degree ? degree : dim - degree;
  double sum = 0;
  if (least > FEW)
    return log_gamma((double)dim + 1) - log_gamma((double)degree + 1) -
           log_gamma((double)(dim - degree) + 1);
  for (size_t k = 1; k <= least; k++)
    sum += log((double)(dim - least + k) / (double)k);
  return sum;
}

#endif
