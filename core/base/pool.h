/* The thread pool: one parallel-for for all work, matrix products included. OpenBLAS runs with one
 * thread, so that the two do not compete for cores and no result depends on the number of
 * threads. */
#ifndef SCULLERY_POOL_H
#define SCULLERY_POOL_H

#include <scullery/plugin.h>
#include <stdbool.h>

enum { SCL_POOL_MAX = 256 };

/* The number of threads, the caller included: SCULLERY_THREADS, else the number of cores that this
 * process may use. */
size_t scl_pool_threads(void);
/* Between set_serial(true) and set_serial(false), which nest, tasks run on the calling thread only,
 * and scl_pool_threads() is 1: for work that calls single-threaded code, such as functions of a
 * script. No parallel-for may be running. */
void scl_pool_set_serial(bool serial);
/* Change the number of threads (1 .. SCL_POOL_MAX). No parallel-for may be running. */
void scl_pool_set_threads(size_t threads);
/* Run task(context, i) for each i in [0, count), started in ascending order, and wait for all. A
 * call from inside a task runs all its tasks on that thread. */
void scl_pool_run(size_t count, void (*task)(void *context, size_t index), void *context);
/* The same, but after Ctrl-C no further task starts: the caller has to call scl_interrupt_check()
 * before it uses the results. */
void scl_pool_run_interruptible(size_t count, void (*task)(void *context, size_t index),
                                void *context);
/* The same for jobs that can fail. Returns the status and sentence of the failing job with the
 * lowest index, for any number of threads. No further job starts after a failure or after Ctrl-C
 * (SCL_STATUS_CANCELLED). */
scl_status scl_pool_try(size_t count, scl_job job, void *context, scl_error *error);
/* The index of the thread that runs a task, 0 .. scl_pool_threads()-1, to select its scratch
 * memory; 0 outside of tasks. */
size_t scl_pool_worker(void);
/* Whether the calling code is a task of the pool. */
bool scl_pool_inside(void);
/* Whether jobs of the calling thread run on it only, so that several threads of a program can work
 * at once without waiting for the pool. Returns the previous setting. */
bool scl_pool_set_thread_serial(bool serial);
/* End the threads. The next run starts them again. */
void scl_pool_stop(void);

#endif
