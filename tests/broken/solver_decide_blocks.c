/* The scores of a row depend on the rows beside it. */
// caught by: decide fail
// says: these alone
#include "solver_model.h"

static scl_status decide(const void *self, const void *m, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const scl_status status = model_decide(self, m, rows, scores, stride, error);
  for (size_t i = 1; i < rows->rows; i++)
    scores[(ptrdiff_t)i * stride] += 1e-3 * scores[0];
  return status;
}

MODEL_SOLVER(model_fit, decide, model_save, model_load, model_destroy);
