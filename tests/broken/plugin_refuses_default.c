/* `create` fails with the defaults. */
// caught by: defaults fail
// says: nothing but defaults
#include "base.h"

typedef struct scaled {
  scl_base base;
  double slope;
} scaled;

static const scl_option options[] = {SCL_NUMBER(scaled, slope, "1", "factor of z", SCL_POSITIVE)};

static scl_status create(void *instance, scl_error *error) {
  const scaled *self = instance;
  if (self->slope != 1) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION, "slope = 1 is dull");
}

BROKEN_RECTIFIER(scaled, options, create, NULL);
