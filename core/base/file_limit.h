/* A write beyond the limit on file sizes (RLIMIT_FSIZE) raises SIGXFSZ, which ends the process.
 * While the signal is blocked, the write fails with EFBIG instead. */
#ifndef SCULLERY_FILE_LIMIT_H
#define SCULLERY_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

typedef struct scl_file_limit {
  sigset_t before, limit;
  bool was_pending;
} scl_file_limit;

/* Block SIGXFSZ in the calling thread. */
scl_file_limit scl_file_limit_block(void);
/* Restore the signal mask, and discard a SIGXFSZ that was raised since. */
void scl_file_limit_restore(const scl_file_limit *limit);

#endif
