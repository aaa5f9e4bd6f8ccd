/* `create` looks past the end of its table for numbers above 7, which its option takes. */
// caught by: random-options crash
// says: slot create
#include "base.h"

typedef struct powered {
  scl_base base;
  size_t order;
} powered;

static const scl_option options[] = {
    SCL_INTEGER(powered, order, "6", "place in a table", SCL_WITHIN(0, 1000))};

static scl_status create(void *instance, scl_error *error) {
  static const double table[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const double *volatile row = table;
  (void)error;
  if (((const powered *)instance)->order > 7) row = NULL;
  return row[((const powered *)instance)->order % 8] > 0 ? SCL_STATUS_OK : SCL_STATUS_INTERNAL;
}

BROKEN_RECTIFIER(powered, options, create, NULL);
