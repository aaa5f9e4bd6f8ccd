/* S(m, v) = E phi(N(m, v^2)): the nonlinearity's closed form where it has one, else quadrature. */
#ifndef SCULLERY_SMOOTHING_H
#define SCULLERY_SMOOTHING_H

#include "plugin/instance.h"

/* out = S(m, v) for a block; phi takes one scalar a parameter when there is no closed form.
 * Quadrature: composite Gauss-Legendre over the normal density, split where phi breaks, nodes
 * doubled until two rules agree to 1e-10 relative to the largest value. */
scl_status scl_smooth(const scl_instance *phi, const scl_block *m, const scl_spread *v,
                      scl_block *out, scl_error *error);
/* The same by quadrature alone (the closed form's check). */
scl_status scl_smooth_quadrature(const scl_instance *phi, const scl_block *m, const scl_spread *v,
                                 scl_block *out, scl_error *error);
bool scl_smooth_is_closed(const scl_instance *phi);

/* Gauss-Legendre rule on [-1, 1]: `count` nodes and weights. */
void scl_gauss_legendre(size_t count, double *nodes, double *weights);

#endif
