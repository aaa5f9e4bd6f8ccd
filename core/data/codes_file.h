/* Packed codes in a file: "SCLCODE1", then rows, columns and levels, then each row's words one
 * after another (plane by plane), all as little-endian 64-bit numbers. */
#ifndef SCULLERY_CODES_FILE_H
#define SCULLERY_CODES_FILE_H

#include "codes/codes.h"

/* Whole or not at all. */
scl_status scl_codes_write(const scl_codes *codes, const char *path, scl_error *error);
/* Plain or gzip. SCL_STATUS_BAD_DATA for what is no such file, is cut short, or holds numbers that
 * are none of the levels. */
scl_status scl_codes_read(const char *path, scl_codes **out, scl_error *error);

#endif
