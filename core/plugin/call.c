/* Calls of plugin slots, as a stack for each thread. The innermost call owns the memory that the
 * slot takes by host->scratch; every call checks that the slot leaves the floating-point mode
 * alone. */
#include "plugin/call.h"

#include "plugin/crash.h"
#include "plugin/host.h"
#include <fenv.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The innermost call on this thread. Calls are on the stack of their caller, linked by `outer`. */
static _Thread_local scl_call *innermost;

/* ------------ the floating-point unit */

#if defined(__x86_64__)
/* Bits of MXCSR but for the flags that arithmetic raises: rounding, masks of exceptions, and
 * whether denormal numbers become zero (-ffast-math sets that when an object is loaded). */
enum { MODE_BITS = 0xffc0 };
unsigned scl_float_mode(void) { return __builtin_ia32_stmxcsr() & MODE_BITS; }
void scl_float_mode_restore(unsigned mode) {
  (void)fesetround(FE_TONEAREST); /* of the x87 unit too, which long double uses */
  __builtin_ia32_ldmxcsr(mode);
}
#else
unsigned scl_float_mode(void) { return (unsigned)fegetround(); }
void scl_float_mode_restore(unsigned mode) { (void)fesetround((int)mode); }
#endif

/* ------------ calls */

void scl_call_enter(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error) {
  *call = (scl_call){component, slot, innermost, error, scl_float_mode(), {0}, SCL_STATUS_OK, NULL};
  if (error != NULL) {
    error->status = SCL_STATUS_OK;
    error->message[0] = 0;
  }
  /* Once for each outermost call: a thread of the pool may call a plugin for the first time
   * here. */
  if (innermost == NULL) scl_crash_prepare_thread();
  innermost = call;
}

/* ------------ scratch memory */

/* A guarded block: this, filled up to MARGIN bytes, the bytes of the slot, and MARGIN bytes. */
typedef struct scl_call_block {
  struct scl_call_block *next;
  size_t size;
} scl_call_block;

enum { MARGIN = 64, FILL = 0xff };
static atomic_bool guarding;

void scl_call_guard(bool on) { atomic_store(&guarding, on); }
bool scl_call_guarded(void) { return atomic_load_explicit(&guarding, memory_order_relaxed); }

static void *take_guarded(scl_call *call, size_t bytes) {
  unsigned char *memory =
      bytes > SIZE_MAX / 4 ? NULL : scl_arena_take(&call->scratch, bytes + 2 * MARGIN);
  if (memory == NULL) return NULL;
  memset(memory, FILL, bytes + 2 * MARGIN);
  scl_call_block *block = (void *)memory;
  *block = (scl_call_block){call->blocks, bytes};
  call->blocks = block;
  return memory + MARGIN;
}

static bool is_filled(const unsigned char *bytes, size_t count) {
  while (count > 0 && bytes[count - 1] == FILL)
    count--;
  return count == 0;
}

static void check_blocks(const scl_call *call) {
  for (const scl_call_block *b = call->blocks; b != NULL; b = b->next) {
    const unsigned char *memory = (const void *)b;
    if (is_filled(memory + sizeof *b, MARGIN - sizeof *b) &&
        is_filled(memory + MARGIN + b->size, MARGIN))
      continue;
    (void)fprintf(stderr,
                  "scullery: the process was ended: slot %s of plugin %s wrote outside of %zu "
                  "bytes that host->scratch gave\n",
                  call->slot, call->component->plugin.name, b->size);
    _exit(EXIT_FAILURE);
  }
}

void scl_call_drop(scl_call *call) {
  innermost = call->outer;
  check_blocks(call);
  scl_arena_end(&call->scratch);
}

void *scl_call_scratch(size_t bytes) {
  if (innermost == NULL) return NULL;
  return scl_call_guarded() ? take_guarded(innermost, bytes)
                            : scl_arena_take(&innermost->scratch, bytes);
}

/* End a call. Returns whether the slot left the floating-point mode changed; it is restored. */
static bool close_call(scl_call *call) {
  scl_call_drop(call);
  if (scl_float_mode() == call->mode) return false;
  scl_float_mode_restore(call->mode);
  return true;
}

