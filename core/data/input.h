/* Bytes of a file, gzip or plain, with sentences for what goes wrong. Every wait and every long
 * read ends at Ctrl-C (SCL_STATUS_CANCELLED). */
#ifndef SCULLERY_INPUT_H
#define SCULLERY_INPUT_H

#include "base/memory.h"

typedef struct scl_input scl_input;

/* Open for reading, "-" for the standard input; gzip is known by its first bytes. A missing file, a
 * folder or what cannot be read: SCL_STATUS_IO. */
scl_status scl_input_open(const char *path, scl_input **out, scl_error *error);
/* `size` bytes, fewer at the end alone. A truncated or damaged gzip file: SCL_STATUS_BAD_DATA. */
scl_status scl_input_read(scl_input *input, void *to, size_t size, size_t *got, scl_error *error);
/* After the first read, the most bytes that the file can hold: the size of a plain file, 1032 times
 * that of a packed one; SIZE_MAX where it is not known. */
size_t scl_input_most(const scl_input *input);
/* Whether the file is gzip, after the first read. */
bool scl_input_is_packed(const scl_input *input);
/* input may be NULL. */
void scl_input_close(scl_input *input);

/* The whole file as a text, with a 0 byte after the last; released by the caller. A zero byte in
 * it: SCL_STATUS_BAD_DATA with its line. More than there is memory for: SCL_STATUS_NO_MEMORY with a
 * sentence that ends in `advice`. */
scl_status scl_input_text(const char *path, const char *advice, char **text, size_t *length,
                          scl_error *error);
/* Refuse the zero byte at `zero` of the text from `text`, whose first line is number `line`. */
scl_status scl_input_refuse_zero(const char *path, const char *text, const char *zero, size_t line,
                                 scl_error *error);

#endif
