/* Squared Euclidean distances between rows of two sets: ||a||^2 + ||b||^2 - 2 <a, b>, the products
 * by gemm. */
#ifndef SCULLERY_SHARED_DISTANCES_H
#define SCULLERY_SHARED_DISTANCES_H

#include <scullery/plugin.h>

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

#endif
