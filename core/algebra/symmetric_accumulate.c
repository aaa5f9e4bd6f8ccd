/* Phi'Phi of a block of rows, one task for each band of a tile, which is added to a matrix or passed
 * to a function while it is in the cache. If the instruction set has packed products, the block's
 * columns are packed once for all tiles. Otherwise, and for small blocks, OpenBLAS computes each tile
 * and packs its columns again. Large blocks come in parts: packed rows then have the same size in all
 * blocks, so that their memory is reused, where the system would zero new pages. */
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

/* A block below these is not packed. */
enum { LEAST_ORDER = 64, LEAST_ROWS = 32 };
/* The packed bytes of a part, unless LEAST_PART rows have more. */
enum { PACKED_BYTES = 32 << 20, LEAST_PART = 256 };
/* Rows of a band: a multiple of the columns of each kind of strip. Each band reads all other columns
 * of its tile from an outer cache: one thread, which shares no work, takes TALL times as many rows of
 * float32. */
enum { BAND_ROWS = 96, TALL = 3 };

typedef struct accumulation {
  scl_symmetric *a;
  scl_dtype dtype;
  const char *phi;
  ptrdiff_t stride;
  size_t count;
  scl_band_visit visit; /* NULL: float64 products are added to a */
  void *context;
  const bool *skip; /* bands, or NULL */
  const atomic_bool *stop;
  char *scratch; /* a band a thread, of dtype */
  size_t band;   /* its rows */
  char *packed;  /* NULL: not packed */
  size_t width;  /* columns of a strip */
  size_t apart;  /* packed bytes of a tile's columns */
} accumulation;

static size_t bands_of_tile(const scl_symmetric *a) {
  return (a->tile + BAND_ROWS - 1) / BAND_ROWS;
}

size_t scl_symmetric_bands(const scl_symmetric *a) { return scl_tile_count(a) * bands_of_tile(a); }

/* float32 products are added in float64. */
static void add_band_f32(void *context, const scl_band *band, const void *products) {
  const scl_symmetric *a = context;
  const scl_loops *loops = scl_loops_get();
  const size_t cols = scl_tile_rows(a, band->j);
  double *to = scl_tile_at(a, band->i, band->j) + band->first * a->tile;
  for (size_t r = 0; r < band->rows; r++)
    loops->add_f32(band->i == band->j ? band->first + r + 1 : cols,
                   (const float *)products + r * a->tile, to + r * a->tile);
}

/* Bytes of the products of a band, which may have half as many rows again. */
static size_t band_bytes(const accumulation *job) {
  return scl_min(job->band + job->band / 2, job->a->tile) * job->a->tile *
         scl_dtype_size(job->dtype);
}

/* The rows of the band that begins at row `first` of `rows`: the last one takes a rest of less than
 * half a band, which would read all other columns for few rows, and the band after it has none. */
static size_t band_rows(const accumulation *job, size_t first, size_t rows) {
  const size_t left = rows - scl_min(first, rows), half = job->band / 2;
  if (first > 0 && left < half) return 0;
  return left < job->band + half ? left : job->band;
}

/* Where the products of a band are made. */
static void *target_of(const accumulation *job, const scl_band *band) {
  return job->visit == NULL
             ? (void *)(scl_tile_at(job->a, band->i, band->j) + band->first * job->a->tile)
             : (void *)(job->scratch + scl_pool_worker() * band_bytes(job));
}

/* A task of the pool: a band, if it is wanted. */
static void run_band(const accumulation *job, size_t index,
                     void (*multiply)(const accumulation *, const scl_band *, void *)) {
  const scl_symmetric *a = job->a;
  const size_t bands = bands_of_tile(a);
  index = scl_common_turn(a, index, scl_symmetric_bands(a));
  scl_band band = {.index = index, .first = index % bands * job->band};
  if ((job->skip != NULL && job->skip[index]) || (job->stop != NULL && atomic_load(job->stop)))
    return;
  scl_tile_place(a, index / bands, &band.i, &band.j);
  band.rows = band_rows(job, band.first, scl_tile_rows(a, band.i));
  if (band.rows == 0 || !scl_tile_row_here(a, band.i)) return;
  void *target = target_of(job, &band);
  multiply(job, &band, target);
  if (job->visit != NULL) job->visit(job->context, &band, target);
}

