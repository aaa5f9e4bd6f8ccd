/* Products with a tile of kernel values, compiled once for each instruction set. Their sums have
 * one order for every row, whatever rows are beside it. */
#ifndef SCULLERY_SHARED_EXPANSION_SUM_H
#define SCULLERY_SHARED_EXPANSION_SUM_H

#include <stddef.h>

/* out_iq += sum_j k_ij b_qj, j < kept: k rows x kept, b functions x kept, out rows x functions.
 * kept is a multiple of 8. */
typedef void (*expansion_sum)(size_t rows, size_t functions, size_t kept, const double *k,
                              size_t k_stride, const double *b, size_t b_stride, double *out,
                              ptrdiff_t stride);

expansion_sum expansion_sum_get(void);

#endif
