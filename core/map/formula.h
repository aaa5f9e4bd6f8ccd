/* What a feature map computes, for files that predict without this library. */
#ifndef SCULLERY_MAP_FORMULA_H
#define SCULLERY_MAP_FORMULA_H

#include "map/map.h"

/* Feature k T + t of a row is s_t times number k of phi(z_t), with z of fan_in numbers: number k
 * belongs to row k T + t of scl_map_parameters, s_t is scl_map_feature_scale. */
typedef struct scl_map_formula {
  char *phi;   /* C text (scl_nonlinearity.formula); the caller releases it */
  bool simple; /* an expression of z; else statements that set out[] from z[] */
  bool has_bias;
  size_t fan_in, fan_out;
  scl_space space; /* of the rows of scl_map_parameters */
} scl_map_formula;

/* Of a map or of that whose features its stages change. SCL_STATUS_UNSUPPORTED, with a sentence
 * that names the part: its features have no such form. */
scl_status scl_map_formula_of(const scl_map *map, scl_map_formula *out, scl_error *error);

#endif
