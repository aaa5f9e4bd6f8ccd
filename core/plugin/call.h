/* Calls of plugin slots: which component runs now, and what must be true when its slot returns.
 * Every slot of every plugin is called between scl_call_enter and scl_call_leave (or scl_call_end),
 * and only in this folder. */
#ifndef SCULLERY_CALL_H
#define SCULLERY_CALL_H

#include "base/arena.h"
#include "plugin/registry.h"

typedef struct scl_call {
  const scl_component *component; /* without a name while its file is loaded */
  const char *slot;
  struct scl_call *outer; /* the call that this one is made from, on this thread */
  scl_error *error;
  unsigned mode;                 /* of the floating-point unit */
  scl_arena scratch;             /* what the slot took by host->scratch */
  scl_status failed;             /* what the slot reported by host->fail_call */
  struct scl_call_block *blocks; /* of the scratch memory, where they are guarded */
} scl_call;

/* Begin a call of a slot on this thread. `call` and the texts stay with the caller, and must live
 * until the call ends. *error, if there is one, is cleared. */
void scl_call_enter(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error);
/* End a call, and return the status that counts: a changed rounding mode is restored and is a
 * failure, as is a failure by host->fail_call. After a failure *error has a sentence, with
 * "sampler.gaussian: " before it. */
scl_status scl_call_leave(scl_call *call, scl_status status);
/* For slots without a status, in place of the two above. `begin` returns false if *error has a
 * failure already, which stays: the slot is not called then. `end` returns false if the slot failed
 * by host->fail_call: *error says why. Without an error the call that this one was made from fails;
 * if there is no such call either, the sentence is logged. A changed rounding mode is restored and
 * logged. */
bool scl_call_begin(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error);
bool scl_call_end(scl_call *call);
/* Fail the innermost call on this thread (host->fail_call), and whether that call has failed. */
void scl_call_fail(scl_status status, const char *sentence);
bool scl_call_failed(void);
/* End a call without a check of the rounding mode. */
void scl_call_drop(scl_call *call);

/* Memory of the innermost call on this thread, which is released when that call ends. NULL if there
 * is no call, or not enough memory. */
void *scl_call_scratch(size_t bytes);

/* For checks: from now on (or no longer) scratch memory is filled by bytes 0xff, NaN, and a slot
 * that writes before or behind its blocks ends the process. */
void scl_call_guard(bool on);
bool scl_call_guarded(void);

/* The innermost call on this thread, or NULL, and a task of a call, which may run on another
 * thread. */
const scl_call *scl_call_current(void);
scl_status scl_call_task(const scl_call *call, scl_job task, void *context, size_t index,
                         scl_error *error);

/* The mode of the floating-point unit of this thread: rounding, and whether denormal numbers become
 * zero. */
unsigned scl_float_mode(void);
void scl_float_mode_restore(unsigned mode);

#endif
