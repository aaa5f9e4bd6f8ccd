/* Calls of kernels: every slot and ability is called here and its results are checked; the simple
 * form. */
#ifndef SCULLERY_KERNEL_H
#define SCULLERY_KERNEL_H

#include "algebra/pairs_csr.h"
#include "plugin/instance.h"

/* The parameter spaces on which it is defined, as SCL_BIT(SCL_SPACE_...). */
uint32_t scl_kernel_spaces(const scl_instance *kernel);

/* _gram: out_ij (u->count x v->count, rows at `stride`) = K(u_i, v_j); _diagonal: out_i = K(u_i,
 * u_i). SCL_STATUS_UNSUPPORTED for a space that the kernel is not defined on, and for a kernel that
 * needs a sampler's law and is not bound to one. */
scl_status scl_kernel_gram(const scl_instance *kernel, const scl_const_parameters *u,
                           const scl_const_parameters *v, double *out, ptrdiff_t stride,
                           scl_error *error);
/* The same between sparse rows of data and rows v that are kept for it (algebra/pairs_csr.h), for
 * kernels of which _takes_csr is true. */
bool scl_kernel_takes_csr(const scl_instance *kernel);
scl_status scl_kernel_pair_set(const scl_instance *kernel, const scl_const_parameters *v,
                               scl_pair_set **out, scl_error *error);
scl_status scl_kernel_pair_set_csr(const scl_instance *kernel, const scl_csr *v, scl_pair_set **out,
                                   scl_error *error);
scl_status scl_kernel_gram_csr(const scl_instance *kernel, const scl_csr *rows,
                               const scl_pair_set *set, size_t first, size_t count, double *out,
                               ptrdiff_t stride, scl_error *error);
scl_status scl_kernel_diagonal(const scl_instance *kernel, const scl_const_parameters *u,
                               double *out, scl_error *error);
/* Single slots of the simple form, for checks. The kernel must have finish and move; scale is 1 if
 * the kernel does not have the slot. */
double scl_kernel_scale(const scl_instance *kernel);
scl_status scl_kernel_finish(const scl_instance *kernel, const scl_pair_row *row, double *numbers,
                             scl_error *error);
scl_status scl_kernel_move(const scl_instance *kernel, size_t count, double *coordinates,
                           scl_error *error);
/* How K changes if one row is subtracted from both of its arguments: as the ability says, or as the
 * form implies. */
scl_shift scl_kernel_shift(const scl_instance *kernel);
/* The text by which a bound kernel describes what it chose ("width = 1.83"); empty for others. */
void scl_kernel_describe(const scl_instance *kernel, char *text, size_t size);
/* A tilt whose lists are in memory of the caller, SCL_TILT_LISTS * dim numbers. */
enum { SCL_TILT_LISTS = 8 };
scl_tilt scl_tilt_in(double *memory, size_t dim);
/* Ask the kernel for the tilt of a law (SCL_ABILITY_TILT). *out comes from scl_tilt_in. log_one,
 * log_diagonal, log_mass and log0 may be -INFINITY; all other numbers are finite, or it fails with
 * SCL_STATUS_NUMERIC. */
scl_status scl_kernel_tilt(const scl_instance *kernel, const scl_law *law, scl_tilt *out,
                           scl_error *error);

#endif
