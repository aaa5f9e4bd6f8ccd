/* Named arrays of a saved model, in memory: what a solver's `save` puts and its `load` gets
 * (scl_archive in scullery/plugin/solver.h). */
#ifndef SCULLERY_ARCHIVE_H
#define SCULLERY_ARCHIVE_H

#include "base/memory.h"

enum { SCL_ARCHIVE_NAME = 60 };

typedef struct scl_archive_entry {
  char name[SCL_ARCHIVE_NAME + 1];
  scl_array array; /* owns its numbers */
} scl_archive_entry;

typedef struct scl_array_archive {
  scl_archive archive; /* first: what plugins see */
  scl_archive_entry *entries;
  size_t count, room;
} scl_array_archive;

/* Make an empty archive. scl_archive_close releases the arrays, and leaves it empty. */
void scl_archive_open(scl_array_archive *archive);
void scl_archive_close(scl_array_archive *archive);
/* The number of elements of an array; 0 also if the product of its sizes overflows. */
size_t scl_array_count(const scl_array *array);
/* The same in bytes; 0 also for a dtype that archives do not take. */
size_t scl_array_bytes(const scl_array *array);

#endif
