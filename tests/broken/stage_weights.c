/* It learns from targets, and ignores the weights of rows. */
// caught by: weights fail
// says: rows of weight 0, 1 and 2
#include "stage.h"

typedef struct sums {
  size_t d, c;
  double total, *sum;
} sums;

static scl_status add_rows(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < s->d; j++)
      s->sum[j] += scl_stage_row(&rows->features, i)[j] * rows->targets[i * s->c];
    s->total += 1;
  }
  return SCL_STATUS_OK;
}

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  sums s = {fitting->rows->dim, fitting->rows->targets, 0, NULL};
  (void)self;
  s.sum = fitting->host->scratch(2 * s.d * sizeof *s.sum);
  if (s.sum == NULL) return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  memset(s.sum, 0, s.d * sizeof *s.sum);
  const scl_status status = fitting->rows->walk(fitting->rows, add_rows, &s, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < s.d; j++)
    s.sum[s.d + j] = (s.sum[j] /= s.total) + 1e9;
  return put_both(fitting, s.sum, s.sum + s.d, error);
}

BROKEN_STAGE(.flags = SCL_STAGE_TARGETS | SCL_STAGE_BY_COLUMN, .fit = wrong_fit)
