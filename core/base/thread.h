/* Threads of the engine: started only where there is room for what they need. */
#ifndef SCULLERY_THREAD_H
#define SCULLERY_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Start a thread; false where the system has none to give, or scl_thread_admit's function says no:
 * the caller does without. */
bool scl_thread_start(pthread_t *thread, void *(*work)(void *context), void *context);
/* Wait for its end. */
void scl_thread_join(pthread_t thread);
/* The last act of a thread for which nobody waits. */
void scl_thread_leave(void);
/* How many run, the first one of the process included. */
size_t scl_thread_count(void);
/* `may` is asked before each start, with how many threads there would be, the first one
 * included. */
void scl_thread_admit(bool (*may)(size_t threads));

#endif
