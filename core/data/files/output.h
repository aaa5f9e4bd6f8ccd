/* Files written whole or not at all: a temporary in the same folder, fsync, rename, fsync of the
 * folder. Of several processes, process 0 alone writes; the others learn whether it could. */
#ifndef SCULLERY_OUTPUT_H
#define SCULLERY_OUTPUT_H

#include "base/memory.h"
#include <stdbool.h>

typedef struct scl_output scl_output;

/* Begin to write `path`; nothing is there to see before commit. Through a symbolic link, its target
 * is written; a file that is replaced leaves its mode to the new one. SCL_STATUS_IO where the
 * folder or the file that is there cannot be written, or where path is a folder, pipe or device. */
scl_status scl_output_open(const char *path, scl_output **out, scl_error *error);
/* Begin to write to the standard output, as it comes. Where its reader has gone, the program ends
 * without a word, as programs in a pipe do. */
scl_status scl_output_open_standard(scl_output **out, scl_error *error);
/* The permission bits of the file, whatever the umask or the file that is replaced says. */
void scl_output_set_mode(scl_output *output, unsigned mode);
/* Remembers the first failure, and writes nothing after it or after Ctrl-C; commit reports both. */
void scl_output_write(scl_output *output, const void *bytes, size_t size);
/* Other bytes in the place of some that were written, `from` the beginning of a file. */
void scl_output_rewrite(scl_output *output, size_t from, const void *bytes, size_t size);
/* Whether something could not be written, or Ctrl-C was pressed: going on is of no use. */
bool scl_output_failed(scl_output *output);
/* Make it the file, or say why not; the temporary is gone either way and *output is ended. */
scl_status scl_output_commit(scl_output *output, scl_error *error);
/* Give up: nothing stays. output may be NULL. */
void scl_output_abandon(scl_output *output);

#endif
