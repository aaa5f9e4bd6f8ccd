/* Kind `cells`: one-hot features of random grids. Each of T grids has one feature for each cell
 * that rows fell into; a row has T entries of value 1/sqrt(T), one for each grid. The dictionary of
 * cells (cells.c) learns them from rows, so that a new map has no features yet. */
#include "map/kinds.h"
#include <math.h>

static bool cells_claims(const scl_map *map, const scl_map_spec *spec) {
  (void)spec;
  return map->shape.flags & SCL_SHAPE_ONE_HOT;
}

/* The slot `make`: an empty dictionary on the drawn grids. */
static scl_status cells_make(scl_map *map, const scl_map_spec *spec, const scl_parameter_set *drawn,
                             scl_error *error) {
  (void)spec;
  return scl_cells_create(map->phi, &drawn->view, &map->own.cells, error);
}

static void cells_release(scl_map *map) { scl_cells_destroy(map->own.cells); }

/* The dictionary and its grids: pitch and shift of each column. */
static size_t cells_bytes(const scl_map *map) {
  if (map->own.cells == NULL) return 0;
  return scl_cells_bytes(map->own.cells) + 2 * map->count * map->dim * sizeof(double);
}

/* A bare map has no dictionary, and counts as many features as parameters. */
static size_t cells_features(const scl_map *map) {
  return map->own.cells == NULL ? scl_map_dense_features(map) : scl_cells_count(map->own.cells);
}

const scl_map_kind scl_map_kind_cells = {.name = "cells",
                                         .method = SCL_METHOD_DIRECT,
                                         .claims = cells_claims,
                                         .make = cells_make,
                                         .release = cells_release,
                                         .bytes = cells_bytes,
                                         .features = cells_features,
                                         .induced = scl_map_induced_by_law};

/* ------------ functions of map.h for cells */

const scl_cells *scl_map_cells(const scl_map *map) {
  return map->kind == &scl_map_kind_cells ? map->own.cells : NULL;
}

size_t scl_map_entries(const scl_map *map) { return scl_map_cells(map) != NULL ? map->count : 0; }
double scl_map_entry_value(const scl_map *map) { return 1 / sqrt((double)map->count); }

scl_status scl_map_open_cells(const scl_map *map, scl_cells **out, scl_error *error) {
  return scl_cells_create_empty(map->own.cells, out, error);
}

/* Takes the dictionary over, also when it fails. */
scl_status scl_map_settle(scl_map *map, scl_cells *cells, scl_error *error) {
  scl_cells_destroy(map->own.cells);
  map->own.cells = cells;
  return scl_cells_settle(cells, error);
}

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
  return scl_cells_find(map->own.cells, map->dtype, x, x_stride, rows, columns, error);
}
