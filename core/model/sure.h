/* How sure a saved model is: standard deviations by its posterior, and conformal intervals by what
 * its fit kept for them. lua/scullery/model/conformal_kept.lua says what that is. */
#ifndef SCULLERY_MODEL_SURE_H
#define SCULLERY_MODEL_SURE_H

#include "learn/posterior.h"
#include "model/predict.h"
#include "model/restore.h"
#include "model/saved.h"

typedef enum scl_judges {
  SCL_JUDGES_NONE = 0, /* nothing is kept */
  SCL_JUDGES_SPLIT,    /* errors of rows that were not learnt from */
  SCL_JUDGES_FOLDS,    /* and the weights without each fold */
  SCL_JUDGES_LOO       /* and what the formula without each row takes */
} scl_judges;

/* The owner of the struct owns its parts. Matrices without storage are absent. */
typedef struct scl_sure {
  scl_posterior *posterior; /* NULL: none */
  scl_map *whitened;        /* of its features, or NULL: the model's */
  scl_judges method;
  size_t rows;                   /* that judge */
  scl_matrix scores;             /* rows x c: their errors */
  scl_matrix spread;             /* rows x 1: what errors are divided by */
  scl_matrix groups;             /* rows x 1 */
  size_t *columns, n_columns;    /* that say the group of a row; 0: groups are not of columns */
  size_t folds;                  /* K */
  scl_matrix fold;               /* 1 x rows, from 1 */
  scl_matrix weights, constants; /* D x K c, 1 x K c */
  scl_matrix projections;        /* rows x r */
  double constant;               /* 1 / n, or 0 */
  scl_matrix row_weights;        /* rows x 1; empty: 1 */
  const scl_instance *loss;      /* says how well labels fit, or NULL: scores do */
} scl_sure;

/* The posterior in a file, of D features and c targets; *out is NULL if it has none. The caller
 * destroys *out. */
scl_status scl_saved_posterior(const scl_saved *saved, size_t features, size_t targets,
                               scl_posterior **out, scl_error *error);
/* All of it, of a pipeline with these parts, which have to outlive it. The caller releases *out,
 * which has to be zeros before, also after a failure. */
scl_status scl_saved_sure(const scl_saved *saved, const scl_restored *parts, scl_sure *out,
                          scl_error *error);
void scl_sure_release(scl_sure *sure);

/* out (n x c, made here) = the standard deviations of the function at the rows of a source; with
 * `noise` those of a row. The variance of the noise is that of the evidence. */
scl_status scl_sure_deviations(const scl_sure *sure, const scl_fitted *fitted, scl_source *source,
                               bool noise, scl_matrix *out, scl_error *error);
/* low, high (n x c each, made here): the bounds of new rows at that level, which is above 0 and
 * below 1. SCL_STATUS_BAD_OPTION: there are too few rows to judge by. */
scl_status scl_sure_interval(const scl_sure *sure, const scl_fitted *fitted, scl_source *source,
                             double level, scl_matrix *low, scl_matrix *high, scl_error *error);
/* *out (n x classes, made here) = 1 where the label is in the set of the row at that level, else 0;
 * errors as scl_sure_interval. */
scl_status scl_sure_label_sets(const scl_sure *sure, const scl_fitted *fitted, scl_source *source,
                               double level, scl_matrix *out, scl_error *error);

#endif
