/* The feature map of a saved model, made again: parameters are drawn anew, and its features
 * compared with those in the file. */
#ifndef SCULLERY_SAVED_FEATURES_H
#define SCULLERY_SAVED_FEATURES_H

#include "map/map.h"
#include "model/saved.h"

/* Make the map again. recipe: the features as the script gave them; map: the description of the
 * fitted ones; dim: the number of columns that arrive (0: the saved number); staged: row stages
 * follow the features. The caller destroys *out, which is not set after a failure. */
scl_status scl_saved_features(scl_saved *saved, const cJSON *recipe, const cJSON *map, size_t dim,
                              bool staged, scl_map **out, scl_error *error);
/* Restore the units and offsets of whole-number features, if the map has to learn them from
 * data. */
scl_status scl_saved_grid(const scl_saved *saved, scl_map *map, scl_error *error);

#endif
