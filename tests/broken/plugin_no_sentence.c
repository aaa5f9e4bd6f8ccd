/* Fails without a sentence where memory is short. */
// caught by: no-memory fail
// says: no sentence
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  (void)error;
  self->first = numbers_of(self);
  return self->first == NULL ? SCL_STATUS_NO_MEMORY : SCL_STATUS_OK;
}

static void destroy(void *instance) {
  const holder *self = instance;
  self->base.host->release(self->first);
}

BROKEN_RECTIFIER(holder, options, create, destroy);
