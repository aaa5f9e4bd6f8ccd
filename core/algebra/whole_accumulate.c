/* totals += 2^shift V'V. Rows are divided into passes, short enough that products of a pass fit 32
 * bits. The columns of a batch of passes are packed; then each task of the pool adds the products
 * of all these passes to a band of a tile. A few threads each pack what they multiply: where cores
 * have no cache in common, writing what the others have read takes longer. */
#include "algebra/symmetric_internal.h"
#include "algebra/whole_internal.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include <string.h>

/* Rows that are packed before they are multiplied; rows that a task packs of all strips of a tile
 * before the next ones, so that the other columns of their cache lines stay in the cache; rows of
 * a tile in a task, in multiples of `tall`. */
enum { BATCH_ROWS = 1024, PACKED_ROWS = 64, BAND_ROWS = 128 };
/* There are copies for at most n / COPY_COLUMNS + 1 threads: so packing remains a small part. */
enum { COPY_COLUMNS = 400 };
enum { LINE = 64, PRODUCTS_MOST = 8 * 48 };

typedef struct accumulation {
  const scl_whole_loops *loops;
  const scl_whole_kernel *kernel;
  const scl_symmetric *low, *high; /* high may be NULL */
  size_t known;                    /* scl_whole_totals.known */
  const char *v;
  size_t size; /* of a number of v */
  ptrdiff_t stride;
  size_t rows;           /* of the batch */
  size_t depth;          /* rows of a pass */
  size_t passes, strips; /* strips: of a tile's columns */
  size_t apart;          /* bytes of a strip */
  size_t copies;         /* of the packed columns: one for each thread, or 1 for all */
  size_t apiece;         /* passes of tile columns in a copy */
  bool *ready;           /* for each of them, whether it is packed; used with several copies */
  char *packed; /* strip s of pass p of tile column t at ((t passes + p) strips + s) apart */
  unsigned shift;
} accumulation;

/* The number of a pass of a tile column in the copy of this thread. */
static size_t place(const accumulation *job, size_t tile, size_t pass) {
  return (job->copies > 1 ? scl_pool_worker() * job->apiece : 0) + tile * job->passes + pass;
}

static char *strip_at(const accumulation *job, size_t tile, size_t pass, size_t strip) {
  return job->packed + (place(job, tile, pass) * job->strips + strip) * job->apart;
}

static size_t pass_rows(const accumulation *job, size_t pass) {
  return scl_min(job->depth, job->rows - pass * job->depth);
}

/* One pass of the columns of one tile: a task of the pool, or for this thread alone. */
static void pack_pass(void *context, size_t index) {
  const accumulation *job = context;
  const scl_whole_kernel *kernel = job->kernel;
  const size_t tile = index / job->passes, pass = index % job->passes,
               cols = scl_tile_rows(job->low, tile), rows = pass_rows(job, pass);
  for (size_t s = 0; s < job->strips; s++)
    memset(strip_at(job, tile, pass, s), 0, 2 * kernel->width * sizeof(int32_t));
  for (size_t r = 0; r < rows; r += PACKED_ROWS)
    for (size_t j = 0; j < cols; j += kernel->width) {
      const ptrdiff_t row = (ptrdiff_t)(pass * job->depth + r),
                      at = row * job->stride + (ptrdiff_t)(tile * job->low->tile + j);
      kernel->pack(scl_min(PACKED_ROWS, rows - r), scl_min(kernel->width, cols - j),
                   job->v + at * (ptrdiff_t)job->size, job->stride,
                   strip_at(job, tile, pass, j / kernel->width), r / kernel->rows);
    }
}

static void pack_missing(accumulation *job, size_t tile, size_t pass) {
  bool *ready = job->ready + place(job, tile, pass);
  if (!*ready) pack_pass(job, tile * job->passes + pass);
  *ready = true;
}

/* Add the products of one pass to a rectangle of a tile, rows x cols entries from element `at` of
 * the totals on. The totals are prefetched while the kernel computes. i: the first row in its
 * strip. */
