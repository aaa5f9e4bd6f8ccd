/* Features of compressed sparse rows: the entry points. */
#include "map/kinds.h"
#include <string.h>

bool scl_map_takes_csr(const scl_map *map) {
  if (map->kind->inner != NULL) return scl_map_takes_csr(map->kind->inner(map));
  if (map->kind->takes_csr != NULL) return map->kind->takes_csr(map);
  return !map->bare && map->kind->tile != NULL && scl_tiles_take_csr(map);
}

scl_status scl_map_request_csr(const scl_map *map, const scl_csr *rows, scl_csr *held,
                               scl_map_request *out, scl_error *error) {
  memset(held, 0, sizeof *held);
  if (rows->cols != map->dim)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "sparse rows have %zu columns where the features take %zu", rows->cols,
                    map->dim);
  if (rows->dtype == map->dtype)
    *held = scl_csr_share(rows);
  else
    SCL_TRY(scl_csr_convert(rows, map->dtype, held, error));
  *out = (scl_map_request){.csr = *held, .rows = rows->rows, .count = map->count};
  return SCL_STATUS_OK;
}

scl_map_request scl_map_request_rows(const scl_map *map, const scl_map_request *request,
                                     size_t first, size_t count) {
  scl_map_request part = *request;
  part.rows = count;
  if (request->csr.starts != NULL) {
    part.csr.starts += first;
    part.csr.rows = count;
  } else {
    part.x = scl_at(request->x, map->dtype, (ptrdiff_t)first * request->x_stride);
  }
  return part;
}

/* Apply the map to sparse rows as `wanted` says. */
static scl_status apply_rows(const scl_map *map, const scl_csr *rows, scl_map_request wanted,
                             scl_error *error) {
  scl_csr held;
  scl_map_request request;
  SCL_TRY(scl_map_request_csr(map, rows, &held, &request, error));
  wanted.csr = request.csr;
  wanted.rows = request.rows;
  const scl_status status = scl_map_apply_request(map, &wanted, error);
  scl_csr_release(&held);
  return status;
}

scl_status scl_map_apply_csr_part(const scl_map *map, size_t first, size_t count,
                                  const scl_csr *rows, void *phi, ptrdiff_t phi_stride,
                                  scl_error *error) {
  return apply_rows(
      map, rows,
      (scl_map_request){.phi = phi, .phi_stride = phi_stride, .first = first, .count = count},
      error);
}

scl_status scl_map_apply_csr(const scl_map *map, const scl_csr *rows, void *phi,
                             ptrdiff_t phi_stride, scl_error *error) {
  return scl_map_apply_csr_part(map, 0, map->count, rows, phi, phi_stride, error);
}

scl_status scl_map_apply_csr_whole(const scl_map *map, const scl_csr *rows, void *v,
                                   ptrdiff_t v_stride, scl_error *error) {
  return apply_rows(
      map, rows,
      (scl_map_request){.phi = v, .phi_stride = v_stride, .count = map->count, .whole = true},
      error);
}

/* A cell is made of all numbers of a row: rows are made dense, some at a time. */
scl_status scl_map_apply_csr_cells(const scl_map *map, const scl_csr *rows, int32_t *columns,
                                   scl_error *error) {
  const size_t most = scl_min(scl_csr_dense_rows(map->dim, map->dtype), rows->rows),
               size = scl_dtype_size(map->dtype);
  scl_csr held;
  scl_map_request request;
  SCL_TRY(scl_map_request_csr(map, rows, &held, &request, error));
  void *x = scl_allocate_array(most * map->dim + 1, size);
  scl_status status = x == NULL
                          ? scl_fail_memory(error, most * map->dim * size, "sparse rows made dense")
                          : SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < rows->rows; at += most) {
    const size_t count = scl_min(most, rows->rows - at);
    scl_csr_fill(&held, at, count, map->dtype, x, (ptrdiff_t)map->dim);
    status =
        scl_map_apply_cells(map, x, (ptrdiff_t)map->dim, count, columns + at * map->count, error);
  }
  scl_release(x);
  scl_csr_release(&held);
  return status;
}
