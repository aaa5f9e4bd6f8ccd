/* Models of solvers, and their named arrays in an archive. After a failure a writer or reader does
 * nothing more, so that one look at `status` at the end is enough. */
#ifndef SCULLERY_SHARED_MODELS_H
#define SCULLERY_SHARED_MODELS_H

#include <scullery/plugin.h>

/* A model of `bytes` zeros; NULL: no memory. */
void *models_new(const scl_host *host, size_t bytes, scl_error *error);

typedef struct model_writer {
  scl_archive *archive;
  scl_error *error;
  scl_status status;
} model_writer;

/* rows x cols numbers; cols 0: a vector of `rows` numbers. */
void models_put(model_writer *w, const char *name, scl_dtype dtype, size_t rows, size_t cols,
                const void *data);

typedef struct model_reader {
  const scl_host *host;
  const scl_archive *archive;
  scl_error *error;
  scl_status status;
} model_reader;

/* Returns a copy of an array of float64 or int32 that models_put wrote, with *rows rows. With
 * *rows = 0 on entry any number above 0 is accepted and stored there. NULL after a failure. */
void *models_get(model_reader *r, const char *name, scl_dtype dtype, size_t *rows, size_t cols);

/* The same for an optional vector of `count` float64; NULL where the model has none. */
double *models_get_optional(model_reader *r, const char *name, size_t count);

/* The same for int32 places, each in [0, limit). */
int32_t *models_get_places(model_reader *r, const char *name, size_t *rows, size_t cols,
                           size_t limit);

/* scl_ability_model.load: a model of `bytes` zeros that `get` fills in and `end` ends. */
typedef void (*model_get)(const void *self, model_reader *r, size_t features, size_t targets,
                          void *model);
scl_status models_load(const void *self, const scl_archive *archive, size_t bytes, model_get get,
                       void (*end)(const void *, void *), size_t features, size_t targets,
                       void **model, scl_error *error);

/* The load of models of a type, from its `get_model` and `end`. */
#define MODELS_LOAD(type) \
  static scl_status load(const void *self, const scl_archive *archive, size_t features, \
                         size_t targets, void **model, scl_error *error) { \
    return models_load(self, archive, sizeof(type), get_model, end, features, targets, model, \
                       error); \
  }

/* The vtable and the ability of a solver that makes models by fit, decide, save, load and end. */
#define MODELS_SOLVER \
  SCL_SOLVER(.solve = NULL), \
      SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_MODEL, scl_ability_model, .fit = fit, .decide = decide, \
                              .save = save, .load = load, .destroy = end), \
                    SCL_OFFER(SCL_ABILITY_COST, scl_ability_cost, .cost = cost))

#endif
