/* Kind `union`: the features of several maps side by side, each of some columns of the rows and
 * times a scale:
 *
 *   Phi(x) = (c_1 Phi_1(x_S1), ..., c_m Phi_m(x_Sm)),   k = sum_i c_i^2 k_i
 *
 * The features are numbers, or whole numbers where all parts are asked for these, also those of
 * parts whose own features are bits or one-hot: sums and passes then need not know of the parts.
 * With K or without, they have no G: a solver's penalty is a'a. */
#include "base/loops.h"
#include "base/pool.h"
#include "map/kinds.h"
#include <math.h>
#include <string.h>

enum { CHUNK_ROWS = 64 }; /* rows of a task */

size_t scl_map_part_count(const scl_map *map) {
  return map->kind == &scl_map_kind_union ? map->own.joining.count : 0;
}

scl_map_part scl_map_part_at(const scl_map *map, size_t i) { return map->own.joining.parts[i]; }

/* What the features of a part are multiplied by: maps leave out factors of their own. */
static double factor_of(const scl_map *map, const scl_map_part *part) {
  return part->scale * exp(part->map->log_scale - map->log_scale);
}

/* ------------ columns */

/* *out (rows x n_columns, in the map's dtype) = the part's columns of the rows of the request; the
 * caller releases it. */
static scl_status take_dense(const scl_map_part *part, const scl_map_request *request, void **out,
                             scl_error *error) {
  const scl_dtype dtype = part->map->dtype;
  const size_t n = part->n_columns, size = scl_dtype_size(dtype);
  char *to = *out = scl_allocate_array(request->rows * n + 1, size);
  if (to == NULL) return scl_fail_memory(error, request->rows * n * size, "columns of rows");
  for (size_t i = 0; i < request->rows; i++) {
    const char *row = scl_at(request->x, dtype, (ptrdiff_t)i * request->x_stride);
    for (size_t k = 0; k < n; k++, to += size)
      memcpy(to, row + part->columns[k] * size, size);
  }
  return SCL_STATUS_OK;
}

