/* Learns a state, and does not draw by it. */
// caught by: learn fail
// says: do not use the state
#include "sampler.h"

typedef struct sums {
  double *mean;
  size_t dim, rows;
} sums;

/* The sum of the rows. */
static scl_status add(void *context, const scl_rows *rows, scl_error *error) {
  sums *s = context;
  (void)error;
  for (size_t j = 0; j < s->dim; j++) {
    const double *x = (const double *)rows->features.data + j;
    for (size_t i = 0; i < rows->count; i++)
      s->mean[j] += x[(ptrdiff_t)i * rows->features.row_stride];
  }
  s->rows += rows->count;
  return SCL_STATUS_OK;
}

static scl_status learn(const void *self, const scl_learning *rows, scl_state *out,
                        scl_error *error) {
  (void)self;
  if (rows->rows == 0)
    return rows->host->fail(error, SCL_STATUS_BAD_DATA,
                            "takes rows to learn from, and there are none");
  out->numbers = rows->host->allocate(rows->dim * sizeof *out->numbers);
  if (out->numbers == NULL)
    return rows->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory");
  memset(out->numbers, 0, rows->dim * sizeof *out->numbers);
  out->rows = 1;
  out->cols = rows->dim;
  sums s = {out->numbers, rows->dim, 0};
  const scl_status status = rows->walk(rows, add, &s, error);
  for (size_t j = 0; j < rows->dim; j++)
    out->numbers[j] /= (double)rows->rows;
  return status;
}

static const scl_ability abilities[] = {
    SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = learn), {NULL, NULL}};

BROKEN_SAMPLER(abilities, .space = SCL_SPACE_DENSE, .draw = draw_right);
