/* The thread pool. Workers are started at the first parallel-for, and wait for the next one. */
#define _GNU_SOURCE
#include "base/pool.h"

#include "base/interrupt.h"
#include "base/thread.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* One parallel-for at a time. Workers sleep on `wake` until `generation` changes, join the job while
 * it is open (`task` is not NULL), and take indices from `next`; the last one to leave signals
 * `done`. Where all indices are taken before a worker was woken, nobody waits for it: small jobs on
 * a busy machine cost no switch between threads. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  pthread_t threads[SCL_POOL_MAX];
  size_t started; /* running workers, without the caller */
  size_t wanted;  /* threads, with the caller; 0: not decided yet */
  unsigned long generation;
  size_t busy; /* workers that have joined the job and not left it */
  bool stopping;
  void (*task)(void *, size_t);
  void *context;
  size_t count;
  bool uninterrupted; /* scl_interrupt_ignored() of the caller */
  atomic_size_t next;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static pthread_mutex_t one_job = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local size_t worker_index;
static _Thread_local bool inside, thread_serial;
static atomic_size_t serial_count; /* of scl_pool_set_serial(true) that were not undone */

/* SCULLERY_THREADS, or else the processors that this process may use. */
static size_t default_threads(void) {
  const char *text = getenv("SCULLERY_THREADS");
  long asked = text == NULL ? 0 : strtol(text, NULL, 10);
  if (asked <= 0) {
    cpu_set_t cpus;
    asked = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
  }
  return asked > SCL_POOL_MAX ? SCL_POOL_MAX : (size_t)asked;
}

bool scl_pool_inside(void) { return inside; }

bool scl_pool_set_thread_serial(bool serial) {
  const bool before = thread_serial;
  thread_serial = serial;
  return before;
}

void scl_pool_set_serial(bool serial) {
  if (serial)
    atomic_fetch_add(&serial_count, 1);
  else
    atomic_fetch_sub(&serial_count, 1);
}

size_t scl_pool_threads(void) {
  if (thread_serial || atomic_load(&serial_count) > 0) return 1;
  pthread_mutex_lock(&pool.lock);
  if (pool.wanted == 0) pool.wanted = default_threads();
  const size_t threads = pool.wanted;
  pthread_mutex_unlock(&pool.lock);
  return threads;
}

size_t scl_pool_worker(void) { return worker_index; }

/* Run tasks in ascending order until none is left. Called by all threads at the same time. */
static void take_tasks(void (*task)(void *, size_t), void *context, size_t count) {
  for (;;) {
    const size_t i = atomic_fetch_add(&pool.next, 1);
    if (i >= count) return;
    task(context, i);
  }
}

/* The loop of a worker: wait for a new generation, take its tasks, report the end. A worker that
 * was started before the first generation sees generation 0 and waits; one that wakes after the end
 * of a job waits for the next. */
static void *run_worker(void *argument) {
  worker_index = (size_t)(uintptr_t)argument;
  inside = true;
  unsigned long seen = 0;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (!pool.stopping && pool.generation == seen)
      pthread_cond_wait(&pool.wake, &pool.lock);
    if (pool.stopping) break;
    seen = pool.generation;
    if (pool.task == NULL) continue;
    void (*task)(void *, size_t) = pool.task;
    void *context = pool.context;
    const size_t count = pool.count;
    (void)scl_interrupt_ignore(pool.uninterrupted);
    pool.busy++;
    pthread_mutex_unlock(&pool.lock);
    take_tasks(task, context, count);
    pthread_mutex_lock(&pool.lock);
    if (--pool.busy == 0) pthread_cond_signal(&pool.done);
  }
  pthread_mutex_unlock(&pool.lock);
  return NULL;
}

/* The caller holds the lock. Where a thread is refused, there are fewer. */
static void start_workers(void) {
  if (pool.wanted == 0) pool.wanted = default_threads();
  while (pool.started + 1 < pool.wanted) {
    if (!scl_thread_start(&pool.threads[pool.started], run_worker,
                          (void *)(uintptr_t)(pool.started + 1)))
      break;
    pool.started++;
  }
}

/* Whether a parallel-for of `count` tasks runs on its caller alone. */
static bool runs_here(size_t count) {
  return inside || thread_serial || count <= 1 || atomic_load(&serial_count) > 0;
}

