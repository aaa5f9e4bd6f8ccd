/* Errors: a status and a sentence. */
#ifndef SCULLERY_ERROR_H
#define SCULLERY_ERROR_H

#include <scullery/plugin.h>

/* Return early with the status of a call that failed. */
#define SCL_TRY(call) \
  do { \
    const scl_status scl_try_ = (call); \
    if (scl_try_ != SCL_STATUS_OK) return scl_try_; \
  } while (0)

/* Store the status and a sentence, and return the status. `error` may be NULL. */
SCL_PRINTF(3, 4) scl_status scl_fail(scl_error *error, scl_status status, const char *format, ...);

/* Put "what: " before the sentence that `error` holds; returns its status. */
SCL_PRINTF(2, 3) scl_status scl_prefix(scl_error *error, const char *format, ...);

/* SCL_STATUS_NO_MEMORY: "not enough memory for WHAT (BYTES)". */
scl_status scl_fail_memory(scl_error *error, size_t bytes, const char *what);

#endif
