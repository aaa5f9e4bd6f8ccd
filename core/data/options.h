/* Options of the readers: the declared rows, for the validator, help and completion, and functions that
 * turn checked values into the options of a reader. Opaque options (names of columns, the target,
 * schemas) are read by the caller. */
#ifndef SCULLERY_DATA_READER_OPTIONS_H
#define SCULLERY_DATA_READER_OPTIONS_H

#include "data/csv/csv.h"
#include "data/idx.h"
#include "data/libsvm.h"
#include "data/matrix_market.h"
#include "plugin/options.h"

typedef struct scl_reader_options {
  const char *reader; /* "csv", "libsvm", "matrix_market", "idx" */
  const scl_option *rows;
  size_t count;
} scl_reader_options;

/* NULL: no such reader. */
const scl_reader_options *scl_reader_options_of(const char *reader);

/* Set the options that have values, and leave the others. Returns what becomes of a missing number
 * (scl_missing), -1 if no value says it. */
int scl_csv_set_options(const scl_settings *s, scl_csv_options *o);
scl_libsvm_options scl_libsvm_options_of(const scl_settings *s);
scl_matrix_market_options scl_matrix_market_options_of(const scl_settings *s);
scl_idx_options scl_idx_options_of(const scl_settings *s);

#endif
