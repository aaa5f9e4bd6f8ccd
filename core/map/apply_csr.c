/* Features of compressed sparse rows. Maps that read sparse rows as they are say so
 * (scl_map_takes_csr); for others rows are made dense, as many at a time as take DENSE_BYTES. */
#include "base/memory.h"
#include "map/map.h"

static const double DENSE_BYTES = 64e6;

bool scl_map_takes_csr(const scl_map *map) {
  (void)map;
  return false;
}

/* Makes features of `count` dense rows, which are rows at .. of all, in one of the forms. */
typedef struct densely densely;
struct densely {
  const scl_map *map;
  scl_status (*make)(const densely *d, const void *x, size_t at, size_t count, scl_error *error);
  void *out; /* features, whole numbers or cells, at stride */
  ptrdiff_t stride;
  size_t first, count; /* parameters */
  const scl_bits *bits;
};

size_t scl_map_dense_rows(const scl_map *map, size_t rows) {
  const double row = (double)scl_map_dim(map) * (double)scl_dtype_size(scl_map_dtype(map)),
               fit = DENSE_BYTES / (row > 1 ? row : 1);
  return fit < 1 ? 1 : fit < (double)rows ? (size_t)fit : rows;
}

/* Fill rows with their zeros, some at a time, and make the features of each part. */
static scl_status make_densely(const densely *d, const scl_csr *rows, scl_error *error) {
  const size_t dim = scl_map_dim(d->map), most = scl_map_dense_rows(d->map, rows->rows);
  const scl_dtype dtype = scl_map_dtype(d->map);
  scl_status status = SCL_STATUS_OK;
  if (rows->rows == 0) return SCL_STATUS_OK;
  void *x = scl_allocate_array(most * dim + 1, scl_dtype_size(dtype));
  if (x == NULL)
    return scl_fail_memory(error, most * dim * scl_dtype_size(dtype), "sparse rows made dense");
  for (size_t at = 0; status == SCL_STATUS_OK && at < rows->rows; at += most) {
    const size_t count = scl_min(most, rows->rows - at);
    scl_csr_fill(rows, at, count, dtype, x, (ptrdiff_t)dim);
    status = d->make(d, x, at, count, error);
  }
  scl_release(x);
  return status;
}

static scl_status make_numbers(const densely *d, const void *x, size_t at, size_t count,
                               scl_error *error) {
  return scl_map_apply_part(
      d->map, d->first, d->count, x, (ptrdiff_t)scl_map_dim(d->map), count,
      scl_at_mutable(d->out, scl_map_dtype(d->map), (ptrdiff_t)at * d->stride), d->stride, error);
}

static scl_status make_whole(const densely *d, const void *x, size_t at, size_t count,
                             scl_error *error) {
  char *out =
      (char *)d->out + (ptrdiff_t)at * d->stride * (ptrdiff_t)scl_whole_size(scl_map_whole(d->map));
  return scl_map_apply_whole(d->map, x, (ptrdiff_t)scl_map_dim(d->map), count, out, d->stride,
                             error);
}

static scl_status make_cells(const densely *d, const void *x, size_t at, size_t count,
                             scl_error *error) {
  return scl_map_apply_cells(d->map, x, (ptrdiff_t)scl_map_dim(d->map), count,
                             (int32_t *)d->out + at * scl_map_entries(d->map), error);
}

/* Bits are made from word 0 on, and then copied to their rows. */
static scl_status make_bits(const densely *d, const void *x, size_t at, size_t count,
                            scl_error *error) {
  const ptrdiff_t dim = (ptrdiff_t)scl_map_dim(d->map);
  scl_bits some;
  if (at == 0) return scl_map_apply_bits(d->map, x, dim, count, d->bits, error);
  SCL_TRY(scl_bits_create(d->bits->columns, count, &some, error));
  const scl_status status = scl_map_apply_bits(d->map, x, dim, count, &some, error);
  if (status == SCL_STATUS_OK) scl_bits_copy(&some, 0, count, d->bits, at);
  scl_bits_release(&some);
  return status;
}

scl_status scl_map_apply_csr_part(const scl_map *map, size_t first, size_t count,
                                  const scl_csr *rows, void *phi, ptrdiff_t phi_stride,
                                  scl_error *error) {
  const densely d = {map, make_numbers, phi, phi_stride, first, count, NULL};
  return make_densely(&d, rows, error);
}

scl_status scl_map_apply_csr(const scl_map *map, const scl_csr *rows, void *phi,
                             ptrdiff_t phi_stride, scl_error *error) {
  return scl_map_apply_csr_part(map, 0, scl_map_count(map), rows, phi, phi_stride, error);
}

scl_status scl_map_apply_csr_whole(const scl_map *map, const scl_csr *rows, void *v,
                                   ptrdiff_t v_stride, scl_error *error) {
  const densely d = {map, make_whole, v, v_stride, 0, 0, NULL};
  return make_densely(&d, rows, error);
}

scl_status scl_map_apply_csr_bits(const scl_map *map, const scl_csr *rows, const scl_bits *bits,
                                  scl_error *error) {
  const densely d = {.map = map, .make = make_bits, .bits = bits};
  return make_densely(&d, rows, error);
}

scl_status scl_map_apply_csr_cells(const scl_map *map, const scl_csr *rows, int32_t *columns,
                                   scl_error *error) {
  const densely d = {.map = map, .make = make_cells, .out = columns};
  return make_densely(&d, rows, error);
}
