/* What `create` takes from malloc is never freed. */
// caught by: lives fail
// says: bytes of malloc
#include "held.h"

static scl_status create(void *instance, scl_error *error) {
  holder *self = instance;
  self->first = malloc(self->count * sizeof(double));
  if (self->first == NULL) return no_memory(self, error);
  return SCL_STATUS_OK;
}

BROKEN_RECTIFIER(holder, options, create, NULL);
