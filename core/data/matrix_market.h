/* Matrix Market text: coordinate or array; real, integer or pattern; general, symmetric or
 * skew-symmetric. Format: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange
 * Formats: Initial Design, NISTIR 5935, 1996. */
#ifndef SCULLERY_MATRIX_MARKET_H
#define SCULLERY_MATRIX_MARKET_H

#include "algebra/csr.h"
#include "data/schema.h"

typedef struct scl_matrix_market_options {
  scl_choice sparse; /* SCL_AUTO: where less than a tenth of the numbers is not 0 */
  scl_dtype dtype;
  size_t unpacked; /* bounds gzip, which is known by its first bytes (data/files/input.h) */
} scl_matrix_market_options;

/* One of the two, and the other is empty; numbers that are 0 are not stored. */
scl_status scl_matrix_market_read(const char *path, const scl_matrix_market_options *options,
                                  scl_csr *sparse, scl_matrix *dense, scl_error *error);

#endif
