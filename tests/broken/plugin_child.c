/* Starts a process, which stays. */
// caught by: surroundings fail
// says: child processes
#include "base.h"
#include <unistd.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  if (fork() == 0)
    for (;;)
      (void)pause();
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
