/* A call from another program: what it works with, and in what state it leaves the thread. */
#ifndef SCULLERY_STAY_H
#define SCULLERY_STAY_H

#include "base/error.h"
#include <stdbool.h>

typedef struct scl_stay {
  void *locale; /* of the thread before */
  bool alone;   /* whether its jobs stayed on it before */
} scl_stay;

/* Until scl_stay_end, this thread works in the locale "C", alone unless scl_set_threads asked for
 * more, and has a turn among the threads that call. */
scl_status scl_stay_begin(scl_stay *out, scl_error *error);
/* Returns the status of the work; after work that went well *error, where there is one, says so. */
scl_status scl_stay_end(const scl_stay *stay, scl_status status, scl_error *error);

#endif