/* ------------ packed */

enum { PACKED_ROWS = 64 };

/* Task: pack PACKED_ROWS rows of all strips of columns. A strip has `width` columns, and its rows
 * follow each other; missing columns are 0. */
static void pack_rows(void *context, size_t index) {
  const accumulation *job = context;
  const scl_symmetric *a = job->a;
  const size_t size = scl_dtype_size(job->dtype), row = job->width * size,
               end = scl_min((index + 1) * PACKED_ROWS, job->count);
  for (size_t t = 0; t < a->across; t++) {
    const size_t cols = scl_tile_rows(a, t);
    for (size_t j = 0; j < cols; j += job->width) {
      const size_t some = scl_min(job->width, cols - j) * size;
      char *to = job->packed + t * job->apart + j * size * job->count;
      const char *from = job->phi + (t * a->tile + j) * size;
      for (size_t k = index * PACKED_ROWS; k < end; k++) {
        memcpy(to + k * row, from + (ptrdiff_t)k * job->stride * (ptrdiff_t)size, some);
        memset(to + k * row + some, 0, row - some);
      }
    }
  }
}

/* Products of `rows` columns from strip `left` on and of `cols` from `right` on. */
static void multiply_strips(const accumulation *job, size_t rows, size_t cols, const char *left,
                            const char *right, bool below, void *out) {
  const scl_loops *loops = scl_loops_get();
  const ptrdiff_t stride = (ptrdiff_t)job->a->tile;
  if (job->dtype == SCL_DTYPE_FLOAT64)
    loops->packed_product_f64(job->count, rows, cols, (const void *)left, (const void *)right,
                              below, out, stride);
  else
    loops->packed_product_f32(job->count, rows, cols, (const void *)left, (const void *)right,
                              below, out, stride);
}

/* A band from packed columns; on the diagonal, what is left of its triangle, and the triangle. */
static void multiply_packed(const accumulation *job, const scl_band *band, void *target) {
  const size_t size = scl_dtype_size(job->dtype), first = band->first * size * job->count;
  const char *left = job->packed + band->i * job->apart + first,
             *right = job->packed + band->j * job->apart;
  if (job->visit != NULL) memset(target, 0, band_bytes(job));
  if (band->i != band->j) {
    multiply_strips(job, band->rows, scl_tile_rows(job->a, band->j), left, right, false, target);
    return;
  }
  if (band->first > 0) multiply_strips(job, band->rows, band->first, left, right, false, target);
  multiply_strips(job, band->rows, band->rows, left, right + first, true,
                  (char *)target + band->first * size);
}

static void packed_band(void *context, size_t index) { run_band(context, index, multiply_packed); }

/* Whether the columns are packed; the sizes of a packed tile of `rows` rows. */
static bool set_packing(accumulation *job, size_t rows) {
  const size_t bytes = scl_loops_get()->packed_bytes, size = scl_dtype_size(job->dtype);
  if (bytes == 0 || job->a->n < LEAST_ORDER || rows < LEAST_ROWS) return false;
  job->width = bytes / size;
  job->apart = (job->a->tile + job->width - 1) / job->width * bytes * rows;
  return true;
}

size_t scl_symmetric_part_rows(const scl_symmetric *a, scl_dtype dtype) {
  const size_t bytes = a->across * a->tile * scl_dtype_size(dtype);
  return scl_max(PACKED_BYTES / scl_max(bytes, 1), LEAST_PART);
}

/* Memory for the packed columns; *packs = false: they are not packed. Its size is that of the next
 * power of two of rows, so that parts with nearly the same number of rows ask for the same block.
 * Unused pages are never touched. */
