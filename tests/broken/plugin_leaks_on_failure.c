/* Where the second array cannot be had, the first is not given back: `destroy` is not called. */
// caught by: no-memory fail
// says: stay behind
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  self->first = numbers_of(self);
  if (self->first == NULL) return no_memory(self, error);
  self->second = numbers_of(self);
  return self->second == NULL ? no_memory(self, error) : SCL_STATUS_OK;
}

static void destroy(void *instance) {
  const holder *self = instance;
  self->base.host->release(self->first);
  self->base.host->release(self->second);
}

BROKEN_RECTIFIER(holder, options, create, destroy);
