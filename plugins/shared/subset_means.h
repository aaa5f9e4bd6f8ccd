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

#include <stddef.h>

/* At column j of d (from 1) the p_k with k in [low, high] change, high first: those from which p_s
 * can still be reached. */
typedef struct subset_range {
  size_t low, high;
} subset_range;

subset_range subset_step(size_t dim, size_t degree, size_t j);

/* p_s of c_1 .. c_d; p has s + 1 numbers of scratch. */
double subset_mean(size_t dim, size_t degree, const double *c, double *p);

/* log C(d, s). Few factors are summed: differences of large lgamma lose digits. */
double subset_log_count(size_t dim, size_t degree);

#endif
