/* A predictor of scullery/scullery.h: a restored pipeline in the form that scl_predict takes. */
#ifndef SCULLERY_MODEL_PREDICTOR_H
#define SCULLERY_MODEL_PREDICTOR_H

#include "model/one_row.h"
#include "model/predict.h"
#include "model/restore.h"
#include "model/sure.h"
#include <scullery/scullery.h>

/* Constant once it is loaded, but for the spare room of `one`: calls of many threads share it. */
struct scl_predictor {
  scl_restored parts;
  scl_sure sure;      /* of a regression */
  scl_schema *schema; /* of the table that the columns come from, NULL: not known */
  double *places;     /* of the classes: 0, 1, ... */
  scl_fitted fitted;  /* points into `parts` and `places` */
  scl_one_row *one;   /* for calls with one row, which points into `fitted`; or NULL */
};

/* Rows or results of a caller: count x cols numbers, `stride` numbers apart. */
typedef struct scl_buffer {
  const char *title; /* of the function, for sentences */
  const void *data;
  scl_dtype dtype;
  size_t count, cols, stride;
} scl_buffer;

/* Check a buffer, and set its stride to `cols` (packed rows) if it is 0. `what`: "rows" or
 * "results". The bound on sizes keeps all products of counts and strides from overflowing. */
scl_status scl_buffer_check(const char *what, scl_buffer *b, scl_error *error);

#endif
