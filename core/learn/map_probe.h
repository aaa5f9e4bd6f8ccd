/* Whether a map that was made again is the one that was saved: its features of a few rows, or its
 * first parameters, are compared with those in the file. */
#ifndef SCULLERY_MAP_PROBE_H
#define SCULLERY_MAP_PROBE_H

#include "map/map.h"

enum { SCL_PROBE_ROWS = 4, SCL_PROBE_PARAMETERS = 8 };

typedef struct scl_map_probe {
  scl_matrix rows;    /* SCL_PROBE_ROWS x d, between 0 and 1 */
  scl_matrix numbers; /* their features, SCL_PROBE_ROWS x D; or the first parameters, at most
                         SCL_PROBE_PARAMETERS rows: of one-hot features, whose cells such rows need
                         not meet, and where a part refuses the rows */
  bool parameters;
} scl_map_probe;

/* The caller releases *out. Other programs can check their own features against these. */
scl_status scl_map_probe_make(const scl_map *map, scl_map_probe *out, scl_error *error);
void scl_map_probe_release(scl_map_probe *probe);

/* Whether two probes agree. Rounding differs between machines, and a step may then fall to the
 * other side: 5 in 100 numbers may differ, and none of the rest by more than a thousandth of the
 * largest. */
bool scl_probes_agree(const scl_matrix *a, const scl_matrix *b);

#endif
