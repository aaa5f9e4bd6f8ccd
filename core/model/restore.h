/* A fitted pipeline from a file, checked and put together again: for sc.load and for
 * scl_predictor_load. */
#ifndef SCULLERY_MODEL_RESTORE_H
#define SCULLERY_MODEL_RESTORE_H

#include "data/schema.h"
#include "learn/isotonic.h"
#include "learn/model.h"
#include "learn/platt.h"
#include "model/predict.h"
#include "model/saved.h"
#include "text/encoder.h"

/* What was fitted. The owner of the struct owns the parts. */
typedef struct scl_restored {
  size_t dim, block;                  /* block: rows of a block of a walk, 0: chosen */
  size_t targets;                     /* 0: the pipeline has no solver */
  scl_fitted_stage **stages, **after; /* before the features, and after them */
  size_t n_stages, n_after;
  scl_map *map;                  /* NULL: none */
  scl_map *base;                 /* the map before the stages after it, which `map` borrows; NULL:
                                    there are no such stages */
  scl_instance *solver;          /* NULL: none */
  scl_model *learnt;             /* NULL: coefficients */
  scl_matrix weights, intercept; /* D x c, 1 x c; of components of the features without a solver;
                                    no storage: none */
  scl_matrix pilot;              /* 1 x D, subtracted from features; no storage: zeros */
  scl_dtype dtype;               /* of rows without a map that `learnt` takes */
  bool classification, multilabel;
  size_t n_classes;
  char **labels;
  double *numbers;           /* of labels that are numbers; else NaN */
  scl_platt *sigmoids;       /* calibrated probabilities, or NULL */
  scl_isotonic *curves;      /* the same by isotonic regression, or NULL */
  bool by_loss;              /* probabilities are those of the solver's loss */
  bool means;                /* values of a regression are means, by the solver's loss */
  scl_target_form form;      /* of a regression */
  char **names;              /* of the columns, NULL: they have none */
  scl_text_encoder *encoder; /* of the texts that are the rows; NULL: rows are numbers */
} scl_restored;

/* Restore everything but the schema. The caller releases *out, which has to be zeros before, also
 * after a failure. */
scl_status scl_restore(scl_saved *saved, scl_restored *out, scl_error *error);
void scl_restored_release(scl_restored *restored);

/* columns.c: the list `names` of `dim` texts. *out is unchanged if there is no such list. The
 * caller releases *out. */
scl_status scl_saved_names(const scl_saved *saved, const cJSON *from, size_t dim, char ***out,
                           scl_error *error);
/* text.c: *out = the encoder of texts of a fitted model of `dim` columns, which the caller
 * destroys. */
scl_status scl_saved_text_encoder(const scl_saved *saved, const cJSON *model, size_t dim,
                                  scl_text_encoder **out, scl_error *error);
/* The schema of the CSV table that the columns of a pipeline come from. *out is NULL if they come
 * from another format, or if the rows no longer have the table's columns. The caller destroys
 * *out. */
scl_status scl_saved_schema(const scl_saved *saved, size_t dim, scl_schema **out, scl_error *error);

#endif
