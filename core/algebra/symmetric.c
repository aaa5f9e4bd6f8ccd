#include "algebra/symmetric.h"

#include "algebra/dense.h"
#include "base/loops.h"
#include "base/pool.h"
#include <stdatomic.h>
#include <string.h>

struct scl_symmetric {
  size_t n, tile, across; /* across: tiles a side */
  double *data; /* tile (i, j), j <= i, at (i (i+1)/2 + j) tile^2, row-major; above the diagonal of
                   a diagonal tile: anything */
};

/* Large tiles keep gemm near its rate (packing costs 1/tile of the work), small ones leave work for
 * every thread. */
static size_t tile_for(size_t n) {
  const size_t target = n <= 256 ? 128 : n <= 640 ? 256 : 512;
  const size_t across = (n + target - 1) / target;
  const size_t even = across == 0 ? 1 : (n + across - 1) / across;
  return (even + 7) / 8 * 8;
}

static size_t tile_count(const scl_symmetric *a) {
  return a->across * (a->across + 1) / 2;
}
static double *tile_at(const scl_symmetric *a, size_t i, size_t j) {
  return a->data + (i * (i + 1) / 2 + j) * a->tile * a->tile;
}
static size_t tile_rows(const scl_symmetric *a, size_t i) {
  return scl_min(a->tile, a->n - i * a->tile);
}

/* The k-th tile in an order that starts with the last rows. */
static void tile_place(const scl_symmetric *a, size_t k, size_t *row, size_t *col) {
  size_t left = k, i = a->across - 1;
  while (left > i) {
    left -= i + 1;
    i--;
  }
  *row = i;
  *col = left;
}

double scl_symmetric_bytes(double n) {
  const size_t whole = n > 1e9 ? (size_t)1e9 : (size_t)n;
  const double tile = (double)tile_for(whole),
               across = (double)((whole + (size_t)tile - 1) / (size_t)tile);
  return n > 1e9 ? 4 * n * n : across * (across + 1) / 2 * tile * tile * sizeof(double);
}

scl_status scl_symmetric_create(size_t n, scl_symmetric **out, scl_error *error) {
  char text[32];
  const double bytes = scl_symmetric_bytes((double)n);
  scl_symmetric *a = bytes > 1e15 ? NULL : scl_allocate_zero(sizeof *a);
  if (a != NULL) {
    a->n = n;
    a->tile = tile_for(n);
    a->across = (n + a->tile - 1) / a->tile;
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

void scl_symmetric_destroy(scl_symmetric *a) {
  if (a == NULL) return;
  scl_release(a->data);
  scl_release(a);
}

size_t scl_symmetric_order(const scl_symmetric *a) {
  return a->n;
}

double scl_symmetric_get(const scl_symmetric *a, size_t i, size_t j) {
  if (j > i) return scl_symmetric_get(a, j, i);
  return tile_at(a, i / a->tile, j / a->tile)[i % a->tile * a->tile + j % a->tile];
}

void scl_symmetric_set_block(scl_symmetric *a, size_t first_row, size_t rows, size_t first_col,
                             size_t cols, scl_dtype dtype, const void *block) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols && first_col + c <= first_row + r; c++) {
      const size_t i = first_row + r, j = first_col + c, at = r * cols + c;
      const double value = dtype == SCL_DTYPE_FLOAT64 ? ((const double *)block)[at]
                                                      : (double)((const float *)block)[at];
      tile_at(a, i / a->tile, j / a->tile)[i % a->tile * a->tile + j % a->tile] = value;
    }
}

/* ---------------------------------------------------------------- filling */

typedef struct accumulation {
  scl_symmetric *a;
  scl_dtype dtype;
  const char *phi;
  ptrdiff_t stride;
  size_t count;
  float *scratch; /* a tile a thread */
} accumulation;

static void add_tile_f32(const scl_symmetric *a, const float *from, double *to, size_t rows,
                         size_t cols, bool diagonal) {
  const scl_loops *loops = scl_loops_get();
  for (size_t r = 0; r < rows; r++)
    loops->add_f32(diagonal ? r + 1 : cols, from + r * a->tile, to + r * a->tile);
}

