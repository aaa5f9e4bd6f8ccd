/* Symmetric matrices in tiles: storage, filling, elementwise operations and combinations. */
#include "algebra/symmetric_internal.h"

#include "algebra/dense.h"
#include "base/pool.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

/* Large tiles keep products near full speed (packing costs 1/tile of the work), small tiles give
 * work to all threads. The order is a multiple of 8, and tiles are nearly equal in size. */
size_t scl_symmetric_tile(size_t n) {
  const size_t target = n <= 256 ? 128 : n <= 640 ? 256 : 512;
  const size_t across = (n + target - 1) / target;
  const size_t even = across == 0 ? 1 : (n + across - 1) / across;
  return (even + 7) / 8 * 8;
}

double *scl_symmetric_numbers(scl_symmetric *a, size_t *size) {
  *size = scl_tile_count(a) * a->tile * a->tile * sizeof *a->data;
  return a->data;
}

double scl_symmetric_bytes(double n) {
  const size_t whole = n > 1e9 ? (size_t)1e9 : (size_t)n;
  const double tile = (double)scl_symmetric_tile(whole),
               across = (double)((whole + (size_t)tile - 1) / (size_t)tile);
  return n > 1e9 ? 4 * n * n : across * (across + 1) / 2 * tile * tile * sizeof(double);
}

scl_status scl_symmetric_create_rows(size_t n, size_t rank, size_t ranks, scl_symmetric **out,
                                     scl_error *error) {
  char text[32];
  double bytes = scl_symmetric_bytes((double)n);
  scl_symmetric *a = bytes > 1e15 ? NULL : scl_allocate_zero(sizeof *a);
  if (a != NULL) {
    a->n = n;
    a->tile = scl_symmetric_tile(n);
    a->across = (n + a->tile - 1) / a->tile;
    a->rank = rank;
    a->ranks = ranks;
    bytes = (double)scl_tiles_here(a) * (double)(a->tile * a->tile) * sizeof *a->data;
    a->data = scl_allocate_zero((size_t)bytes);
    if (a->data != NULL) {
      *out = a;
      return SCL_STATUS_OK;
    }
  }
  scl_release(a);
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "not enough memory for a symmetric matrix of order %zu (%s)", n,
                  scl_bytes_text(bytes, text));
}

scl_status scl_symmetric_create(size_t n, scl_symmetric **out, scl_error *error) {
  return scl_symmetric_create_rows(n, 0, 1, out, error);
}

void scl_symmetric_destroy(scl_symmetric *a) {
  if (a == NULL) return;
  if (a->common == NULL) scl_release(a->data);
  scl_common_close(a->common);
  scl_release(a);
}

size_t scl_symmetric_order(const scl_symmetric *a) { return a->n; }

double scl_symmetric_get(const scl_symmetric *a, size_t i, size_t j) {
  if (a->data == NULL) {
    double sum = a->factor == 0 ? 0 : a->factor * a->vector[i] * a->vector[j];
    for (size_t k = 0; k < a->n_parts; k++)
      sum += scl_symmetric_get(a->parts[k], i, j);
    return sum;
  }
  if (j > i) return scl_symmetric_get(a, j, i);
  if (!scl_tile_row_here(a, i / a->tile)) return NAN;
  return scl_tile_at(a, i / a->tile, j / a->tile)[i % a->tile * a->tile + j % a->tile];
}

void scl_symmetric_set_block(scl_symmetric *a, size_t first_row, size_t rows, size_t first_col,
                             size_t cols, scl_dtype dtype, const void *block) {
  scl_common_write(a);
  for (size_t r = 0; r < rows; r++) {
    const size_t i = first_row + r, end = scl_min(cols, i < first_col ? 0 : i - first_col + 1);
    if (!scl_tile_row_here(a, i / a->tile)) continue;
    for (size_t c = 0, run; c < end; c += run) { /* the part of the row in one tile */
      const size_t j = first_col + c;
      double *to = scl_tile_at(a, i / a->tile, j / a->tile) + i % a->tile * a->tile + j % a->tile;
      run = scl_min(end - c, a->tile - j % a->tile);
      if (!scl_tile_mine(a, i / a->tile, j / a->tile)) continue;
      if (dtype == SCL_DTYPE_FLOAT64)
        memcpy(to, (const double *)block + r * cols + c, run * sizeof *to);
      else
        for (size_t k = 0; k < run; k++)
          to[k] = (double)((const float *)block)[r * cols + c + k];
    }
  }
}

/* ------------ filling */

typedef struct scattering {
  scl_symmetric *a;
  const int32_t *columns;
  size_t slots, count;
  double square;
  const double *weights;
} scattering;

/* Task: add to all tiles in row `index` of tiles. Each entry of the matrix belongs to one task,
 * which adds the rows of data in their order. */
