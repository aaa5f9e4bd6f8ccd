/* Check that a map that was drawn again when a model was loaded equals the map that was saved: its
 * features of a few rows, or its first parameters, are compared with those in the file. */
#ifndef SCULLERY_MAP_PROBE_H
#define SCULLERY_MAP_PROBE_H

#include "map/map.h"

enum { SCL_PROBE_ROWS = 4, SCL_PROBE_PARAMETERS = 8 };
/* Rows of more than SCL_PROBE_DENSE columns have numbers in SCL_PROBE_COLUMNS of them alone, from
 * the first to the last at equal distances (rounded down). */
enum { SCL_PROBE_DENSE = 65536, SCL_PROBE_COLUMNS = 64 };
/* How many numbers a row of a probe has, of `dim` columns. */
static inline size_t scl_probe_width(size_t dim) {
  return dim > SCL_PROBE_DENSE ? SCL_PROBE_COLUMNS : dim;
}

typedef struct scl_map_probe {
  scl_matrix rows;    /* SCL_PROBE_ROWS x scl_probe_width(d), between 0 and 1 */
  scl_matrix numbers; /* their features, SCL_PROBE_ROWS x D; or the first parameters, at most
                         SCL_PROBE_PARAMETERS rows */
  bool parameters;    /* `numbers` are parameters: of one-hot features, because random rows may miss
                         all cells, and of maps with a part that refuses the random rows */
} scl_map_probe;

/* The caller releases *out. Other programs can check their own features against these. */
scl_status scl_map_probe_make(const scl_map *map, scl_map_probe *out, scl_error *error);
void scl_map_probe_release(scl_map_probe *probe);

/* Whether the numbers of two probes agree. Rounding differs between machines, and a rounding error
 * may change the value of a step function: up to 5 % of the numbers may differ by any amount, the
 * others by at most a thousandth of the largest absolute value. */
bool scl_probes_agree(const scl_matrix *a, const scl_matrix *b);

#endif
