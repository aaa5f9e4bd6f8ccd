/* The loops of thin products for one instruction set (thin.c), and how the names of a set are made.
 */
#ifndef SCULLERY_ISA_THIN_H
#define SCULLERY_ISA_THIN_H

#include "base/loops.h"

#define ISA_JOIN_(a, b) a##b
#define ISA_JOIN(a, b) ISA_JOIN_(a, b)
/* name_avx2 and the like */
#define ISA_NAME(name) ISA_JOIN(name##_, SCL_ISA)

void ISA_NAME(scl_thin_product_f64)(size_t rows, size_t cols, size_t k, const double *phi,
                                    ptrdiff_t stride, const double *a, ptrdiff_t apart,
                                    double *out);
void ISA_NAME(scl_thin_product_f32)(size_t rows, size_t cols, size_t k, const float *phi,
                                    ptrdiff_t stride, const float *a, ptrdiff_t apart, double *out);
void ISA_NAME(scl_thin_adjoint_f64)(size_t rows, size_t cols, size_t k, const double *phi,
                                    ptrdiff_t stride, const double *r, double *out,
                                    ptrdiff_t apart);
void ISA_NAME(scl_thin_adjoint_f32)(size_t rows, size_t cols, size_t k, const float *phi,
                                    ptrdiff_t stride, const float *r, double *out, ptrdiff_t apart);

#endif
