/* Projecting tile by tile. A task is a tile of rows and one or several tiles of parameters; what
 * its tiles share (turned rows, projections on shared rows) is made once for each task. Features,
 * bits and codes take z from here. */
#include "map/kinds.h"

#include "base/loops.h"
#include "base/pool.h"
#include "plugin/blocks.h"
#include "plugin/domain.h"

/* A task is TILE_ROWS rows by about TILE_PARAMETERS parameters, small enough to stay in cache from
 * projection to scale. With shared rows a task projects POOL_ROWS rows on all of them and goes
 * through all parameters; where rows are turned, through TURNED_TILES tiles. */
enum { TILE_ROWS = 256, TILE_PARAMETERS = 512, POOL_ROWS = 64, TURNED_TILES = 16 };
/* Parameters of a tile of one row, where one thread makes all of them. */
enum { ROW_PARAMETERS = 2048 };
/* A part of the last-level cache for the weights of a tile that sparse rows read. */
enum { CACHED_BYTES = 8 << 20 };
enum { SMALL_SCRATCH = 1 << 14 };

/* One call of scl_tiles_run. Tasks form a grid: rows in runs of `tall`, parameters in `across` runs
 * of `span`; a task goes through its parameters in tiles of `width`. */
typedef struct tiling {
  const scl_map *map;
  const scl_map_request *request; /* rows, and the parameters wanted */
  scl_take_tile take;
  void *context;
  scl_csr squares;     /* of the request's sparse rows, where the map has a variance */
  bool filled;         /* sparse rows are made dense, task by task */
  size_t tall, width;  /* rows of a task, parameters of a tile */
  size_t across, span; /* tasks side by side, parameters of one */
  size_t down;         /* tasks one below the other */
  bool by_columns;     /* the order of tasks: all rows of some parameters, then of the next */
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
  if (job->filled) out->x.x = take_scratch(base, &at, job->tall * map->dim * size);
  if (job->request->csr.starts != NULL && !job->filled) return at;
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

/* ------------ projecting */

/* gather_SUFFIX: to[j] = from[which[j step]] */
#define GATHER(suffix, type) \
  static void gather_##suffix(size_t count, const type *from, const int32_t *which, size_t step, \
                              type *to) { \
    for (size_t j = 0; j < count; j++) \
      to[j] = from[which[j * step]]; \
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
        .turned = source->turned,
        .csr = source->csr.starts == NULL ? NULL : &source->csr};
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
                         .turned = source->turned,
                         .csr = source->csr.starts == NULL ? NULL : &source->csr};
  return scl_projection_apply(source->projection, &rows, error);
}

/* ------------ tasks */

/* Rows first .. first+rows-1 of `all`, borrowed. */
static scl_csr rows_of(const scl_csr *all, size_t first, size_t rows) {
  scl_csr part = *all;
  part.starts += first;
  part.rows = rows;
  return part;
}

/* The rows of a task, and their squares where the map has a variance. */
static scl_status set_sources(const tiling *job, scl_map_tile *tile, scl_error *error) {
  const scl_map *map = job->map;
  const scl_map_request *request = job->request;
  const bool sparse = request->csr.starts != NULL;
  tile->x.projection = map->projection;
  tile->squares.projection = map->variance;
  tile->squares.x_stride = (ptrdiff_t)map->dim;
  tile->x.x_stride = sparse ? (ptrdiff_t)map->dim : request->x_stride;
  if (job->filled)
    scl_csr_fill(&request->csr, tile->first_row, tile->rows, map->dtype,
                 (void *)(uintptr_t)tile->x.x, (ptrdiff_t)map->dim);
  else if (sparse)
    tile->x.csr = rows_of(&request->csr, tile->first_row, tile->rows);
  else
    tile->x.x = scl_at(request->x, map->dtype, (ptrdiff_t)tile->first_row * request->x_stride);
  if (job->filled || !sparse)
    SCL_TRY(scl_domain_check_rows(map->sampler, tile->x.x, map->dtype, tile->rows, map->dim,
                                  tile->x.x_stride, error));
  SCL_TRY(prepare_source(tile, &tile->x, error));
  if (map->variance == NULL) return SCL_STATUS_OK;
  if (job->squares.starts != NULL)
    tile->squares.csr = rows_of(&job->squares, tile->first_row, tile->rows);
  else
    square_rows(tile, (void *)(uintptr_t)tile->squares.x);
  return prepare_source(tile, &tile->squares, error);
}

/* One task of the grid. */
static scl_status tiles_task(void *context, size_t index, scl_error *error) {
  const tiling *job = context;
  const scl_map *map = job->map;
  const scl_map_request *request = job->request;
  const size_t run = job->by_columns ? index % job->down : index / job->across,
               beside = job->by_columns ? index / job->down : index % job->across;
  const size_t begin = request->first + beside * job->span,
               end = scl_min(begin + job->span, request->first + request->count);
  scl_map_tile tile;
  (void)lay_out_scratch(job, job->scratch + scl_pool_worker() * job->scratch_each, &tile);
  tile.first_row = run * job->tall;
  tile.rows = scl_min(job->tall, request->rows - tile.first_row);
  SCL_TRY(set_sources(job, &tile, error));
  for (tile.first = begin; tile.first < end; tile.first += tile.cols) {
    tile.cols = scl_min(job->width, end - tile.first);
    tile.z = scl_tile_block(&tile, tile.z.data, map->fan_in);
    tile.y = scl_tile_block(&tile, tile.y.data, map->fan_out);
    SCL_TRY(scl_tile_project(&tile, &tile.x, &tile.z, error));
    SCL_TRY(job->take(job->context, &tile, error));
  }
  return SCL_STATUS_OK;
}

