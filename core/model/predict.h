/* Prediction with a fitted pipeline, for rows of a file, of a matrix or of a program's buffer.
 * core/lua/predict.c and buffers.c call it. */
#ifndef SCULLERY_MODEL_PREDICT_H
#define SCULLERY_MODEL_PREDICT_H

#include "learn/isotonic.h"
#include "learn/labels.h"
#include "learn/model.h"
#include "learn/platt.h"
#include "model/target_form.h"

/* The parts of a fitted pipeline that are needed to predict. All are borrowed, and constant while
 * they are used, so that many threads may share them. */
typedef struct scl_fitted {
  scl_fitted_stage *const *stages; /* n_stages of them */
  size_t n_stages;
  const scl_map *map;      /* NULL: the staged rows are the features */
  const scl_model *learnt; /* NULL: coefficients */
  /* D x c, 1 x c and, or NULL, D numbers: scores are (phi - pilot) weights + intercept. */
  const scl_matrix *weights, *intercept;
  const double *pilot;
  scl_dtype dtype;             /* of rows without a map that `learnt` takes */
  size_t block;                /* rows of a block of the walk, 0: chosen */
  scl_classes classes;         /* the label of each class in predictions; count 0: a regression */
  const scl_platt *sigmoids;   /* of calibrated probabilities, c of them, or NULL */
  const scl_isotonic *curves;  /* the same by isotonic regression, or NULL */
  const scl_instance *by_loss; /* the solver whose loss gives probabilities, or NULL */
  const scl_instance *means;   /* the solver whose loss turns scores into values, or NULL */
  scl_target_form form;        /* is undone in the values of a regression, not in its scores */
  bool multilabel;             /* values are 1 where they are above 1/2, else 0 */
  const char *doing;           /* for progress; NULL shows none */
} scl_fitted;

/* The walk over the rows of a source that makes the features of the model. With a solver's own model
 * and without a map, its dtype decides what the rows are converted to. */
scl_flow scl_fitted_flow(const scl_fitted *fitted, scl_source *source);

typedef enum scl_prediction {
  SCL_PREDICT_SCORES = 0,   /* n x c */
  SCL_PREDICT_LABELS,       /* n x 1 numbers of classes; of a regression the values, n x c;
                               of multi-label targets 0 and 1, n x c */
  SCL_PREDICT_PROBABILITIES /* n x classes */
} scl_prediction;

/* out (float64, made here): predictions for all rows of a source, row i of the source in row i, by
 * one walk over blocks of rows. Each row has the same bits in any source whose rows begin with the
 * same whole blocks. SCL_STATUS_UNSUPPORTED: probabilities that are not known. */
scl_status scl_predict(const scl_fitted *fitted, scl_source *source, scl_prediction what,
                       scl_matrix *out, scl_error *error);
/* The same from scores that were predicted before. The caller releases *out. */
scl_status scl_predict_from(const scl_fitted *fitted, const scl_matrix *scores, scl_prediction what,
                            scl_matrix *out, scl_error *error);
/* *out = whether the loss of a solver turns the scores of a regression into means. */
scl_status scl_loss_has_means(const scl_instance *solver, size_t targets, bool *out,
                              scl_error *error);
/* *out = whether the loss of a solver gives probabilities. */
scl_status scl_loss_has_probabilities(const scl_instance *solver, size_t targets, bool *out,
                                      scl_error *error);

#endif
