/* Bytes of a file, gzip or plain, with sentences for what goes wrong. */
#ifndef SCULLERY_INPUT_H
#define SCULLERY_INPUT_H

#include "base/memory.h"

typedef struct scl_input scl_input;

/* Open for reading, "-" for the standard input; gzip is known by its first bytes. A missing file, a
 * folder or what cannot be read: SCL_STATUS_IO. */
scl_status scl_input_open(const char *path, scl_input **out, scl_error *error);
/* Up to `size` bytes; *got = 0 at the end. A truncated or damaged gzip file:
 * SCL_STATUS_BAD_DATA. */
scl_status scl_input_read(scl_input *input, void *to, size_t size, size_t *got, scl_error *error);
void scl_input_close(scl_input *input);

/* The whole file, with a 0 byte after the last; released by the caller. */
scl_status scl_input_all(const char *path, char **text, size_t *length, scl_error *error);

#endif
