/* Applying a map, tile by tile: project, phi or its smoothing, scale. */
#include "base/loops.h"
#include "base/pool.h"
#include "map/kinds.h"
#include "plugin/blocks.h"
#include <math.h>
#include <string.h>

/* A task is TILE_ROWS rows by about TILE_PARAMETERS parameters, small enough to stay in cache from
 * projection to scale. With shared rows a task projects POOL_ROWS rows on all of them and goes
 * through all parameters; where rows are turned, through TURNED_TILES tiles. */
enum { TILE_ROWS = 256, TILE_PARAMETERS = 512, POOL_ROWS = 64, TURNED_TILES = 16 };

static const double SMALL_SQUARE = 1e-280; /* a sum of squares below it may have lost terms */

typedef struct application {
  const scl_map *map;
  const void *x;
  void *phi;
  scl_take_tile take; /* instead of phi, with its context */
  void *context;
  ptrdiff_t x_stride, phi_stride;
  size_t first, count;      /* the parameters wanted */
  size_t rows, tall, width; /* rows of a tile, parameters in it */
  size_t across, span;      /* tasks side by side, parameters of one */
  char *scratch;
  size_t scratch_each; /* bytes a thread */
} application;

/* One thread's scratch. */
typedef struct desk {
  void *spreads, *z, *y, *v, *pooled, *pooled_v, *squares, *turned,
      *turned_squares; /* y: phi(z), z itself where one number becomes one */
} desk;

/* A tile's place: rows of x, and parameters. */
typedef struct place {
  const void *x;
  ptrdiff_t x_stride;
  size_t rows, first, cols;
  const void *turned; /* x for projections on turned rows, else NULL */
} place;

static size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

static size_t whole_blocks(const scl_map *map, size_t cols) {
  const size_t block = scl_projection_block(map->projection);
  return (cols + block - 1) / block * block;
}

static bool turns(const scl_projection *projection) {
  return projection != NULL && scl_projection_turns(projection);
}

/* Lay out the scratch (base NULL: only count its bytes). */
static size_t lay_out(const application *job, char *base, desk *out) {
  const scl_map *map = job->map;
  const size_t size = scl_dtype_size(map->dtype), padded = whole_blocks(map, job->width),
               numbers = job->tall * padded * map->fan_in;
  const bool varied = map->spread.variance != NULL, apart = map->fan_in != 1 || map->fan_out != 1;
  size_t at = 0;
  out->spreads = base + at;
  at += round_up(job->tall * sizeof(double));
  out->z = base + at;
  at += round_up(numbers * size);
  out->y = apart ? base + at : out->z;
  at += apart ? round_up(job->tall * padded * map->fan_out * size) : 0;
  out->v = base + at;
  at += varied ? round_up(numbers * size) : 0;
  out->pooled = base + at;
  at += round_up(job->tall * map->pool_rows * size);
  out->pooled_v = base + at;
  at += varied ? round_up(job->tall * map->pool_rows * size) : 0;
  out->squares = base + at;
  at += varied ? round_up(job->tall * map->dim * size) : 0;
  out->turned = base + at;
  at += turns(map->projection) ? round_up(SCL_LANES * map->dim * size) : 0;
  out->turned_squares = base + at;
  at += turns(map->spread.variance) ? round_up(SCL_LANES * map->dim * size) : 0;
  return at;
}

/* A packed tile of the desk, rows `padded` apart. */
static scl_block tile_block(const scl_map *map, void *data, const place *at, size_t planes) {
  const size_t padded = whole_blocks(map, at->cols);
  return (scl_block){.data = data,
                     .dtype = map->dtype,
                     .rows = at->rows,
                     .cols = at->cols,
                     .planes = planes,
                     .row_stride = (ptrdiff_t)padded,
                     .plane_stride = (ptrdiff_t)(at->rows * padded)};
}

/* ------------------------------------------------------------ project */

/* to[j] = from[which[j step]] */
static void gather_f64(size_t count, const double *from, const int32_t *which, size_t step,
                       double *to) {
  for (size_t j = 0; j < count; j++)
    to[j] = from[which[j * step]];
}
static void gather_f32(size_t count, const float *from, const int32_t *which, size_t step,
                       float *to) {
  for (size_t j = 0; j < count; j++)
    to[j] = from[which[j * step]];
}

