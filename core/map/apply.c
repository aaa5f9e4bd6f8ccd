/* Features of dense kinds: the entry points, and the features of a tile. */
#include "base/loops.h"
#include "map/kinds.h"
#include "plugin/blocks.h"
#include <math.h>

/* The first column of row `i` of a tile that is not finite; d: all are. */
static size_t not_finite_column(const scl_map_tile *tile, size_t i) {
  const scl_map *map = tile->map;
  const scl_csr *csr = &tile->x.csr;
  if (csr->starts != NULL) {
    for (int64_t k = csr->starts[i]; k < csr->starts[i + 1]; k++)
      if (!isfinite(scl_csr_value(csr, k))) return (size_t)csr->columns[k];
    return map->dim;
  }
  const void *row = scl_at(tile->x.x, map->dtype, (ptrdiff_t)i * tile->x.x_stride);
  size_t c = 0;
  while (c < map->dim && isfinite(scl_number(row, map->dtype, c)))
    c++;
  return c;
}

/* Report why feature `j` of row `i` of a tile is not finite: the data, their projection, or phi.
 * The projection is made again, because phi may have been written over it. */
static scl_status fail_not_finite(const scl_map_tile *tile, size_t plane, size_t i, size_t j,
                                  scl_error *error) {
  const scl_map *map = tile->map;
  const char *type = scl_dtype_name(map->dtype), *phi = scl_instance_name(map->phi);
  const char *sampler = scl_instance_name(map->sampler);
  const size_t feature = plane * map->count + tile->first + j + 1;
  const scl_block *z = &tile->z;
  const size_t bad = not_finite_column(tile, i);
  if (bad < map->dim)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "feature %zu is not finite: column %zu of the data is NaN or infinite on "
                    "some row",
                    feature, bad + 1);
  SCL_TRY(scl_tile_project(tile, &tile->x, z, error));
  for (size_t k = 0; k < map->fan_in; k++)
    if (!isfinite(scl_number(
            z->data, map->dtype,
            (size_t)((ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride) + j)))
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "feature %zu is not finite: the projection of some row on a parameter of "
                      "sampler.%s is NaN or too large for %s: scale the data, or choose a smaller "
                      "width",
                      feature, sampler, type);
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "feature %zu is NaN or too large for %s on some row, though its projection is "
                  "finite: nonlinearity.%s made it so; scale the data, or choose a smaller width",
                  feature, type, phi);
}

/* The same for a row of y that begins at `from`: find its first number that is not finite. */
static scl_status fail_row(const scl_map_tile *tile, size_t plane, size_t i, const void *from,
                           scl_error *error) {
  size_t j = 0;
  while (j + 1 < tile->y.cols && isfinite(scl_number(from, tile->y.dtype, j)))
    j++;
  return fail_not_finite(tile, plane, i, j, error);
}

/* Features that are rounded at once, when they are turned back into floating point. */
enum { ROUNDED = 512 };

/* Round `count` y of one row and plane, features `first` .. of the map, and write the whole numbers
 * (to->whole) or the features base + unit v to position `at` of to->phi. False: a number is not
 * finite. */
static bool write_whole_row(const scl_map_request *to, const scl_map *map, size_t first,
                            size_t count, const float *y, ptrdiff_t at) {
  const size_t size = scl_whole_size(map->whole);
  int16_t room[ROUNDED];
  if (to->whole) return scl_map_round(map, first, count, y, (char *)to->phi + at * (ptrdiff_t)size);
  for (size_t j = 0; j < count; j += ROUNDED) {
    const size_t some = scl_min(ROUNDED, count - j);
    if (!scl_map_round(map, first + j, some, y + j, room)) return false;
    scl_map_unround(map, first + j, some, room, SCL_DTYPE_FLOAT32, (float *)to->phi + at + j);
  }
  return true;
}

