/* A fit leaves memory behind. */
// caught by: uses fail
// says: of host->allocate behind
#include "stage.h"

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  if (fitting->host->allocate(64) == NULL)
    return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for 64 bytes");
  return fit(self, fitting, error);
}

BROKEN_STAGE(.fit = wrong_fit)
