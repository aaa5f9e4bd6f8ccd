/* The host's threads: one parallel-for for everything, BLAS included (OpenBLAS itself is kept to
 * one thread, so that the two never fight and no result depends on their number). */
#ifndef SCULLERY_POOL_H
#define SCULLERY_POOL_H

#include <scullery/plugin.h>
#include <stdbool.h>

enum { SCL_POOL_MAX = 256 };

/* How many threads take part, the caller included: SCULLERY_THREADS, else the cores that this
 * process may use. */
size_t scl_pool_threads(void);
/* Between stay(true) and stay(false), which nest, tasks run on the thread that calls alone, and
 * scl_pool_threads() is 1: for work that reaches code of one thread, such as functions of a
 * script. No parallel-for may be running. */
void scl_pool_stay(bool stay);
/* Change it (1 .. SCL_POOL_MAX); no parallel-for may be running. */
void scl_pool_set_threads(size_t threads);
/* Run task(context, i) for each i in [0, count); returns when all are done. Low i start first. A
 * call from inside a task runs on that thread. */
void scl_pool_run(size_t count, void (*task)(void *context, size_t index), void *context);
/* The same, and no task starts any more once Ctrl-C was pressed: the caller asks
 * scl_interrupt_check() before it uses what they made. */
void scl_pool_run_interruptible(size_t count, void (*task)(void *context, size_t index),
                                void *context);
/* The same for jobs that can fail: the status and sentence of the failing one with the lowest
 * index, whatever the number of threads. After a failure no further job is started, nor after
 * Ctrl-C (SCL_STATUS_CANCELLED). */
scl_status scl_pool_try(size_t count, scl_job job, void *context, scl_error *error);
/* In a task: which thread this is, 0 .. scl_pool_threads()-1, for scratch kept per thread.
 * Elsewhere 0. */
size_t scl_pool_worker(void);
/* Whether jobs of the calling thread run on it alone, whatever the threads of the pool: then many
 * threads of a program work at once without waiting for each other. Returns what held before. */
bool scl_pool_set_alone(bool alone);
/* End the threads (they start again at the next run). */
void scl_pool_stop(void);

#endif
