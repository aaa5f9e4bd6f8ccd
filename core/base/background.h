/* Calls that cannot be interrupted, such as LAPACK's, in a thread that Ctrl-C abandons. */
#ifndef SCULLERY_BACKGROUND_H
#define SCULLERY_BACKGROUND_H

#include "base/error.h"

/* Run work(context) in a new thread and wait for it; where no thread can be started, in the calling
 * thread. The caller keeps the context, except after Ctrl-C: then the call returns
 * SCL_STATUS_CANCELLED at once, and the thread runs on and releases the context at its end. The
 * context therefore has to be one block of scl_allocate that contains everything `work` uses. */
scl_status scl_background_run(void (*work)(void *context), void *context, scl_error *error);

#endif
