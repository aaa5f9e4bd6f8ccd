/* Starts a thread, which stays. */
// caught by: surroundings fail
// says: number of threads
#include "base.h"
#include <pthread.h>
#include <unistd.h>

static void *wait(void *nothing) {
  for (;;)
    (void)pause();
  return nothing;
}

static void loop(const void *self, size_t count, const double *z, double *out) {
  pthread_t thread;
  (void)self;
  (void)pthread_create(&thread, NULL, wait, NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