/* The place of a column among those of the part, which ascend; n_columns: it is none of them. */
static size_t place_of(const scl_map_part *part, size_t column) {
  size_t low = 0, high = part->n_columns;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (part->columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < part->n_columns && part->columns[low] == column ? low : part->n_columns;
}

/* The same of sparse rows. */
static scl_status take_csr(const scl_map_part *part, const scl_csr *from, scl_csr *out,
                           scl_error *error) {
  int64_t at = 0;
  SCL_TRY(
      scl_csr_create(from->rows, part->n_columns, scl_csr_entries(from), from->dtype, out, error));
  out->starts[0] = 0;
  for (size_t i = 0; i < from->rows; i++) {
    for (int64_t k = from->starts[i]; k < from->starts[i + 1]; k++) {
      const size_t place = place_of(part, (size_t)from->columns[k]);
      if (place == part->n_columns) continue;
      out->columns[at] = (int32_t)place;
      scl_set_number(out->values, out->dtype, (size_t)at++, scl_csr_value(from, k));
    }
    out->starts[i + 1] = at;
  }
  return SCL_STATUS_OK;
}

/* ------------ applying */

typedef struct writing {
  const scl_map *map, *part;
  size_t first; /* of the part's features among those of the map */
  double factor;
  void *phi; /* the features of the part, at `stride` */
  ptrdiff_t stride;
  size_t rows, width;
  const int32_t *cells; /* of one-hot features: rows x T; else NULL */
} writing;

/* One-hot features of a row, as numbers. */
static void write_cells(const writing *w, size_t i) {
  const size_t entries = scl_map_entries(w->part);
  const double value = scl_map_entry_value(w->part) * w->factor;
  char *row = scl_at_mutable(w->phi, w->map->dtype, (ptrdiff_t)i * w->stride);
  memset(row, 0, w->width * scl_dtype_size(w->map->dtype));
  for (size_t t = 0; t < entries; t++)
    if (w->cells[i * entries + t] >= 0)
      scl_set_number(row, w->map->dtype, (size_t)w->cells[i * entries + t], value);
}

static bool scale_row(const writing *w, size_t i) {
  void *row = scl_at_mutable(w->phi, w->map->dtype, (ptrdiff_t)i * w->stride);
  const double factor = w->factor;
  bool finite = true;
  if (w->map->dtype == SCL_DTYPE_FLOAT64)
    for (size_t j = 0; j < w->width; j++)
      finite &= isfinite(((double *)row)[j] *= factor) != 0;
  else
    for (size_t j = 0; j < w->width; j++)
      finite &= isfinite(((float *)row)[j] = (float)((double)((float *)row)[j] * factor)) != 0;
  return finite;
}

/* Task: CHUNK_ROWS rows. */
static scl_status write_chunk(void *context, size_t index, scl_error *error) {
  const writing *w = context;
  const size_t end = scl_min((index + 1) * CHUNK_ROWS, w->rows);
  for (size_t i = index * CHUNK_ROWS; i < end; i++)
    if (w->cells != NULL)
      write_cells(w, i);
    else if (!scale_row(w, i))
      return scl_fail(
          error, SCL_STATUS_NUMERIC,
          "a feature from %zu on is too large for %s on some row after the scale of its "
          "part",
          w->first + 1, scl_dtype_name(w->map->dtype));
  return SCL_STATUS_OK;
}

/* The part's own features of the request, whose x and sparse rows have the part's columns: numbers,
 * or the cells of one-hot features. */
static scl_status apply_own(writing *w, const scl_map_request *request, int32_t *cells,
                            scl_error *error) {
  scl_map_request own = *request;
  own.phi = w->phi;
  own.phi_stride = w->stride;
  own.first = 0;
  own.count = w->part->count;
  own.whole = false;
  if (cells == NULL) return scl_map_apply_numbers(w->part, &own, error);
  w->cells = cells;
  if (own.csr.starts != NULL) return scl_map_apply_csr_cells(w->part, &own.csr, cells, error);
  return scl_map_apply_cells(w->part, own.x, own.x_stride, own.rows, cells, error);
}

/* Write all features of a part. */
static scl_status write_part(writing *w, const scl_map_part *part, const scl_map_request *request,
                             scl_error *error) {
  scl_map_request own = *request;
  scl_csr csr = {0};
  void *x = NULL;
  int32_t *cells = NULL;
  const size_t entries = scl_map_entries(w->part) * w->rows;
  scl_status status = SCL_STATUS_OK;
  if (entries > 0 && (cells = scl_allocate_array(entries + 1, sizeof *cells)) == NULL)
    status = scl_fail_memory(error, entries * sizeof *cells, "cells of rows");
  if (status == SCL_STATUS_OK && part->columns != NULL && own.csr.starts != NULL) {
    status = take_csr(part, &request->csr, &csr, error);
    own.csr = csr;
  } else if (status == SCL_STATUS_OK && part->columns != NULL) {
    status = take_dense(part, request, &x, error);
    own.x = x;
    own.x_stride = (ptrdiff_t)part->n_columns;
  }
  if (status == SCL_STATUS_OK) status = apply_own(w, &own, cells, error);
  if (status == SCL_STATUS_OK && (cells != NULL || w->factor != 1))
    status = scl_pool_try((w->rows + CHUNK_ROWS - 1) / CHUNK_ROWS, write_chunk, w, error);
  scl_csr_release(&csr);
  SCL_RELEASE(x, cells);
  return status;
}

/* Write those features of a part that the request wants: into the request's memory if these are all
 * of the part, else by way of memory of this call. */
static scl_status write_wanted(writing *w, const scl_map_part *part, const scl_map_request *request,
                               scl_error *error) {
  const size_t size = scl_dtype_size(w->map->dtype), end = request->first + request->count,
               begin = scl_max(w->first, request->first),
               wanted = scl_min(w->first + w->width, end) - begin;
  char *out = scl_at_mutable(request->phi, w->map->dtype, (ptrdiff_t)(begin - request->first));
  if (wanted == w->width) {
    w->phi = out;
    w->stride = request->phi_stride;
    return write_part(w, part, request, error);
  }
  w->phi = scl_allocate_array(w->rows * w->width + 1, size);
  w->stride = (ptrdiff_t)w->width;
  if (w->phi == NULL) return scl_fail_memory(error, w->rows * w->width * size, "rows of features");
  const scl_status status = write_part(w, part, request, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < w->rows; i++)
    memcpy(out + (ptrdiff_t)i * request->phi_stride * (ptrdiff_t)size,
           (const char *)w->phi + (i * w->width + (begin - w->first)) * size, wanted * size);
  scl_release(w->phi);
  return status;
}

static scl_status union_apply(const scl_map *map, const scl_map_request *request,
                              scl_error *error) {
  size_t first = 0;
  for (size_t p = 0; p < map->own.joining.count; p++) {
    const scl_map_part *part = &map->own.joining.parts[p];
    writing w = {.map = map,
                 .part = part->map,
                 .first = first,
                 .factor = factor_of(map, part),
                 .rows = request->rows,
                 .width = scl_map_features(part->map)};
    first += w.width;
    if (w.width == 0 || first <= request->first || w.first >= request->first + request->count)
      continue;
    SCL_TRY(write_wanted(&w, part, request, error));
  }
  return SCL_STATUS_OK;
}

static bool union_takes_csr(const scl_map *map) {
  for (size_t p = 0; p < map->own.joining.count; p++)
    if (!scl_map_takes_csr(map->own.joining.parts[p].map)) return false;
  return true;
}

/* ------------ the kernel */

/* *out = the part's columns of a matrix of rows, or the rows themselves; the caller releases it. */
static scl_status take_matrix(const scl_map_part *part, const scl_matrix *x, scl_matrix *out,
                              scl_error *error) {
  if (part->columns == NULL) {
    *out = scl_matrix_share(x);
    return SCL_STATUS_OK;
  }
  SCL_TRY(scl_matrix_create_raw(x->rows, part->n_columns, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < x->rows; i++)
    for (size_t k = 0; k < part->n_columns; k++)
      scl_matrix_row(out, i)[k] = scl_matrix_get(x, i, part->columns[k]);
  return SCL_STATUS_OK;
}

/* Add the kernel of a part to the sum. */
static scl_status add_induced(const scl_map_part *part, const scl_matrix *x, const scl_matrix *y,
                              scl_matrix *sum, scl_error *error) {
  scl_matrix left = {0}, right = {0}, own = {0};
  scl_status status = take_matrix(part, x, &left, error);
  if (status == SCL_STATUS_OK) status = take_matrix(part, y, &right, error);
  if (status == SCL_STATUS_OK) status = scl_map_induced(part->map, &left, &right, &own, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < x->rows; i++)
    for (size_t j = 0; j < y->rows; j++)
      scl_matrix_row(sum, i)[j] += part->scale * part->scale * scl_matrix_get(&own, i, j);
  scl_matrix_release(&left);
  scl_matrix_release(&right);
  scl_matrix_release(&own);
  return status;
}

static scl_status union_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                                scl_matrix *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create_raw(x->rows, y->rows, SCL_DTYPE_FLOAT64, out, error));
  for (size_t i = 0; i < x->rows; i++)
    memset(scl_matrix_row(out, i), 0, y->rows * sizeof(double));
  for (size_t p = 0; status == SCL_STATUS_OK && p < map->own.joining.count; p++)
    status = add_induced(&map->own.joining.parts[p], x, y, out, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* ------------ whole numbers */

/* unit and base of the features of a part, as they are in the union: by the part's grid, by the two
 * values of bits, which become -1 and 1, or by the value of one-hot features. */
static void fill_units(const scl_map *part, double factor, double *unit, double *base) {
  const size_t d = scl_map_features(part);
  const double *units, *bases;
  scl_map_units(part, &units, &bases);
  if (units == NULL && scl_map_entries(part) == 0) scl_map_low_and_high(part, base, unit);
  for (size_t j = 0; j < d; j++) {
    if (units != NULL) {
      unit[j] = units[j];
      base[j] = bases == NULL ? 0 : bases[j];
    } else if (scl_map_entries(part) > 0) {
      unit[j] = scl_map_entry_value(part);
      base[j] = 0;
    } else {
      const double low = base[j], high = unit[j];
      base[j] = (low + high) / 2;
      unit[j] = fabs(high - low) / 2;
    }
    unit[j] = unit[j] != 0 ? fabs(unit[j]) * factor : 1; /* of scales below 0 too */
    base[j] *= factor;
  }
}

/* The grid of a union of parts that all have theirs; parts that lack one belong to a map that row
 * stages follow, which has its own. */
static scl_status open_grid(scl_map *map, scl_error *error) {
  const scl_joining *own = &map->own.joining;
  size_t first = 0;
  if (map->whole == SCL_WHOLE_NONE) return SCL_STATUS_OK;
  for (size_t p = 0; p < own->count; p++)
    if (scl_map_lacks_grid(own->parts[p].map)) return SCL_STATUS_OK;
  double *unit = scl_allocate_array(2 * map->count + 1, sizeof *unit), *base = unit + map->count;
  if (unit == NULL) return scl_fail_memory(error, 2 * map->count * sizeof *unit, "units");
  for (size_t p = 0; p < own->count; p++) {
    fill_units(own->parts[p].map, factor_of(map, &own->parts[p]), unit + first, base + first);
    first += scl_map_features(own->parts[p].map);
  }
  const scl_status status = scl_map_set_grid(map, unit, base, error);
  scl_release(unit);
  return status;
}

/* ------------ making */

static scl_status check_part(const scl_map_part *parts, size_t p, size_t dim, scl_error *error) {
  const scl_map_part *part = &parts[p], *first = &parts[0];
  const size_t cols = part->columns == NULL ? dim : part->n_columns;
  if (part->map->bare || (part->map->kind->apply == NULL && scl_map_entries(part->map) == 0) ||
      part->map->kind == &scl_map_kind_staged || part->map->kind == &scl_map_kind_union)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "part %zu is not a map of a union", p + 1);
  if (part->map->dtype != first->map->dtype || part->map->whole != first->map->whole)
    return scl_fail(error, SCL_STATUS_BAD_OPTION,
                    "part %zu of a union is of another number type than part 1", p + 1);
  if (part->map->dim != cols)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE,
                    "part %zu of a union takes %zu columns, where %zu are given", p + 1,
                    part->map->dim, cols);
  for (size_t k = 0; part->columns != NULL && k < part->n_columns; k++)
    if (part->columns[k] >= dim || (k > 0 && part->columns[k] <= part->columns[k - 1]))
      return scl_fail(error, SCL_STATUS_BAD_OPTION,
                      "part %zu of a union takes ascending columns from 1 to %zu, and got %zu",
                      p + 1, dim, part->columns[k] + 1);
  if (!(part->scale > 0) || !isfinite(part->scale))
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "the scale of part %zu is %g; it is above 0",
                    p + 1, part->scale);
  return SCL_STATUS_OK;
}

