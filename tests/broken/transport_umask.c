/* An exchange changes the mask of new files. */
// caught by: own-surroundings fail
// says: the mask of new files
#include "transport.h"

#include <sys/stat.h>

static scl_status wrong_sum(void *context, int64_t *x, size_t count, scl_error *error) {
  (void)umask(0);
  return my_sum(context, x, count, error);
}

BROKEN_TRANSPORT(.sum = wrong_sum)
