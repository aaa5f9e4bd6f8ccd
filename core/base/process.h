/* Running another program to its end, with its whole input given and its output collected. */
#ifndef SCULLERY_PROCESS_H
#define SCULLERY_PROCESS_H

#include "base/memory.h"
#include <sys/types.h>

typedef struct scl_process_output {
  char *bytes; /* its standard output, `size` bytes; the caller releases it */
  size_t size;
  char message[20000]; /* the first bytes of its standard error */
  int status;          /* its exit status */
  int signal;          /* the signal that ended it; 0: none */
  bool late;           /* it exceeded the time limit and was killed */
  bool absent;         /* the program was not found in PATH; nothing else is set */
} scl_process_output;

/* Seconds that the first thread of a process has waited for a processor that others had (Linux; 0
 * where that is not known). Limits of time leave them out, but for more than SCL_PROCESS_WAITS
 * times the limit: threads of the process itself may take the processors. Async-signal-safe. */
double scl_process_waited(pid_t number);
enum { SCL_PROCESS_WAITS = 9 };

/* Run the program words[0], found in PATH, with these arguments (NULL-terminated) and without a
 * shell, until it ends. Fails where it cannot be started, a signal ends it, it takes more than
 * `seconds`, writes more than `most` bytes, or Ctrl-C is pressed; in the last three cases it is
 * killed. */
scl_status scl_process_run(const char *const *words, const char *input, size_t input_size,
                           double seconds, size_t most, scl_process_output *out, scl_error *error);
/* The same, except that a signal or an exceeded time limit is not a failure: out->signal and
 * out->late report it, with the output so far. Processes that the program started are killed with
 * it. */
scl_status scl_process_watch(const char *const *words, const char *input, size_t input_size,
                             double seconds, size_t most, scl_process_output *out,
                             scl_error *error);
/* The same for a function in a child process (fork). The bytes that `body` writes to the file
 * descriptor `to` are the output, its result is the exit status; standard input is empty. */
scl_status scl_process_fork(int (*body)(void *context, int to), void *context, double seconds,
                            size_t most, scl_process_output *out, scl_error *error);

#endif
