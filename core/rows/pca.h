/* Principal components of what a flow gives: staged rows, or features. */
#ifndef SCULLERY_PCA_H
#define SCULLERY_PCA_H

#include "rows/flow.h"

typedef struct scl_components {
  scl_matrix vectors;   /* k x D, orthonormal rows, the largest variance first; the largest entry of
                           each is positive */
  scl_matrix mean;      /* 1 x D */
  scl_matrix variances; /* k x 1 */
  double total;         /* sum of all D variances */
} scl_components;

/* Two walks: the means, then the covariance of centred rows (weighted, divided by the sum of the
 * weights), summed block by block. With fewer rows than D, the n x n products of rows replace the
 * covariance, unless the k-th variance is too near 0. k is at most D and the number of rows. The
 * caller releases the matrices. */
scl_status scl_pca(const scl_flow *flow, size_t k, scl_components *out, scl_error *error);

#endif