/* write_features of a map of whole numbers, whose dtype is float32. */
static scl_status write_whole(const scl_map_request *to, const scl_map_tile *tile,
                              scl_error *error) {
  const scl_map *map = tile->map;
  const scl_block *y = &tile->y;
  for (size_t plane = 0; plane < map->fan_out; plane++)
    for (size_t i = 0; i < y->rows; i++) {
      const float *from = (const float *)y->data + (ptrdiff_t)i * y->row_stride +
                          (ptrdiff_t)plane * y->plane_stride;
      const ptrdiff_t at = (ptrdiff_t)(tile->first_row + i) * to->phi_stride +
                           (ptrdiff_t)(plane * to->count + tile->first - to->first);
      if (!write_whole_row(to, map, plane * map->count + tile->first, y->cols, from, at))
        return fail_row(tile, plane, i, from, error);
    }
  return SCL_STATUS_OK;
}

/* Write the features s_t y of a tile to their rows. All earlier steps work in the thread's own
 * packed tile, and this is the only pass over the rows of features: their stride may be a power of
 * two, so that they share few cache sets and further passes would be slow. */
static scl_status write_features(void *context, const scl_map_tile *tile, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const scl_map_request *to = context;
  const scl_map *map = tile->map;
  const scl_block *y = &tile->y;
  SCL_TRY(map->kind->tile(map, tile, error));
  if (map->grid != NULL && !to->unrounded) return write_whole(to, tile, error);
  for (size_t plane = 0; plane < map->fan_out; plane++)
    for (size_t i = 0; i < y->rows; i++) {
      const ptrdiff_t from = (ptrdiff_t)i * y->row_stride + (ptrdiff_t)plane * y->plane_stride;
      const ptrdiff_t at = (ptrdiff_t)(tile->first_row + i) * to->phi_stride +
                           (ptrdiff_t)(plane * to->count + tile->first - to->first);
      const int finite =
          map->dtype == SCL_DTYPE_FLOAT64
              ? loops->scale_f64(y->cols, (const double *)map->scale + tile->first,
                                 (const double *)y->data + from, (double *)to->phi + at)
              : loops->scale_f32(y->cols, (const float *)map->scale + tile->first,
                                 (const float *)y->data + from, (float *)to->phi + at);
      if (!finite) return fail_row(tile, plane, i, scl_at(y->data, y->dtype, from), error);
    }
  return SCL_STATUS_OK;
}

scl_status scl_map_apply_tiles(const scl_map *map, const scl_map_request *request,
                               scl_error *error) {
  return scl_tiles_run(map, request, write_features, (void *)(uintptr_t)request, error);
}

/* The kind's slot `apply`, for maps that have dense features. */
static scl_status apply_kind(const scl_map *map, const scl_map_request *request, scl_error *error) {
  if (request->rows == 0 || request->count == 0) return SCL_STATUS_OK;
  if (map->bare || map->kind->apply == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "this map has no dense features");
  return map->kind->apply(map, request, error);
}

scl_status scl_map_apply_numbers(const scl_map *map, const scl_map_request *request,
                                 scl_error *error) {
  scl_map_request unrounded = *request;
  unrounded.unrounded = true;
  return apply_kind(map, &unrounded, error);
}

size_t scl_map_block(const scl_map *map) {
  return map->projection == NULL ? 1 : scl_projection_block(map->projection);
}

scl_status scl_map_apply_request(const scl_map *map, const scl_map_request *request,
                                 scl_error *error) {
  if (map->kind->tile == NULL && (map->grid != NULL || request->whole))
    return scl_map_apply_rounded(map, request, error);
  return apply_kind(map, request, error);
}

scl_status scl_map_apply_part(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error) {
  const scl_map_request request = {.x = x,
                                   .phi = phi,
                                   .x_stride = x_stride,
                                   .phi_stride = phi_stride,
                                   .rows = rows,
                                   .first = first,
                                   .count = count};
  return scl_map_apply_request(map, &request, error);
}

scl_status scl_map_apply_whole(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               void *v, ptrdiff_t v_stride, scl_error *error) {
  const scl_map_request request = {.x = x,
                                   .phi = v,
                                   .x_stride = x_stride,
                                   .phi_stride = v_stride,
                                   .rows = rows,
                                   .count = map->count,
                                   .whole = true};
  return scl_map_apply_request(map, &request, error);
}

scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *phi, ptrdiff_t phi_stride, scl_error *error) {
  return scl_map_apply_part(map, 0, map->count, x, x_stride, rows, phi, phi_stride, error);
}
