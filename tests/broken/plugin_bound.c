/* `create` refuses the largest number that the option's range takes. */
// caught by: bounds fail
// says: a bound of its range
#include "base.h"

typedef struct powered {
  scl_base base;
  size_t order;
} powered;

static const scl_option options[] = {
    SCL_INTEGER(powered, order, "1", "exponent of z", SCL_WITHIN(1, 8))};

static scl_status create(void *instance, scl_error *error) {
  const powered *self = instance;
  if (self->order < 8) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "order = %zu is too large",
                               self->order);
}

BROKEN_RECTIFIER(powered, options, create, NULL);