static void scatter_tiles(void *context, size_t index) {
  const scattering *job = context;
  scl_symmetric *a = job->a;
  const size_t low = index * a->tile, high = low + a->tile;
  for (size_t i = 0; i < job->count; i++) {
    const int32_t *column = job->columns + i * job->slots;
    const double value = job->square * (job->weights == NULL ? 1 : job->weights[i]);
    for (size_t p = 0; p < job->slots; p++) {
      if (column[p] < 0 || (size_t)column[p] < low) continue;
      if ((size_t)column[p] >= high) break;
      const size_t row = (size_t)column[p] - low;
      for (size_t q = 0; q <= p; q++)
        if (column[q] >= 0)
          scl_tile_at(a, index,
                      (size_t)column[q] / a->tile)[row * a->tile + (size_t)column[q] % a->tile] +=
              value;
    }
  }
}

void scl_symmetric_scatter(scl_symmetric *a, const int32_t *columns, size_t slots, size_t count,
                           double value, const double *weights) {
  scattering job = {a, columns, slots, count, value * value, weights};
  scl_pool_run(a->across, scatter_tiles, &job);
}

typedef struct rank_update {
  scl_symmetric *a;
  double factor;
  const double *p;
  size_t k;
  ptrdiff_t stride;
  bool transposed; /* p is k x n */
} rank_update;

/* Task: tile (i, j) += factor P_i P_j'. */
static void rank_tile(void *context, size_t index) {
  const rank_update *job = context;
  const scl_symmetric *a = job->a;
  size_t i, j;
  scl_tile_place(a, index, &i, &j);
  if (!scl_tile_mine(a, i, j)) return;
  const ptrdiff_t step = job->transposed ? 1 : job->stride;
  scl_gemm(SCL_DTYPE_FLOAT64, job->transposed, !job->transposed, scl_tile_rows(a, i),
           scl_tile_rows(a, j), job->k, job->factor, job->p + (ptrdiff_t)(i * a->tile) * step,
           job->stride, job->p + (ptrdiff_t)(j * a->tile) * step, job->stride, 1,
           scl_tile_at(a, i, j), (ptrdiff_t)a->tile);
}

void scl_symmetric_rank(scl_symmetric *a, double factor, const double *p, size_t k) {
  rank_update job = {a, factor, p, k, (ptrdiff_t)k, false};
  scl_common_write(a);
  scl_pool_run(scl_tile_count(a), rank_tile, &job);
}

typedef struct filling {
  scl_symmetric *a;
  scl_symmetric_rectangle rectangle;
  void *context;
} filling;

/* A task of the pool: one tile of the lower triangle, by the caller's function. A diagonal tile is
 * filled whole. */
static scl_status fill_tile(void *context, size_t index, scl_error *error) {
  const filling *job = context;
  const size_t tile = job->a->tile;
  size_t i, j;
  scl_tile_place(job->a, index, &i, &j);
  if (!scl_tile_mine(job->a, i, j)) return SCL_STATUS_OK;
  return job->rectangle(job->context, i * tile, scl_tile_rows(job->a, i), j * tile,
                        scl_tile_rows(job->a, j), scl_tile_at(job->a, i, j), (ptrdiff_t)tile,
                        error);
}

scl_status scl_symmetric_fill(scl_symmetric *a, scl_symmetric_rectangle rectangle, void *context,
                              scl_error *error) {
  filling job = {a, rectangle, context};
  scl_common_write(a);
  return scl_pool_try(scl_tile_count(a), fill_tile, &job, error);
}

/* ------------ elementwise */

typedef enum operation { COPY, ADD, SCALE } operation;

/* a = x, a += factor x, or a *= factor; x NULL: zeros. */
typedef struct elementwise {
  operation what;
  double factor;
  const double *x;
  scl_symmetric *a;
} elementwise;

/* A task of the pool: the tile in that place in memory. */
static void elementwise_tile(void *context, size_t index) {
  const elementwise *job = context;
  const size_t numbers = job->a->tile * job->a->tile;
  if (job->a->common != NULL && !scl_common_mine(job->a, 0, index)) return;
  double *a = job->a->data + index * numbers;
  const double *x = job->x == NULL ? NULL : job->x + index * numbers;
  if (job->what == SCALE)
    for (size_t i = 0; i < numbers; i++)
      a[i] *= job->factor;
  else if (job->what == ADD)
    for (size_t i = 0; i < numbers; i++)
      a[i] += job->factor * x[i];
  else if (x != NULL)
    memcpy(a, x, numbers * sizeof *a);
  else
    memset(a, 0, numbers * sizeof *a);
}

static void run_elementwise(operation what, double factor, const scl_symmetric *x,
                            scl_symmetric *a) {
  elementwise job = {what, factor, x == NULL ? NULL : x->data, a};
  if (x != NULL) scl_common_read(x);
  scl_common_write(a);
  scl_pool_run(scl_tiles_here(a), elementwise_tile, &job);
}

