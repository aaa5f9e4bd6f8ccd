/* Kind `staged`: the features of another map, each row of them changed by row stages that were
 * fitted to features (stage.h):
 *
 *   Phi(x) = g_m( ... g_1(Phi_base(x)))
 *
 * A block of rows is changed where it is made, so that sums, passes and predictions need not know
 * of the stages. With K or without, these features have no G: a solver's penalty is a'a. */
#include "base/pool.h"
#include "map/kinds.h"
#include <math.h>
#include <string.h>

/* Rows of a task, and numbers of a buffer in which some of them are changed at a time. */
enum { CHUNK_ROWS = 64, BUFFER = 32768 };

const scl_map *scl_map_base(const scl_map *map) {
  return map->kind == &scl_map_kind_staged ? map->own.staging.base : map;
}

/* ------------ applying */

typedef struct changing {
  const scl_map *map;
  const scl_map_request *request;
  const void *from; /* features of the base at stride */
  ptrdiff_t stride;
  size_t width, room; /* features of the base; numbers that a row needs room for in the stages */
} changing;

/* Write the features first .. first+count-1 that the request wants of row i, from the changed
 * row. */
static scl_status write_row(const changing *c, size_t i, const double *row, scl_error *error) {
  const scl_map_request *to = c->request;
  const scl_dtype dtype = c->map->dtype;
  void *out = scl_at_mutable(to->phi, dtype, (ptrdiff_t)i * to->phi_stride);
  if (dtype == SCL_DTYPE_FLOAT64)
    memcpy(out, row + to->first, to->count * sizeof *row);
  else
    scl_narrow(to->count, row + to->first, out);
  for (size_t j = 0; j < to->count; j++)
    if (!isfinite(scl_number(out, dtype, j)))
      return scl_fail(
          error, SCL_STATUS_NUMERIC,
          "feature %zu is too large for %s on some row after the row stages that follow "
          "the features",
          to->first + j + 1, scl_dtype_name(dtype));
  return SCL_STATUS_OK;
}

/* Change rows first .. end-1, `step` at a time. buffers: 2 step room numbers. */
static scl_status change_rows(const changing *c, size_t first, size_t end, size_t step,
                              double *buffers, scl_error *error) {
  const scl_staging *own = &c->map->own.staging;
  for (size_t at = first; at < end; at += step) {
    const size_t count = scl_min(step, end - at);
    double *rows;
    for (size_t i = 0; i < count; i++) {
      const void *from = scl_at(c->from, c->map->dtype, (ptrdiff_t)(at + i) * c->stride);
      if (c->map->dtype == SCL_DTYPE_FLOAT64)
        memcpy(buffers + i * c->room, from, c->width * sizeof *buffers);
      else
        scl_widen(c->width, from, buffers + i * c->room);
    }
    SCL_TRY(scl_fitted_stages_apply(own->stages, own->n_stages, buffers, buffers + step * c->room,
                                    count, (ptrdiff_t)c->room, &rows, error));
    for (size_t i = 0; i < count; i++)
      SCL_TRY(write_row(c, at + i, rows + i * c->room, error));
  }
  return SCL_STATUS_OK;
}

/* Task: CHUNK_ROWS rows. */
static scl_status change_chunk(void *context, size_t index, scl_error *error) {
  const changing *c = context;
  const size_t first = index * CHUNK_ROWS, end = scl_min(first + CHUNK_ROWS, c->request->rows);
  const size_t step = scl_max(1, scl_min(CHUNK_ROWS, BUFFER / scl_max(c->room, 1)));
  double *buffers = scl_allocate_array(2 * step * c->room + 1, sizeof *buffers);
  if (buffers == NULL)
    return scl_fail_memory(error, 2 * step * c->room * sizeof *buffers, "rows of features");
  const scl_status status = change_rows(c, first, end, step, buffers, error);
  scl_release(buffers);
  return status;
}

/* The slot `apply`. The features of the base are written into the request's memory if they fit
 * there (all features are wanted, and the stages do not reduce their number), else into memory of
 * this call. */
