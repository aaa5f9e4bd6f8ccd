/* Maps whose features each depend on one column of the rows alone: thresholds, with or without
 * K. */
#ifndef SCULLERY_COLUMNWISE_H
#define SCULLERY_COLUMNWISE_H

#include "map/map.h"

/* The column (from 0) that each of the T parameters reads, with one feature for each parameter;
 * borrowed. NULL: the features of this map do not each read one column. */
const int32_t *scl_map_columns(const scl_map *map);
/* *out = a map of parameters keep[0 .. count-1] with the same bits as their features in `map`,
 * scales and tilts included. It borrows from `map`, and only scl_map_apply may be used with it.
 * Release it with scl_map_release_some. */
scl_status scl_map_share_some(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                              scl_error *error);
void scl_map_release_some(scl_map *some);

#endif
