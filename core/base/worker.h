/* Worker processes: this program once more, with the same arguments, for a part of its work. What a
 * worker prints comes through a pipe, what it reports through a socket, one message at a time, each
 * answered before it goes on. A worker ends when the process that started it has ended. */
#ifndef SCULLERY_WORKER_H
#define SCULLERY_WORKER_H

#include "base/memory.h"

enum { SCL_WORKER_MESSAGE = 8192 }; /* bytes of a message at most; longer ones are cut */

/* ------------------------------------------------------------ where it is started */

typedef struct scl_worker scl_worker;

/* Start this program again: settings is what scl_worker_settings gives in the worker. Its standard
 * input is empty. SCL_STATUS_IO where no process can be started. */
scl_status scl_worker_start(const char *settings, size_t threads, scl_worker **out,
                            scl_error *error);
/* Wait until one of them prints, reports or ends, for at most that many seconds.
 * SCL_STATUS_CANCELLED after Ctrl-C. */
scl_status scl_worker_wait(scl_worker *const *workers, size_t count, double seconds,
                           scl_error *error);
/* What has been printed, up to `size` bytes; 0: nothing now. */
size_t scl_worker_output(scl_worker *worker, char *to, size_t size);
/* The next message, as a text; false: none now. */
bool scl_worker_message(scl_worker *worker, char to[SCL_WORKER_MESSAGE]);
/* Let a worker go on that waits after a message. */
void scl_worker_answer(scl_worker *worker);
/* Whether it has ended; *status is then that of waitpid. */
bool scl_worker_ended(scl_worker *worker, int *status);
/* Send a signal to it and to the processes that it started. */
void scl_worker_signal(scl_worker *worker, int number);
/* End it and what it started, where it runs. NULL does nothing. */
void scl_worker_close(scl_worker *worker);

/* ------------------------------------------------------------ in a worker */

/* The settings that this process was started with, NULL where it is no worker. From the first call
 * on, it ends when the process that started it ends. */
const char *scl_worker_settings(void);
/* Whether a worker started this process, itself or through others. */
bool scl_worker_is_inside(void);
/* Report, and wait for the answer. */
scl_status scl_worker_report(const char *message, scl_error *error);

#endif
