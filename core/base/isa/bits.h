/* Conversions between numbers and bits for one instruction set (bits.c). */
#ifndef SCULLERY_ISA_BITS_H
#define SCULLERY_ISA_BITS_H

#include "base/isa/names.h"
#include "base/loops.h"

void ISA_NAME(scl_signs_f64)(size_t rows, const double *z, ptrdiff_t stride, int zero,
                             uint64_t *out);
void ISA_NAME(scl_signs_f32)(size_t rows, const float *z, ptrdiff_t stride, int zero,
                             uint64_t *out);
void ISA_NAME(scl_above_f64)(size_t count, const double *x, const int32_t *column,
                             const double *threshold, int equal, uint64_t *out);
void ISA_NAME(scl_above_f32)(size_t count, const float *x, const int32_t *column,
                             const float *threshold, int equal, uint64_t *out);
void ISA_NAME(scl_spread_f64)(size_t groups, size_t apart, const uint64_t *words, size_t first,
                              size_t rows, const double *low, const double *high, double *out,
                              ptrdiff_t stride);
void ISA_NAME(scl_spread_f32)(size_t groups, size_t apart, const uint64_t *words, size_t first,
                              size_t rows, const double *low, const double *high, float *out,
                              ptrdiff_t stride);

#endif
