/* `destroy` aborts. */
// caught by: lives crash
// says: slot destroy
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  (void)error;
  self->first = malloc(self->count * sizeof(double));
  return SCL_STATUS_OK;
}

static void destroy(void *instance) {
  holder *self = instance;
  free(self->first);
  abort();
}

BROKEN_RECTIFIER(holder, options, create, destroy);
