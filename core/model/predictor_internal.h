/* A predictor: what a saved pipeline needs to predict. */
#ifndef SCULLERY_PREDICTOR_INTERNAL_H
#define SCULLERY_PREDICTOR_INTERNAL_H

#include "data/schema.h"
#include "model/saved.h"
#include "learn/model.h"
#include "learn/platt.h"
#include <scullery/scullery.h>

typedef enum scl_said {
  SCL_SAID_NONE = 0,
  SCL_SAID_BY_LOSS,    /* probabilities are those of the solver's loss */
  SCL_SAID_BY_SIGMOIDS /* Platt's, one a target */
} scl_said;

/* Constant once it is loaded: calls of many threads share it. */
struct scl_predictor {
  size_t dim, targets, block;
  scl_stage **stages;
  size_t n_stages;
  scl_map *map; /* NULL: none */
  scl_instance *solver;
  scl_model *learnt;             /* NULL: coefficients */
  scl_matrix weights, intercept; /* D x c, 1 x c */
  scl_matrix pilot;              /* 1 x D, subtracted from features; no storage: zeros */
  scl_dtype dtype;               /* of rows without a map that `learnt` takes */
  bool classification;
  size_t n_classes;
  char **labels;
  double *numbers; /* of labels that are numbers; else NaN */
  scl_said said;
  scl_platt *sigmoids;
  char **names;       /* of the columns, NULL: they have none */
  scl_schema *schema; /* of the table that they come from, NULL: not known */
};

/* restore.c: everything, from an open file. What is there where it fails is to be released. */
scl_status scl_predictor_restore(scl_saved *saved, scl_predictor *out, scl_error *error);
/* columns.c: names and table of the columns. */
scl_status scl_predictor_read_columns(const scl_saved *saved, const cJSON *fields,
                                      scl_predictor *out, scl_error *error);

#endif
