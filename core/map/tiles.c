/* Projecting tile by tile. A task is a tile of rows and one or several tiles of parameters; what
 * its tiles share (turned rows, projections on shared rows) is made once for each task. Features,
 * bits and codes take z from here. */
#include "map/tiles.h"

#include "base/loops.h"
#include "base/pool.h"
#include "plugin/blocks.h"

/* A task is TILE_ROWS rows by about TILE_PARAMETERS parameters, small enough to stay in cache from
 * projection to scale. With shared rows a task projects POOL_ROWS rows on all of them and goes
 * through all parameters; where rows are turned, through TURNED_TILES tiles. */
enum { TILE_ROWS = 256, TILE_PARAMETERS = 512, POOL_ROWS = 64, TURNED_TILES = 16 };

/* One call of scl_tiles_run. Tasks form a grid: rows in runs of `tall`, parameters in `across` runs
 * of `span`; a task goes through its parameters in tiles of `width`. */
typedef struct tiling {
  const scl_map *map;
  const void *x;
  ptrdiff_t x_stride;
  scl_take_tile take;
  void *context;
  size_t first, count;      /* the parameters wanted */
  size_t rows, tall, width; /* rows in all and of a task, parameters of a tile */
  size_t across, span;      /* tasks side by side, parameters of one */
  char *scratch;
  size_t scratch_each; /* bytes for each thread */
} tiling;

/* `cols` rounded up to whole blocks, because structured samplers make z a block at a time. */
static size_t whole_blocks(const scl_map *map, size_t cols) {
  const size_t block = scl_projection_block(map->projection);
  return (cols + block - 1) / block * block;
}

/* Whether a map has this projection and makes it on turned rows (scl_projection_turns). */
static bool turns(const scl_projection *projection) {
  return projection != NULL && scl_projection_turns(projection);
}

/* `bytes` of a thread's scratch, from *used on, in whole cache lines. base NULL: only count. */
static void *take_scratch(char *base, size_t *used, size_t bytes) {
  void *taken = base == NULL ? NULL : base + *used;
  *used += (bytes + 63) / 64 * 64;
  return taken;
}

/* The blocks of a thread in its scratch, of the largest tile; returns their bytes. base NULL: only
 * count the bytes. */
static size_t lay_out_scratch(const tiling *job, char *base, scl_map_tile *out) {
  const scl_map *map = job->map;
  const size_t size = scl_dtype_size(map->dtype), padded = whole_blocks(map, job->width),
               numbers = job->tall * padded * map->fan_in,
               pooled = job->tall * map->pool_rows * size;
  const bool varied = map->variance != NULL, apart = map->fan_in != 1 || map->fan_out != 1;
  size_t at = 0;
  *out = (scl_map_tile){.map = map};
  out->spreads = take_scratch(base, &at, job->tall * sizeof(double));
  out->z.data = take_scratch(base, &at, numbers * size);
  out->y.data = out->z.data;
  if (apart) out->y.data = take_scratch(base, &at, job->tall * padded * map->fan_out * size);
  out->v = take_scratch(base, &at, varied ? numbers * size : 0);
  out->x.pooled = take_scratch(base, &at, pooled);
  out->squares.pooled = take_scratch(base, &at, varied ? pooled : 0);
  out->squares.x = take_scratch(base, &at, varied ? job->tall * map->dim * size : 0);
  if (turns(map->projection)) out->x.turned = take_scratch(base, &at, SCL_LANES * map->dim * size);
  if (turns(map->variance))
    out->squares.turned = take_scratch(base, &at, SCL_LANES * map->dim * size);
  return at;
}

scl_block scl_tile_block(const scl_map_tile *tile, void *data, size_t planes) {
  const size_t padded = whole_blocks(tile->map, tile->cols);
  return (scl_block){.data = data,
                     .dtype = tile->map->dtype,
                     .rows = tile->rows,
                     .cols = tile->cols,
                     .planes = planes,
                     .row_stride = (ptrdiff_t)padded,
                     .plane_stride = (ptrdiff_t)(tile->rows * padded)};
}

/* ------------------------------------------------------------ projecting */

/* gather_SUFFIX: to[j] = from[which[j step]] */
#define GATHER(suffix, type)                                                                       \
  static void gather_##suffix(size_t count, const type *from, const int32_t *which, size_t step,   \
                              type *to) {                                                          \
    for (size_t j = 0; j < count; j++)                                                             \
      to[j] = from[which[j * step]];                                                               \
  }
GATHER(f64, double)
GATHER(f32, float)

