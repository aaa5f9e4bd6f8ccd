/* Threads, counted, and refused where a function that algebra/blas.c sets says so: memory for their
 * calls of OpenBLAS may be short. */
#include "base/thread.h"

#include <stdatomic.h>

static atomic_size_t running = 1; /* with the main thread */
static bool (*admitted)(size_t threads);

size_t scl_thread_count(void) { return atomic_load(&running); }

void scl_thread_admit(bool (*may)(size_t threads)) { admitted = may; }

bool scl_thread_start(pthread_t *thread, void *(*work)(void *context), void *context) {
  const size_t threads = atomic_fetch_add(&running, 1) + 1;
  if ((admitted == NULL || admitted(threads)) && pthread_create(thread, NULL, work, context) == 0)
    return true;
  atomic_fetch_sub(&running, 1);
  return false;
}

void scl_thread_join(pthread_t thread) {
  (void)pthread_join(thread, NULL);
  atomic_fetch_sub(&running, 1);
}

void scl_thread_leave(void) {
  (void)pthread_detach(pthread_self());
  atomic_fetch_sub(&running, 1);
}
