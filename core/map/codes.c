/* Codes: the category of each row and parameter, for nonlinearities with finitely many categories
 * (maxout: which of its numbers is largest). Nearest-neighbour search and hashing use them. */
#include "map/kinds.h"
#include "plugin/blocks.h"

typedef struct coding {
  const scl_map *map;
  int32_t *codes; /* rows x T, to be written */
} coding;

/* Codes of a tile. The nonlinearity takes float64 alone, so that a float32 tile is copied. */
static scl_status write_codes(void *context, const scl_map_tile *tile, scl_error *error) {
  const coding *job = context;
  const scl_map *map = job->map;
  const scl_const_block from = scl_block_view(&tile->z);
  int32_t *to = job->codes + tile->first_row * map->count + tile->first;
  const ptrdiff_t stride = (ptrdiff_t)map->count;
  if (map->dtype == SCL_DTYPE_FLOAT64)
    return scl_nonlinearity_categories(map->phi, &from, to, stride, error);
  const size_t numbers = scl_block_numbers(&from);
  double *memory = scl_allocate_array(numbers + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, numbers * sizeof *memory, "a float64 copy of a tile");
  const scl_const_block wide = scl_block_widen(&from, memory);
  const scl_status status = scl_nonlinearity_categories(map->phi, &wide, to, stride, error);
  scl_release(memory);
  return status;
}

scl_status scl_map_levels(const scl_map *map, size_t *levels, scl_error *error) {
  size_t words = 0;
  *levels = 0;
  if (scl_instance_kind(map->phi) == SCL_KIND_NONLINEARITY &&
      !(map->shape.flags & SCL_SHAPE_ONE_HOT) && scl_nonlinearity_has_categories(map->phi))
    SCL_TRY(scl_nonlinearity_key(map->phi, map->fan_in, &words, levels, error));
  if (words == 1 && *levels > 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "%s.%s has no codes: that takes a nonlinearity with finitely many categories",
                  scl_kind_name(scl_instance_kind(map->phi)), scl_instance_name(map->phi));
}

static scl_status make_codes(const scl_map *map, const scl_map_request *request, int32_t *codes,
                             scl_error *error) {
  size_t levels;
  SCL_TRY(scl_map_levels(map, &levels, error));
  if (!map->kind->phi_of_z)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "codes belong to features without K");
  coding job = {map, codes};
  SCL_TRY(scl_tiles_run(map, request, write_codes, &job, error));
  for (size_t i = 0; i < request->rows * map->count; i++)
    if (codes[i] < 0 || (size_t)codes[i] >= levels)
      return scl_fail(error, SCL_STATUS_INTERNAL, "nonlinearity.%s gave the code %ld of %zu",
                      scl_instance_name(map->phi), (long)codes[i], levels);
  return SCL_STATUS_OK;
}

scl_status scl_map_codes(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         int32_t *codes, scl_error *error) {
  const scl_map_request request = {.x = x, .x_stride = x_stride, .rows = rows, .count = map->count};
  return make_codes(map, &request, codes, error);
}

scl_status scl_map_codes_csr(const scl_map *map, const scl_csr *rows, int32_t *codes,
                             scl_error *error) {
  scl_csr held;
  scl_map_request request;
  scl_status status = scl_map_request_csr(map, rows, &held, &request, error);
  if (status == SCL_STATUS_OK) status = make_codes(map, &request, codes, error);
  scl_csr_release(&held);
  return status;
}

/* Rows that the features take as they are, or made dense, some at a time. */
static scl_status codes_of_csr(const scl_map *map, const scl_csr *rows, int32_t *codes,
                               scl_error *error) {
  const size_t most = scl_min(rows->rows, scl_csr_dense_rows(rows->cols, rows->dtype));
  scl_matrix dense;
  if (rows->cols != map->dim || scl_map_takes_csr(map))
    return scl_map_codes_csr(map, rows, codes, error);
  SCL_TRY(scl_matrix_create_raw(most, map->dim, map->dtype, &dense, error));
  scl_status status = SCL_STATUS_OK;
  for (size_t at = 0; status == SCL_STATUS_OK && at < rows->rows; at += most) {
    const size_t count = scl_min(most, rows->rows - at);
    scl_csr_fill(rows, at, count, map->dtype, dense.data, dense.row_stride);
    status =
        scl_map_codes(map, dense.data, dense.row_stride, count, codes + at * map->count, error);
  }
  scl_matrix_release(&dense);
  return status;
}

static scl_status codes_of_matrix(const scl_map *map, const scl_matrix *x, int32_t *codes,
                                  scl_error *error) {
  scl_matrix copy;
  SCL_TRY(scl_map_check_rows(map, "codes", x, error));
  SCL_TRY(scl_matrix_copy(x, map->dtype, &copy, error));
  const scl_status status = scl_map_codes(map, copy.data, copy.row_stride, x->rows, codes, error);
  scl_matrix_release(&copy);
  return status;
}

scl_status scl_map_code_matrix(const scl_map *map, const scl_matrix *x, const scl_csr *csr,
                               scl_matrix *out, scl_error *error) {
  const size_t rows = csr != NULL ? csr->rows : x->rows, count = map->count;
  int32_t *codes = scl_allocate_array(rows * count + 1, sizeof *codes);
  if (codes == NULL) return scl_fail_memory(error, rows * count * sizeof *codes, "codes");
  scl_status status =
      csr != NULL ? codes_of_csr(map, csr, codes, error) : codes_of_matrix(map, x, codes, error);
  if (status == SCL_STATUS_OK)
    status = scl_matrix_create_raw(rows, count, SCL_DTYPE_FLOAT64, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < rows * count; i++)
    ((double *)out->data)[i] = codes[i];
  scl_release(codes);
  return status;
}