void scl_pool_run(size_t count, void (*task)(void *context, size_t index), void *context) {
  if (runs_here(count)) {
    for (size_t i = 0; i < count; i++)
      task(context, i);
    return;
  }
  pthread_mutex_lock(&one_job); /* other threads that run a parallel-for wait here */
  pthread_mutex_lock(&pool.lock);
  start_workers();
  pool.task = task;
  pool.context = context;
  pool.count = count;
  pool.uninterrupted = scl_interrupt_ignored();
  pool.generation++;
  atomic_store(&pool.next, 0);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  inside = true;
  take_tasks(task, context, count);
  inside = false;
  pthread_mutex_lock(&pool.lock);
  pool.task = NULL; /* no worker joins any more */
  while (pool.busy != 0)
    pthread_cond_wait(&pool.done, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&one_job);
}

typedef struct interruptible {
  void (*task)(void *context, size_t index);
  void *context;
} interruptible;

static void run_unless_interrupted(void *context, size_t index) {
  const interruptible *i = context;
  if (!scl_interrupted()) i->task(i->context, index);
}

void scl_pool_run_interruptible(size_t count, void (*task)(void *context, size_t index),
                                void *context) {
  interruptible i = {task, context};
  scl_pool_run(count, run_unless_interrupted, &i);
}

/* ------------ jobs that can fail */

typedef struct trial {
  scl_job job;
  void *context;
  size_t count;
  atomic_bool failed;
  pthread_mutex_t lock; /* of the members below */
  size_t lowest;
  scl_status status;
  scl_error error;
} trial;

/* Store a failure, if its index is lower than that of the one stored. */
static void note_failure(trial *t, size_t index, scl_status status, const scl_error *error) {
  atomic_store(&t->failed, true);
  pthread_mutex_lock(&t->lock);
  if (index < t->lowest) {
    t->lowest = index;
    t->status = status;
    t->error = *error;
  }
  pthread_mutex_unlock(&t->lock);
}

/* Indices are taken in ascending order: when a job fails, every lower one has been started, so the
 * lowest failure does not depend on the number of threads. */
static void try_one(void *context, size_t index) {
  trial *t = context;
  scl_error error = {0};
  if (atomic_load(&t->failed)) return;
  const scl_status status = scl_interrupted()
                                ? scl_fail(&error, SCL_STATUS_CANCELLED, "interrupted!")
                                : t->job(t->context, index, &error);
  if (status != SCL_STATUS_OK) note_failure(t, index, status, &error);
}

/* The jobs one after another, up to the first that fails. */
static scl_status try_here(size_t count, scl_job job, void *context, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t i = 0; i < count && status == SCL_STATUS_OK; i++)
    status = scl_interrupted() ? scl_fail(error, SCL_STATUS_CANCELLED, "interrupted!")
                               : job(context, i, error);
  if (status == SCL_STATUS_CANCELLED) scl_interrupt_clear();
  return status;
}

scl_status scl_pool_try(size_t count, scl_job job, void *context, scl_error *error) {
  if (error != NULL && runs_here(count)) return try_here(count, job, context, error);
  trial t = {.job = job,
             .context = context,
             .count = count,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .lowest = SIZE_MAX};
  scl_pool_run(count, try_one, &t);
  (void)pthread_mutex_destroy(&t.lock);
  if (t.status == SCL_STATUS_CANCELLED) scl_interrupt_clear();
  if (t.status != SCL_STATUS_OK && error != NULL) *error = t.error;
  return t.status;
}

/* The caller holds `one_job`. */
static void stop_workers(void) {
  pthread_mutex_lock(&pool.lock);
  pool.stopping = true;
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  for (size_t i = 0; i < pool.started; i++)
    scl_thread_join(pool.threads[i]);
  pool.started = 0;
  pool.generation = 0;
  pool.stopping = false;
}

void scl_pool_stop(void) {
  pthread_mutex_lock(&one_job);
  stop_workers();
  pthread_mutex_unlock(&one_job);
}

void scl_pool_set_threads(size_t threads) {
  pthread_mutex_lock(&one_job);
  stop_workers();
  pthread_mutex_lock(&pool.lock);
  pool.wanted = threads < 1 ? 1 : threads > SCL_POOL_MAX ? SCL_POOL_MAX : threads;
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&one_job);
}
