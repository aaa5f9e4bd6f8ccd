/* This process among several that run the same script, each on a part of the rows
 * (scullery/plugin/transport.h). They take the same decisions, because they see the same numbers:
 * what one process has computed from its part is exchanged before anything depends on it.
 *
 * A process that has not joined others is one of one: then no function here does anything. */
#ifndef SCULLERY_PROCESSES_H
#define SCULLERY_PROCESSES_H

#include "plugin/transport.h"

/* Join the others by the transport, with one more reference to it. Before any thread is started. */
scl_status scl_processes_join(scl_instance *transport, scl_error *error);
/* Leave them, at the end of the script: with the status of the script, and the sentence that was
 * reported. The others fail with the sentence if the status is a failure, or if they are still at
 * work. Returns a failure if this process should end with one. */
scl_status scl_processes_leave(scl_status status, scl_error *error);
/* Leave without a word: the others fail. For exits that nobody foresaw. */
void scl_processes_abandon(void);

size_t scl_processes_count(void);
size_t scl_processes_rank(void);
/* The name of the machine of a process. */
const char *scl_processes_host(size_t rank);
/* The name of the transport that joined them; NULL: they are none. */
const char *scl_processes_transport(void);
/* How many of the processes are on this machine. */
size_t scl_processes_here(void);
/* Exchanges of this process so far, their bytes, and the seconds that they took, with the
 * waiting. */
size_t scl_processes_exchanges(void);
double scl_processes_bytes(void);
double scl_processes_seconds(void);

/* Whether the calling code may divide its work: there are several processes, and it runs on the
 * thread that joined, outside of tasks of the pool, whose order differs between processes. */
bool scl_processes_divide(void);
/* Between set_alone(true) and set_alone(false) nothing is divided: the processes do different
 * work. */
void scl_processes_set_alone(bool alone);
bool scl_processes_alone(void);
/* The part of process `rank` of `count` units: first .. end-1. */
void scl_processes_part(size_t rank, size_t count, size_t *first, size_t *end);

/* Before each exchange: all processes meet. `mine` is the status of the work that leads to it, with
 * its sentence in *error; the format says what the exchange is, with all sizes. Where a process has
 * failed, all fail with its sentence and number. SCL_STATUS_INTERNAL, with a sentence that names
 * two of the calls, where they are about to do different things. */
SCL_PRINTF(3, 4)
scl_status scl_processes_meet(scl_status mine, scl_error *error, const char *format, ...);
/* Why the work of this process is stopped: the others are told this in place of "interrupted!". A
 * text that is cut if it is long; NULL: no more. */
void scl_processes_stopped(const char *why);
/* Exchanges, after such a meeting; what they need is allocated before it. A failure is final. */
scl_status scl_processes_sum(int64_t *numbers, size_t count, scl_error *error);
scl_status scl_processes_maximum(int64_t *numbers, size_t count, scl_error *error);
scl_status scl_processes_broadcast(size_t from, void *bytes, size_t size, scl_error *error);
/* A block of zeros (not none) that all processes see, for scl_release, with a meeting as above. *out =
 * NULL in all of them where one cannot have it: they are on several machines, or memory is short.
 * Its file has no name, and ends with the last process. */
scl_status scl_processes_share(scl_status mine, size_t bytes, void **out, scl_error *error);
/* Blocks of scl_processes_share, once all processes have written to them: each process has its own
 * from now on, with the same numbers; the memory is once for all until one writes to it. NULL is
 * passed over. */
scl_status scl_processes_part_memory(scl_status mine, void *const *blocks, size_t count,
                                     scl_error *error);

#endif
