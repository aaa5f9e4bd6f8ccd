/* Maps whose features each depend on one column of the rows alone: thresholds, with or without
 * K. */
#ifndef SCULLERY_COLUMNWISE_H
#define SCULLERY_COLUMNWISE_H

#include "map/map.h"

/* The column (from 0) that each of the T parameters reads, one feature a parameter; NULL: the map is
 * none of these. */
const int32_t *scl_map_columns(const scl_map *map);
/* Parameters keep[0 .. count-1] with their features to the bit, scales and tilts included: for
 * scl_map_apply alone, while the map lives. */
scl_status scl_map_share_some(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                              scl_error *error);
void scl_map_release_some(scl_map *some);

#endif