static const char mode_sentence[] = "slot %s left the rounding mode of the machine changed";

/* An error that holds a failure already must not be cleared by scl_call_enter. */
bool scl_call_begin(scl_call *call, const scl_component *component, const char *slot,
                    scl_error *error) {
  if (error != NULL && error->status != SCL_STATUS_OK) return false;
  scl_call_enter(call, component, slot, error);
  return true;
}

/* Put "KIND.NAME: " before the sentence of the error. */
static void prefix_name(const scl_call *call) {
  const scl_plugin *plugin = &call->component->plugin;
  (void)scl_prefix(call->error, "%s.%s", scl_kind_name(plugin->kind), plugin->name);
}

bool scl_call_end(scl_call *call) {
  static _Atomic(const scl_component *) reported; /* report a component once, not at every call */
  if (close_call(call) && atomic_exchange(&reported, call->component) != call->component)
    scl_host_say(&call->component->plugin, mode_sentence, call->slot);
  if (call->failed == SCL_STATUS_OK) return true;
  if (call->error != NULL) prefix_name(call);
  return false;
}

/* Fail the innermost call, and each outer one up to the first that has an error to write to: a call
 * without an error passes its failure to the call that it was made from. The sentence names the
 * component if the error belongs to a call of another one; without any error it is logged. A call
 * that has failed already keeps its first failure. */
void scl_call_fail(scl_status status, const char *sentence) {
  scl_call *call = innermost;
  const scl_component *own = call == NULL ? NULL : call->component;
  for (; call != NULL && call->failed == SCL_STATUS_OK; call = call->outer) {
    call->failed = status;
    if (call->error == NULL && call->outer != NULL) continue;
    if (call->error == NULL)
      scl_host_say(own->plugin.name == NULL ? NULL : &own->plugin, "%s", sentence);
    else if (call->component == own || own->plugin.name == NULL) /* nameless while it is loaded */
      (void)scl_fail(call->error, status, "%s", sentence);
    else
      (void)scl_fail(call->error, status, "%s.%s: %s", scl_kind_name(own->plugin.kind),
                     own->plugin.name, sentence);
    return;
  }
}

bool scl_call_failed(void) { return innermost != NULL && innermost->failed != SCL_STATUS_OK; }

/* End a call of a slot with a status, and return the status that counts: a failure by
 * host->fail_call before success, then a changed rounding mode, then a status outside of the
 * enumeration. A failure has a sentence afterwards, still without the name of the component. */
static scl_status finish_call(scl_call *call, scl_status status) {
  const bool changed = close_call(call);
  if (status == SCL_STATUS_OK) status = call->failed;
  if (status == SCL_STATUS_OK && changed)
    return scl_fail(call->error, SCL_STATUS_INTERNAL, mode_sentence, call->slot);
  if (status < SCL_STATUS_OK || status > SCL_STATUS_INTERNAL)
    return scl_fail(call->error, SCL_STATUS_INTERNAL, "slot %s returned status %d, which is none",
                    call->slot, (int)status);
  if (status != SCL_STATUS_OK && call->error != NULL && call->error->message[0] == 0)
    return scl_fail(call->error, status, "slot %s failed with status %d and no sentence",
                    call->slot, (int)status);
  if (call->error != NULL) call->error->status = status;
  return status;
}

scl_status scl_call_leave(scl_call *call, scl_status status) {
  status = finish_call(call, status);
  if (status != SCL_STATUS_OK) prefix_name(call);
  return status;
}

const scl_call *scl_call_current(void) { return innermost; }

/* A task of host->parallel on whichever thread runs it, as part of `call` (NULL: of no slot). The
 * name of the component is not prefixed here, as the slot's own call does so when it ends. */
scl_status scl_call_task(const scl_call *call, scl_job task, void *context, size_t index,
                         scl_error *error) {
  scl_call here;
  if (call == NULL) return task(context, index, error);
  scl_call_enter(&here, call->component, call->slot, error);
  return finish_call(&here, task(context, index, error));
}
