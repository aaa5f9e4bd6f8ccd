/* The loops of thin products for one instruction set (thin.c). */
#ifndef SCULLERY_ISA_THIN_H
#define SCULLERY_ISA_THIN_H

#include "base/isa/names.h"
#include "base/loops.h"

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
