/* Targets of a regression that are transformed before learning. */
#ifndef SCULLERY_MODEL_TARGET_FORM_H
#define SCULLERY_MODEL_TARGET_FORM_H

#include "rows/source.h"

/* How targets were transformed: to (log y - mean) / scale, or (y - mean) / scale without the
 * logarithm, each target with its own numbers. */
typedef struct scl_target_form {
  bool log;
  size_t count; /* of targets; 0: they were learnt as they are */
  double *mean, *scale;
} scl_target_form;

/* *out (n x c, made here): scores of a model back on the scale of the data.
 * SCL_STATUS_BAD_SHAPE: the form is of another number of targets. */
scl_status scl_target_form_undo(const scl_target_form *form, const scl_matrix *scores,
                                scl_matrix *out, scl_error *error);
/* The rows of another source with transformed targets. `from` is borrowed, the form is copied. A form
 * of k times as many targets takes each target k times in a row, before it is transformed.
 * Reading fails with SCL_STATUS_BAD_DATA at the logarithm of a target of 0 or less. */
scl_status scl_source_formed(scl_source *from, const scl_target_form *form, scl_source **out,
                             scl_error *error);

#endif
