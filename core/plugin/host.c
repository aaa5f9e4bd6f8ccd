/* The table of host functions that plugins call (scl_host), and the log. Calls of one component can
 * be watched, so that the checker can let an allocation fail or interrupt at a chosen call. */
#include "plugin/host.h"

#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "algebra/symmetric_float32.h"
#include "base/characters.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/loss.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The function that log lines go to; NULL: to stderr. */
static _Atomic(void (*)(const char *)) log_sink;

void scl_host_set_log(void (*log)(const char *line)) { atomic_store(&log_sink, log); }

void scl_host_set_first_log(void (*log)(const char *line)) {
  void (*none)(const char *) = NULL;
  (void)atomic_compare_exchange_strong(&log_sink, &none, log);
}

void scl_host_write(const char *line) {
  void (*log)(const char *) = atomic_load(&log_sink);
  if (log != NULL) {
    log(line);
    return;
  }
  (void)fputs("scullery: ", stderr);
  scl_write_shown(stderr, line, strlen(line));
  (void)fputc('\n', stderr);
}

/* Log a line "KIND.NAME: text", or "a plugin: text" where it has no name yet. */
static void log_line(const scl_plugin *from, const char *text) {
  char line[1200];
  if (from == NULL)
    (void)snprintf(line, sizeof line, "a plugin: %s", text);
  else
    (void)snprintf(line, sizeof line, "%s.%s: %s", scl_kind_name(from->kind), from->name, text);
  scl_host_write(line);
}

void scl_host_say(const scl_plugin *from, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_line(from, text);
}

/* scl_host.log: `self` (or NULL) says which component logs. */
SCL_PRINTF(2, 3) static void host_log(const void *self, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  log_line(self == NULL ? NULL : &scl_instance_of(self)->component->plugin, text);
}

/* ------------ watched calls, for checks */

static struct {
  _Atomic(const scl_component *) component; /* NULL: nothing is watched */
  atomic_int what;                          /* what happens at the call: SCL_HOST_... */
  atomic_long at, count;                    /* the call at which it happens, and calls so far */
} watched;

void scl_host_watch(const scl_component *component, int what, long at) {
  atomic_store(&watched.component, NULL); /* nothing is watched while the rest changes */
  atomic_store(&watched.what, what);
  atomic_store(&watched.at, at);
  atomic_store(&watched.count, 0);
  atomic_store(&watched.component, component);
}

size_t scl_host_watched(void) { return (size_t)atomic_load(&watched.count); }

/* Count a call by the watched component; whether it is the one at which `what` happens. */
static bool is_due(int what) {
  const scl_component *component = atomic_load_explicit(&watched.component, memory_order_relaxed);
  const scl_call *call = component == NULL ? NULL : scl_call_current();
  if (call == NULL || call->component != component || atomic_load(&watched.what) != what)
    return false;
  return atomic_fetch_add(&watched.count, 1) == atomic_load(&watched.at);
}

/* scl_host.allocate and scratch: as allocation does, with the watch of checks before it. */
static void *host_allocate(size_t bytes) {
  if (is_due(SCL_HOST_INTERRUPT)) scl_interrupt();
  void *memory = is_due(SCL_HOST_REFUSE) ? NULL : scl_allocate(bytes);
  if (memory != NULL && scl_call_guarded()) memset(memory, 0xff, bytes);
  return memory;
}

static void *host_scratch(size_t bytes) {
  if (is_due(SCL_HOST_INTERRUPT)) scl_interrupt();
  return is_due(SCL_HOST_REFUSE) ? NULL : scl_call_scratch(bytes);
}

/* ------------ threads */

/* A call of host->parallel: what its tasks need on another thread. */
typedef struct shared_call {
  const scl_call *call;
  scl_job task;
  void *context;
} shared_call;

static scl_status run_task(void *context, size_t index, scl_error *error) {
  const shared_call *s = context;
  return scl_call_task(s->call, s->task, s->context, index, error);
}

/* scl_host.parallel: run the tasks by the pool. Tasks belong to the slot that asks for them, on
 * whichever thread they run, so that memory, failures and crashes are assigned to it. */
static scl_status host_parallel(size_t count, scl_job task, void *context, scl_error *error) {
  shared_call s = {scl_call_current(), task, context};
  if (is_due(SCL_HOST_INTERRUPT)) scl_interrupt();
  return scl_pool_try(count, run_task, &s, error);
}

/* Fill in an error that a plugin reports. A status that is not a failure becomes
 * SCL_STATUS_INTERNAL, so that a reported failure is never taken for success. */
static void fill_error(scl_error *error, scl_status status, const char *format, va_list arguments) {
  char text[sizeof error->message];
  (void)vsnprintf(text, sizeof text, format, arguments);
  if (status > SCL_STATUS_OK && status <= SCL_STATUS_INTERNAL)
    (void)scl_fail(error, status, "%s", text);
  else
    (void)scl_fail(error, SCL_STATUS_INTERNAL,
                   "%s (reported with status %d, which is not a failure)", text, (int)status);
}

/* scl_host.fail. The sentence may be formatted from the text of *error itself, so *error is written
 * last. */
SCL_PRINTF(3, 4)
static scl_status host_fail(scl_error *error, scl_status status, const char *format, ...) {
  scl_error filled;
  va_list arguments;
  va_start(arguments, format);
  fill_error(&filled, status, format, arguments);
  va_end(arguments);
  if (error != NULL) *error = filled;
  return filled.status;
}

/* scl_host.fail_call: fail the innermost call of this thread. */
SCL_PRINTF(2, 3) static void host_fail_call(scl_status status, const char *format, ...) {
  scl_error filled;
  va_list arguments;
  va_start(arguments, format);
  fill_error(&filled, status, format, arguments);
  va_end(arguments);
  scl_call_fail(filled.status, filled.message);
}

/* scl_host.service: services that a plugin asks for by id, NULL for one that this host does not
 * have. They are not members of the table, so that plugins can do without them. */
static const void *host_service(const char *id) {
  if (strcmp(id, SCL_SERVICE_PILOT) == 0) return &scl_service_pilot;
  if (strcmp(id, SCL_SERVICE_LOSSES) == 0) return &scl_service_losses;
  return strcmp(id, SCL_SERVICE_SYMMETRIC_FLOAT32) == 0 ? &scl_service_symmetric_float32 : NULL;
}

static scl_host table = {SCL_HEAD(scl_host),
                         .fail = host_fail,
                         .allocate = host_allocate,
                         .release = scl_release,
                         .parallel = host_parallel,
                         .log = host_log,
                         .random = &scl_service_random,
                         .dense = &scl_service_dense,
                         .symmetric = &scl_service_symmetric,
                         .parts = &scl_service_parts,
                         .service = host_service,
                         .scratch = host_scratch,
                         .name = "scullery",
                         .version = SCULLERY_VERSION,
                         .fail_call = host_fail_call,
                         .divide_rows = scl_host_divide_rows};

/* The vector functions depend on the machine, and are set when the table is first asked for. */
static void set_math(void) { table.math = &scl_loops_get()->math; }

const scl_host *scl_host_get(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, set_math);
  return &table;
}