static scl_status staged_apply(const scl_map *map, const scl_map_request *request,
                               scl_error *error) {
  const scl_staging *own = &map->own.staging;
  const size_t width = scl_map_features(own->base), size = scl_dtype_size(map->dtype);
  const bool fits = request->count == map->count && map->count >= width;
  void *memory = fits ? NULL : scl_allocate_array(request->rows * width + 1, size);
  if (!fits && memory == NULL)
    return scl_fail_memory(error, request->rows * width * size, "rows of features");
  changing c = {.map = map,
                .request = request,
                .from = fits ? request->phi : memory,
                .stride = fits ? request->phi_stride : (ptrdiff_t)width,
                .width = width,
                .room = width};
  for (size_t s = 0; s < own->n_stages; s++)
    c.room = scl_max(c.room, own->stages[s]->cols_out);
  const scl_map_request of_base = {.x = request->x,
                                   .csr = request->csr,
                                   .phi = fits ? request->phi : memory,
                                   .x_stride = request->x_stride,
                                   .phi_stride = c.stride,
                                   .rows = request->rows,
                                   .count = own->base->count};
  scl_status status = scl_map_apply_numbers(own->base, &of_base, error);
  if (status == SCL_STATUS_OK)
    status = scl_pool_try((request->rows + CHUNK_ROWS - 1) / CHUNK_ROWS, change_chunk, &c, error);
  scl_release(memory);
  return status;
}

/* ------------ making */

/* Whether a stage may follow features. The base may leave out a factor of its features
 * (scl_map_log_scale): the result of these stages does not depend on such a factor, or has the same
 * factor (SCL_STAGE_HOMOGENEOUS). */
static bool follows_features(const scl_fitted_stage *stage) {
  return stage->instance != NULL &&
         scl_stage_has(stage->instance, SCL_STAGE_SCALE_FREE | SCL_STAGE_HOMOGENEOUS);
}

/* Check that the stages can follow the features of `base`, each taking as many columns as the one
 * before gives. *features = the columns of the last. */
static scl_status check_stages(const scl_map *base, scl_fitted_stage *const *stages,
                               size_t n_stages, size_t *features, scl_error *error) {
  *features = scl_map_features(base);
  if (n_stages == 0 || base->bare || base->kind->apply == NULL ||
      base->kind == &scl_map_kind_staged)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "row stages follow dense features");
  for (size_t s = 0; s < n_stages; s++) {
    const char *name = scl_fitted_stage_name(stages[s]);
    if (!follows_features(stages[s]))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                      "%s does not follow features: it is neither SCL_STAGE_SCALE_FREE nor "
                      "SCL_STAGE_HOMOGENEOUS",
                      name);
    if (stages[s]->cols_in != *features)
      return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                      "%s takes %zu columns, where %zu features arrive", name, stages[s]->cols_in,
                      *features);
    *features = stages[s]->cols_out;
  }
  return SCL_STATUS_OK;
}

/* The log of the factor that is left out after the stages: only homogeneous ones keep it. */
static double log_scale_of(const scl_map *base, scl_fitted_stage *const *stages, size_t n_stages) {
  for (size_t s = 0; s < n_stages; s++)
    if (!scl_stage_has(stages[s]->instance, SCL_STAGE_HOMOGENEOUS)) return 0;
  return base->log_scale;
}

scl_status scl_map_create_staged(const scl_map *base, scl_fitted_stage *const *stages,
                                 size_t n_stages, scl_map **out, scl_error *error) {
  size_t features;
  SCL_TRY(check_stages(base, stages, n_stages, &features, error));
  scl_map *map = scl_allocate_zero(sizeof *map);
  const scl_fitted_stage **list = scl_allocate_array(n_stages, sizeof *list);
  if (map == NULL || list == NULL) {
    SCL_RELEASE(map, list);
    return scl_fail_memory(error, sizeof *map, "a feature map");
  }
  for (size_t s = 0; s < n_stages; s++)
    list[s] = stages[s];
  map->kind = &scl_map_kind_staged;
  map->sampler = scl_instance_share(base->sampler);
  map->phi = scl_instance_share(base->phi);
  map->dim = base->dim;
  map->dtype = base->dtype;
  map->seed = base->seed;
  map->count = features;
  map->fan_in = map->fan_out = 1;
  map->log_scale = log_scale_of(base, stages, n_stages);
  map->whole = base->whole;
  map->own.staging = (scl_staging){.base = base, .stages = list, .n_stages = n_stages};
  *out = map;
  return SCL_STATUS_OK;
}

static void staged_release(scl_map *map) { scl_release(map->own.staging.stages); }

const scl_map_kind scl_map_kind_staged = {.name = "staged",
                                          .method = SCL_METHOD_DIRECT,
                                          .release = staged_release,
                                          .features = scl_map_dense_features,
                                          .inner = scl_map_base,
                                          .apply = staged_apply};