static scl_status open_packed(accumulation *job, bool *packs, scl_error *error) {
  const size_t most = scl_symmetric_part_rows(job->a, job->dtype);
  size_t room = LEAST_ROWS;
  *packs = set_packing(job, job->count);
  if (!*packs) return SCL_STATUS_OK;
  while (room < job->count)
    room *= 2;
  const size_t rows = job->count < most ? scl_min(room, most) : job->count,
               bytes = job->a->across * (job->apart / job->count * rows);
  job->packed = scl_allocate(bytes);
  return job->packed != NULL ? SCL_STATUS_OK : scl_fail_memory(error, bytes, "packed rows");
}

/* ------------ by OpenBLAS */

/* A tile by OpenBLAS. */
static void multiply_plain(const accumulation *job, const scl_band *band, void *target) {
  const scl_symmetric *a = job->a;
  const size_t rows = band->rows, cols = scl_tile_rows(a, band->j),
               size = scl_dtype_size(job->dtype);
  const char *left = job->phi + band->i * a->tile * size,
             *right = job->phi + band->j * a->tile * size;
  const double beta = job->visit == NULL ? 1 : 0;
  if (band->i == band->j)
    scl_syrk(job->dtype, rows, job->count, 1, left, job->stride, beta, target, (ptrdiff_t)a->tile);
  else
    scl_gemm(job->dtype, true, false, rows, cols, job->count, 1, left, job->stride, right,
             job->stride, beta, target, (ptrdiff_t)a->tile);
}

static void plain_band(void *context, size_t index) { run_band(context, index, multiply_plain); }

/* Pack if it pays, then compute all bands in parallel. Releases the memory of the job. */
static scl_status run_accumulation(accumulation *job, scl_error *error) {
  bool packs;
  SCL_TRY(open_packed(job, &packs, error));
  const bool tall = job->dtype == SCL_DTYPE_FLOAT32 && scl_pool_threads() == 1;
  job->band = !packs ? job->a->tile : tall ? TALL * BAND_ROWS : BAND_ROWS;
  if (job->visit != NULL) {
    const size_t bytes = scl_pool_threads() * band_bytes(job);
    job->scratch = scl_allocate(bytes);
    if (job->scratch == NULL) {
      scl_release(job->packed);
      return scl_fail_memory(error, bytes, "products of a block");
    }
  }
  if (packs) scl_pool_run((job->count + PACKED_ROWS - 1) / PACKED_ROWS, pack_rows, job);
  scl_pool_run_interruptible(scl_symmetric_bands(job->a), packs ? packed_band : plain_band, job);
  SCL_RELEASE(job->scratch, job->packed);
  return scl_interrupt_check(error);
}

scl_status scl_symmetric_accumulate(scl_symmetric *a, scl_dtype dtype, const void *phi,
                                    ptrdiff_t stride, size_t count, scl_error *error) {
  const size_t most = scl_symmetric_part_rows(a, dtype), parts = (count + most - 1) / most;
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < parts; k++) {
    const size_t first = count * k / parts;
    accumulation job = {.a = a,
                        .dtype = dtype,
                        .phi = scl_at(phi, dtype, (ptrdiff_t)first * stride),
                        .stride = stride,
                        .count = count * (k + 1) / parts - first,
                        .visit = dtype == SCL_DTYPE_FLOAT32 ? add_band_f32 : NULL,
                        .context = a};
    status = run_accumulation(&job, error);
  }
  return status;
}

scl_status scl_symmetric_products(const scl_product_block *block, scl_symmetric *like,
                                  const bool *skip, scl_band_visit visit, void *context,
                                  scl_error *error) {
  accumulation job = {.a = like,
                      .dtype = block->dtype,
                      .phi = block->phi,
                      .stride = block->stride,
                      .count = block->count,
                      .visit = visit,
                      .context = context,
                      .skip = skip,
                      .stop = block->stop};
  return block->count == 0 ? SCL_STATUS_OK : run_accumulation(&job, error);
}
