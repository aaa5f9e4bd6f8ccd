/* Another program, run to its end: an input that is there as a whole, an output that is kept. */
#ifndef SCULLERY_PROCESS_H
#define SCULLERY_PROCESS_H

#include "base/memory.h"

typedef struct scl_process_output {
  char *bytes; /* what it wrote to standard output, `size` bytes; scl_release frees it */
  size_t size;
  char message[20000]; /* the beginning of what it wrote to standard error */
  int status;          /* 0: it ended well; otherwise its exit status */
  int signal;          /* that ended it; 0: none */
  bool late;           /* it was killed, as it took too long */
  bool absent;         /* no such program is in PATH; nothing else is set */
} scl_process_output;

/* Run the program `words[0]`, looked for in PATH, with these arguments (NULL-terminated), without a
 * shell, until it ends. It and what it started is ended, and the call fails with a sentence, where it takes more than
 * `seconds`, writes more than `most` bytes, or Ctrl-C is pressed; the call fails too where it
 * cannot be started or a signal ends it. */
scl_status scl_process_run(const char *const *words, const char *input, size_t input_size,
                           double seconds, size_t most, scl_process_output *out, scl_error *error);
/* The same for a program whose end is what is watched: a signal and a time that is up are no
 * failures, but are told in out->signal and out->late, with what it wrote until then. Whatever it
 * has started ends with it. */
scl_status scl_process_watch(const char *const *words, const char *input, size_t input_size,
                             double seconds, size_t most, scl_process_output *out,
                             scl_error *error);
/* The same for a function of this program, in a child of its own whose standard files are empty: what
 * it writes to the file `to` is the output, and its result the exit status. */
scl_status scl_process_fork(int (*body)(void *context, int to), void *context, double seconds,
                            size_t most, scl_process_output *out, scl_error *error);

#endif
