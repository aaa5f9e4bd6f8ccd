/* Stages that map rows to rows, fitted on a walk over the data, then constant. They change the rows
 * of data before a map (rows/flow.h), or the features that a map makes of them (kind_staged.c). */
#ifndef SCULLERY_STAGE_H
#define SCULLERY_STAGE_H

#include "algebra/matrix.h"

typedef enum scl_stage_kind {
  SCL_STANDARDIZE = 0, /* (x - mean) / standard deviation; a constant column becomes 0 */
  SCL_MINMAX,          /* (x - min) / (max - min); a constant column becomes 0 */
  SCL_NORMALIZE,       /* unit Euclidean norm; a row of zeros stays */
  SCL_ADD_BIAS,        /* one more column of 1 */
  SCL_PROJECT,         /* rows of an orthonormal matrix times (x - mean): principal components */
  SCL_RELEVANCE,       /* (x - mean) * factor, learnt from targets: rows/relevance.h */
  SCL_SELECT           /* some of the columns, in a given order */
} scl_stage_kind;

typedef struct scl_stage {
  scl_stage_kind kind;
  size_t cols_in, cols_out;
  /* cols_in each, for the first two kinds and SCL_RELEVANCE; SCL_PROJECT: the mean, and cols_out x
   * cols_in; SCL_SELECT: NULL, and the cols_out columns, from 1. */
  double *shift, *factor;
  size_t constant; /* how many columns were constant when it was fitted */
} scl_stage;

/* Statistics of columns that a stage is fitted from: mean, sum of squared deviations, min, max. */
typedef struct scl_column_moments {
  size_t cols;
  double *mean, *square, *low, *high; /* `mean` begins the one piece of memory of all numbers, */
  double *rest;  /* rounding error of the mean, in columns far from 0 (scl_column_far), else 0 */
  double *count; /* of rows: the sum of their weights; one number, the last */
} scl_column_moments;
/* Whether a mean is so far from 0, compared with the range low to high of its numbers, that its
 * rounding error matters after it is subtracted. In such columns the error is computed too
 * (`rest`). */
bool scl_column_far(double mean, double low, double high);
scl_status scl_column_moments_create(size_t cols, scl_column_moments *out, scl_error *error);
void scl_column_moments_destroy(scl_column_moments *m);
/* Add rows (count x cols at stride), or the moments of other rows, in a numerically stable way:
 * block means and squared deviations are merged, so that numbers of similar size are added (Chan,
 * Golub and LeVeque 1983). weights: count finite numbers of at least 0, or NULL: all 1. A row of
 * weight 2 counts as two rows, one of weight 0 as none. */
void scl_column_moments_add(scl_column_moments *m, const double *x, ptrdiff_t stride, size_t count,
                            const double *weights);
void scl_column_moments_merge(scl_column_moments *into, const scl_column_moments *from);

/* "standardize" and the like. */
const char *scl_stage_name(scl_stage_kind kind);
bool scl_stage_needs_moments(scl_stage_kind kind);
/* moments may be NULL for kinds that need none. */
scl_status scl_stage_create(scl_stage_kind kind, size_t cols, const scl_column_moments *moments,
                            scl_stage **out, scl_error *error);
/* As it was fitted: shift and factor cols numbers each, NULL for kinds that learn none; not for
 * SCL_PROJECT. */
scl_status scl_stage_restore(scl_stage_kind kind, size_t cols, const double *shift,
                             const double *factor, size_t constant, scl_stage **out,
                             scl_error *error);
/* SCL_PROJECT: vectors k x cols, mean cols numbers. */
scl_status scl_stage_create_projection(const scl_matrix *vectors, const double *mean,
                                       scl_stage **out, scl_error *error);
/* SCL_SELECT: `count` columns (from 1) of rows of `cols`. */
scl_status scl_stage_create_selection(size_t cols, const double *columns, size_t count,
                                      scl_stage **out, scl_error *error);
/* Numbers that a row given to scl_stage_apply must have room for. */
size_t scl_stage_room(const scl_stage *stage);
void scl_stage_destroy(scl_stage *stage);
/* In place on one row, which has room for scl_stage_room numbers. */
void scl_stage_apply(const scl_stage *stage, double *row);

#endif