static void add_product(const accumulation *job, size_t steps, const char *left, const char *right,
                        size_t i, size_t rows, size_t cols, size_t at) {
  const scl_whole_kernel *kernel = job->kernel;
  const size_t stride = job->low->tile;
  uint64_t *low = (uint64_t *)job->low->data + at;
  for (size_t k = 0; k < rows; k++)
    for (size_t j = 0; j < cols; j += LINE / sizeof *low)
      __builtin_prefetch(low + k * stride + j, 1);
  int32_t sums[PRODUCTS_MOST] __attribute__((aligned(LINE)));
  kernel->product(steps, cols, left, i, right, sums);
  if (job->high == NULL)
    job->loops->add(rows, cols, sums, kernel->width, job->shift, low, stride);
  else
    job->loops->add_wide(rows, cols, sums, kernel->width, job->shift, low,
                         (uint64_t *)job->high->data + at, stride);
}

static size_t bands(const accumulation *job) {
  return (job->low->tile + BAND_ROWS - 1) / BAND_ROWS;
}

/* The first row of a band, which begins at `first`, that has products to add in columns j ..
 * j+cols-1 of tile (row, col): those above the diagonal, and those that are known, are left out. */
static size_t first_row(const accumulation *job, size_t row, size_t col, size_t first, size_t j,
                        size_t cols) {
  const size_t tile = job->low->tile, tall = job->kernel->tall;
  size_t i = row == col ? scl_max(first, j / tall * tall) : first;
  if (col * tile + j + cols <= job->known && row * tile + i < job->known)
    i = scl_max(i, (job->known - row * tile) / tall * tall);
  return i;
}

/* A task of the pool: all passes of a band of a tile. */
static void multiply_band(void *context, size_t index) {
  accumulation *job = context;
  const scl_whole_kernel *kernel = job->kernel;
  index = scl_common_turn(job->low, index, scl_tile_count(job->low) * bands(job));
  const size_t tall = kernel->tall, width = kernel->width, first = index % bands(job) * BAND_ROWS;
  size_t row, col;
  scl_tile_place(job->low, index / bands(job), &row, &col);
  if (!scl_tile_row_here(job->low, row)) return;
  scl_common_lock(job->low, index);
  const size_t end = scl_min(first + BAND_ROWS, scl_tile_rows(job->low, row)),
               wide = row == col ? scl_min(end, scl_tile_rows(job->low, col))
                                 : scl_tile_rows(job->low, col),
               tile = (size_t)(scl_tile_at(job->low, row, col) - job->low->data);
  for (size_t pass = 0; pass < job->passes; pass++) {
    const size_t steps = (pass_rows(job, pass) + kernel->rows - 1) / kernel->rows;
    if (job->copies > 1) {
      pack_missing(job, row, pass);
      pack_missing(job, col, pass);
    }
    for (size_t j = 0; j < wide; j += width)
      for (size_t i = first_row(job, row, col, first, j, scl_min(width, wide - j)); i < end;
           i += tall)
        add_product(job, steps, strip_at(job, row, pass, i / width),
                    strip_at(job, col, pass, j / width), i % width, scl_min(tall, end - i),
                    scl_min(width, wide - j), tile + i * job->low->tile + j);
  }
  scl_common_unlock(job->low, index);
}

bool scl_whole_kernel_runs(const scl_whole_kernel *kernel) {
#if defined(__GNUC__) && defined(__x86_64__)
  return !kernel->vnni || __builtin_cpu_supports("avx512vnni");
#else
  return !kernel->vnni;
#endif
}

/* Copies of the packed columns of a matrix of order n, of so many bytes each: one for each thread if
 * they take at most an eighth of the free memory. */
static size_t copies_of(size_t n, double bytes) {
  const size_t threads = scl_pool_threads();
  return scl_pool_inside() || threads > n / COPY_COLUMNS + 1 ||
                 (double)threads * bytes > (double)scl_memory_left_about() / 8
             ? 1
             : threads;
}

