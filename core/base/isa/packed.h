/* Products of packed matrices for one instruction set (packed.c). */
#ifndef SCULLERY_ISA_PACKED_H
#define SCULLERY_ISA_PACKED_H

#include "base/isa/thin.h"

/* Bytes of a row of a strip; 0: the set has no packed products. */
#if defined(SCL_ISA_avx512)
enum { ISA_PACKED_BYTES = 192 };
#elif defined(SCL_ISA_avx2)
enum { ISA_PACKED_BYTES = 96 };
#else
enum { ISA_PACKED_BYTES = 0 };
#endif

void ISA_NAME(scl_packed_product_f64)(size_t terms, size_t rows, size_t cols, const double *left,
                                      const double *right, bool below, double *out,
                                      ptrdiff_t stride);
void ISA_NAME(scl_packed_product_f32)(size_t terms, size_t rows, size_t cols, const float *left,
                                      const float *right, bool below, float *out, ptrdiff_t stride);

#endif