static void accumulate_tile(void *context, size_t index) {
  const accumulation *job = context;
  const scl_symmetric *a = job->a;
  size_t i, j;
  tile_place(a, index, &i, &j);
  const size_t rows = tile_rows(a, i), cols = tile_rows(a, j),
               size = job->dtype == SCL_DTYPE_FLOAT64 ? sizeof(double) : sizeof(float);
  const char *left = job->phi + i * a->tile * size, *right = job->phi + j * a->tile * size;
  double *tile = tile_at(a, i, j);
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
  accumulation job = {a, dtype, phi, stride, count, NULL};
  if (dtype == SCL_DTYPE_FLOAT32) {
    const size_t bytes = scl_pool_threads() * a->tile * a->tile * sizeof(float);
    job.scratch = scl_allocate(bytes);
    if (job.scratch == NULL)
      return scl_fail_memory(error, bytes, "a tile of normal equations per thread");
  }
  scl_pool_run(tile_count(a), accumulate_tile, &job);
  scl_release(job.scratch);
  return SCL_STATUS_OK;
}

typedef struct scattering {
  scl_symmetric *a;
  const int32_t *columns;
  size_t slots, count;
  double square;
  const double *weights;
} scattering;

/* Entries whose row lies in tile row `index`; every entry is one task's, summed in the order of the
 * rows. */
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
          tile_at(a, index,
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

static void rank_tile(void *context, size_t index) {
  const rank_update *job = context;
  const scl_symmetric *a = job->a;
  size_t i, j;
  tile_place(a, index, &i, &j);
  const ptrdiff_t step = job->transposed ? 1 : job->stride;
  scl_gemm(SCL_DTYPE_FLOAT64, job->transposed, !job->transposed, tile_rows(a, i), tile_rows(a, j),
           job->k, job->factor, job->p + (ptrdiff_t)(i * a->tile) * step, job->stride,
           job->p + (ptrdiff_t)(j * a->tile) * step, job->stride, 1, tile_at(a, i, j),
           (ptrdiff_t)a->tile);
}

void scl_symmetric_rank(scl_symmetric *a, double factor, const double *p, size_t k) {
  rank_update job = {a, factor, p, k, (ptrdiff_t)k, false};
  scl_pool_run(tile_count(a), rank_tile, &job);
}

typedef struct filling {
  scl_symmetric *a;
  scl_symmetric_rectangle rectangle;
  void *context;
  atomic_flag failed;
  scl_status status;
  scl_error error;
} filling;

static void fill_tile(void *context, size_t index) {
  filling *job = context;
  scl_error error = {0};
  size_t i, j;
  tile_place(job->a, index, &i, &j);
  const scl_status status =
      job->rectangle(job->context, i * job->a->tile, tile_rows(job->a, i), j * job->a->tile,
                     tile_rows(job->a, j), tile_at(job->a, i, j), (ptrdiff_t)job->a->tile, &error);
  if (status == SCL_STATUS_OK || atomic_flag_test_and_set(&job->failed)) return;
  job->status = status;
  job->error = error;
}

scl_status scl_symmetric_fill(scl_symmetric *a, scl_symmetric_rectangle rectangle, void *context,
                              scl_error *error) {
  filling job = {.a = a,
                 .rectangle = rectangle,
                 .context = context,
                 .failed = ATOMIC_FLAG_INIT,
                 .status = SCL_STATUS_OK};
  scl_pool_run(tile_count(a), fill_tile, &job);
  if (job.status != SCL_STATUS_OK && error != NULL) *error = job.error;
  return job.status;
}

/* ---------------------------------------------------------------- elementwise */

static size_t numbers(const scl_symmetric *a) {
  return tile_count(a) * a->tile * a->tile;
}

static void copy(const scl_symmetric *from, scl_symmetric *to) {
  memcpy(to->data, from->data, numbers(from) * sizeof(double));
}

typedef struct addition {
  double factor;
  const double *x;
  double *a;
  size_t chunk;
} addition;

static void add_chunk(void *context, size_t index) {
  const addition *job = context;
  const double *x = job->x + index * job->chunk;
  double *a = job->a + index * job->chunk;
  for (size_t i = 0; i < job->chunk; i++)
    a[i] += job->factor * x[i];
}

static void add(double factor, const scl_symmetric *x, scl_symmetric *a) {
  addition job = {factor, x->data, a->data, a->tile * a->tile};
  scl_pool_run(tile_count(a), add_chunk, &job);
}

static void scale(double factor, scl_symmetric *a) {
  for (size_t i = 0; i < numbers(a); i++)
    a->data[i] *= factor;
}

static void set(scl_symmetric *a, size_t i, size_t rows, size_t j, size_t cols, const double *block,
                ptrdiff_t stride) {
  for (size_t r = 0; r < rows; r++)
    scl_symmetric_set_block(a, i + r, 1, j, cols, SCL_DTYPE_FLOAT64, block + (ptrdiff_t)r * stride);
}

/* The transpose of X, k x n to n x k, makes it the product that the tiles know. */
static void rank_service(scl_symmetric *a, double alpha, const double *x, size_t k,
                         ptrdiff_t stride) {
  rank_update job = {a, alpha, x, k, stride, true};
  scl_pool_run(tile_count(a), rank_tile, &job);
}

static void shift(double value, scl_symmetric *a) {
  for (size_t i = 0; i < a->n; i++)
    tile_at(a, i / a->tile, i / a->tile)[(i % a->tile) * (a->tile + 1)] += value;
}

static void diagonal(const scl_symmetric *a, double *out) {
  for (size_t i = 0; i < a->n; i++)
    out[i] = scl_symmetric_get(a, i, i);
}

static void column(const scl_symmetric *a, size_t j, double *out) {
  for (size_t i = 0; i < a->n; i++)
    out[i] = scl_symmetric_get(a, i, j);
}

static void dense(const scl_symmetric *a, double *out, ptrdiff_t stride) {
  for (size_t i = 0; i < a->n; i++)
    for (size_t j = 0; j <= i; j++) {
      const double value = scl_symmetric_get(a, i, j);
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] = value;
      out[(ptrdiff_t)j * stride + (ptrdiff_t)i] = value;
    }
}

