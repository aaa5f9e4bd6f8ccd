/* Columns of few distinct values, under a map whose features each read one column: in such a column
 * a feature is a table over its values (levels), so that v levels stand for all its features with v
 * - 1 indicators. The code z of a row is
 *
 *   z = [1, features of the other columns, an indicator of every level but the first of a column]
 *
 * and sums over rows of z give those of phi (sums_levels.c). Levels are numbered in the order in
 * which they first occur in the rows. */
#ifndef SCULLERY_LEVELS_H
#define SCULLERY_LEVELS_H

#include "map/map.h"

typedef struct scl_level_column {
  size_t column;          /* of the rows */
  size_t first, features; /* its features: order[first .. first+features-1] */
  size_t levels;          /* seen so far, at most `features`, and `most` of all columns */
  bool wide;              /* too many levels: its features are computed and no table is used */
  bool spills;            /* has too many levels, and becomes wide at the next scl_levels_widen */
  size_t atom;            /* where its levels begin among the atoms (sums_levels.c) */
} scl_level_column;

typedef struct scl_levels {
  const scl_map *map;
  const double *pilot;                            /* of scl_levels_create */
  size_t features, dim, n_columns, codes, direct; /* codes: numbers in z */
  size_t most;                                    /* levels of a column */
  scl_level_column *column;
  size_t *order; /* features, by column */
  size_t *of;    /* the column, as an index into `column`, of each feature */
  double *value; /* level l of a column at first + l, */
  size_t *slot;  /* its place in z; level 0 has none */
  size_t *rank;  /* the levels of a column in ascending order of their values */
  size_t direct_room;
  size_t *wide;  /* features of wide columns, in the order of their places 1 .. direct in z */
  scl_map *some; /* the map of these; NULL: there are none */
  double *table; /* feature t at level l of its column: table[l features + t] */
  size_t table_levels;
} scl_levels;

/* NULL where the map's features do not each read one column. pilot: what is subtracted from the
 * features (scl_flow.pilot) in z and in the table, borrowed until the levels are destroyed. */
scl_status scl_levels_create(const scl_map *map, const double *pilot, scl_levels **out,
                             scl_error *error);
void scl_levels_destroy(scl_levels *levels);

/* z (count x z_stride, in the map's dtype) = codes of rows; z_stride >= codes, and the columns
 * beyond are 0. *known = false if a row has a level that was not learnt; z is then not complete. */
scl_status scl_levels_code(const scl_levels *levels, const void *x, ptrdiff_t x_stride,
                           size_t count, void *z, ptrdiff_t z_stride, bool *known,
                           scl_error *error);
/* place (count x n_columns) = the levels of rows, level l of a column as `first` + l; of wide
 * columns a place whose table is 0: `first`. *known as above. */
void scl_levels_find(const scl_levels *levels, const void *x, ptrdiff_t x_stride, size_t count,
                     uint32_t *place, bool *known);
/* Learn the levels of rows. *spills becomes true if a column has too many levels: call
 * scl_levels_widen. New levels have no place in z before scl_levels_place. */
void scl_levels_learn(scl_levels *levels, const void *x, ptrdiff_t x_stride, size_t count,
                      bool *spills);
/* Make columns that spill wide. All places in z change. */
scl_status scl_levels_widen(scl_levels *levels, scl_error *error);
/* The number of codes after the next scl_levels_place. */
size_t scl_levels_due(const scl_levels *levels);
/* Give new levels places in z after the present ones, and make the table. row: any row of the
 * data. */
scl_status scl_levels_place(scl_levels *levels, const void *row, scl_error *error);

#endif
