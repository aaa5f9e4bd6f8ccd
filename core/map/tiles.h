/* z of rows and parameters, tile by tile, on the pool's threads. A tile stays in cache from the
 * projection until its features are written. */
#ifndef SCULLERY_TILES_H
#define SCULLERY_TILES_H

#include "map/map_internal.h"

/* One of the two projections of a map, and what all tiles of a task share for it. */
typedef struct scl_tile_source {
  const scl_projection *projection; /* NULL: the map has none */
  const void *x;                    /* rows x dim at x_stride, in the map's dtype */
  scl_csr csr;                      /* in place of x: borrowed; empty where rows are dense */
  ptrdiff_t x_stride;
  void *turned; /* x turned (scl_projection_turn); NULL where the projection takes x as it is */
  void *pooled; /* rows x pool_rows: z of the shared rows */
} scl_tile_source;

/* Rows first_row .. first_row+rows-1 of x against parameters first .. first+cols-1. All blocks are
 * packed in the memory of the thread; y may be z itself. */
typedef struct scl_map_tile {
  const scl_map *map;
  size_t first_row, rows, first, cols;
  scl_tile_source x, squares; /* of z, and of the variance of z */
  scl_block z, y;             /* fan_in planes, filled; fan_out planes, to be written */
  void *v;                    /* room for a block like z, where the map has a variance */
  void *spreads;              /* room for a number for each row */
} scl_map_tile;

/* Called for each tile, on many threads. First rows are multiples of 64. */
typedef scl_status (*scl_take_tile)(void *context, const scl_map_tile *tile, scl_error *error);

/* Rows and parameters of a request, of a map whose kind makes features from z. */
scl_status scl_tiles_run(const scl_map *map, const scl_map_request *request, scl_take_tile take,
                         void *context, scl_error *error);

/* Whether z of sparse rows are made without their zeros. */
bool scl_tiles_take_csr(const scl_map *map);

/* `out`, a block like tile->z, = the rows of one of the tile's sources on the tile's parameters. */
scl_status scl_tile_project(const scl_map_tile *tile, const scl_tile_source *source,
                            const scl_block *out, scl_error *error);
/* A packed block with the tile's rows and parameters. */
scl_block scl_tile_block(const scl_map_tile *tile, void *data, size_t planes);

#endif
