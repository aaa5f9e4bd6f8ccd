/* Takes the sizes of a saved array for granted. */
// caught by: damaged crash
// says: slot load
#include "solver_model.h"

static scl_status load(const void *self, const scl_archive *archive, size_t features,
                       size_t targets, void **out, scl_error *error) {
  const size_t any[] = {0, 0};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, any, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memcpy(m->a, array.data, features * targets * sizeof *m->a);
  *out = m;
  return SCL_STATUS_OK;
}

MODEL_SOLVER(model_fit, model_decide, model_save, load, model_destroy);
