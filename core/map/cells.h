/* Occupied cells of random grids: for each grid an exact dictionary from a cell (a category of
 * `words` whole numbers) to a feature. Memory is linear in the number of occupied cells: one byte
 * for each word (two or four if a grid's numbers need it), and a slot of a hash table. */
#ifndef SCULLERY_CELLS_H
#define SCULLERY_CELLS_H

#include "map/parameters.h"

typedef struct scl_cells scl_cells;

/* Grids as the sampler drew them (pitches, then shifts), and the nonlinearity that names their
 * cells. */
scl_status scl_cells_create(scl_instance *phi, const scl_parameters *grids, scl_cells **out,
                            scl_error *error);
/* The same grids, without cells. */
scl_status scl_cells_create_empty(const scl_cells *like, scl_cells **out, scl_error *error);
void scl_cells_destroy(scl_cells *cells);

size_t scl_cells_count(const scl_cells *cells); /* features once settled, else 0 */
size_t scl_cells_bytes(const scl_cells *cells);
size_t scl_cells_words(const scl_cells *cells); /* whole numbers that name a cell */

/* Write the dictionary to arrays of a file: counts[t] = cells of grid t; words = the names of the
 * cells, grid after grid (scl_cells_count rows of scl_cells_words). Read it back into an empty
 * dictionary of the same grids, `rows` cells in all; everything is checked: SCL_STATUS_BAD_DATA. */
void scl_cells_export(const scl_cells *cells, int64_t *counts, int32_t *words);
scl_status scl_cells_import(scl_cells *cells, const int64_t *counts, const int32_t *words,
                            size_t rows, scl_error *error);

/* Learn the cells of x (rows x d at stride): a grid's cells are numbered in the order of the rows
 * that first fall into them. After the last rows, call scl_cells_settle, which numbers the
 * features: the cells of grid 0, then those of grid 1, and so on. scl_cells_find: see
 * scl_map_apply_cells. */
scl_status scl_cells_learn(scl_cells *cells, scl_dtype dtype, const void *x, ptrdiff_t x_stride,
                           size_t rows, scl_error *error);
/* Learn the cells of `from` after those of `into`, in their order. */
scl_status scl_cells_merge(scl_cells *into, const scl_cells *from, scl_error *error);
scl_status scl_cells_settle(scl_cells *cells, scl_error *error);
scl_status scl_cells_find(const scl_cells *cells, scl_dtype dtype, const void *x,
                          ptrdiff_t x_stride, size_t rows, int32_t *columns, scl_error *error);

#endif