/* Planes of z from shared rows, projected before. */
static void gather_planes(const scl_map *map, const void *pooled, const place *at,
                          const scl_block *z) {
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t i = 0; i < at->rows; i++) {
      const int32_t *which = map->pool + at->first * map->fan_in + k;
      const ptrdiff_t from = (ptrdiff_t)(i * map->pool_rows),
                      to = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride;
      if (map->dtype == SCL_DTYPE_FLOAT64)
        gather_f64(at->cols, (const double *)pooled + from, which, map->fan_in,
                   (double *)z->data + to);
      else
        gather_f32(at->cols, (const float *)pooled + from, which, map->fan_in,
                   (float *)z->data + to);
    }
}

static scl_status fill_planes(const scl_map *map, const scl_projection *projection,
                              const void *pooled, const place *at, const scl_block *z,
                              scl_error *error) {
  if (map->pool != NULL) {
    gather_planes(map, pooled, at, z);
    return SCL_STATUS_OK;
  }
  for (size_t k = 0; k < map->fan_in; k++) {
    const scl_tile tile = {.x = at->x,
                           .z = scl_at_mutable(z->data, map->dtype, (ptrdiff_t)k * z->plane_stride),
                           .x_stride = at->x_stride,
                           .z_stride = z->row_stride,
                           .rows = at->rows,
                           .first = k * map->plane + at->first,
                           .cols = whole_blocks(map, at->cols),
                           .turned = at->turned};
    SCL_TRY(scl_projection_apply(projection, &tile, error));
  }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ spreads of the smoothing */

/* ||spread o x|| where the sum of squares leaves the range of double. */
static double scaled_norm(const scl_map *map, const void *row) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < map->dim; j++)
    largest = fmax(largest, fabs(scl_number(row, map->dtype, j) * map->spread.column[j]));
  if (largest == 0 || !isfinite(largest)) return largest;
  for (size_t j = 0; j < map->dim; j++) {
    const double share = scl_number(row, map->dtype, j) * map->spread.column[j] / largest;
    sum += share * share;
  }
  return largest * sqrt(sum);
}

static double square_f32(size_t count, const double *factor, const float *x) {
  double sum = 0;
  for (size_t j = 0; j < count; j++) {
    const double v = (double)x[j] * factor[j];
    sum += v * v;
  }
  return sum;
}

/* v of each row: the norm of spread o x, in the map's dtype at `to`. */
static void row_spreads(const scl_map *map, const place *at, void *to) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < at->rows; i++) {
    const void *row = scl_at(at->x, map->dtype, (ptrdiff_t)i * at->x_stride);
    const double sum = map->dtype == SCL_DTYPE_FLOAT64
                           ? loops->square_f64(map->dim, map->spread.column, row)
                           : square_f32(map->dim, map->spread.column, row);
    const bool plain = sum > SMALL_SQUARE && isfinite(sum);
    scl_set_number(to, map->dtype, i, plain ? sqrt(sum) : scaled_norm(map, row));
  }
}

/* Packed squares of the rows. */
static void square_rows(const scl_map *map, const place *at, void *to) {
  for (size_t i = 0; i < at->rows; i++) {
    const void *row = scl_at(at->x, map->dtype, (ptrdiff_t)i * at->x_stride);
    if (map->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < map->dim; j++)
        ((double *)to)[i * map->dim + j] = ((const double *)row)[j] * ((const double *)row)[j];
    else
      for (size_t j = 0; j < map->dim; j++)
        ((float *)to)[i * map->dim + j] = ((const float *)row)[j] * ((const float *)row)[j];
  }
}

static void square_roots(scl_dtype dtype, size_t count, void *numbers) {
  double *wide = numbers;
  float *narrow = numbers;
  if (dtype == SCL_DTYPE_FLOAT64)
    for (size_t i = 0; i < count; i++)
      wide[i] = sqrt(fmax(wide[i], 0));
  else
    for (size_t i = 0; i < count; i++)
      narrow[i] = sqrtf(fmaxf(narrow[i], 0));
}