/* ---------------------------------------------------------------- product with a few columns */

typedef struct multiplication {
  const scl_symmetric *a;
  const double *x;
  size_t k;
  double *out;
  double *packed; /* x in groups of SCL_LANES_F64 columns; NULL: too many columns, or no room */
  size_t groups;
} multiplication;

/* The most groups of columns for which thin loops beat a general product. */
enum { MOST_GROUPS = 2 };

/* Row r of the lower triangle times x, and its mirror image times x_r. */
static void multiply_diagonal_row(const double *row, size_t r, const double *x, size_t k,
                                  double *out) {
  for (size_t c = 0; c < r; c++)
    for (size_t q = 0; q < k; q++)
      out[c * k + q] += row[c] * x[r * k + q];
  for (size_t q = 0; q < k; q++) {
    double part[4] = {0};
    for (size_t c = 0; c <= r; c++)
      part[c % 4] += row[c] * x[c * k + q];
    out[r * k + q] += (part[0] + part[1]) + (part[2] + part[3]);
  }
}

/* One column, so that the loops run over neighbours. */
static void multiply_diagonal_column(const double *row, size_t r, const double *x, double *out) {
  double part[8] = {0};
  size_t c = 0;
  for (; c + 8 <= r; c += 8)
    for (size_t l = 0; l < 8; l++) {
      part[l] += row[c + l] * x[c + l];
      out[c + l] += row[c + l] * x[r];
    }
  for (; c < r; c++) {
    part[0] += row[c] * x[c];
    out[c] += row[c] * x[r];
  }
  out[r] += ((part[0] + part[4]) + (part[2] + part[6])) +
            ((part[1] + part[5]) + (part[3] + part[7])) + row[r] * x[r];
}

/* A diagonal tile has its lower triangle only. */
static void multiply_diagonal(const scl_symmetric *a, const double *tile, size_t rows,
                              const double *x, size_t k, double *out) {
  for (size_t r = 0; r < rows; r++) {
    if (k == 1)
      multiply_diagonal_column(tile + r * a->tile, r, x, out);
    else
      multiply_diagonal_row(tile + r * a->tile, r, x, k, out);
  }
}

