/* A predictor of scullery/scullery.h: a restored pipeline in the form that scl_predict takes. */
#ifndef SCULLERY_MODEL_PREDICTOR_H
#define SCULLERY_MODEL_PREDICTOR_H

#include "model/predict.h"
#include "model/restore.h"
#include <scullery/scullery.h>

/* Constant once it is loaded: calls of many threads share it. */
struct scl_predictor {
  scl_restored parts;
  scl_schema *schema; /* of the table that the columns come from, NULL: not known */
  double *places;     /* of the classes: 0, 1, ... */
  scl_fitted fitted;  /* points into `parts` and `places` */
};

#endif
