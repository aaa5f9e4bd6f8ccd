/* Starting a program, without a shell. */
#ifndef SCULLERY_SPAWN_H
#define SCULLERY_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct scl_spawn {
  const char *program; /* found on PATH where it has no '/' */
  char *const *arguments, *const *variables;
  const int *files; /* descriptors that become 0, 1, ... there, not below `count`; -1: empty */
  size_t count;
  bool own_group; /* a process group of its own: Ctrl-C of a terminal comes to us alone */
} scl_spawn;

/* 0, or an errno. The child has no other files of ours, and hears signals as a program that a shell
 * starts. */
int scl_spawn_start(const scl_spawn *what, pid_t *child);

#endif
