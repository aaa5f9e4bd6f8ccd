/* One-hot cells of grids (random binning features: Rahimi and Recht 2007). A dictionary learns which
 * cells of each grid rows occupy, and a row has one feature of value 1/sqrt(T) for each grid. */
#include "map/kinds.h"

static scl_status cells_bind(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (spec->kernel == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "nonlinearity.%s does not go with a K: cells of different grids share no "
                  "meaning, so their mean has none; without K it estimates the sampler's kernel",
                  scl_instance_name(map->phi));
}

static scl_status cells_build(scl_map *map, const scl_map_spec *spec, scl_parameter_set *drawn,
                              scl_error *error) {
  (void)spec;
  return scl_cells_create(map->phi, &drawn->view, &map->cells, error);
}

static size_t cells_bytes(const scl_map *map) {
  return map->cells == NULL
             ? 0
             : scl_cells_bytes(map->cells) + 2 * map->count * map->dim * sizeof(double);
}

static void cells_release(scl_map *map) { scl_cells_destroy(map->cells); }

const scl_map_kind scl_map_kind_cells = {.name = "cells",
                                         .check = scl_parts_check_nonlinearity,
                                         .bind = cells_bind,
                                         .build = cells_build,
                                         .induced = scl_map_phi_induced,
                                         .bytes = cells_bytes,
                                         .release = cells_release};

/* ------------------------------------------------------------ the dictionary */

scl_status scl_map_open_cells(const scl_map *map, scl_cells **out, scl_error *error) {
  return scl_cells_create_empty(map->cells, out, error);
}

scl_status scl_map_settle(scl_map *map, scl_cells *cells, scl_error *error) {
  scl_cells_destroy(map->cells);
  map->cells = cells;
  return scl_cells_settle(cells, error);
}

const scl_cells *scl_map_cells(const scl_map *map) { return map->cells; }

scl_status scl_map_restore_cells(scl_map *map, const int64_t *counts, const int32_t *words,
                                 size_t rows, scl_error *error) {
  scl_cells *cells;
  SCL_TRY(scl_map_open_cells(map, &cells, error));
  const scl_status status = scl_cells_import(cells, counts, words, rows, error);
  if (status == SCL_STATUS_OK) return scl_map_settle(map, cells, error);
  scl_cells_destroy(cells);
  return status;
}

scl_status scl_map_apply_cells(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               int32_t *columns, scl_error *error) {
  return scl_cells_find(map->cells, map->dtype, x, x_stride, rows, columns, error);
}
