/* Work in a thread that the caller can abandon after Ctrl-C. The thread then owns its context and
 * its task, and releases both at its end. */
#define _GNU_SOURCE
#include "base/background.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/thread.h"
#include "base/unfinished.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct task {
  void (*work)(void *context);
  void *context;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done, abandoned; /* abandoned: by the caller, after Ctrl-C */
} task;

static atomic_int abandoned_count; /* of threads that still run */

static void end_task(task *t) {
  (void)pthread_cond_destroy(&t->changed);
  (void)pthread_mutex_destroy(&t->lock);
  scl_release(t);
}

/* The main function of the thread. If the caller has abandoned the task, this thread releases
 * it. */
static void *run_task(void *context) {
  task *t = context;
  t->work(t->context);
  pthread_mutex_lock(&t->lock);
  t->done = true;
  const bool abandoned = t->abandoned;
  (void)pthread_cond_signal(&t->changed);
  pthread_mutex_unlock(&t->lock);
  if (!abandoned) return NULL; /* the caller ends the task */
  scl_release(t->context);
  end_task(t);
  scl_thread_leave();
  atomic_fetch_sub(&abandoned_count, 1);
  return NULL;
}

/* exit() would run destructors of libraries that an abandoned thread still uses: _exit skips
 * them. */
static void exit_at_once(int status, void *unused) {
  (void)unused;
  if (atomic_load(&abandoned_count) == 0) return;
  (void)fflush(NULL);
  scl_unfinished_remove();
  _exit(status);
}

/* Wait until the task is done or Ctrl-C; returns whether it is done. The caller holds the lock. */
static bool wait_for(task *t) {
  while (!t->done && !scl_interrupted()) {
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&t->changed, &t->lock, &until);
  }
  return t->done;
}

scl_status scl_background_run(void (*work)(void *context), void *context, scl_error *error) {
  static atomic_flag registered = ATOMIC_FLAG_INIT;
  pthread_t thread;
  task *t = scl_allocate_zero(sizeof *t);
  if (t == NULL) {
    scl_release(context);
    return scl_fail_memory(error, sizeof *t, "a thread");
  }
  *t = (task){.work = work, .context = context};
  (void)pthread_mutex_init(&t->lock, NULL);
  (void)pthread_cond_init(&t->changed, NULL);
  if (!scl_thread_start(&thread, run_task, t)) {
    end_task(t);
    work(context);
    return SCL_STATUS_OK;
  }
  if (!atomic_flag_test_and_set(&registered)) (void)on_exit(exit_at_once, NULL);
  pthread_mutex_lock(&t->lock);
  const bool done = wait_for(t);
  t->abandoned = !done;
  if (!done) atomic_fetch_add(&abandoned_count, 1);
  pthread_mutex_unlock(&t->lock);
  if (!done) {
    (void)scl_interrupt_check(error);
    return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted!");
  }
  scl_thread_join(thread);
  end_task(t);
  return SCL_STATUS_OK;
}
