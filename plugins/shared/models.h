/* Models of solvers, and their named arrays in an archive. After a failure a writer or reader does
 * nothing more, so that one look at `status` at the end is enough. */
#ifndef SCULLERY_SHARED_MODELS_H
#define SCULLERY_SHARED_MODELS_H

#include <scullery/plugin.h>

/* A model of `bytes` zeros; NULL: no memory. */
static inline void *models_new(const scl_host *host, size_t bytes, scl_error *error) {
  void *model = host->allocate(bytes);
  if (model != NULL)
    memset(model, 0, bytes);
  else
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  return model;
}

/* ------------------------------------------------------------ saving */

typedef struct model_writer {
  scl_archive *archive;
  scl_error *error;
  scl_status status;
} model_writer;

/* rows x cols numbers; cols 0: a vector of `rows` numbers. */
static inline void models_put(model_writer *w, const char *name, scl_dtype dtype, size_t rows,
                              size_t cols, const void *data) {
  const scl_array array = {
      .data = data, .dtype = dtype, .rank = cols > 0 ? 2 : 1, .sizes = {rows, cols}};
  if (w->status == SCL_STATUS_OK) w->status = w->archive->put(w->archive, name, &array, w->error);
}

/* ------------------------------------------------------------ loading */

typedef struct model_reader {
  const scl_host *host;
  const scl_archive *archive;
  scl_error *error;
  scl_status status;
} model_reader;

/* A copy of an array of float64 or int32, as models_put wrote it, with *rows rows; *rows = 0: any
 * number but none, which is then stored there. NULL after a failure. */
static inline void *models_get(model_reader *r, const char *name, scl_dtype dtype, size_t *rows,
                               size_t cols) {
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

/* The same for a vector of `count` float64 that models may have or not; NULL where it has not. */
static inline double *models_get_optional(model_reader *r, const char *name, size_t count) {
  if (r->status != SCL_STATUS_OK || !SCL_HAS(r->archive, has) || !r->archive->has(r->archive, name))
    return NULL;
  return models_get(r, name, SCL_DTYPE_FLOAT64, &count, 0);
}

/* The same for int32 places, each in [0, limit). */
static inline int32_t *models_get_places(model_reader *r, const char *name, size_t *rows,
                                         size_t cols, size_t limit) {
  int32_t *places = models_get(r, name, SCL_DTYPE_INT32, rows, cols);
  const size_t count = places == NULL ? 0 : *rows * (cols > 0 ? cols : 1);
  for (size_t i = 0; r->status == SCL_STATUS_OK && i < count; i++)
    if (places[i] < 0 || (size_t)places[i] >= limit)
      r->status = r->host->fail(r->error, SCL_STATUS_BAD_DATA,
                                "the model's '%s' holds %d, and takes 0 to %zu", name,
                                (int)places[i], limit - 1);
  return places;
}

/* scl_ability_model.load: a model of `bytes` zeros that `get` fills in and `end` ends. */
typedef void (*model_get)(const void *self, model_reader *r, size_t features, size_t targets,
                          void *model);
static inline scl_status models_load(const void *self, const scl_archive *archive, size_t bytes,
                                     model_get get, void (*end)(const void *, void *),
                                     size_t features, size_t targets, void **model,
                                     scl_error *error) {
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

/* The load of models of a type, from its `get_model` and `end`. */
#define MODELS_LOAD(type)                                                                          \
  static scl_status load(const void *self, const scl_archive *archive, size_t features,            \
                         size_t targets, void **model, scl_error *error) {                         \
    return models_load(self, archive, sizeof(type), get_model, end, features, targets, model,      \
                       error);                                                                     \
  }

/* The vtable and the ability of a solver that makes models by fit, decide, save, load and end. */
#define MODELS_SOLVER                                                                              \
  SCL_SOLVER(.solve = NULL),                                                                       \
      SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = fit, .decide = decide,  \
                              .save = save, .load = load, .destroy = end))

#endif