/* Rows that a sampler's domain may refuse are made dense. */
bool scl_tiles_take_csr(const scl_map *map) {
  return scl_instance_ability(map->sampler, SCL_ABILITY_DOMAIN) == NULL &&
         scl_projection_takes_csr(map->projection) &&
         (map->variance == NULL || scl_projection_takes_csr(map->variance));
}

/* Before the tasks of sparse rows: the indices of the projections, and the squares of the rows. */
static scl_status open_sparse(tiling *job, scl_error *error) {
  const scl_map *map = job->map;
  SCL_TRY(scl_projection_open(map->projection, error));
  if (map->variance == NULL) return SCL_STATUS_OK;
  SCL_TRY(scl_projection_open(map->variance, error));
  SCL_TRY(scl_csr_convert(&job->request->csr, map->dtype, &job->squares, error));
  for (size_t k = 0, count = scl_csr_entries(&job->squares); k < count; k++)
    if (map->dtype == SCL_DTYPE_FLOAT64)
      ((double *)job->squares.values)[k] *= ((double *)job->squares.values)[k];
    else
      ((float *)job->squares.values)[k] *= ((float *)job->squares.values)[k];
  return SCL_STATUS_OK;
}

/* Choose the rows and parameters of a task, and how many tasks are side by side. */
static void shape_tasks(tiling *job) {
  const scl_map *map = job->map;
  const size_t count = job->request->count;
  const bool alone = job->request->rows == 1 && scl_pool_threads() == 1;
  size_t most = scl_max((alone ? ROW_PARAMETERS : TILE_PARAMETERS) / map->fan_in, 1);
  /* Parameters of a strip of packed rows (algebra/row_products.h): tiles have whole strips. */
  const size_t strip = scl_loops_get()->strip_bytes / scl_dtype_size(map->dtype);
  const bool sparse = job->request->csr.starts != NULL && !job->filled,
             turned = !sparse && (turns(map->projection) || turns(map->variance));
  job->tall = scl_min(job->request->rows, turned || job->filled ? SCL_LANES
                                          : map->pool != NULL   ? POOL_ROWS
                                                                : TILE_ROWS);
  if (map->projection->drawn != NULL)
    most = count; /* columns are drawn, and numbers sorted, once for a task */
  else if (sparse && map->pool == NULL) {
    /* As many as have all their weights in the last-level cache: a sparse row reads weights of a few
     * columns only, and rows have frequent columns in common. */
    const size_t each = map->dim * scl_dtype_size(map->dtype);
    most = scl_max(scl_min(most, CACHED_BYTES / scl_max(each, 1)), 1);
  }
  job->by_columns = sparse;
  job->across = (count + most - 1) / most;
  job->width = (count + job->across - 1) / job->across;
  if (job->across > 1) job->width = (job->width + strip - 1) / strip * strip;
  job->width = whole_blocks(map, job->width);
  job->span = map->pool != NULL       ? count
              : turned || job->filled ? TURNED_TILES * job->width
                                      : job->width;
  job->across = (count + job->span - 1) / job->span;
  job->down = (job->request->rows + job->tall - 1) / job->tall;
}

scl_status scl_tiles_run(const scl_map *map, const scl_map_request *request, scl_take_tile take,
                         void *context, scl_error *error) {
  const bool sparse = request->csr.starts != NULL;
  tiling job = {.map = map,
                .request = request,
                .take = take,
                .context = context,
                .filled = sparse && !scl_tiles_take_csr(map)};
  const size_t threads = scl_pool_threads();
  scl_map_tile largest;
  if (request->rows == 0 || request->count == 0) return SCL_STATUS_OK;
  shape_tasks(&job);
  job.scratch_each = lay_out_scratch(&job, NULL, &largest);
  _Alignas(
      64) char small[SMALL_SCRATCH]; /* of one row, where allocation would take much of the time */
  const bool is_small = threads == 1 && job.scratch_each <= sizeof small;
  job.scratch = is_small ? small : scl_allocate_array(threads, job.scratch_each);
  if (job.scratch == NULL)
    return scl_fail_memory(error, threads * job.scratch_each, "a tile of features per thread");
  scl_status status = sparse && !job.filled ? open_sparse(&job, error) : SCL_STATUS_OK;
  if (status == SCL_STATUS_OK)
    status = scl_pool_try(job.down * job.across, tiles_task, &job, error);
  if (!is_small) scl_release(job.scratch);
  scl_csr_release(&job.squares);
  return status;
}