/* out += tile x, the tile as it lies or transposed. */
static void multiply_tile(const multiplication *job, const double *tile, bool transposed,
                          size_t rows, size_t j, double *sums, double *out) {
  const scl_symmetric *a = job->a;
  const scl_loops *loops = scl_loops_get();
  const size_t cols = tile_rows(a, j), k = job->k;
  const ptrdiff_t stride = (ptrdiff_t)a->tile;
  if (job->packed == NULL) {
    scl_gemm(SCL_DTYPE_FLOAT64, transposed, false, rows, k, cols, 1, tile, stride,
             job->x + j * a->tile * k, (ptrdiff_t)k, 1, out, (ptrdiff_t)k);
    return;
  }
  for (size_t g = 0; g < job->groups; g++) {
    const double *x = job->packed + (g * a->n + j * a->tile) * SCL_LANES_F64;
    memset(sums, 0, rows * SCL_LANES_F64 * sizeof *sums);
    if (transposed)
      loops->thin_adjoint_f64(cols, rows, tile, stride, x, sums);
    else
      loops->thin_product_f64(rows, cols, tile, stride, x, sums);
    const size_t first = g * SCL_LANES_F64, columns = scl_min(SCL_LANES_F64, k - first);
    for (size_t r = 0; r < rows; r++)
      for (size_t q = 0; q < columns; q++)
        out[r * k + first + q] += sums[r * SCL_LANES_F64 + q];
  }
}

static void multiply_rows(void *context, size_t i) {
  const multiplication *job = context;
  const scl_symmetric *a = job->a;
  const size_t rows = tile_rows(a, i), k = job->k;
  double *out = job->out + i * a->tile * k,
         *sums = job->packed == NULL
                     ? NULL
                     : job->packed + (job->groups * a->n + i * a->tile) * SCL_LANES_F64;
  memset(out, 0, rows * k * sizeof *out);
  for (size_t j = 0; j < a->across; j++) {
    if (j == i)
      multiply_diagonal(a, tile_at(a, i, i), rows, job->x + j * a->tile * k, k, out);
    else
      multiply_tile(job, j < i ? tile_at(a, i, j) : tile_at(a, j, i), j > i, rows, j, sums, out);
  }
}

/* Behind the packed x lies room for the sums of each row of tiles. */
static void multiply(const scl_symmetric *a, const double *x, size_t k, double *out) {
  const size_t lanes = SCL_LANES_F64, groups = (k + lanes - 1) / lanes, n = a->n;
  multiplication job = {a, x, k, out, NULL, groups};
  if (groups <= MOST_GROUPS)
    job.packed = scl_allocate_zero(((groups + 1) * n * lanes + 1) * sizeof *job.packed);
  for (size_t i = 0; job.packed != NULL && i < n; i++)
    for (size_t q = 0; q < k; q++)
      job.packed[(q / lanes * n + i) * lanes + q % lanes] = x[i * k + q];
  scl_pool_run(a->across, multiply_rows, &job);
  scl_release(job.packed);
}

/* ---------------------------------------------------------------- Cholesky: right-looking, by
 * tiles */

typedef struct step {
  scl_symmetric *a;
  size_t k;
} step;

/* A tile's rows are shared out in strips, so that few tiles still keep all threads busy. */
enum { STRIP = 64 };
static size_t strips(const scl_symmetric *a) {
  return (a->tile + STRIP - 1) / STRIP;
}

/* A strip of tile (i, k) = A_ik L_kk^-T. */
static void panel_strip(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric *a = job->a;
  const size_t i = job->k + 1 + index / strips(a), first = index % strips(a) * STRIP;
  if (first >= tile_rows(a, i)) return;
  scl_trsm_right(scl_min(STRIP, tile_rows(a, i) - first), tile_rows(a, job->k),
                 tile_at(a, job->k, job->k), (ptrdiff_t)a->tile,
                 tile_at(a, i, job->k) + first * a->tile, (ptrdiff_t)a->tile);
}

