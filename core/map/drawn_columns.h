/* Dense parameters that are not stored: the weights of a column are drawn when a row has a number
 * there, to the bits of stored ones. A cache keeps the columns that come first, among which are the
 * frequent ones, up to a number of bytes; other columns are drawn again for each task. */
#ifndef SCULLERY_DRAWN_COLUMNS_H
#define SCULLERY_DRAWN_COLUMNS_H

#include "map/projection.h"

typedef struct scl_drawn_columns scl_drawn_columns;

/* The most bytes of the cache of a map, and the bytes of the weights of a map (float64) from which
 * on they are drawn by columns. */
enum { SCL_COLUMN_CACHE = 1 << 30 };
static const double SCL_COLUMNS_FROM = 2e9;
/* For tests: another number of bytes for either, for maps that are made later; 0: those above. */
void scl_drawn_columns_set(double from, size_t cache);
double scl_drawn_columns_from(void);

/* For the rows of a projection: `planes` runs of parameters. */
scl_status scl_drawn_columns_create(const scl_origin *origin, size_t rows, size_t planes,
                                    scl_dtype dtype, scl_drawn_columns **out, scl_error *error);
void scl_drawn_columns_destroy(scl_drawn_columns *drawn);
size_t scl_drawn_columns_bytes(const scl_drawn_columns *drawn); /* once the cache is full */

/* z of the tile's sparse rows, but for the bias; in the calling thread. */
scl_status scl_drawn_columns_project(const scl_drawn_columns *drawn, const scl_tile *tile,
                                     scl_error *error);

#endif
