/* Applying a map, tile by tile: project, phi or its smoothing, scale; and the categories that some
 * nonlinearities give instead. */
#include "algebra/dense.h"
#include "base/loops.h"
#include "base/pool.h"
#include "map/map_internal.h"
#include "map/smoothing.h"
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* A task is TILE_ROWS rows by about TILE_PARAMETERS parameters, small enough to stay in cache from
 * projection to scale. With shared rows a task projects POOL_ROWS rows on all of them and goes
 * through all parameters. */
enum { TILE_ROWS = 256, TILE_PARAMETERS = 512, POOL_ROWS = 64 };

static const double SMALL_SQUARE = 1e-280; /* a sum of squares below it may have lost terms */

typedef struct application {
  const scl_map *map;
  const char *x;
  char *phi;
  int32_t *codes; /* instead of phi: rows x T */
  ptrdiff_t x_stride, phi_stride;
  size_t first, count;              /* the parameters wanted */
  size_t rows, tall, across, width; /* rows of a tile; tiles across, parameters in a tile */
  char *scratch;
  size_t scratch_each; /* bytes a thread */
  atomic_flag failed;
  scl_status status;
  scl_error error;
} application;

/* One thread's scratch. */
typedef struct desk {
  char *spreads, *z, *y, *v, *pooled, *pooled_v,
      *squares; /* y: phi(z), z itself where one number becomes one */
} desk;

