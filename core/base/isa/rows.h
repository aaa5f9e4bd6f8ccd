/* Products of rows with packed columns for one instruction set (rows.c). */
#ifndef SCULLERY_ISA_ROWS_H
#define SCULLERY_ISA_ROWS_H

#include "base/isa/names.h"
#include "base/loops.h"

/* Bytes of a row of a strip: three vectors. */
#if defined(SCL_ISA_avx512)
enum { ISA_STRIP_BYTES = 192 };
#elif defined(SCL_ISA_avx2)
enum { ISA_STRIP_BYTES = 96 };
#else
enum { ISA_STRIP_BYTES = 48 };
#endif

void ISA_NAME(scl_row_product_f64)(size_t terms, size_t rows, size_t first, size_t cols,
                                   const double *left, ptrdiff_t apart, const double *right,
                                   bool add, double *out, ptrdiff_t stride);
void ISA_NAME(scl_row_product_f32)(size_t terms, size_t rows, size_t first, size_t cols,
                                   const float *left, ptrdiff_t apart, const float *right, bool add,
                                   float *out, ptrdiff_t stride);
void ISA_NAME(scl_row_solve_f64)(size_t rows, size_t count, const double *l, ptrdiff_t apart,
                                 double *x, ptrdiff_t stride);

#endif
