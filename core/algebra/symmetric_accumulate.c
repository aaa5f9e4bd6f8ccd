/* a += Phi'Phi, a task a tile. Where the instruction set has packed products, the block's columns
 * are packed once and all tiles share them; elsewhere, and for a few numbers, OpenBLAS packs its
 * own for each tile. */
#include "algebra/dense.h"
#include "algebra/symmetric_internal.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include <string.h>

/* A block below these is not packed. */
enum { LEAST_ORDER = 64, LEAST_ROWS = 32 };

typedef struct accumulation {
  scl_symmetric *a;
  scl_dtype dtype;
  const char *phi;
  ptrdiff_t stride;
  size_t count;
  float *scratch; /* a tile a thread, float32 */
  char *packed;   /* NULL: not packed */
  size_t width;   /* columns of a strip */
  size_t apart;   /* packed bytes of a tile's columns */
} accumulation;

static void add_tile_f32(const scl_symmetric *a, const float *from, double *to, size_t rows,
                         size_t cols, bool diagonal) {
  const scl_loops *loops = scl_loops_get();
  for (size_t r = 0; r < rows; r++)
    loops->add_f32(diagonal ? r + 1 : cols, from + r * a->tile, to + r * a->tile);
}

/* ------------------------------------------------------------ packed */

enum { PACKED_ROWS = 64 };

/* Rows PACKED_ROWS index .. of all strips. */
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

/* A task of the pool: one tile from packed columns. float32 sums are made in the scratch tile of
 * the thread and added in float64. */
static void packed_tile(void *context, size_t index) {
  const accumulation *job = context;
  const scl_loops *loops = scl_loops_get();
  const scl_symmetric *a = job->a;
  size_t i, j;
  scl_tile_place(a, index, &i, &j);
  const size_t rows = scl_tile_rows(a, i), cols = scl_tile_rows(a, j);
  const void *left = job->packed + i * job->apart, *right = job->packed + j * job->apart;
  const ptrdiff_t stride = (ptrdiff_t)a->tile;
  double *tile = scl_tile_at(a, i, j);
  if (job->dtype == SCL_DTYPE_FLOAT64) {
    loops->packed_product_f64(job->count, rows, cols, left, right, i == j, tile, stride);
    return;
  }
  float *sums = job->scratch + scl_pool_worker() * a->tile * a->tile;
  memset(sums, 0, rows * a->tile * sizeof *sums);
  loops->packed_product_f32(job->count, rows, cols, left, right, i == j, sums, stride);
  add_tile_f32(a, sums, tile, rows, cols, i == j);
}

/* Room for the packed columns; *packs = false: they are not packed. */
static scl_status open_packed(accumulation *job, bool *packs, scl_error *error) {
  const size_t bytes = scl_loops_get()->packed_bytes, size = scl_dtype_size(job->dtype);
  *packs = bytes > 0 && job->a->n >= LEAST_ORDER && job->count >= LEAST_ROWS;
  if (!*packs) return SCL_STATUS_OK;
  job->width = bytes / size;
  job->apart = (job->a->tile + job->width - 1) / job->width * bytes * job->count;
  job->packed = scl_allocate_array(job->a->across, job->apart);
  return job->packed != NULL ? SCL_STATUS_OK
                             : scl_fail_memory(error, job->a->across * job->apart, "packed rows");
}

/* ------------------------------------------------------------ by OpenBLAS */

/* A task of the pool: one tile by OpenBLAS, with the same scratch tile for float32. */
static void plain_tile(void *context, size_t index) {
  const accumulation *job = context;
  const scl_symmetric *a = job->a;
  size_t i, j;
  scl_tile_place(a, index, &i, &j);
  const size_t rows = scl_tile_rows(a, i), cols = scl_tile_rows(a, j),
               size = scl_dtype_size(job->dtype);
  const char *left = job->phi + i * a->tile * size, *right = job->phi + j * a->tile * size;
  double *tile = scl_tile_at(a, i, j);
  void *target = tile;
  double beta = 1;
  if (job->dtype == SCL_DTYPE_FLOAT32) {
    target = job->scratch + scl_pool_worker() * a->tile * a->tile;
    beta = 0;
  }
  if (i == j)
    scl_syrk(job->dtype, rows, job->count, 1, left, job->stride, beta, target, (ptrdiff_t)a->tile);
  else
    scl_gemm(job->dtype, true, false, rows, cols, job->count, 1, left, job->stride, right,
             job->stride, beta, target, (ptrdiff_t)a->tile);
  if (job->dtype == SCL_DTYPE_FLOAT32) add_tile_f32(a, target, tile, rows, cols, i == j);
}

scl_status scl_symmetric_accumulate(scl_symmetric *a, scl_dtype dtype, const void *phi,
                                    ptrdiff_t stride, size_t count, scl_error *error) {
  if (count == 0) return SCL_STATUS_OK;
  accumulation job = {.a = a, .dtype = dtype, .phi = phi, .stride = stride, .count = count};
  bool packs;
  SCL_TRY(open_packed(&job, &packs, error));
  if (dtype == SCL_DTYPE_FLOAT32) {
    const size_t bytes = scl_pool_threads() * a->tile * a->tile * sizeof(float);
    job.scratch = scl_allocate(bytes);
    if (job.scratch == NULL) {
      scl_release(job.packed);
      return scl_fail_memory(error, bytes, "a tile of normal equations per thread");
    }
  }
  if (packs) scl_pool_run((count + PACKED_ROWS - 1) / PACKED_ROWS, pack_rows, &job);
  scl_pool_run_interruptible(scl_tile_count(a), packs ? packed_tile : plain_tile, &job);
  SCL_RELEASE(job.scratch, job.packed);
  return scl_interrupt_check(error);
}
