/* Its models take scores for packed. */
// caught by: decide fail
// says: is not finite
#include "solver_model.h"

static scl_status decide(const void *self, const void *m, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  (void)stride;
  return model_decide(self, m, rows, scores, (ptrdiff_t)((const model *)m)->c, error);
}

MODEL_SOLVER(model_fit, decide, model_save, model_load, model_destroy);
