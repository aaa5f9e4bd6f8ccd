/* The host's half of kernels: every slot and ability, called and checked; the simple form. */
#ifndef SCULLERY_KERNEL_H
#define SCULLERY_KERNEL_H

#include "plugin/instance.h"

/* SCL_BIT(SCL_SPACE_...) where it is defined. */
uint32_t scl_kernel_spaces(const scl_instance *kernel);

/* out (u->count x v->count) = K(u_i, v_j); out[i] = K(u_i, u_i). Refused, with a sentence: a space
 * that the kernel is not defined on, a kernel that needs a sampler's law and has not met one. */
scl_status scl_kernel_gram(const scl_instance *kernel, const scl_const_parameters *u,
                           const scl_const_parameters *v, double *out, ptrdiff_t stride,
                           scl_error *error);
scl_status scl_kernel_diagonal(const scl_instance *kernel, const scl_const_parameters *u,
                               double *out, scl_error *error);
/* Slots of the simple form alone, for checks; the kernel has them. scale: 1 where it has none. */
double scl_kernel_scale(const scl_instance *kernel);
scl_status scl_kernel_finish(const scl_instance *kernel, const scl_pair_row *row, double *numbers,
                             scl_error *error);
scl_status scl_kernel_move(const scl_instance *kernel, size_t count, double *coordinates,
                           scl_error *error);
/* What becomes of K between rows where one row is subtracted from both: as the ability says, or the
 * form implies. */
scl_shift scl_kernel_shift(const scl_instance *kernel);
/* What a bound kernel chose ("width = 1.83"); an empty text for others. */
void scl_kernel_describe(const scl_instance *kernel, char *text, size_t size);
bool scl_kernel_has_tilt(const scl_instance *kernel);
/* A tilt whose lists are SCL_TILT_LISTS times dim numbers, in memory of the caller. */
enum { SCL_TILT_LISTS = 8 };
scl_tilt scl_tilt_in(double *memory, size_t dim);
scl_status scl_kernel_tilt(const scl_instance *kernel, const scl_law *law, scl_tilt *out,
                           scl_error *error);

#endif
