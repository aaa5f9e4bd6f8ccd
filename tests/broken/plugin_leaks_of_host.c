/* `destroy` forgets the second of two arrays of the host. */
// caught by: lives fail
// says: host->allocate
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  self->first = numbers_of(self);
  self->second = self->first == NULL ? NULL : numbers_of(self);
  if (self->second != NULL) return SCL_STATUS_OK;
  self->base.host->release(self->first);
  return no_memory(self, error);
}

static void destroy(void *instance) {
  const holder *self = instance;
  self->base.host->release(self->first);
}

BROKEN_RECTIFIER(holder, options, create, destroy);
