/* `create` returns a number that is no status for one of its words. */
// caught by: words fail
// says: returned status 77
#include "base.h"

typedef struct sided {
  scl_base base;
  int32_t side;
} sided;

static const scl_option options[] = {
    SCL_WORD(sided, side, "left|right|both", "left", "the side that is flat")};

static scl_status create(void *instance, scl_error *error) {
  (void)error;
  return ((const sided *)instance)->side == 2 ? 77 : SCL_STATUS_OK;
}

BROKEN_RECTIFIER(sided, options, create, NULL);
