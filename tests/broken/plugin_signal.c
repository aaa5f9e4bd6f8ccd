/* Takes a signal handler for itself. */
// caught by: surroundings fail
// says: signal handlers
#include "base.h"
#include <signal.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  (void)signal(SIGUSR1, SIG_IGN);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
