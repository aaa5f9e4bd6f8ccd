/* The loops of whole numbers for one instruction set (whole.c, whole_round.c). */
#ifndef SCULLERY_ISA_WHOLE_H
#define SCULLERY_ISA_WHOLE_H

#include "base/isa/names.h"
#include "base/loops.h"

extern const scl_whole_loops ISA_NAME(scl_whole_loops);

scl_whole_rounder ISA_NAME(scl_whole_round_f32_i8), ISA_NAME(scl_whole_round_f32_i16),
    ISA_NAME(scl_whole_round_f64_i8), ISA_NAME(scl_whole_round_f64_i16);

#endif
