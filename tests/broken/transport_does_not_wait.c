/* The process that starts the others does not wait for them. */
// caught by: ranks fail
// says: it has to wait for all
#include "transport.h"

static scl_status wrong_open(const void *instance, void **out, scl_error *error) {
  if (fork() != 0) _exit(0);
  usleep(300000);
  return my_open(instance, out, error);
}

BROKEN_TRANSPORT(.open = wrong_open)
