/* The loops of whole numbers for one instruction set (whole.c, whole_round.c, whole_numbers.c). */
#ifndef SCULLERY_ISA_WHOLE_H
#define SCULLERY_ISA_WHOLE_H

#include "base/isa/names.h"
#include "base/loops.h"

extern const scl_whole_loops ISA_NAME(scl_whole_loops);

scl_whole_rounder ISA_NAME(scl_whole_round_f32_i8), ISA_NAME(scl_whole_round_f32_i16),
    ISA_NAME(scl_whole_round_f64_i8), ISA_NAME(scl_whole_round_f64_i16);

void ISA_NAME(scl_whole_widen_i8)(size_t rows, size_t cols, const int8_t *v, ptrdiff_t stride,
                                  ptrdiff_t ahead, double *out, size_t apart);
void ISA_NAME(scl_whole_adjoint_i8)(size_t rows, size_t cols, size_t k, const int8_t *v,
                                    ptrdiff_t stride, const double *d, double *out, size_t apart);
void ISA_NAME(scl_whole_widen_i16)(size_t rows, size_t cols, const int16_t *v, ptrdiff_t stride,
                                   ptrdiff_t ahead, double *out, size_t apart);
void ISA_NAME(scl_whole_adjoint_i16)(size_t rows, size_t cols, size_t k, const int16_t *v,
                                     ptrdiff_t stride, const double *d, double *out, size_t apart);

#endif