/* Copy a part, with a reference to its map. */
static scl_status copy_part(const scl_map_part *from, scl_map_part *to, scl_error *error) {
  *to = (scl_map_part){.map = from->map, .scale = from->scale};
  scl_map_share(to->map);
  if (from->columns == NULL) return SCL_STATUS_OK;
  size_t *columns = scl_allocate_array(from->n_columns + 1, sizeof *columns);
  if (columns == NULL) return scl_fail_memory(error, from->n_columns * sizeof *columns, "columns");
  memcpy(columns, from->columns, from->n_columns * sizeof *columns);
  to->columns = columns;
  to->n_columns = from->n_columns;
  return SCL_STATUS_OK;
}

static scl_status fill_union(scl_map *map, const scl_map_part *parts, size_t count,
                             scl_error *error) {
  scl_joining *own = &map->own.joining;
  own->parts = scl_allocate_zero((count + 1) * sizeof *own->parts);
  if (own->parts == NULL) return scl_fail_memory(error, count * sizeof *own->parts, "a union");
  map->log_scale = parts[0].map->log_scale;
  for (size_t p = 0; p < count; p++) {
    own->count++;
    SCL_TRY(copy_part(&parts[p], &own->parts[p], error));
    map->count += scl_map_features(parts[p].map);
    map->log_scale = fmax(map->log_scale, parts[p].map->log_scale);
  }
  return open_grid(map, error);
}

