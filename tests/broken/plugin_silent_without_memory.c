/* Computes something else, and says nothing, where memory for its scratch is short. */
// caught by: no-memory fail
// says: no status tells of it
#include "base.h"

static void loop(const void *instance, size_t count, const double *z, double *out) {
  const scl_host *host = ((const scl_base *)instance)->host;
  double *squares = host->allocate(count * sizeof *squares);
  for (size_t j = 0; j < count && squares != NULL; j++)
    squares[j] = z[j] * z[j];
  for (size_t j = 0; j < count; j++)
    out[j] = squares == NULL ? 0 : z[j] * squares[j];
  host->release(squares);
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
