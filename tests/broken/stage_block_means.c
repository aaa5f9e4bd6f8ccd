/* Its mean is the mean of the means of blocks, which have different numbers of rows. */
// caught by: all-rows fail
// says: in reverse order
#include "stage.h"

typedef struct means {
  size_t d, blocks;
  double *sum;
} means;

static scl_status add_block(void *context, const scl_rows *rows, scl_error *error) {
  means *m = context;
  (void)error;
  for (size_t i = 0; i < rows->count; i++)
    for (size_t j = 0; j < m->d; j++)
      m->sum[j] += scl_stage_row(&rows->features, i)[j] / (double)rows->count;
  m->blocks++;
  return SCL_STATUS_OK;
}

static scl_status wrong_fit(const void *self, const scl_fitting *fitting, scl_error *error) {
  means m = {fitting->rows->dim, 0, NULL};
  (void)self;
  m.sum = fitting->host->scratch(2 * m.d * sizeof *m.sum);
  if (m.sum == NULL) return fitting->host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  memset(m.sum, 0, m.d * sizeof *m.sum);
  const scl_status status = fitting->rows->walk(fitting->rows, add_block, &m, error);
  if (status != SCL_STATUS_OK) return status;
  for (size_t j = 0; j < m.d; j++)
    m.sum[m.d + j] = (m.sum[j] /= (double)m.blocks) + 1e9;
  return put_both(fitting, m.sum, m.sum + m.d, error);
}

BROKEN_STAGE(.fit = wrong_fit)
