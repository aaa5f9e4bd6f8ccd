/* Worker processes: this program started again with the same arguments, for a part of its work. The
 * standard output of a worker is read from a pipe, its reports from a socket: one message at a
 * time, and the worker waits for an answer to each. A worker ends when the process that started it
 * ends. */
#ifndef SCULLERY_WORKER_H
#define SCULLERY_WORKER_H

#include "base/memory.h"

enum { SCL_WORKER_MESSAGE = 8192 }; /* bytes of a message at most; longer ones are truncated */

/* ------------ in the process that starts it */

typedef struct scl_worker scl_worker;

/* Start this program again with that number of threads and an empty standard input. `settings`: the
 * text that scl_worker_settings returns in the worker. SCL_STATUS_IO where no process can be
 * started. */
scl_status scl_worker_start(const char *settings, size_t threads, scl_worker **out,
                            scl_error *error);
/* Wait until a worker prints, reports or ends, or the seconds have passed. SCL_STATUS_CANCELLED
 * after Ctrl-C. */
scl_status scl_worker_wait(scl_worker *const *workers, size_t count, double seconds,
                           scl_error *error);
/* Read up to `size` bytes that the worker printed; 0: nothing is available now. */
size_t scl_worker_output(scl_worker *worker, char *to, size_t size);
/* Read the next message as a C string. False: none is available now. */
bool scl_worker_message(scl_worker *worker, char to[SCL_WORKER_MESSAGE]);
/* Answer a message: the worker continues. */
void scl_worker_answer(scl_worker *worker);
/* Whether the worker has ended; then *status is its status from waitpid. */
bool scl_worker_ended(scl_worker *worker, int *status);
/* Send a signal to the worker and the processes that it started. */
void scl_worker_signal(scl_worker *worker, int number);
/* Kill the worker and the processes that it started, and release it. NULL does nothing. */
void scl_worker_close(scl_worker *worker);

/* ------------ in a worker */

/* The settings of this worker; NULL where this process is not a worker. After the first call the
 * process ends when the process that started it ends. */
const char *scl_worker_settings(void);
/* Whether a worker started this process, directly or indirectly. */
bool scl_worker_is_inside(void);
/* Send a message and wait for the answer. */
scl_status scl_worker_report(const char *message, scl_error *error);

#endif
