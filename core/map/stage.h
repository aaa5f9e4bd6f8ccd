/* Fitted row stages: they map rows to rows by what they learnt on a walk over the data, and are
 * then constant. They change the rows of data before a map (rows/flow.h), or the features that a
 * map makes of them (kind_staged.c). */
#ifndef SCULLERY_MAP_STAGE_H
#define SCULLERY_MAP_STAGE_H

#include "algebra/csr.h"
#include "plugin/stage.h"

/* Named arrays, each of which owns its numbers. */
typedef struct scl_stage_arrays {
  size_t count;
  char names[SCL_STAGE_ARRAYS][SCL_STAGE_NAME + 1];
  scl_array arrays[SCL_STAGE_ARRAYS]; /* data NULL: not there yet */
} scl_stage_arrays;
/* Copy an array to the place of that name. add: a new name is added, otherwise it is refused.
 * SCL_STATUS_BAD_DATA: a number is not finite. */
scl_status scl_stage_arrays_put(scl_stage_arrays *arrays, bool add, const char *name,
                                const scl_array *array, scl_error *error);
void scl_stage_arrays_release(scl_stage_arrays *arrays);

typedef struct scl_fitted_stage {
  scl_instance *instance; /* NULL: relevance (rows/relevance.h), (x - mean) * factor */
  size_t cols_in, cols_out;
  scl_stage_arrays state;
  scl_stage_state fitted; /* the same for the plugin */
  bool keeps_zeros; /* a row's numbers that are 0 stay so, and scl_fitted_stage_apply_csr works */
  size_t constant;  /* how many columns were constant when a stage of the simple form was fitted */
} scl_fitted_stage;

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
/* out (cols records) = the moments of each column. */
void scl_column_moments_list(const scl_column_moments *m, scl_stage_column *out);

/* A stage on rows of `cols` columns, with a reference to the instance (NULL: relevance), whose
 * arrays are to be put. */
scl_status scl_fitted_stage_create(scl_instance *instance, size_t cols, scl_fitted_stage **out,
                                   scl_error *error);
/* Check that all arrays are there and of the right shapes, and set cols_out. */
scl_status scl_fitted_stage_settle(scl_fitted_stage *stage, scl_error *error);
void scl_fitted_stage_destroy(scl_fitted_stage *stage);
/* "standardize" and the like. */
const char *scl_fitted_stage_name(const scl_fitted_stage *stage);
/* Put its `shift` and `factor` (cols_in numbers each), the two arrays of the simple form. */
scl_status scl_fitted_stage_put_scales(scl_fitted_stage *stage, const double *shift,
                                       const double *factor, scl_error *error);
/* The same, computed from the moments of the columns. */
scl_status scl_fitted_stage_scale(scl_fitted_stage *stage, const scl_column_moments *moments,
                                  scl_error *error);
/* out (rows x cols_out) = rows of in (rows x cols_in), each at `stride`; in and out do not
 * overlap. SCL_STATUS_BAD_DATA: a number of out is not finite. */
scl_status scl_fitted_stage_apply(const scl_fitted_stage *stage, const double *in, size_t rows,
                                  ptrdiff_t stride, double *out, scl_error *error);
/* The same of sparse rows, of a stage with keeps_zeros: out->rows and out->cols are those of the
 * result, starts are written from 0, and there is room for the numbers of `in`.
 * SCL_STATUS_INTERNAL: the stage wrote what are no sparse rows. */
scl_status scl_fitted_stage_apply_csr(const scl_fitted_stage *stage, const scl_const_csr *in,
                                      const scl_csr_block *out, scl_error *error);

/* Apply stages in order to `rows` rows in one of two buffers with room for the widest rows at
 * `stride`. *result: the buffer with the last rows. */
scl_status scl_fitted_stages_apply(const scl_fitted_stage *const *stages, size_t count,
                                   double *first, double *second, size_t rows, ptrdiff_t stride,
                                   double **result, scl_error *error);

#endif
