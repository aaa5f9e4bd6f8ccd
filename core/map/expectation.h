/* E_{w~p}[K(u, w) phi(w, x)] for given parameters u and rows x. */
#ifndef SCULLERY_EXPECTATION_H
#define SCULLERY_EXPECTATION_H

#include "map/map.h"

typedef struct scl_expectation {
  scl_matrix values; /* (parameters of U times fan_out) x (rows of X), float64 */
  scl_method method;
  double standard_error; /* Monte Carlo: the largest of any entry; else 0 */
  size_t samples;        /* Monte Carlo: how many; else 0 */
  double gap;            /* quadrature: scl_map_quadrature_gap; else 0 */
} scl_expectation;

/* The spec names sampler, phi, kernel and d; its parameters are U. The method is exact if possible,
 * else quadrature, else Monte Carlo, unless the spec forces one. Monte Carlo draws samples until
 * the largest standard error is below tolerance times the largest value, or up to `most` samples.
 * The caller releases out->values. */
scl_status scl_expect(const scl_map_spec *spec, const scl_matrix *x, double tolerance, size_t most,
                      scl_expectation *out, scl_error *error);

#endif
