/* Saves the coefficients of the first feature only. */
// caught by: save fail
// says: saved and loaded
#include "solver_model.h"

static scl_status save(const void *self, const void *a_model, scl_archive *archive,
                       scl_error *error) {
  const model *m = a_model;
  const scl_array array = {.data = m->a, .dtype = SCL_DTYPE_FLOAT64, .rank = 2, .sizes = {1, m->c}};
  (void)self;
  return archive->put(archive, "coefficients", &array, error);
}

static scl_status load(const void *self, const scl_archive *archive, size_t features,
                       size_t targets, void **out, scl_error *error) {
  const size_t sizes[] = {1, targets};
  scl_array array;
  const scl_status status =
      archive->get(archive, "coefficients", SCL_DTYPE_FLOAT64, 2, sizes, &array, error);
  if (status != SCL_STATUS_OK) return status;
  model *m = model_new(host_of(self), features, targets, error);
  if (m == NULL) return SCL_STATUS_NO_MEMORY;
  memset(m->a, 0, features * targets * sizeof *m->a);
  memcpy(m->a, array.data, targets * sizeof *m->a);
  *out = m;
  return SCL_STATUS_OK;
}

MODEL_SOLVER(model_fit, model_decide, save, load, model_destroy);
