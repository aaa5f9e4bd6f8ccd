/* Fitted models that are not Phi a: what a solver with SCL_ABILITY_MODEL made, with the solver that
 * can read it. */
#ifndef SCULLERY_MODEL_H
#define SCULLERY_MODEL_H

#include "learn/archive.h"
#include "learn/problem.h"

typedef struct scl_model scl_model;

/* Fit without the rows of group `without` (-1: all rows): one model (values NULL), or one for each
 * of `count` values of the solver's path option. A fit's solution tells how it went; it has no
 * coefficients. The models keep a reference to the solver. */
scl_status scl_model_fit(scl_training *training, scl_instance *solver, long without,
                         const double *values, size_t count, scl_fit *fits, scl_model **out,
                         scl_error *error);
/* Solves without each of `groups` groups (-1: all rows), side by side: fits[i max(count, 1) + k] as
 * scl_training_solve or scl_model_fit gives them, and so models where the solver makes such. Where
 * several fail, the first in their order is told. */
scl_status scl_training_solve_groups(scl_training *training, scl_instance *solver,
                                     const long *without, size_t groups, const double *values,
                                     size_t count, scl_fit *fits, scl_model **models,
                                     scl_error *error);
void scl_model_destroy(scl_model *model);

size_t scl_model_features(const scl_model *model);
size_t scl_model_targets(const scl_model *model);
scl_dtype scl_model_dtype(const scl_model *model);

/* scores (rows x c at stride) of the rows start .. start+count-1 of a block, in tiles on the pool's
 * threads. */
scl_status scl_model_decide(const scl_model *model, const scl_flow *flow,
                            const scl_flow_block *block, size_t start, size_t count, double *scores,
                            ptrdiff_t stride, scl_error *error);
/* The same of a block as it is, by one call of the solver. */
scl_status scl_model_decide_block(const scl_model *model, const scl_const_block *rows,
                                  double *scores, ptrdiff_t stride, scl_error *error);
/* out (n x c, float64, made here): the scores of all rows, row i of the source in row i. */
scl_status scl_model_decisions(const scl_flow *flow, const scl_model *model, scl_matrix *out,
                               scl_error *error);

/* To named arrays (archive comes open and empty; the caller closes it), and back with the same
 * solver and sizes. Loading trusts nothing: SCL_STATUS_BAD_DATA. */
scl_status scl_model_save(const scl_model *model, scl_array_archive *archive, scl_error *error);
scl_status scl_model_load(scl_instance *solver, const scl_array_archive *archive, size_t features,
                          size_t targets, scl_dtype dtype, scl_model **out, scl_error *error);

#endif
