/* Work that does not look for Ctrl-C, such as LAPACK's: the caller need not wait for its end. */
#ifndef SCULLERY_BACKGROUND_H
#define SCULLERY_BACKGROUND_H

#include "base/error.h"

/* Run work(context) in a thread of its own and wait for it. After Ctrl-C: SCL_STATUS_CANCELLED at
 * once, the thread goes on alone, and scl_release(context) when it has ended; so the context is one
 * block of scl_allocate, and holds everything that the work touches. Otherwise the context stays
 * the caller's. Where no thread can be started the caller's runs the work. */
scl_status scl_background_run(void (*work)(void *context), void *context, scl_error *error);

#endif
