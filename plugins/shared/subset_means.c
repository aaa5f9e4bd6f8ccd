/* Means over all subsets of s columns, for additive kernels and sparse samplers. */
#include "shared/subset_means.h"

#include "shared/log_gamma.h"
#include <math.h>

subset_range subset_step(size_t dim, size_t degree, size_t j) {
  const size_t left = dim - j;
  return (subset_range){left < degree ? degree - left : 1, j < degree ? j : degree};
}

double subset_mean(size_t dim, size_t degree, const double *c, double *p) {
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

double subset_log_count(size_t dim, size_t degree) {
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
