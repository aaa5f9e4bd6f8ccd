/* The limit on the size of files (RLIMIT_FSIZE) comes as a signal that would end the program: held
 * back while we write, the write fails with EFBIG instead. */
#ifndef SCULLERY_FILE_LIMIT_H
#define SCULLERY_FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

typedef struct scl_file_limit {
  sigset_t before, limit;
  bool was_pending;
} scl_file_limit;

scl_file_limit scl_file_limit_hold(void);
void scl_file_limit_end(const scl_file_limit *held);

#endif
