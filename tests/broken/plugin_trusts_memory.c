/* Writes to memory without a look at whether there was any. */
// caught by: no-memory crash
// says: slot create
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  (void)error;
  self->first = numbers_of(self);
  memset(self->first, 0, self->count * sizeof(double));
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  const holder *self = instance;
  self->base.host->release(self->first);
}

BROKEN_RECTIFIER(holder, options, create, destroy);
