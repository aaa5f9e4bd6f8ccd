/* Products of sparse rows with packed columns for one instruction set (csr.c). */
#ifndef SCULLERY_ISA_CSR_H
#define SCULLERY_ISA_CSR_H

#include "base/isa/rows.h"

void ISA_NAME(scl_csr_product_f64)(const scl_csr_terms *left, size_t terms, size_t first,
                                   size_t cols, const double *right, bool add, double *out,
                                   ptrdiff_t stride);
void ISA_NAME(scl_csr_product_f32)(const scl_csr_terms *left, size_t terms, size_t first,
                                   size_t cols, const float *right, bool add, float *out,
                                   ptrdiff_t stride);

#endif