static void trailing_strip(void *context, size_t index) {
  const step *job = context;
  const scl_symmetric *a = job->a;
  const size_t first = index % strips(a) * STRIP;
  size_t row = 0, left = index / strips(a);
  while (left > row) {
    left -= row + 1;
    row++;
  }
  const size_t i = job->k + 1 + row, j = job->k + 1 + left;
  if (first >= tile_rows(a, i)) return;
  const size_t rows = scl_min(STRIP, tile_rows(a, i) - first),
               cols = i == j ? first + rows : tile_rows(a, j); /* the lower triangle only */
  scl_gemm(SCL_DTYPE_FLOAT64, false, true, rows, cols, tile_rows(a, job->k), -1,
           tile_at(a, i, job->k) + first * a->tile, (ptrdiff_t)a->tile, tile_at(a, j, job->k),
           (ptrdiff_t)a->tile, 1, tile_at(a, i, j) + first * a->tile, (ptrdiff_t)a->tile);
}

static scl_status factor(scl_symmetric *a, size_t *pivot, scl_error *error) {
  for (size_t k = 0; k < a->across; k++) {
    const size_t rows = tile_rows(a, k), below = a->across - 1 - k;
    const size_t bad = scl_potrf(rows, tile_at(a, k, k), (ptrdiff_t)a->tile);
    if (bad != rows) {
      if (pivot != NULL) *pivot = k * a->tile + bad;
      return scl_fail(error, SCL_STATUS_NUMERIC,
                      "the matrix of order %zu is not positive definite (pivot %zu)", a->n,
                      k * a->tile + bad + 1);
    }
    step job = {a, k};
    scl_pool_run(below * strips(a), panel_strip, &job);
    scl_pool_run(below * (below + 1) / 2 * strips(a), trailing_strip, &job);
  }
  return SCL_STATUS_OK;
}

static void solve(const scl_symmetric *l, double *b, size_t k) {
  const ptrdiff_t tile = (ptrdiff_t)l->tile, columns = (ptrdiff_t)k;
  for (size_t i = 0; i < l->across; i++) {
    double *rows = b + i * l->tile * k;
    for (size_t j = 0; j < i; j++)
      scl_gemm(SCL_DTYPE_FLOAT64, false, false, tile_rows(l, i), k, tile_rows(l, j), -1,
               tile_at(l, i, j), tile, b + j * l->tile * k, columns, 1, rows, columns);
    scl_trsm(false, tile_rows(l, i), k, tile_at(l, i, i), tile, rows, columns);
  }
  for (size_t i = l->across; i-- > 0;) {
    double *rows = b + i * l->tile * k;
    for (size_t j = i + 1; j < l->across; j++)
      scl_gemm(SCL_DTYPE_FLOAT64, true, false, tile_rows(l, i), k, tile_rows(l, j), -1,
               tile_at(l, j, i), tile, b + j * l->tile * k, columns, 1, rows, columns);
    scl_trsm(true, tile_rows(l, i), k, tile_at(l, i, i), tile, rows, columns);
  }
}

static scl_status eigen(const scl_symmetric *a, size_t count, double *values, double *vectors,
                        scl_error *error) {
  double *full = scl_allocate_array(a->n * a->n + 1, sizeof *full);
  if (full == NULL) return scl_fail_memory(error, a->n * a->n * sizeof *full, "eigenvectors");
  dense(a, full, (ptrdiff_t)a->n);
  const scl_status status = scl_eigenvectors(a->n, count, full, values, vectors, error);
  scl_release(full);
  return status;
}

const scl_symmetric_algebra scl_service_symmetric = {SCL_HEAD(scl_symmetric_algebra),
                                                     scl_symmetric_create,
                                                     scl_symmetric_destroy,
                                                     scl_symmetric_order,
                                                     copy,
                                                     add,
                                                     scale,
                                                     shift,
                                                     set,
                                                     rank_service,
                                                     diagonal,
                                                     dense,
                                                     column,
                                                     multiply,
                                                     factor,
                                                     solve,
                                                     eigen};
