/* It refuses few rows without a sentence. */
// caught by: few-rows fail
// says: no sentence
#include "stage.h"

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  return fitting->rows->rows < 5 ? SCL_STATUS_BAD_DATA : fit(self, fitting, error);
}

BROKEN_STAGE(.fit = wrong_fit)
