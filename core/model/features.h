/* The feature map of a saved model, made again: parameters are drawn anew, and its features
 * compared with those in the file. */
#ifndef SCULLERY_SAVED_FEATURES_H
#define SCULLERY_SAVED_FEATURES_H

#include "map/map.h"
#include "model/saved.h"

/* recipe: the features as they were given; map: what is said of the fitted ones; dim: columns that
 * they are to take, 0: as many as were saved; staged: row stages follow them. */
scl_status scl_saved_features(scl_saved *saved, const cJSON *recipe, const cJSON *map, size_t dim,
                              bool staged, scl_map **out, scl_error *error);
/* What a map of whole-number features learnt, where it learns anything. */
scl_status scl_saved_grid(const scl_saved *saved, scl_map *map, scl_error *error);

#endif
