/* Writes a file, and removes it at once, so that the test leaves nothing behind. */
// caught by: surroundings fail
// says: bytes written
#define _GNU_SOURCE
#include "base.h"
#include <stdlib.h>
#include <unistd.h>

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  char path[] = "/tmp/scullery-broken-XXXXXX";
  const int file = mkstemp(path);
  (void)!write(file, "log\n", 4);
  (void)unlink(path);
  (void)close(file);
  for (size_t j = 0; j < count; j++)
    out[j] = z[j];
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
