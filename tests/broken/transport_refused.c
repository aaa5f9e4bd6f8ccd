/* The memory that `open` asks for is taken to be there. */
// caught by: refused-memory fail
// says: crash
#include "transport.h"

static scl_status wrong_open(const void *instance, void **out, scl_error *error) {
  const chain *self = instance;
  int *note = self->base.host->allocate(sizeof *note);
  *(volatile int *)note = 1;
  self->base.host->release(note);
  return my_open(instance, out, error);
}

BROKEN_TRANSPORT(.open = wrong_open)