static size_t round_up(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/* Lay out the scratch (base NULL: only count its bytes). */
static size_t lay_out(const application *job, char *base, desk *out) {
  const scl_map *map = job->map;
  const size_t size = scl_dtype_size(map->dtype), block = scl_projection_block(map->projection);
  const size_t padded = (job->width + block - 1) / block * block,
               numbers = job->tall * padded * map->fan_in;
  const bool varied = map->variance != NULL,
             apart = map->fan_in != 1 || map->fan_out != 1 ||
                     (map->dtype == SCL_DTYPE_FLOAT32 && !map->shape.float32);
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
  return at;
}

/* ---------------------------------------------------------------- project */

/* A tile's place: rows of x, and parameters. */
typedef struct place {
  const char *x;
  ptrdiff_t x_stride;
  size_t rows, first, cols;
} place;

/* Planes of z from shared rows, projected before. */
static void gather_planes(const scl_map *map, const char *pooled, const place *at,
                          const scl_block *z) {
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t i = 0; i < at->rows; i++)
      for (size_t j = 0; j < at->cols; j++)
        scl_set_number(
            z->data, map->dtype,
            (size_t)((ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride) + j,
            scl_number(pooled, map->dtype,
                       i * map->pool_rows + (size_t)map->pool[(at->first + j) * map->fan_in + k]));
}

static scl_status fill_planes(const scl_map *map, const scl_projection *projection, const char *x,
                              ptrdiff_t x_stride, const char *pooled, const place *at,
                              const scl_block *z, scl_error *error) {
  const size_t block = scl_projection_block(projection),
               padded = (at->cols + block - 1) / block * block;
  if (map->pool != NULL) {
    gather_planes(map, pooled, at, z);
    return SCL_STATUS_OK;
  }
  for (size_t k = 0; k < map->fan_in; k++) {
    char *to = (char *)z->data + k * (size_t)z->plane_stride * scl_dtype_size(map->dtype);
    SCL_TRY(scl_projection_apply(projection, x, x_stride, at->rows, k * map->plane + at->first,
                                 padded, to, z->row_stride, error));
  }
  return SCL_STATUS_OK;
}

/* ||spread o x|| where the sum of squares leaves the range of double. */
static double scaled_norm(const scl_map *map, const void *row) {
  double largest = 0, sum = 0;
  for (size_t j = 0; j < map->dim; j++)
    largest = fmax(largest, fabs(scl_number(row, map->dtype, j) * map->column_spread[j]));
  if (largest == 0 || !isfinite(largest)) return largest;
  for (size_t j = 0; j < map->dim; j++) {
    const double share = scl_number(row, map->dtype, j) * map->column_spread[j] / largest;
    sum += share * share;
  }
  return largest * sqrt(sum);
}

/* v of each row: the norm of spread o x, in the map's dtype at `to`. */
static void row_spreads(const scl_map *map, const place *at, void *to) {
  const scl_loops *loops = scl_loops_get();
  for (size_t i = 0; i < at->rows; i++) {
    const char *row = at->x + (ptrdiff_t)i * at->x_stride * (ptrdiff_t)scl_dtype_size(map->dtype);
    double sum = 0;
    if (map->dtype == SCL_DTYPE_FLOAT64)
      sum = loops->square_f64(map->dim, map->column_spread, (const double *)(const void *)row);
    for (size_t j = 0; map->dtype == SCL_DTYPE_FLOAT32 && j < map->dim; j++) {
      const double v = scl_number(row, SCL_DTYPE_FLOAT32, j) * map->column_spread[j];
      sum += v * v;
    }
    const bool plain = sum > SMALL_SQUARE && isfinite(sum);
    scl_set_number(to, map->dtype, i, plain ? sqrt(sum) : scaled_norm(map, row));
  }
}

static void square_rows(const scl_map *map, const place *at, char *to) {
  for (size_t i = 0; i < at->rows; i++)
    for (size_t j = 0; j < map->dim; j++) {
      const double x =
          scl_number(at->x + (ptrdiff_t)i * at->x_stride * (ptrdiff_t)scl_dtype_size(map->dtype),
                     map->dtype, j);
      scl_set_number(to, map->dtype, i * map->dim + j, x * x);
    }
}

/* The standard deviations of the tile: one a row, one a parameter, or one an entry. */
static scl_status find_spreads(const scl_map *map, const desk *d, const place *at,
                               const scl_block *z, scl_spread *v, scl_error *error) {
  const size_t size = scl_dtype_size(map->dtype);
  if (map->parameter_spread != NULL) {
    *v = (scl_spread){(const char *)map->parameter_spread +
                          at->first * size * (size_t)map->spread_stride,
                      0, map->spread_stride, 0};
    return SCL_STATUS_OK;
  }
  if (map->variance == NULL) {
    row_spreads(map, at, d->spreads);
    *v = (scl_spread){d->spreads, 1, 0, 0};
    return SCL_STATUS_OK;
  }
  const scl_block squares = {d->v,
                             map->dtype,
                             z->rows,
                             z->cols,
                             z->planes,
                             (ptrdiff_t)z->cols,
                             (ptrdiff_t)(z->rows * z->cols)};
  SCL_TRY(fill_planes(map, map->variance, d->squares, (ptrdiff_t)map->dim, d->pooled_v, at,
                      &squares, error));
  for (size_t i = 0; i < z->rows * z->cols * z->planes; i++)
    scl_set_number(d->v, map->dtype, i, sqrt(fmax(scl_number(d->v, map->dtype, i), 0)));
  *v = (scl_spread){d->v, squares.row_stride, 1, squares.plane_stride};
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- phi */

/* phi or its smoothing, in the block's dtype. */
static scl_status nonlinearity(const scl_map *map, const scl_block *z, const scl_spread *v,
                               scl_block *out, scl_error *error) {
  const scl_nonlinearity *table = scl_instance_vtable(map->phi);
  if (v == NULL)
    return scl_instance_prefix(map->phi, table->apply(map->phi->self, z, out, error), error);
  return map->method == SCL_METHOD_QUADRATURE ? scl_smooth_quadrature(map->phi, z, v, out, error)
                                              : scl_smooth(map->phi, z, v, out, error);
}

/* A packed float64 copy. */
static scl_block widen(const scl_block *from, double *to) {
  for (size_t k = 0; k < from->planes; k++)
    for (size_t i = 0; i < from->rows; i++)
      for (size_t j = 0; j < from->cols; j++)
        to[(k * from->rows + i) * from->cols + j] = scl_number(
            from->data, from->dtype,
            (size_t)((ptrdiff_t)i * from->row_stride + (ptrdiff_t)k * from->plane_stride) + j);
  return (scl_block){to,
                     SCL_DTYPE_FLOAT64,
                     from->rows,
                     from->cols,
                     from->planes,
                     (ptrdiff_t)from->cols,
                     (ptrdiff_t)(from->rows * from->cols)};
}

/* A nonlinearity without a float32 path: through float64 copies. */
static scl_status nonlinearity_widened(const scl_map *map, const scl_block *z, const scl_spread *v,
                                       scl_block *out, scl_error *error) {
  const size_t in = z->rows * z->cols * z->planes, outs = out->rows * out->cols * out->planes;
  double *memory = scl_allocate_array(2 * in + outs + 1, sizeof *memory),
         *wide_v = memory + in + outs;
  if (memory == NULL)
    return scl_fail_memory(error, (2 * in + outs) * sizeof *memory, "a float64 copy of a tile");
  const scl_block wide_z = widen(z, memory);
  scl_block wide_out = {memory + in,
                        SCL_DTYPE_FLOAT64,
                        out->rows,
                        out->cols,
                        out->planes,
                        (ptrdiff_t)out->cols,
                        (ptrdiff_t)(out->rows * out->cols)};
  for (size_t k = 0; v != NULL && k < z->planes; k++)
    for (size_t i = 0; i < z->rows; i++)
      for (size_t j = 0; j < z->cols; j++)
        wide_v[(k * z->rows + i) * z->cols + j] =
            scl_number(v->data, SCL_DTYPE_FLOAT32,
                       (size_t)((ptrdiff_t)i * v->row_stride + (ptrdiff_t)j * v->col_stride +
                                (ptrdiff_t)k * v->plane_stride));
  const scl_spread spread = {wide_v, wide_z.row_stride, 1, wide_z.plane_stride};
  const scl_status status =
      nonlinearity(map, &wide_z, v == NULL ? NULL : &spread, &wide_out, error);
  for (size_t p = 0; status == SCL_STATUS_OK && p < out->planes; p++)
    for (size_t i = 0; i < out->rows; i++)
      for (size_t j = 0; j < out->cols; j++)
        ((float *)out->data)[(ptrdiff_t)i * out->row_stride + (ptrdiff_t)j +
                             (ptrdiff_t)p * out->plane_stride] =
            (float)memory[in + (p * out->rows + i) * out->cols + j];
  scl_release(memory);
  return status;
}

/* ---------------------------------------------------------------- scale */

static scl_status refuse_feature(const scl_map *map, const scl_block *y, size_t plane, size_t row,
                                 size_t first, scl_error *error) {
  size_t j = 0;
  const size_t at = (size_t)((ptrdiff_t)row * y->row_stride + (ptrdiff_t)plane * y->plane_stride);
  while (j + 1 < y->cols && isfinite(scl_number(y->data, y->dtype, at + j)))
    j++;
  return scl_fail(error, SCL_STATUS_NUMERIC,
                  "feature %zu is NaN or too large for %s on some row: scale the data, choose a "
                  "smaller width, or look at the nonlinearity "
                  "(%s)",
                  plane * map->count + first + j + 1, scl_dtype_name(map->dtype),
                  scl_instance_name(map->phi));
}

/* The tile's one pass over the features' own memory. */
static scl_status scale_features(const application *job, const scl_block *y, char *phi,
                                 size_t first, scl_error *error) {
  const scl_loops *loops = scl_loops_get();
  const scl_map *map = job->map;
  for (size_t plane = 0; plane < map->fan_out; plane++)
    for (size_t i = 0; i < y->rows; i++) {
      const ptrdiff_t from = (ptrdiff_t)i * y->row_stride + (ptrdiff_t)plane * y->plane_stride;
      const ptrdiff_t to =
          (ptrdiff_t)i * job->phi_stride + (ptrdiff_t)(plane * job->count + first - job->first);
      const int finite =
          map->dtype == SCL_DTYPE_FLOAT64
              ? loops->scale_f64(y->cols, (const double *)map->scale + first,
                                 (const double *)y->data + from, (double *)(void *)phi + to)
              : loops->scale_f32(y->cols, (const float *)map->scale + first,
                                 (const float *)y->data + from, (float *)(void *)phi + to);
      if (!finite) return refuse_feature(map, y, plane, i, first, error);
    }
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- tiles */

static scl_status categories_of(application *job, const scl_block *z, size_t first_row,
                                size_t first, scl_error *error) {
  const scl_map *map = job->map;
  const scl_ability_categories *ability = scl_instance_ability(map->phi, SCL_ABILITY_CATEGORIES);
  double *memory = scl_allocate_array(z->rows * z->cols * z->planes + 1, sizeof *memory);
  if (memory == NULL)
    return scl_fail_memory(error, z->rows * z->cols * z->planes * sizeof *memory,
                           "a float64 copy of a tile");
  const scl_block wide = widen(z, memory);
  const scl_status status =
      ability->categories(map->phi->self, &wide, job->codes + first_row * map->count + first,
                          (ptrdiff_t)map->count, error);
  scl_release(memory);
  return scl_instance_prefix(map->phi, status, error);
}

/* Everything happens in the thread's own packed tile (features' rows may lie apart by a power of
 * two, where few cache sets serve them); the last step writes the features. */
static scl_status apply_tile(application *job, const desk *d, const place *at, size_t first_row,
                             scl_error *error) {
  const scl_map *map = job->map;
  const size_t size = scl_dtype_size(map->dtype), block = scl_projection_block(map->projection);
  const size_t padded = (at->cols + block - 1) / block * block;
  const bool native = map->dtype == SCL_DTYPE_FLOAT64 || map->shape.float32;
  const scl_block z = {d->z,
                       map->dtype,
                       at->rows,
                       at->cols,
                       map->fan_in,
                       (ptrdiff_t)padded,
                       (ptrdiff_t)(at->rows * padded)};
  scl_block y = {d->y,
                 map->dtype,
                 at->rows,
                 at->cols,
                 map->fan_out,
                 (ptrdiff_t)padded,
                 (ptrdiff_t)(at->rows * padded)};
  SCL_TRY(fill_planes(map, map->projection, at->x, at->x_stride, d->pooled, at, &z, error));
  if (job->codes != NULL) return categories_of(job, &z, first_row, at->first, error);
  scl_spread v = {0};
  const bool smooth = map->method == SCL_METHOD_EXACT || map->method == SCL_METHOD_QUADRATURE;
  if (smooth) SCL_TRY(find_spreads(map, d, at, &z, &v, error));
  SCL_TRY((native ? nonlinearity : nonlinearity_widened)(map, &z, smooth ? &v : NULL, &y, error));
  return scale_features(job, &y,
                        job->phi + (ptrdiff_t)first_row * job->phi_stride * (ptrdiff_t)size,
                        at->first, error);
}

/* What all parameters of a task share: squares of the rows, projections on shared rows. */
static scl_status prepare_rows(const scl_map *map, const desk *d, const place *at,
                               scl_error *error) {
  const ptrdiff_t rows = (ptrdiff_t)map->pool_rows;
  if (map->variance != NULL) square_rows(map, at, d->squares);
  if (map->pool == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_projection_apply(map->projection, at->x, at->x_stride, at->rows, 0, map->pool_rows,
                               d->pooled, rows, error));
  if (map->variance == NULL) return SCL_STATUS_OK;
  return scl_projection_apply(map->variance, d->squares, (ptrdiff_t)map->dim, at->rows, 0,
                              map->pool_rows, d->pooled_v, rows, error);
}

static scl_status apply_rows(application *job, size_t index, scl_error *error) {
  const scl_map *map = job->map;
  const bool shared = map->pool != NULL;
  const size_t first_row = shared ? index * job->tall : index / job->across * job->tall;
  const size_t stop = job->first + job->count,
               begin = job->first + (shared ? 0 : index % job->across * job->width);
  const size_t end = shared ? stop : scl_min(begin + job->width, stop);
  place at = {job->x + (ptrdiff_t)first_row * job->x_stride * (ptrdiff_t)scl_dtype_size(map->dtype),
              job->x_stride, scl_min(job->tall, job->rows - first_row), begin, 0};
  desk d;
  (void)lay_out(job, job->scratch + scl_pool_worker() * job->scratch_each, &d);
  SCL_TRY(prepare_rows(map, &d, &at, error));
  for (; at.first < end; at.first += at.cols) {
    at.cols = scl_min(job->width, end - at.first);
    SCL_TRY(apply_tile(job, &d, &at, first_row, error));
  }
  return SCL_STATUS_OK;
}

static void apply_task(void *context, size_t index) {
  application *job = context;
  scl_error error = {0};
  const scl_status status = apply_rows(job, index, &error);
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&job->failed)) return;
  job->status = status;
  job->error = error;
}

static scl_status apply_tiles(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              int32_t *codes, scl_error *error) {
  const size_t block = scl_projection_block(map->projection),
               most = scl_max(TILE_PARAMETERS / map->fan_in, 1);
  application job = {.map = map,
                     .x = x,
                     .phi = phi,
                     .codes = codes,
                     .x_stride = x_stride,
                     .phi_stride = phi_stride};
  job.rows = rows;
  job.first = first;
  job.count = count;
  job.tall = map->pool != NULL ? POOL_ROWS : TILE_ROWS;
  job.across = (count + most - 1) / most;
  job.width = ((count + job.across - 1) / job.across + block - 1) / block *
              block; /* whole blocks of structured rows */
  job.across = (count + job.width - 1) / job.width;
  desk d;
  const size_t threads = scl_pool_threads();
  job.scratch_each = lay_out(&job, NULL, &d);
  job.scratch = scl_allocate_array(threads, job.scratch_each);
  if (job.scratch == NULL)
    return scl_fail_memory(error, threads * job.scratch_each, "a tile of features per thread");
  atomic_flag_clear(&job.failed);
  scl_pool_run((rows + job.tall - 1) / job.tall * (map->pool != NULL ? 1 : job.across), apply_task,
               &job);
  scl_release(job.scratch);
  if (job.status != SCL_STATUS_OK && error != NULL) *error = job.error;
  return job.status;
}

/* Monte Carlo: features of the samples, then their mixture. */
static scl_status apply_mixture(const scl_map *map, size_t first, size_t count, const void *x,
                                ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                                scl_error *error) {
  const size_t inner = scl_map_features(map->inner), size = scl_dtype_size(map->dtype),
               samples = map->inner->count;
  char *features = scl_allocate_array(rows * inner, size);
  if (features == NULL) return scl_fail_memory(error, rows * inner * size, "Monte Carlo features");
  const scl_status status = apply_tiles(map->inner, 0, samples, x, x_stride, rows, features,
                                        (ptrdiff_t)inner, NULL, error);
  for (size_t plane = 0; status == SCL_STATUS_OK && plane < map->fan_out; plane++)
    scl_gemm_parallel(map->dtype, false, false, rows, count, samples, 1,
                      features + plane * samples * size, (ptrdiff_t)inner,
                      (const char *)map->mixing + first * size, (ptrdiff_t)map->count, 0,
                      (char *)phi + plane * count * size, phi_stride);
  scl_release(features);
  return status;
}

size_t scl_map_block(const scl_map *map) {
  return map->projection == NULL ? 1 : scl_projection_block(map->projection);
}

scl_status scl_map_apply_part(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error) {
  if (rows == 0 || count == 0) return SCL_STATUS_OK;
  if (map->cells != NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "one-hot features were asked for as dense ones");
  if (map->inner != NULL)
    return apply_mixture(map, first, count, x, x_stride, rows, phi, phi_stride, error);
  return apply_tiles(map, first, count, x, x_stride, rows, phi, phi_stride, NULL, error);
}

scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *phi, ptrdiff_t phi_stride, scl_error *error) {
  return scl_map_apply_part(map, 0, map->count, x, x_stride, rows, phi, phi_stride, error);
}

