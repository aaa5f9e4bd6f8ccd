/* Fitted models that are not Phi a: what a solver with SCL_ABILITY_MODEL made, with the solver that
 * can read it. */
#ifndef SCULLERY_MODEL_H
#define SCULLERY_MODEL_H

#include "learn/archive.h"
#include "learn/problem.h"

typedef struct scl_model scl_model;

/* Fit without the rows of group `without` (-1: all rows): one model (values NULL), or one for each
 * of `count` values of the solver's path option. The caller destroys out[0 .. max(count, 1)-1]. The
 * solutions of the fits report outcome, gap and residual; they have no coefficients. Each model
 * keeps a reference to the solver. */
scl_status scl_model_fit(scl_training *training, scl_instance *solver, long without,
                         const double *values, size_t count, scl_fit *fits, scl_model **out,
                         scl_error *error);
/* Solve without each of the groups without[0 .. groups-1] (-1: all rows), in parallel. Group i and
 * value k fill fits[i max(count, 1) + k] as scl_training_solve or scl_model_fit do, and the same
 * place of `models` if the solver makes models. After a failure nothing remains allocated; if
 * several groups fail, the error is that of the first one. */
scl_status scl_training_solve_groups(scl_training *training, scl_instance *solver,
                                     const long *without, size_t groups, const double *values,
                                     size_t count, scl_fit *fits, scl_model **models,
                                     scl_error *error);
void scl_model_destroy(scl_model *model);

/* Columns of the rows that a model scores, scores of a row (c), and dtype of the rows. */
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

/* Save to named arrays (the caller opens and closes the archive), and load with the same solver and
 * sizes. Loading checks everything, since the file may be damaged: SCL_STATUS_BAD_DATA. */
scl_status scl_model_save(const scl_model *model, scl_array_archive *archive, scl_error *error);
scl_status scl_model_load(scl_instance *solver, const scl_array_archive *archive, size_t features,
                          size_t targets, scl_dtype dtype, scl_model **out, scl_error *error);

#endif
