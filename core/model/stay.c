/* Calls from other programs, and the settings of the whole library: threads, plugins, log. Each
 * function of scullery/scullery.h that works for long runs between scl_stay_begin and
 * scl_stay_end. */
#define _GNU_SOURCE
#include "model/stay.h"

#include "algebra/blas.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "plugin/host.h"
#include "plugin/registry.h"
#include <locale.h>
#include <pthread.h>
#include <scullery/scullery.h>

/* Calls in progress. scl_set_threads waits until none runs, and new calls wait until it is done:
 * the pool must not change below a call that uses it. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  size_t running;
  bool changing;
  size_t threads;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .threads = 1};

static locale_t plain; /* "C" */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void say_nothing(const char *line) { (void)line; }

/* Once in a process. A program gets no log on stderr unless it sets one. */
static void prepare_calls(void) {
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  scl_host_set_first_log(say_nothing);
}

scl_status scl_stay_begin(scl_stay *out, scl_error *error) {
  (void)pthread_once(&once, prepare_calls);
  if (plain == (locale_t)0) return scl_fail_memory(error, sizeof plain, "a locale");
  pthread_mutex_lock(&calls.lock);
  /* A BLAS may only be able to serve a limited number of threads at once. */
  while (calls.changing || !scl_blas_admits(calls.running + 1))
    pthread_cond_wait(&calls.changed, &calls.lock);
  calls.running++;
  /* With one thread each call works on the thread that makes it, so that many calls run at once. */
  const bool alone = calls.threads == 1;
  pthread_mutex_unlock(&calls.lock);
  out->locale = uselocale(plain);
  out->alone = scl_pool_set_thread_serial(alone);
  out->ignored = scl_interrupt_ignore(true);
  return SCL_STATUS_OK;
}

/* A caller may pass the same scl_error again: an old message must not survive a success. */
scl_status scl_stay_end(const scl_stay *stay, scl_status status, scl_error *error) {
  (void)scl_interrupt_ignore(stay->ignored);
  (void)scl_pool_set_thread_serial(stay->alone);
  (void)uselocale((locale_t)stay->locale);
  pthread_mutex_lock(&calls.lock);
  calls.running--;
  pthread_cond_broadcast(&calls.changed);
  pthread_mutex_unlock(&calls.lock);
  if (status == SCL_STATUS_OK && error != NULL) {
    error->status = SCL_STATUS_OK;
    error->message[0] = 0;
  }
  return status;
}

scl_status scl_set_threads(size_t threads, scl_error *error) {
  if (threads < 1 || threads > SCL_POOL_MAX)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "scl_set_threads: got %zu; it takes a number from 1 to %d", threads,
                    SCL_POOL_MAX);
  pthread_mutex_lock(&calls.lock);
  while (calls.changing)
    pthread_cond_wait(&calls.changed, &calls.lock);
  calls.changing = true;
  while (calls.running > 0)
    pthread_cond_wait(&calls.changed, &calls.lock);
  scl_pool_set_threads(threads);
  calls.threads = threads;
  calls.changing = false;
  pthread_cond_broadcast(&calls.changed);
  pthread_mutex_unlock(&calls.lock);
  return SCL_STATUS_OK;
}

static void ignore(void *context, const scl_component *component) {
  (void)context;
  (void)component;
}

scl_status scl_load_plugin(const char *path, scl_error *error) {
  scl_stay stay;
  if (path == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "scl_load_plugin: takes the path of a file, and got NULL");
  SCL_TRY(scl_stay_begin(&stay, error));
  return scl_stay_end(&stay, scl_registry_load(path, ignore, NULL, error), error);
}

void scl_set_log(void (*log)(const char *line)) {
  scl_host_set_log(log == NULL ? say_nothing : log);
}