/* Planes of z from projections on shared rows, which the task made for all its tiles. */
static void gather_planes(const scl_map_tile *tile, const void *pooled, const scl_block *z) {
  const scl_map *map = tile->map;
  for (size_t k = 0; k < map->fan_in; k++)
    for (size_t i = 0; i < tile->rows; i++) {
      const int32_t *which = map->pool + tile->first * map->fan_in + k;
      const ptrdiff_t from = (ptrdiff_t)(i * map->pool_rows),
                      to = (ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride;
      if (map->dtype == SCL_DTYPE_FLOAT64)
        gather_f64(tile->cols, (const double *)pooled + from, which, map->fan_in,
                   (double *)z->data + to);
      else
        gather_f32(tile->cols, (const float *)pooled + from, which, map->fan_in,
                   (float *)z->data + to);
    }
}

scl_status scl_tile_project(const scl_map_tile *tile, const scl_tile_source *source,
                            const scl_block *out, scl_error *error) {
  const scl_map *map = tile->map;
  if (map->pool != NULL) {
    gather_planes(tile, source->pooled, out);
    return SCL_STATUS_OK;
  }
  for (size_t k = 0; k < map->fan_in; k++) {
    const scl_tile plane = {
        .x = source->x,
        .z = scl_at_mutable(out->data, map->dtype, (ptrdiff_t)k * out->plane_stride),
        .x_stride = source->x_stride,
        .z_stride = out->row_stride,
        .rows = tile->rows,
        .first = k * map->plane + tile->first,
        .cols = whole_blocks(map, tile->cols),
        .turned = source->turned};
    SCL_TRY(scl_projection_apply(source->projection, &plane, error));
  }
  return SCL_STATUS_OK;
}

/* to (rows x dim, packed) = the squares of the tile's rows. */
static void square_rows(const scl_map_tile *tile, void *to) {
  const scl_map *map = tile->map;
  for (size_t i = 0; i < tile->rows; i++) {
    const void *row = scl_at(tile->x.x, map->dtype, (ptrdiff_t)i * tile->x.x_stride);
    if (map->dtype == SCL_DTYPE_FLOAT64)
      for (size_t j = 0; j < map->dim; j++)
        ((double *)to)[i * map->dim + j] = ((const double *)row)[j] * ((const double *)row)[j];
    else
      for (size_t j = 0; j < map->dim; j++)
        ((float *)to)[i * map->dim + j] = ((const float *)row)[j] * ((const float *)row)[j];
  }
}

/* What all tiles of a task share: the rows turned, and their projections on shared rows. */
static scl_status prepare_source(const scl_map_tile *tile, const scl_tile_source *source,
                                 scl_error *error) {
  const size_t shared = tile->map->pool_rows;
  if (source->turned != NULL)
    scl_projection_turn(source->projection, source->x, source->x_stride, tile->rows,
                        source->turned);
  if (tile->map->pool == NULL) return SCL_STATUS_OK;
  const scl_tile rows = {.x = source->x,
                         .z = source->pooled,
                         .x_stride = source->x_stride,
                         .z_stride = (ptrdiff_t)shared,
                         .rows = tile->rows,
                         .cols = shared,
                         .turned = source->turned};
  return scl_projection_apply(source->projection, &rows, error);
}

/* ------------------------------------------------------------ tasks */

/* One task of the grid. index / across: its run of rows; index % across: its run of parameters. */
static scl_status tiles_task(void *context, size_t index, scl_error *error) {
  const tiling *job = context;
  const scl_map *map = job->map;
  const size_t begin = job->first + index % job->across * job->span,
               end = scl_min(begin + job->span, job->first + job->count);
  scl_map_tile tile;
  (void)lay_out_scratch(job, job->scratch + scl_pool_worker() * job->scratch_each, &tile);
  tile.first_row = index / job->across * job->tall;
  tile.rows = scl_min(job->tall, job->rows - tile.first_row);
  tile.x.projection = map->projection;
  tile.x.x = scl_at(job->x, map->dtype, (ptrdiff_t)tile.first_row * job->x_stride);
  tile.x.x_stride = job->x_stride;
  SCL_TRY(prepare_source(&tile, &tile.x, error));
  if (map->variance != NULL) {
    tile.squares.projection = map->variance;
    tile.squares.x_stride = (ptrdiff_t)map->dim;
    square_rows(&tile, (void *)(uintptr_t)tile.squares.x);
    SCL_TRY(prepare_source(&tile, &tile.squares, error));
  }
  for (tile.first = begin; tile.first < end; tile.first += tile.cols) {
    tile.cols = scl_min(job->width, end - tile.first);
    tile.z = scl_tile_block(&tile, tile.z.data, map->fan_in);
    tile.y = scl_tile_block(&tile, tile.y.data, map->fan_out);
    SCL_TRY(scl_tile_project(&tile, &tile.x, &tile.z, error));
    SCL_TRY(job->take(job->context, &tile, error));
  }
  return SCL_STATUS_OK;
}

scl_status scl_tiles_run(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         size_t first, size_t count, scl_take_tile take, void *context,
                         scl_error *error) {
  tiling job = {.map = map,
                .x = x,
                .x_stride = x_stride,
                .take = take,
                .context = context,
                .first = first,
                .count = count,
                .rows = rows};
  const size_t most = scl_max(TILE_PARAMETERS / map->fan_in, 1), threads = scl_pool_threads();
  /* Parameters of a strip of packed rows (algebra/row_products.h): tiles have whole strips. */
  const size_t strip = scl_loops_get()->strip_bytes / scl_dtype_size(map->dtype);
  const bool turned = turns(map->projection) || turns(map->variance);
  scl_map_tile largest;
  if (rows == 0 || count == 0) return SCL_STATUS_OK;
  job.tall = scl_min(rows, turned ? SCL_LANES : map->pool != NULL ? POOL_ROWS : TILE_ROWS);
  job.across = (count + most - 1) / most;
  job.width = (count + job.across - 1) / job.across;
  if (job.across > 1) job.width = (job.width + strip - 1) / strip * strip;
  job.width = whole_blocks(map, job.width);
  job.span = map->pool != NULL ? count : turned ? TURNED_TILES * job.width : job.width;
  job.across = (count + job.span - 1) / job.span;
  job.scratch_each = lay_out_scratch(&job, NULL, &largest);
  job.scratch = scl_allocate_array(threads, job.scratch_each);
  if (job.scratch == NULL)
    return scl_fail_memory(error, threads * job.scratch_each, "a tile of features per thread");
  const size_t down = (rows + job.tall - 1) / job.tall;
  const scl_status status = scl_pool_try(down * job.across, tiles_task, &job, error);
  scl_release(job.scratch);
  return status;
}
