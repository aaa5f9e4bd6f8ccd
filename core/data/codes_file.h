/* Packed codes in a file: "SCLCODE1", then rows, columns and levels, then each row's words one
 * after another (plane by plane), all as little-endian 64-bit numbers. */
#ifndef SCULLERY_CODES_FILE_H
#define SCULLERY_CODES_FILE_H

#include "codes/codes.h"

/* Writes the file whole or not at all. */
scl_status scl_codes_write(const scl_codes *codes, const char *path, scl_error *error);
/* Reads a plain or gzip file; the caller destroys *out. SCL_STATUS_BAD_DATA for a file of another
 * kind, one that is cut short, and numbers that are not among the levels. */
scl_status scl_codes_read(const char *path, scl_codes **out, scl_error *error);

#endif