/* ---------------------------------------------------------------- cells and codes */

scl_status scl_map_learn(scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         scl_error *error) {
  return map->cells == NULL ? SCL_STATUS_OK
                            : scl_cells_learn(map->cells, map->dtype, x, x_stride, rows, error);
}

scl_status scl_map_settle(scl_map *map, scl_error *error) {
  return map->cells == NULL ? SCL_STATUS_OK : scl_cells_settle(map->cells, error);
}

scl_status scl_map_apply_cells(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               int32_t *columns, scl_error *error) {
  return scl_cells_find(map->cells, map->dtype, x, x_stride, rows, columns, error);
}

scl_status scl_map_levels(const scl_map *map, size_t *levels, scl_error *error) {
  const scl_ability_categories *ability = scl_instance_ability(map->phi, SCL_ABILITY_CATEGORIES);
  size_t words = 0;
  *levels = 0;
  if (ability != NULL)
    SCL_TRY(scl_instance_prefix(
        map->phi, ability->key(map->phi->self, map->fan_in, &words, levels, error), error));
  if (words == 1 && *levels > 0 && !map->shape.one_hot) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                  "nonlinearity.%s has no codes; maxout, sign and step have",
                  scl_instance_name(map->phi));
}

scl_status scl_map_codes(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         int32_t *codes, scl_error *error) {
  size_t levels;
  SCL_TRY(scl_map_levels(map, &levels, error));
  if (map->kernel != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "codes belong to features without K");
  if (rows == 0) return SCL_STATUS_OK;
  SCL_TRY(apply_tiles(map, 0, map->count, x, x_stride, rows, NULL, 0, codes, error));
  for (size_t i = 0; i < rows * map->count; i++)
    if (codes[i] < 0 || (size_t)codes[i] >= levels)
      return scl_fail(error, SCL_STATUS_INTERNAL, "nonlinearity.%s gave the code %ld of %zu",
                      scl_instance_name(map->phi), (long)codes[i], levels);
  return SCL_STATUS_OK;
}