/* The standard deviations of the tile: one a row, one a parameter, or one an entry. */
static scl_status find_spreads(const scl_map *map, const desk *d, const place *at,
                               const scl_block *z, scl_spread *v, scl_error *error) {
  if (map->spread.parameter != NULL) {
    const void *from =
        scl_at(map->spread.parameter, map->dtype, (ptrdiff_t)at->first * map->spread.stride);
    *v = (scl_spread){from, 0, map->spread.stride, 0};
    return SCL_STATUS_OK;
  }
  if (map->spread.variance == NULL) {
    row_spreads(map, at, d->spreads);
    *v = (scl_spread){d->spreads, 1, 0, 0};
    return SCL_STATUS_OK;
  }
  scl_block squares = *z;
  squares.data = d->v;
  const place squared = {.x = d->squares,
                         .x_stride = (ptrdiff_t)map->dim,
                         .rows = at->rows,
                         .first = at->first,
                         .cols = at->cols,
                         .turned = turns(map->spread.variance) ? d->turned_squares : NULL};
  SCL_TRY(fill_planes(map, map->spread.variance, d->pooled_v, &squared, &squares, error));
  square_roots(map->dtype, z->planes * (size_t)z->plane_stride, d->v);
  *v = (scl_spread){d->v, squares.row_stride, 1, squares.plane_stride};
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ scale */

/* Who made feature `j` of row `i` of a tile not finite: the data, their projection, or phi. The
 * projection is made again, for phi may have been written over it. */
static scl_status blame(const scl_map *map, const desk *d, const place *at, size_t plane, size_t i,
                        size_t j, scl_error *error) {
  const char *type = scl_dtype_name(map->dtype), *phi = scl_instance_name(map->phi);
  const char *sampler = scl_instance_name(map->sampler);
  const size_t feature = plane * map->count + at->first + j + 1;
  const scl_block z = tile_block(map, d->z, at, map->fan_in);
  const void *row = scl_at(at->x, map->dtype, (ptrdiff_t)i * at->x_stride);
  for (size_t c = 0; c < map->dim; c++)
    if (!isfinite(scl_number(row, map->dtype, c)))
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "feature %zu is not finite: column %zu of the data is NaN or infinite on "
                      "some row",
                      feature, c + 1);
  SCL_TRY(fill_planes(map, map->projection, d->pooled, at, &z, error));
  for (size_t k = 0; k < map->fan_in; k++)
    if (!isfinite(
            scl_number(z.data, map->dtype,
                       (size_t)((ptrdiff_t)i * z.row_stride + (ptrdiff_t)k * z.plane_stride) + j)))
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

static size_t first_not_finite(const scl_block *y, ptrdiff_t at) {
  size_t j = 0;
  const size_t from = (size_t)at;
  while (j + 1 < y->cols && isfinite(scl_number(y->data, y->dtype, from + j)))
    j++;
  return j;
}

/* The tile's one pass over the features' own memory. */
static scl_status scale_features(const application *job, const desk *d, const place *at,
                                 const scl_block *y, size_t first_row, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const scl_map *map = job->map;
  for (size_t plane = 0; plane < map->fan_out; plane++)
    for (size_t i = 0; i < y->rows; i++) {
      const ptrdiff_t from = (ptrdiff_t)i * y->row_stride + (ptrdiff_t)plane * y->plane_stride;
      const ptrdiff_t to = (ptrdiff_t)(first_row + i) * job->phi_stride +
                           (ptrdiff_t)(plane * job->count + at->first - job->first);
      const int finite =
          map->dtype == SCL_DTYPE_FLOAT64
              ? loops->scale_f64(y->cols, (const double *)map->scale + at->first,
                                 (const double *)y->data + from, (double *)job->phi + to)
              : loops->scale_f32(y->cols, (const float *)map->scale + at->first,
                                 (const float *)y->data + from, (float *)job->phi + to);
      if (!finite) return blame(map, d, at, plane, i, first_not_finite(y, from), error);
    }
  return SCL_STATUS_OK;
}

/* ------------------------------------------------------------ tiles */

/* Everything happens in the thread's own packed tile (features' rows may lie apart by a power of
 * two, where few cache sets serve them); the last step writes the features. */
static scl_status apply_tile(const application *job, const desk *d, const place *at,
                             size_t first_row, scl_error *error) {
  const scl_map *map = job->map;
  const scl_block z = tile_block(map, d->z, at, map->fan_in),
                  y = tile_block(map, d->y, at, map->fan_out);
  SCL_TRY(fill_planes(map, map->projection, d->pooled, at, &z, error));
  if (job->take != NULL) return job->take(job->context, &z, first_row, at->first, error);
  scl_spread v = {0};
  if (map->kind->smooths) SCL_TRY(find_spreads(map, d, at, &z, &v, error));
  SCL_TRY(map->kind->features(map, &z, &v, &y, error));
  return scale_features(job, d, at, &y, first_row, error);
}

/* What all parameters of a task share: squares of the rows, turned rows, projections on shared
 * rows. */
static scl_status prepare_rows(const scl_map *map, const desk *d, place *at, scl_error *error) {
  const ptrdiff_t shared = (ptrdiff_t)map->pool_rows, dim = (ptrdiff_t)map->dim;
  if (map->spread.variance != NULL) square_rows(map, at, d->squares);
  if (turns(map->projection)) {
    scl_projection_turn(map->projection, at->x, at->x_stride, at->rows, d->turned);
    at->turned = d->turned;
  }
  if (turns(map->spread.variance))
    scl_projection_turn(map->spread.variance, d->squares, dim, at->rows, d->turned_squares);
  if (map->pool == NULL) return SCL_STATUS_OK;
  const scl_tile rows = {at->x,    d->pooled, at->x_stride,   shared,
                         at->rows, 0,         map->pool_rows, at->turned};
  SCL_TRY(scl_projection_apply(map->projection, &rows, error));
  if (map->spread.variance == NULL) return SCL_STATUS_OK;
  const scl_tile squares = {d->squares,
                            d->pooled_v,
                            dim,
                            shared,
                            at->rows,
                            0,
                            map->pool_rows,
                            turns(map->spread.variance) ? d->turned_squares : NULL};
  return scl_projection_apply(map->spread.variance, &squares, error);
}

static scl_status apply_rows(void *context, size_t index, scl_error *error) {
  const application *job = context;
  const scl_map *map = job->map;
  const size_t first_row = index / job->across * job->tall,
               begin = job->first + index % job->across * job->span;
  const size_t end = scl_min(begin + job->span, job->first + job->count);
  place at = {.x = scl_at(job->x, map->dtype, (ptrdiff_t)first_row * job->x_stride),
              .x_stride = job->x_stride,
              .rows = scl_min(job->tall, job->rows - first_row),
              .first = begin};
  desk d;
  (void)lay_out(job, job->scratch + scl_pool_worker() * job->scratch_each, &d);
  SCL_TRY(prepare_rows(map, &d, &at, error));
  for (; at.first < end; at.first += at.cols) {
    at.cols = scl_min(job->width, end - at.first);
    SCL_TRY(apply_tile(job, &d, &at, first_row, error));
  }
  return SCL_STATUS_OK;
}

/* With x, the rows, phi or take filled in: choose the tiles and run them. */
static scl_status apply_tiles(application *job, scl_error *error) {
  const scl_map *map = job->map;
  const size_t most = scl_max(TILE_PARAMETERS / map->fan_in, 1), count = job->count,
               threads = scl_pool_threads();
  desk d;
  const bool turned = turns(map->projection) || turns(map->spread.variance);
  job->tall = turned ? SCL_LANES : map->pool != NULL ? POOL_ROWS : TILE_ROWS;
  job->across = (count + most - 1) / most;
  job->width = whole_blocks(map, (count + job->across - 1) / job->across);
  job->span = map->pool != NULL ? count : turned ? TURNED_TILES * job->width : job->width;
  job->across = (count + job->span - 1) / job->span;
  job->scratch_each = lay_out(job, NULL, &d);
  job->scratch = scl_allocate_array(threads, job->scratch_each);
  if (job->scratch == NULL)
    return scl_fail_memory(error, threads * job->scratch_each, "a tile of features per thread");
  const size_t down = (job->rows + job->tall - 1) / job->tall;
  const scl_status status = scl_pool_try(down * job->across, apply_rows, job, error);
  scl_release(job->scratch);
  return status;
}

size_t scl_map_block(const scl_map *map) {
  return map->projection == NULL ? 1 : scl_projection_block(map->projection);
}

scl_status scl_tiles_apply(const scl_map *map, size_t first, size_t count, const void *x,
                           ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                           scl_error *error) {
  application job = {.map = map,
                     .x = x,
                     .phi = phi,
                     .x_stride = x_stride,
                     .phi_stride = phi_stride,
                     .first = first,
                     .count = count,
                     .rows = rows};
  return apply_tiles(&job, error);
}

scl_status scl_map_apply_part(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error) {
  if (rows == 0 || count == 0) return SCL_STATUS_OK;
  if (map->bare || map->kind->apply == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "this map has no dense features");
  return map->kind->apply(map, first, count, x, x_stride, rows, phi, phi_stride, error);
}

scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *phi, ptrdiff_t phi_stride, scl_error *error) {
  return scl_map_apply_part(map, 0, map->count, x, x_stride, rows, phi, phi_stride, error);
}

scl_status scl_map_project(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                           scl_take_tile take, void *context, scl_error *error) {
  application job = {.map = map,
                     .x = x,
                     .x_stride = x_stride,
                     .take = take,
                     .context = context,
                     .count = map->count,
                     .rows = rows};
  return rows == 0 ? SCL_STATUS_OK : apply_tiles(&job, error);
}
