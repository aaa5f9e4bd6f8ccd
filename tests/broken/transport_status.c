/* The process that starts the others forgets how they end. */
// caught by: status fail
// says: ended with status 0
#include "transport.h"

static scl_status wrong_open(const void *instance, void **out, scl_error *error) {
  const pid_t child = fork();
  if (child == 0) return my_open(instance, out, error);
  while (wait(NULL) > 0)
    ;
  _exit(0);
}

BROKEN_TRANSPORT(.open = wrong_open)
