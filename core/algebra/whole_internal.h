/* Shared by whole_accumulate.c and its test. */
#ifndef SCULLERY_WHOLE_INTERNAL_H
#define SCULLERY_WHOLE_INTERNAL_H

#include "algebra/whole.h"
#include "base/loops.h"

/* Whether this machine has what the kernel needs beside the instruction set of its table. */
bool scl_whole_kernel_runs(const scl_whole_kernel *kernel);
/* scl_whole_accumulate by one of the kernels of `loops` for the type. */
scl_status scl_whole_accumulate_by(const scl_whole_loops *loops, const scl_whole_kernel *kernel,
                                   const scl_whole_totals *totals, scl_whole type, const void *v,
                                   ptrdiff_t stride, size_t rows, unsigned shift, scl_error *error);

#endif
