/* Does not end its models. */
// caught by: no-growth fail
// says: bytes more
#include "solver_model.h"

static void destroy(const void *self, void *m) {
  (void)self;
  (void)m;
}

MODEL_SOLVER(model_fit, model_decide, model_save, model_load, destroy);
