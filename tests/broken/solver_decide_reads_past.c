/* Its models read one number past each row. */
// caught by: decide crash
// says: slot decide
#include "solver_model.h"

static scl_status decide(const void *self, const void *m, const scl_const_block *rows,
                         double *scores, ptrdiff_t stride, scl_error *error) {
  const volatile double *x = rows->data;
  for (size_t i = 0; i < rows->rows; i++)
    (void)x[(ptrdiff_t)i * rows->row_stride + (ptrdiff_t)rows->cols];
  return model_decide(self, m, rows, scores, stride, error);
}

MODEL_SOLVER(model_fit, decide, model_save, model_load, model_destroy);
