/* What map.c, map_kernel.c and induced.c share. */
#ifndef SCULLERY_MAP_INTERNAL_H
#define SCULLERY_MAP_INTERNAL_H

#include "map.h"

struct scl_map {
  scl_instance *sampler, *phi, *kernel; /* kernel: bound to the sampler's law; NULL without K */
  size_t dim, count, fan_in, fan_out;
  uint64_t seed;
  scl_dtype dtype;
  scl_method method;
  scl_layout layout;
  scl_shape shape;
  bool given;                /* parameters came as a matrix */
  scl_parameter_set natural; /* float64, as drawn: kept when given, or when there is a kernel */

  /* What the projection reads, in dtype: row k count + t is scalar k of parameter t, tilted where there is a tilt. */
  void *weights, *bias;
  int32_t *support;
  void *scale; /* count: 1/sqrt T, or c(w_t) exp(-log_scale) */
  double log_scale;

  /* Smoothing: spread of each column of x (dim, float64) for dense rows, of each parameter (count, dtype) for thresholds. */
  double *column_spread;
  void *parameter_spread;
  ptrdiff_t spread_stride; /* of parameter_spread: 0 where all are the same */
  scl_law_set law;
  scl_tilt tilt;
  double *tilt_memory;

  /* Monte Carlo: a map over `samples` drawn w_s without K, and mixing (samples x count, dtype) = K(w_s, w_t) / samples. */
  scl_map *inner;
  void *mixing;
};

/* The part of scl_map_create that belongs to K: bind it, tilt the parameters or set up Monte Carlo. map_kernel.c */
scl_status scl_map_attach_kernel(scl_map *map, const scl_map_spec *spec, scl_error *error);

#endif
