/* A file beside the one that it will become: NAME.PROCESS-NUMBER.part in the same folder, locked as
 * long as its writer lives. */
#ifndef SCULLERY_TEMPORARY_H
#define SCULLERY_TEMPORARY_H

#include "base/memory.h"

typedef struct scl_temporary {
  char *target; /* what it becomes: the path, or what it links to */
  char *name;
  int lock;       /* keeps the file locked until it is released */
  int unfinished; /* place among the names of base/unfinished.h */
} scl_temporary;

/* Make the temporary file, open for writing, and remove those that dead writers of the same target
 * left. A target that is there must be a plain file that may be written; the new one gets its mode
 * and, as far as the user may, its owner and group. SCL_STATUS_IO with a sentence otherwise. */
scl_status scl_temporary_open(const char *path, scl_temporary *out, int *descriptor,
                              scl_error *error);
/* Make it the target; 0, or errno. The name is still there where it fails. */
int scl_temporary_keep(const scl_temporary *temporary);
/* Remove it. */
void scl_temporary_remove(const scl_temporary *temporary);
/* Ends the lock and the names, after the file was kept or removed. */
void scl_temporary_release(scl_temporary *temporary);
/* Put the folder of the file on the disk: only then a new name in it is safe. */
void scl_temporary_sync_folder(const char *path);

#endif
