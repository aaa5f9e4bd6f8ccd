/* Features rounded to whole numbers: feature j of a row is base_j + unit_j v_j. Where phi declares
 * a bound, the largest v stands for the bound, and the map has its grid from the start:
 *
 *   v = round(y most / bound),   unit = s bound / most,   base = 0
 *
 * with y the feature before its scale s. Other maps (unbounded phi, kernel sections, simulated
 * expectations, row stages after the features) learn the range of each feature from the first rows
 * of the data; values beyond it are clipped and counted. v depends on the row alone: it is computed
 * in float32 by the same operations for every batch and on every thread. */
#include "base/pool.h"
#include "map/kinds.h"
#include <math.h>
#include <string.h>

/* The range of a learnt grid, over the one that the first rows had. */
static const double MARGIN = 1.25;

scl_whole scl_map_wanted_whole(const scl_map *map) { return map->whole; }

/* Whether features of the map are rounded: whole numbers are wanted, and the features are neither
 * bits nor one-hot. */
static bool takes_grid(const scl_map *map) {
  scl_two_values values;
  return map->whole != SCL_WHOLE_NONE && !map->bare && map->kind->apply != NULL &&
         !scl_map_two_values(map, &values);
}

scl_whole scl_map_whole(const scl_map *map) {
  return map->grid != NULL && takes_grid(map) ? map->whole : SCL_WHOLE_NONE;
}

bool scl_map_lacks_grid(const scl_map *map) { return map->grid == NULL && takes_grid(map); }

void scl_map_units(const scl_map *map, const double **unit, const double **base) {
  *unit = map->grid == NULL ? NULL : map->grid->unit;
  *base = map->grid == NULL ? NULL : map->grid->base;
}

void scl_map_clipped(const scl_map *map, size_t *rounded, size_t *clipped) {
  *rounded = map->grid == NULL ? 0 : atomic_load(&map->grid->rounded);
  *clipped = map->grid == NULL ? 0 : atomic_load(&map->grid->clipped);
}

/* ------------ making a grid */

void scl_map_close_grid(scl_map *map) {
  scl_grid *grid = map->grid;
  if (grid == NULL) return;
  SCL_RELEASE(grid->offset, grid->inverse, grid->unit, grid->base, grid);
  map->grid = NULL;
}

/* s of feature j; kinds without a slot `tile` have no scales apart. */
static double scale_of(const scl_map *map, size_t j) {
  return map->kind->tile == NULL ? 1 : scl_map_feature_scale(map, j % map->count);
}

/* Make map->grid, with room for its arrays. */
static scl_status allocate_grid(scl_map *map, bool learnt, scl_error *error) {
  const size_t d = scl_map_features(map);
  scl_grid *grid = map->grid = scl_allocate_zero(sizeof *grid);
  if (grid == NULL) return scl_fail_memory(error, sizeof *grid, "a grid of features");
  grid->learnt = learnt;
  grid->inverse = scl_allocate_array(d + 1, sizeof *grid->inverse);
  grid->unit = scl_allocate_array(d + 1, sizeof *grid->unit);
  grid->offset = learnt ? scl_allocate_array(d + 1, sizeof *grid->offset) : NULL;
  grid->base = learnt ? scl_allocate_array(d + 1, sizeof *grid->base) : NULL;
  if (grid->inverse && grid->unit && ((grid->offset && grid->base) || !learnt))
    return SCL_STATUS_OK;
  scl_map_close_grid(map);
  return scl_fail_memory(error, 4 * d * sizeof *grid->unit, "a grid of features");
}

/* Give feature j an offset and an inverse unit, both in terms of y. `unit` is computed from the
 * rounded float32 number, so that base + unit v undoes exactly the rounding that is done. */
static void set_feature(const scl_map *map, size_t j, double offset, double inverse) {
  scl_grid *grid = map->grid;
  const double scale = scale_of(map, j);
  grid->inverse[j] = (float)inverse;
  grid->unit[j] = scale / (double)grid->inverse[j];
  if (!grid->learnt) return;
  grid->offset[j] = (float)offset;
  grid->base[j] = scale * (double)grid->offset[j];
}

