/* How much memory this process can still get. */
#ifndef SCULLERY_MEMORY_LEFT_H
#define SCULLERY_MEMORY_LEFT_H

#include <stddef.h>

/* The least of these numbers of bytes: nine tenths of the free memory of the machine (without
 * /proc, of all its memory); the rest of the limits of the process's control groups (versions 1 and
 * 2, with all parent groups); the rest of RLIMIT_AS and of RLIMIT_DATA. Memory that was allocated
 * but not touched yet is subtracted. Reads a few small files of /proc and /sys: tens of
 * microseconds. */
size_t scl_memory_left(void);
/* The same, reading these files below the folder `root` (for tests). */
size_t scl_memory_left_under(const char *root);
/* The resident memory of this process; 0 where /proc does not tell. */
size_t scl_memory_resident(void);

#endif
