/* Files opened and read so that Ctrl-C ends every wait: for the writer of a pipe, for a terminal,
 * for a device that never ends. */
#ifndef SCULLERY_FILE_H
#define SCULLERY_FILE_H

#include "base/memory.h"

typedef struct scl_file {
  const char *path; /* for sentences; borrowed */
  int descriptor;   /* -1: not open */
  bool regular;
  bool shared; /* a pipe or device that process 0 reads for all, which make the same calls */
  size_t size; /* of a regular file */
} scl_file;

/* Open for reading; returns at once, whatever it is. Refused, with SCL_STATUS_IO: a folder, a
 * socket, what is missing or cannot be read. */
scl_status scl_file_open(const char *path, scl_file *out, scl_error *error);
/* The same, and pipes and devices are refused too. */
scl_status scl_file_open_regular(const char *path, scl_file *out, scl_error *error);
/* A second descriptor of the standard input; its path is "-". */
scl_status scl_file_standard_input(scl_file *out, scl_error *error);
/* The next bytes, up to `size`, as soon as there are some; *got = 0 at the end. Ctrl-C:
 * SCL_STATUS_CANCELLED. */
scl_status scl_file_read(const scl_file *file, void *to, size_t size, size_t *got,
                         scl_error *error);
/* The next byte to be read is that at place `from` of a regular file. */
scl_status scl_file_seek(const scl_file *file, size_t from, scl_error *error);
/* Exactly `size` bytes from place `from` of a regular file; fewer: SCL_STATUS_BAD_DATA. */
scl_status scl_file_read_at(const scl_file *file, size_t from, size_t size, void *to,
                            scl_error *error);
/* Closed already: nothing. */
void scl_file_close(scl_file *file);

#endif