/* A bound of |y|: that of phi, for kinds whose y is phi(z) or a mean of it; else infinity. */
static double declared_bound(const scl_map *map) {
  if (map->kind->tile == NULL || scl_instance_kind(map->phi) != SCL_KIND_NONLINEARITY)
    return INFINITY;
  return scl_nonlinearity_facts(map->phi).bound;
}

/* Row 0 of the matrix: offsets; row 1: inverse units. */
scl_status scl_map_take_grid(scl_map *map, const scl_matrix *given, scl_error *error) {
  const size_t d = scl_map_features(map);
  if (!scl_map_lacks_grid(map))
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "there is a grid of whole-number features, and these features learn none");
  if (given->rows != 2 || given->cols != d)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "the grid of whole-number features is %zu x %zu where 2 x %zu is taken",
                    given->rows, given->cols, d);
  SCL_TRY(allocate_grid(map, true, error));
  for (size_t j = 0; j < d; j++) {
    const double offset = scl_matrix_get(given, 0, j), inverse = scl_matrix_get(given, 1, j);
    if (!isfinite(offset) || !(inverse > 0) || !isfinite((float)inverse)) {
      scl_map_close_grid(map);
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "the grid of whole-number features has %g and %g for feature %zu", offset,
                      inverse, j + 1);
    }
    set_feature(map, j, offset, inverse);
  }
  return SCL_STATUS_OK;
}

scl_status scl_map_open_grid(scl_map *map, const scl_map_spec *spec, scl_error *error) {
  if (!takes_grid(map) || spec->staged) return SCL_STATUS_OK;
  if (map->dtype != SCL_DTYPE_FLOAT32)
    return scl_fail(error, SCL_STATUS_INTERNAL, "whole-number features are rounded from float32");
  const double bound = declared_bound(map);
  if (!(bound > 0) || !isfinite(bound)) return SCL_STATUS_OK; /* learnt from rows */
  SCL_TRY(allocate_grid(map, false, error));
  for (size_t j = 0; j < scl_map_features(map); j++)
    set_feature(map, j, 0, scl_whole_most(map->whole) / bound);
  return SCL_STATUS_OK;
}

scl_status scl_map_learn_grid(scl_map *map, const double *least, const double *most,
                              scl_error *error) {
  const double largest = scl_whole_most(map->whole);
  SCL_TRY(allocate_grid(map, true, error));
  for (size_t j = 0; j < scl_map_features(map); j++) {
    const double scale = scale_of(map, j) == 0 ? 1 : scale_of(map, j),
                 middle = (least[j] + most[j]) / 2 / scale,
                 half = MARGIN * (most[j] - least[j]) / 2 / fabs(scale),
                 finest = fmax(fabs(middle), 1e-30) * 1e-6; /* of float32 about the middle */
    /* A feature that does not vary has steps of its own size. */
    const double reach = half > finest ? half : fmax(fabs(middle), middle == 0 ? 1 : 0);
    set_feature(map, j, middle, largest / reach);
  }
  return SCL_STATUS_OK;
}

scl_status scl_map_set_grid(scl_map *map, const double *unit, const double *base,
                            scl_error *error) {
  SCL_TRY(allocate_grid(map, true, error));
  for (size_t j = 0; j < scl_map_features(map); j++)
    set_feature(map, j, base[j], 1 / unit[j]);
  return SCL_STATUS_OK;
}

scl_status scl_map_grid(const scl_map *map, scl_matrix *out, scl_error *error) {
  const size_t d = scl_map_features(map);
  *out = (scl_matrix){0};
  if (map->grid == NULL || !map->grid->learnt) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(2, d, SCL_DTYPE_FLOAT64, out, error));
  for (size_t j = 0; j < d; j++) {
    scl_matrix_row(out, 0)[j] = (double)map->grid->offset[j];
    scl_matrix_row(out, 1)[j] = (double)map->grid->inverse[j];
  }
  return SCL_STATUS_OK;
}

/* ------------ rounding */

