/* Ignores the status of host->parallel, so that Ctrl-C leaves a part uncomputed. */
// caught by: ctrl-c fail
// says: Ctrl-C
#include "base.h"

typedef struct job {
  const double *z;
  double *out;
  size_t count;
} job;

enum { PIECE = 2 };

static scl_status square(void *context, size_t index, scl_error *error) {
  const job *j = context;
  (void)error;
  for (size_t k = index * PIECE; k < j->count && k < (index + 1) * PIECE; k++)
    j->out[k] = j->z[k] * j->z[k];
  return SCL_STATUS_OK;
}

static void loop(const void *instance, size_t count, const double *z, double *out) {
  job j = {z, out, count};
  (void)((const scl_base *)instance)->host->parallel((count + PIECE - 1) / PIECE, square, &j, NULL);
}

BROKEN_NONLINEARITY(NULL, .spaces = SCL_SPACES_RIDGE, .loop = loop);
