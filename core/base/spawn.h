/* Starting a program, without a shell. */
#ifndef SCULLERY_SPAWN_H
#define SCULLERY_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct scl_spawn {
  const char *program; /* searched in PATH unless it contains '/' */
  char *const *arguments, *const *variables;
  const int *files; /* become descriptors 0, 1, ... of the child; >= count, or -1: /dev/null */
  size_t count;
  bool own_group; /* start a process group: Ctrl-C of the terminal does not reach the child */
} scl_spawn;

/* Start a program. Returns 0 or an errno. The child inherits no other descriptors and has default
 * signal handling. */
int scl_spawn_start(const scl_spawn *what, pid_t *child);

#endif