bool scl_map_round(const scl_map *map, size_t first, size_t count, const float *y, void *v) {
  scl_grid *grid = map->grid;
  size_t clipped = 0;
  const bool finite = scl_whole_round(map->whole, SCL_DTYPE_FLOAT32, count, y,
                                      grid->offset == NULL ? NULL : grid->offset + first,
                                      grid->inverse + first, v, &clipped);
  if (!grid->learnt) return finite;
  atomic_fetch_add_explicit(&grid->rounded, count, memory_order_relaxed);
  if (clipped > 0) atomic_fetch_add_explicit(&grid->clipped, clipped, memory_order_relaxed);
  return finite;
}

void scl_map_unround(const scl_map *map, size_t first, size_t count, const void *v, scl_dtype dtype,
                     void *out) {
  const scl_grid *grid = map->grid;
  const bool narrow = map->whole == SCL_WHOLE_INT8;
  for (size_t j = 0; j < count; j++) {
    const double whole = narrow ? ((const int8_t *)v)[j] : ((const int16_t *)v)[j],
                 base = grid->base == NULL ? 0 : grid->base[first + j];
    scl_set_number(out, dtype, j, base + grid->unit[first + j] * whole);
  }
}

/* Rounding after the features of kinds that write them as they are. */
typedef struct rounding {
  const scl_map *map;
  const scl_map_request *request;
  const float *from; /* features at stride */
  ptrdiff_t stride;
  size_t first; /* row of the request */
} rounding;

/* Task: round one row of features, output by output, in runs that fit a small buffer. */
static scl_status round_row(void *context, size_t index, scl_error *error) {
  const rounding *r = context;
  const scl_map_request *to = r->request;
  const scl_map *map = r->map;
  const size_t size = scl_whole_size(map->whole), planes = scl_map_features(map) / map->count;
  const float *from = r->from + (ptrdiff_t)index * r->stride;
  const ptrdiff_t row = (ptrdiff_t)(r->first + index) * to->phi_stride;
  enum { RUN = 512 };
  int16_t room[RUN];
  for (size_t p = 0; p < planes; p++)
    for (size_t j = 0; j < to->count; j += RUN) {
      const size_t some = scl_min(RUN, to->count - j), at = p * to->count + j,
                   feature = p * map->count + to->first + j;
      void *v = to->whole ? (char *)to->phi + (size_t)(row + (ptrdiff_t)at) * size : (char *)room;
      if (!scl_map_round(map, feature, some, from + at, v))
        return scl_fail(error, SCL_STATUS_NUMERIC, "a feature of %zu .. %zu is NaN or infinite",
                        feature + 1, feature + some);
      if (!to->whole)
        scl_map_unround(map, feature, some, v, SCL_DTYPE_FLOAT32, (float *)to->phi + row + at);
    }
  return SCL_STATUS_OK;
}

scl_status scl_map_apply_rounded(const scl_map *map, const scl_map_request *request,
                                 scl_error *error) {
  enum { CHUNK = 256 };
  const size_t width = scl_map_features(map) / map->count * request->count;
  float *room = NULL;
  if (request->rows == 0 || request->count == 0) return SCL_STATUS_OK;
  if (!request->whole) { /* the features are float32: they are rounded in place */
    SCL_TRY(scl_map_apply_numbers(map, request, error));
    rounding r = {map, request, request->phi, request->phi_stride, 0};
    return scl_pool_try(request->rows, round_row, &r, error);
  }
  room = scl_allocate_array(scl_min(CHUNK, request->rows) * width + 1, sizeof *room);
  if (room == NULL) return scl_fail_memory(error, CHUNK * width * sizeof *room, "rows of features");
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < request->rows; at += CHUNK) {
    scl_map_request part =
        scl_map_request_rows(map, request, at, scl_min(CHUNK, request->rows - at));
    part.phi = room;
    part.phi_stride = (ptrdiff_t)width;
    part.whole = false;
    status = scl_map_apply_numbers(map, &part, error);
    rounding r = {map, request, room, (ptrdiff_t)width, at};
    if (status == SCL_STATUS_OK) status = scl_pool_try(part.rows, round_row, &r, error);
  }
  scl_release(room);
  return status;
}
