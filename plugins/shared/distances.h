/* Squared Euclidean distances between rows of two sets, the products by gemm:
 *
 *   ||a - b||^2 = ||a||^2 + ||b||^2 - 2 <a, b>
 */
#ifndef SCULLERY_SHARED_DISTANCES_H
#define SCULLERY_SHARED_DISTANCES_H

#include <stddef.h>

/* out[i] = ||x_i||^2 */
static inline void distances_squares(const double *x, ptrdiff_t stride, size_t rows, size_t cols,
                                     double *out) {
  for (size_t i = 0; i < rows; i++) {
    const double *row = x + (ptrdiff_t)i * stride;
    double sum = 0;
    for (size_t j = 0; j < cols; j++)
      sum += row[j] * row[j];
    out[i] = sum;
  }
}

/* ||a - b||^2 without cancellation */
static inline double distances_exact(const double *a, const double *b, size_t cols) {
  double sum = 0;
  for (size_t j = 0; j < cols; j++)
    sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/* A bound on the rounding error of ||a||^2 + ||b||^2 - 2 <a, b>, given ||a||^2 + ||b||^2. */
static inline double distances_slack(double both, size_t cols) {
  return 4e-16 * ((double)cols + 8) * both;
}

#endif