scl_status scl_map_create_union(const scl_map_part *parts, size_t count, size_t dim, scl_map **out,
                                scl_error *error) {
  if (count == 0) return scl_fail(error, SCL_STATUS_BAD_OPTION, "a union has no parts");
  for (size_t p = 0; p < count; p++)
    SCL_TRY(check_part(parts, p, dim, error));
  scl_map *map = scl_allocate_zero(sizeof *map);
  if (map == NULL) return scl_fail_memory(error, sizeof *map, "a feature map");
  const scl_map *first = parts[0].map;
  map->kind = &scl_map_kind_union;
  map->sampler = scl_instance_share(first->sampler);
  map->phi = scl_instance_share(first->phi);
  map->dim = dim;
  map->dtype = first->dtype;
  map->whole = first->whole;
  map->seed = first->seed;
  map->fan_in = map->fan_out = 1;
  const scl_status status = fill_union(map, parts, count, error);
  if (status == SCL_STATUS_OK)
    *out = map;
  else
    scl_map_destroy(map);
  return status;
}

static void union_release(scl_map *map) {
  scl_joining *own = &map->own.joining;
  for (size_t p = 0; p < own->count; p++) {
    scl_map_destroy(own->parts[p].map);
    scl_release((void *)(uintptr_t)own->parts[p].columns);
  }
  scl_release(own->parts);
}

static size_t union_bytes(const scl_map *map) {
  size_t bytes = 0;
  for (size_t p = 0; p < map->own.joining.count; p++)
    bytes += scl_map_bytes(map->own.joining.parts[p].map) +
             map->own.joining.parts[p].n_columns * sizeof(size_t);
  return bytes;
}

const scl_map_kind scl_map_kind_union = {.name = "union",
                                         .method = SCL_METHOD_DIRECT,
                                         .release = union_release,
                                         .bytes = union_bytes,
                                         .features = scl_map_dense_features,
                                         .apply = union_apply,
                                         .takes_csr = union_takes_csr,
                                         .induced = union_induced};
