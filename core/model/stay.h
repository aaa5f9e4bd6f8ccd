/* The frame of a call from another program: the thread works in the locale "C" and waits for its
 * turn; afterwards the thread is as it was. */
#ifndef SCULLERY_STAY_H
#define SCULLERY_STAY_H

#include "base/error.h"
#include <stdbool.h>

typedef struct scl_stay {
  void *locale; /* the thread's locale before the call */
  bool alone;   /* whether the thread ran its jobs by itself before the call */
  bool ignored; /* whether it ignored interrupts before the call */
} scl_stay;

/* Until scl_stay_end, this thread works in the locale "C", alone unless scl_set_threads asked for
 * more, and has a turn among the threads that call. Interrupts are ignored: they are to end a call
 * of scullery/fit.h. */
scl_status scl_stay_begin(scl_stay *out, scl_error *error);
/* Restore the thread. Returns `status`, the status of the work; after SCL_STATUS_OK *error (if not
 * NULL) is cleared. */
scl_status scl_stay_end(const scl_stay *stay, scl_status status, scl_error *error);

#endif
