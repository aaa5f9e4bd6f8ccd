/* Calls of plugin slots: who runs now, and what must hold when it returns. Every slot of every
 * plugin is called between scl_call_enter and scl_call_leave (or scl_call_end), in this folder
 * alone. */
#ifndef SCULLERY_CALL_H
#define SCULLERY_CALL_H

#include "base/arena.h"
#include "plugin/registry.h"

typedef struct scl_call {
  const scl_component *component; /* without a name while its file is loaded */
  const char *slot;
  struct scl_call *outer; /* the call that this one is made from, on this thread */
  scl_error *error;
  unsigned mode;     /* of the floating-point unit */
  scl_arena scratch; /* what the slot took by host->scratch */
  scl_status failed; /* what the slot reported by host->fail_call */
} scl_call;

void scl_call_enter(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error);
/* The slot's status, made true: a rounding mode left changed is put back and is a failure; a
 * failure has a sentence, with "sampler.gaussian: " in front. */
scl_status scl_call_leave(scl_call *call, scl_status status);
/* For slots without a status, in place of the two above. `begin` returns false where *error has a
 * failure already, which stays: the slot is not called then. `end` returns false where the slot
 * failed by host->fail_call: *error says why; without an error the call that this one was made from
 * fails, and where there is none the user reads the sentence. A rounding mode left changed is put
 * back, and the user told. */
bool scl_call_begin(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error);
bool scl_call_end(scl_call *call);
/* Fail the innermost call on this thread (host->fail_call); whether it has failed. */
void scl_call_fail(scl_status status, const char *sentence);
bool scl_call_failed(void);
/* Without a look at the rounding mode. */
void scl_call_drop(scl_call *call);

/* Memory of the innermost call on this thread, which is released when that call ends; NULL: there is
 * no call, or no memory. */
void *scl_call_scratch(size_t bytes);

/* The innermost call on this thread, or NULL; and a task of it, which may run on another thread. */
const scl_call *scl_call_current(void);
scl_status scl_call_task(const scl_call *call, scl_job task, void *context, size_t index,
                         scl_error *error);

/* The mode of the floating-point unit: rounding, and what becomes of denormal numbers. */
unsigned scl_float_mode(void);
void scl_float_mode_restore(unsigned mode);

#endif