double scl_whole_packed_bytes(scl_whole type, size_t n, size_t rows) {
  const double bytes = (double)scl_min(rows, BATCH_ROWS) * (double)n * (double)scl_whole_size(type);
  return (double)copies_of(n, bytes) * bytes;
}

/* Memory for the copies of a batch. */
static bool reserve(accumulation *job) {
  const size_t pieces = job->copies * job->apiece;
  job->packed = scl_allocate_array(pieces * job->strips, job->apart);
  job->ready = scl_allocate_array(pieces, sizeof *job->ready);
  if (job->packed != NULL && job->ready != NULL) return true;
  SCL_RELEASE(job->packed, job->ready);
  job->packed = NULL;
  job->ready = NULL;
  return false;
}

/* The parts of a batch, and memory for it; with little memory one copy for all threads. */
static scl_status make_batch(accumulation *job, size_t batch, scl_error *error) {
  const scl_whole_kernel *kernel = job->kernel;
  const size_t most = kernel->steps * kernel->rows;
  job->depth = scl_min(most, (batch + kernel->rows - 1) / kernel->rows * kernel->rows);
  job->passes = (batch + job->depth - 1) / job->depth;
  job->apart = 2 * kernel->width * sizeof(int32_t) + job->depth / kernel->rows * kernel->bytes;
  job->apiece = job->low->across * job->passes;
  job->copies = copies_of(job->low->n, (double)(job->apiece * job->strips * job->apart));
  if (reserve(job)) return SCL_STATUS_OK;
  job->copies = 1;
  if (reserve(job)) return SCL_STATUS_OK;
  return scl_fail_memory(error, job->apiece * job->strips * job->apart, "packed rows");
}

/* Add the products of job->rows rows from job->v on. */
static void add_batch(accumulation *job) {
  job->passes = (job->rows + job->depth - 1) / job->depth;
  memset(job->ready, 0, job->copies * job->apiece * sizeof *job->ready);
  if (job->copies == 1) scl_pool_run(job->low->across * job->passes, pack_pass, job);
  scl_pool_run_interruptible(scl_tile_count(job->low) * bands(job), multiply_band, job);
}

scl_status scl_whole_accumulate_by(const scl_whole_loops *loops, const scl_whole_kernel *kernel,
                                   const scl_whole_totals *totals, scl_whole type, const void *v,
                                   ptrdiff_t stride, size_t rows, unsigned shift,
                                   scl_error *error) {
  if (rows == 0 || totals->low->n == 0) return SCL_STATUS_OK;
  accumulation job = {.loops = loops,
                      .kernel = kernel,
                      .low = totals->low,
                      .high = totals->high,
                      .known = totals->known,
                      .size = scl_whole_size(type),
                      .stride = stride,
                      .shift = shift,
                      .strips = (totals->low->tile + kernel->width - 1) / kernel->width};
  const size_t batch = scl_min(BATCH_ROWS, rows);
  scl_status status = make_batch(&job, batch, error);
  for (size_t r = 0; r < rows && status == SCL_STATUS_OK && !scl_interrupted(); r += batch) {
    job.v = (const char *)v + (ptrdiff_t)r * stride * (ptrdiff_t)job.size;
    job.rows = scl_min(batch, rows - r);
    add_batch(&job);
  }
  SCL_RELEASE(job.packed, job.ready);
  if (status == SCL_STATUS_OK) status = scl_interrupt_check(error);
  return status;
}

scl_status scl_whole_accumulate(const scl_whole_totals *totals, scl_whole type, const void *v,
                                ptrdiff_t stride, size_t rows, unsigned shift, scl_error *error) {
  const scl_whole_loops *loops = scl_loops_get()->whole;
  const scl_whole_kernel *const *kernels = type == SCL_WHOLE_INT8 ? loops->int8 : loops->int16;
  while (!scl_whole_kernel_runs(*kernels))
    kernels++;
  return scl_whole_accumulate_by(loops, *kernels, totals, type, v, stride, rows, shift, error);
}
