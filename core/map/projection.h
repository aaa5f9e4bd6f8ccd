/* z = <w, x> + b (x_i - t for thresholds) for many parameters: how rows meet parameters, as the
 * rule of each space says (space.c). */
#ifndef SCULLERY_PROJECTION_H
#define SCULLERY_PROJECTION_H

#include "algebra/csr.h"
#include "map/parameters.h"
#include "plugin/prepare.h"

struct scl_space_rule;

/* What a projection is made from. */
typedef struct scl_projection_spec {
  const scl_origin *origin; /* structured rows: the sampler is called for them */
  const scl_layout *layout;
  const scl_parameters *rows; /* float64 */
  size_t planes;              /* fan_in: rows are `planes` runs of parameters */
  scl_dtype dtype;
  bool by_columns;               /* dense rows, of which only the bias was drawn: drawn_columns.h */
  const double *factor, *offset; /* dim numbers each, or NULL: structured rows w become factor o w +
                                    offset, as K's tilt asks */
} scl_projection_spec;

typedef struct scl_projection {
  const struct scl_space_rule *rule; /* the way it is done: sparse rows may have become dense */
  scl_dtype dtype;
  size_t dim, rows;
  size_t bytes; /* of the stored rows */
  void *weights;
  int32_t *support;
  size_t slots;      /* sparse: columns kept a parameter */
  int32_t *degree;   /* sparse: the largest in-degree of each run of parameters */
  size_t *begin;     /* sparse, on turned rows: where each parameter's slots begin (rows + 1) */
  void *bias;        /* rows, or NULL */
  scl_origin origin; /* structured: the sampler is shared */
  scl_parameter_set structured;
  size_t planes;
  scl_prepared_work *prepared;        /* structured: of each plane */
  void *factor, *offset;              /* dim each, or NULL */
  struct scl_drawn_columns *drawn;    /* dense: the weights are drawn by columns; or NULL */
  struct scl_projection_index *index; /* by columns, made for the first sparse rows; or NULL */
} scl_projection;

/* Where a projection happens: the first row of x and of z, the row strides, rows of x,
 * parameters. */
typedef struct scl_tile {
  const void *x;
  void *z;
  ptrdiff_t x_stride, z_stride;
  size_t rows, first, cols;
  const void
      *turned; /* the rows turned (scl_projection_turn), or NULL where they are not at hand */
  const scl_csr *csr; /* sparse rows in place of x, in the projection's dtype; borrowed; or NULL */
} scl_tile;

scl_status scl_projection_create(const scl_projection_spec *spec, scl_projection **out,
                                 scl_error *error);
void scl_projection_destroy(scl_projection *projection);

size_t scl_projection_bytes(const scl_projection *projection);
/* 1, or how many parameters are projected together: first and cols are multiples of it. */
size_t scl_projection_block(const scl_projection *projection);

/* Whether the projection works on turned (transposed) rows: dim x SCL_LANES numbers, column after
 * column of x, with 0 after the last row. A caller with several tiles of the same rows, at most
 * SCL_LANES of them, turns these once and passes them in scl_tile.turned. */
bool scl_projection_turns(const scl_projection *projection);
void scl_projection_turn(const scl_projection *projection, const void *x, ptrdiff_t x_stride,
                         size_t rows, void *turned);

/* Whether the projection takes sparse rows, without their zeros. scl_projection_open comes
 * before them, in each thread that asks for projections of sparse rows. */
bool scl_projection_takes_csr(const scl_projection *projection);
scl_status scl_projection_open(const scl_projection *projection, scl_error *error);

/* z (rows x cols at z_stride) = projections of x (rows x dim at x_stride), or of the sparse rows, on
 * parameters first .. first+cols-1, all in the projection's dtype; in the calling thread. Sparse
 * rows give the same bits as dense ones. */
scl_status scl_projection_apply(const scl_projection *projection, const scl_tile *tile,
                                scl_error *error);

#endif
