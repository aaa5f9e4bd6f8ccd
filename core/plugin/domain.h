/* SCL_ABILITY_DOMAIN: the numbers that a component is defined for. */
#ifndef SCULLERY_DOMAIN_H
#define SCULLERY_DOMAIN_H

#include "algebra/csr.h"
#include "plugin/instance.h"

/* *out = the domain of a component, and *known = whether it declares one. */
scl_status scl_domain_of(const scl_instance *component, scl_domain *out, bool *known,
                         scl_error *error);
/* SCL_STATUS_BAD_DATA with a sentence that names the column, if a number of the rows (rows x cols at
 * stride) or the length of one is outside of the component's domain. */
scl_status scl_domain_check_rows(const scl_instance *component, const void *rows, scl_dtype dtype,
                                 size_t count, size_t cols, ptrdiff_t stride, scl_error *error);
/* The same of sparse rows. */
scl_status scl_domain_check_csr(const scl_instance *component, const scl_csr *rows,
                                scl_error *error);
/* The same for numbers z of a nonlinearity. */
scl_status scl_domain_check_block(const scl_instance *phi, const scl_const_block *z,
                                  scl_error *error);

#endif
