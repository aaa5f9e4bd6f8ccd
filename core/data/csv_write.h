/* A matrix as comma-separated text. */
#ifndef SCULLERY_CSV_WRITE_H
#define SCULLERY_CSV_WRITE_H

#include "algebra/matrix.h"

/* Whole or not at all; names (a->cols of them, or NULL) are the first line. Every number reads back
 * as the same number. */
scl_status scl_csv_write(const scl_matrix *a, const char *const *names, const char *path,
                         scl_error *error);

#endif
