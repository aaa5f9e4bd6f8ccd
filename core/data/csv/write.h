/* A matrix as comma-separated text. */
#ifndef SCULLERY_CSV_WRITE_H
#define SCULLERY_CSV_WRITE_H

#include "algebra/matrix.h"

/* The text as a field, in quotes where it would read as something else; `to` has room for 2 length
 * + 2 bytes. Returns how many it took. */
size_t scl_csv_quote(const char *text, size_t length, char *to);

/* Whole or not at all; names (a->cols of them, or NULL) are the first line. Every number reads back
 * as the same number. */
scl_status scl_csv_write(const scl_matrix *a, const char *const *names, const char *path,
                         scl_error *error);

#endif
