/* Named arrays of solvers that make models (adaboost, knn, kernel_ridge, svm). */
#include "shared/models.h"

void *models_new(const scl_host *host, size_t bytes, scl_error *error) {
  void *model = host->allocate(bytes);
  if (model != NULL)
    memset(model, 0, bytes);
  else
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  return model;
}

/* ------------ saving */

void models_put(model_writer *w, const char *name, scl_dtype dtype, size_t rows, size_t cols,
                const void *data) {
  const scl_array array = {
      .data = data, .dtype = dtype, .rank = cols > 0 ? 2 : 1, .sizes = {rows, cols}};
  if (w->status == SCL_STATUS_OK) w->status = w->archive->put(w->archive, name, &array, w->error);
}

/* ------------ loading */

void *models_get(model_reader *r, const char *name, scl_dtype dtype, size_t *rows, size_t cols) {
  const size_t sizes[4] = {*rows, cols};
  scl_array found = {.data = NULL};
  if (r->status == SCL_STATUS_OK)
    r->status = r->archive->get(r->archive, name, dtype, cols > 0 ? 2 : 1, sizes, &found, r->error);
  if (r->status == SCL_STATUS_OK && found.sizes[0] == 0)
    r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA, "the model's '%s' is empty", name);
  if (r->status != SCL_STATUS_OK) return NULL;
  *rows = found.sizes[0];
  const size_t bytes = found.sizes[0] * (cols > 0 ? cols : 1) *
                       (dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(int32_t));
  void *copy = r->host->allocate(bytes);
  if (copy != NULL)
    memcpy(copy, found.data, bytes);
  else
    r->status = r->host->fail(r->error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for the model's '%s' (%zu bytes)", name, bytes);
  return copy;
}

double *models_get_optional(model_reader *r, const char *name, size_t count) {
  if (r->status != SCL_STATUS_OK || !SCL_HAS(r->archive, has) || !r->archive->has(r->archive, name))
    return NULL;
  return models_get(r, name, SCL_DTYPE_FLOAT64, &count, 0);
}

int32_t *models_get_places(model_reader *r, const char *name, size_t *rows, size_t cols,
                           size_t limit) {
  int32_t *places = models_get(r, name, SCL_DTYPE_INT32, rows, cols);
  const size_t count = places == NULL ? 0 : *rows * (cols > 0 ? cols : 1);
  for (size_t i = 0; r->status == SCL_STATUS_OK && i < count; i++)
    if (places[i] < 0 || (size_t)places[i] >= limit)
      r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                                "the model's '%s' holds %d, and takes 0 to %zu", name,
                                (int)places[i], limit - 1);
  return places;
}

/* A model of which `get` read only a part is released by `end`, which takes zeros. */
scl_status models_load(const void *self, const scl_archive *archive, size_t bytes, model_get get,
                       void (*end)(const void *, void *), size_t features, size_t targets,
                       void **model, scl_error *error) {
  model_reader r = {((const scl_base *)self)->host, archive, error, SCL_STATUS_OK};
  void *made = models_new(r.host, bytes, error);
  if (made == NULL) return SCL_STATUS_NO_MEMORY;
  get(self, &r, features, targets, made);
  if (r.status == SCL_STATUS_OK)
    *model = made;
  else
    end(self, made);
  return r.status;
}
