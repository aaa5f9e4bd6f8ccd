/* Parameter spaces: one row of a table for each, with everything that differs between them. A new
 * space is a constant in the public header and a row in space.c. */
#ifndef SCULLERY_SPACE_H
#define SCULLERY_SPACE_H

#include "map/projection.h"

/* With a tilt, what the standard deviation of z depends on. */
typedef enum scl_spread_kind {
  SCL_SPREAD_ROW,       /* ||spread o x||, one a row of data */
  SCL_SPREAD_PARAMETER, /* spread of the parameter's column */
  SCL_SPREAD_ENTRY      /* the norm over the parameter's support, one an entry */
} scl_spread_kind;

typedef struct scl_space_rule {
  const char *summary;    /* one line, for help */
  const char *rows;       /* "dense rows": what its parameters are called in a sentence */
  const char *matrix_row; /* "weights": what a row of the matrix of parameters holds */
  scl_space seen;         /* the space that kernels are shown: of structured rows the dense one */
  bool names_columns;     /* the first half of such a row names columns of the data */
  bool several;           /* a parameter may be made of several scalars (fan_in > 1) */
  bool cells;             /* z are cells of a grid: one-hot features alone */
  bool whole_blocks;      /* drawn, kept and applied in whole blocks */
  bool by_degree;         /* laws and tilts depend on the in-degree of a parameter */
  bool by_threshold;      /* z = x_i - t: pairs of rows meet through distribution functions */
  int32_t least_column;   /* in support: -1 where a column may be absent */
  scl_spread_kind spread;
  /* Whether a layout has the numbers that the space needs; NULL: any. */
  bool (*fits_layout)(const scl_layout *layout, size_t dim);
  /* Refuse drawn parameters, whose weights are finite, that the space cannot have; `name` is the
   * sampler's. NULL: all are valid. */
  scl_status (*check_drawn)(const char *name, const scl_parameters *drawn, scl_error *error);
  /* Projection: store the rows and set p->bytes; project a tile on them, but for the bias. NULL:
   * rows of this space are not projected. */
  scl_status (*store)(scl_projection *p, const scl_projection_spec *spec, scl_error *error);
  scl_status (*project)(const scl_projection *p, const scl_tile *tile, scl_error *error);
} scl_space_rule;

/* The row of a space, NULL where this version knows none; all spaces are 0 ..
 * scl_space_count()-1. */
const scl_space_rule *scl_space_of(scl_space space);
scl_space scl_space_count(void);

#endif
