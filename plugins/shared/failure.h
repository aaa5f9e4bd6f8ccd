/* The first failure among parallel tasks. */
#ifndef SCULLERY_SHARED_FAILURE_H
#define SCULLERY_SHARED_FAILURE_H

#include <scullery/plugin.h>
#include <stdatomic.h>

typedef struct failure {
  atomic_flag taken;
  scl_status status;
  scl_error error;
} failure;

static inline void failure_begin(failure *f) {
  atomic_flag_clear(&f->taken);
  f->status = SCL_STATUS_OK;
  f->error.message[0] = 0;
}

/* From a task: keep this one, where it is one and the first. */
static inline void failure_note(failure *f, scl_status status, const scl_error *error) {
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&f->taken)) return;
  f->error = *error;
  f->status = status;
}

/* After the tasks. */
static inline scl_status failure_end(const failure *f, scl_error *error) {
  if (f->status != SCL_STATUS_OK && error != NULL) *error = f->error;
  return f->status;
}

#endif
