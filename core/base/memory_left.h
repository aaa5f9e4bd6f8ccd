/* How much memory this process can still get. */
#ifndef SCULLERY_MEMORY_LEFT_H
#define SCULLERY_MEMORY_LEFT_H

#include <stddef.h>

/* Bytes: the least of what the machine has free (nine tenths of it; without /proc, of all it has),
 * what the control groups of the process leave (versions 1 and 2, with all groups that they lie
 * in), and what RLIMIT_AS and RLIMIT_DATA leave. What was allocated and not touched yet is taken
 * off. It reads a few small files of the system: some tens of microseconds. */
size_t scl_memory_left(void);
/* The same with those files below the folder `root`. */
size_t scl_memory_left_under(const char *root);

#endif
