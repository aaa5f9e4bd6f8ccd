/* Make writes beyond the limit on file sizes fail instead of ending the process. */
#define _POSIX_C_SOURCE 200809L
#include "base/file_limit.h"

#include <stddef.h>
#include <time.h>

scl_file_limit scl_file_limit_block(void) {
  scl_file_limit h;
  sigset_t pending;
  (void)sigemptyset(&h.limit);
  (void)sigaddset(&h.limit, SIGXFSZ);
  (void)sigpending(&pending);
  h.was_pending = sigismember(&pending, SIGXFSZ) == 1;
  (void)pthread_sigmask(SIG_BLOCK, &h.limit, &h.before);
  return h;
}

void scl_file_limit_restore(const scl_file_limit *h) {
  const struct timespec at_once = {0, 0};
  /* A signal that a write of ours raised is pending now, and would end the process when
   * unblocked. */
  if (!h->was_pending)
    while (sigtimedwait(&h->limit, NULL, &at_once) == SIGXFSZ) {
    }
  (void)pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}