/* a += factor x; x may be a combination. */
static void symmetric_add(double factor, const scl_symmetric *x, scl_symmetric *a) {
  if (x->data != NULL) {
    run_elementwise(ADD, factor, x, a);
    return;
  }
  for (size_t k = 0; k < x->n_parts; k++)
    symmetric_add(factor, x->parts[k], a);
  if (x->factor != 0) scl_symmetric_rank(a, factor * x->factor, x->vector, 1);
}

/* to = from, where `from` may be a combination: its parts are added, and `to` becomes a plain
 * matrix. */
static void symmetric_copy(const scl_symmetric *from, scl_symmetric *to) {
  if (from->data != NULL || from->n_parts == 0)
    run_elementwise(COPY, 0, from->data == NULL ? NULL : from, to);
  else
    symmetric_copy(from->parts[0], to);
  for (size_t k = 1; k < from->n_parts; k++)
    symmetric_add(1, from->parts[k], to);
  if (from->factor != 0) scl_symmetric_rank(to, from->factor, from->vector, 1);
}

static void symmetric_scale(double factor, scl_symmetric *a) {
  run_elementwise(SCALE, factor, NULL, a);
}

static void symmetric_set(scl_symmetric *a, size_t i, size_t rows, size_t j, size_t cols,
                          const double *block, ptrdiff_t stride) {
  for (size_t r = 0; r < rows; r++)
    scl_symmetric_set_block(a, i + r, 1, j, cols, SCL_DTYPE_FLOAT64, block + (ptrdiff_t)r * stride);
}

/* Slot `rank`: a += alpha X'X for X k x n at stride. */
static scl_status rank_service(scl_symmetric *a, double alpha, const double *x, size_t k,
                               ptrdiff_t stride, scl_error *error) {
  rank_update job = {a, alpha, x, k, stride, true};
  (void)error;
  scl_common_write(a);
  scl_pool_run(scl_tile_count(a), rank_tile, &job);
  return SCL_STATUS_OK;
}

static void symmetric_shift(double value, scl_symmetric *a) {
  scl_common_write(a);
  for (size_t i = 0; i < a->n; i++)
    if (scl_tile_mine(a, i / a->tile, i / a->tile))
      scl_tile_at(a, i / a->tile, i / a->tile)[(i % a->tile) * (a->tile + 1)] += value;
}

static void symmetric_diagonal(const scl_symmetric *a, double *out) {
  scl_common_read(a);
  for (size_t i = 0; i < a->n; i++)
    out[i] = scl_symmetric_get(a, i, i);
  if (scl_symmetric_is_shared(a)) scl_shared_diagonal(a, out);
}

static void symmetric_column(const scl_symmetric *a, size_t j, double *out) {
  scl_common_read(a);
  for (size_t i = 0; i < a->n; i++)
    out[i] = scl_symmetric_get(a, i, j);
}

static void symmetric_dense(const scl_symmetric *a, double *out, ptrdiff_t stride) {
  scl_common_read(a);
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; j <= i; j++) {
      const double value = scl_symmetric_get(a, i, j);
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = value;
      out[(ptrdiff_t)j * stride + (ptrdiff_t)i] = value;
    }
}

/* ------------ combinations */

scl_status scl_symmetric_combine(size_t n, const scl_symmetric *const *parts, size_t count,
                                 double factor, const double *vector, scl_symmetric **out,
                                 scl_error *error) {
  scl_symmetric *a = scl_allocate_zero(sizeof *a);
  if (a == NULL) return scl_fail_memory(error, sizeof *a, "a sum of symmetric matrices");
  *a = (scl_symmetric){.n = n,
                       .tile = scl_symmetric_tile(n),
                       .rank = count > 0 ? parts[0]->rank : 0,
                       .ranks = count > 0 ? parts[0]->ranks : 1,
                       .parts = parts,
                       .n_parts = count,
                       .factor = factor,
                       .vector = vector};
  a->across = (n + a->tile - 1) / a->tile;
  *out = a;
  return SCL_STATUS_OK;
}

const scl_symmetric_algebra scl_service_symmetric = {SCL_HEAD(scl_symmetric_algebra),
                                                     scl_symmetric_create,
                                                     scl_symmetric_destroy,
                                                     scl_symmetric_order,
                                                     symmetric_copy,
                                                     symmetric_add,
                                                     symmetric_scale,
                                                     symmetric_shift,
                                                     symmetric_set,
                                                     rank_service,
                                                     symmetric_diagonal,
                                                     symmetric_dense,
                                                     symmetric_column,
                                                     scl_symmetric_multiply,
                                                     scl_symmetric_factor,
                                                     scl_symmetric_solve,
                                                     scl_symmetric_triangular,
                                                     scl_symmetric_eigen,
                                                     scl_symmetric_accumulate,
                                                     scl_symmetric_create_like};
