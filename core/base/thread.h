/* Threads of the engine, started only where memory for their work is available. */
#ifndef SCULLERY_THREAD_H
#define SCULLERY_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Start a thread. False: the system or the function of scl_thread_admit refused it, and the caller
 * has to work without it. */
bool scl_thread_start(pthread_t *thread, void *(*work)(void *context), void *context);
/* Wait for its end. */
void scl_thread_join(pthread_t thread);
/* Detach the calling thread: its last call where no thread joins it. */
void scl_thread_leave(void);
/* The number of running threads, the main thread included. */
size_t scl_thread_count(void);
/* Set a function that permits each start; `threads`: the number of threads with the new one and the
 * main thread. */
void scl_thread_admit(bool (*may)(size_t threads));

#endif
