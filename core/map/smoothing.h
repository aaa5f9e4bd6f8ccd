/* S(m, v) = E phi(N(m, v^2)) by quadrature, for nonlinearities without a closed form (and to check
 * those that have one). */
#ifndef SCULLERY_SMOOTHING_H
#define SCULLERY_SMOOTHING_H

#include "plugin/instance.h"

/* out = S(m, v) for a block of one plane; out may be m's block. Composite Gauss-Legendre over the
 * normal density, split where phi breaks. The nodes of an entry are doubled until two rules agree
 * to 1e-10 of the integral of |phi|; where the last two do not, *gap becomes their difference if
 * that is larger (gap may be NULL). */
scl_status scl_smooth_quadrature(const scl_instance *phi, const scl_const_block *m,
                                 const scl_spread *v, const scl_block *out, _Atomic double *gap,
                                 scl_error *error);

/* Gauss-Legendre rule on [-1, 1]: `count` nodes and weights. */
void scl_gauss_legendre(size_t count, double *nodes, double *weights);

#endif
