/* The process that waits for the others ends at Ctrl-C. */
// caught by: pressed fail
// says: the process that opened the group ended before the others
#include "transport.h"

static scl_status wrong_open(const void *instance, void **out, scl_error *error) {
  int status = 1;
  const pid_t child = fork();
  if (child == 0) return my_open(instance, out, error);
  (void)waitpid(child, &status, 0);
  _exit(WEXITSTATUS(status));
}

BROKEN_TRANSPORT(.open = wrong_open)
