/* Scores of one row by a call of its own: what every call has in common is made once, when the model
 * is loaded. The same functions as in a walk over rows make the features and the product, so that a
 * row has the bits that it has among others. */
#ifndef SCULLERY_MODEL_ONE_ROW_H
#define SCULLERY_MODEL_ONE_ROW_H

#include "model/predict.h"

typedef struct scl_one_row scl_one_row;

/* *out = the row's way through a fitted pipeline, which it borrows: `cols` numbers by stages and
 * dense features to coefficients. NULL for pipelines of another form. */
scl_status scl_one_row_create(const scl_fitted *fitted, size_t cols, scl_one_row **out,
                              scl_error *error);
void scl_one_row_destroy(scl_one_row *one);

/* scores (c) of a row of `cols` numbers, on the calling thread. False: the walk over rows has to say
 * why there are none. Any number of threads may call it. */
bool scl_one_row_scores(scl_one_row *one, scl_dtype dtype, const void *row, double *scores);

#endif
