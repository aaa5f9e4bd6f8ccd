/* The list of kinds of maps, in order of precedence. */
#include "map/kinds.h"

/* In the order in which they are asked: first those that phi decides, then maps without K. Of maps
 * with K, the last kind takes all that the two before it cannot. */
static const scl_map_kind *const kinds[] = {&scl_map_kind_section,    &scl_map_kind_cells,
                                            &scl_map_kind_plain,      &scl_map_kind_exact,
                                            &scl_map_kind_quadrature, &scl_map_kind_sampled};

const scl_map_kind *scl_map_kind_of(const scl_map *map, const scl_map_spec *spec) {
  size_t i = 0;
  while (!kinds[i]->claims(map, spec))
    i++;
  return kinds[i];
}

size_t scl_map_dense_features(const scl_map *map) { return map->count * map->fan_out; }
