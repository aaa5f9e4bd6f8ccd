/* The linear system of kernel ridge, (K + diag(shift)) b = y - f0: its rows, its matrix, filled by
 * tiles, and products with it. The tiles of K are kept where they fit, and made again for each
 * product where they do not, with the same bits. */
#include "kernel_ridge.h"
#include "shared/expansion_sum.h"

scl_status kernel_ridge_gram(const void *instance, const scl_const_parameters *u,
                             const scl_const_parameters *v, double *out, ptrdiff_t stride,
                             scl_error *error) {
  const kernel_ridge *self = instance;
  return self->base.host->parts->gram(&self->kernel, u, v, out, stride, error);
}

/* ------------ rows and vectors */

/* x moves to the expansion, which outlives the set: it is the model's. */
scl_status linear_system_collect(linear_system *s, scl_error *error) {
  scl_status status = rows_collect(s->problem, &s->set, error);
  if (status == SCL_STATUS_OK && rows_may_move(s->host, &s->self->kernel, s->self->intercept))
    status = rows_centre(s->host, &s->set, error);
  s->m.rows = s->set.rows;
  s->m.cols = s->set.cols;
  s->m.functions = s->set.targets;
  s->m.x = s->set.x;
  s->m.pilot = s->set.pilot;
  s->set.x = s->set.pilot = NULL;
  return status;
}

/* Scratch of the call, but for the members of the model. */
scl_status linear_system_reserve(linear_system *s, scl_error *error) {
  const size_t n = s->m.rows, c = s->m.functions;
  s->shift = s->host->scratch(n * sizeof(double));
  s->diagonal = s->host->scratch(n * sizeof(double));
  s->ones = s->host->scratch(n * sizeof(double));
  s->residual = s->host->scratch(n * c * sizeof(double));
  s->right = s->host->scratch(2 * c * sizeof(double));
  s->m.b = s->host->allocate(n * c * sizeof(double));
  s->m.f0 = s->host->allocate(c * sizeof(double));
  if (s->shift == NULL || s->diagonal == NULL || s->ones == NULL || s->residual == NULL ||
      s->right == NULL || s->m.b == NULL || s->m.f0 == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for the residuals of %zu rows", n);
  const scl_const_parameters all = rows_at(s, 0, n);
  return s->host->parts->diagonal(&s->self->kernel, &all, s->diagonal, error);
}

/* ------------ tiles */

/* 0 times a number is 0 unless the number is infinite or NaN, so that one sum without branches
 * decides. */
static bool all_finite(const double *values, size_t rows, size_t cols) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      sum += 0 * values[i * TILE + j];
  return sum == 0;
}

/* k (TILE x TILE) = K of rows i .. and j .., 0 past the last row. A tile on the diagonal is as
 * symmetric as K, whatever rounding says. */
static scl_status make_tile(const linear_system *s, size_t i, size_t j, double *k,
                            scl_error *error) {
  const scl_const_parameters u = rows_at(s, i, TILE), v = rows_at(s, j, TILE);
  const scl_status status = kernel_ridge_gram(s->self, &u, &v, k, TILE, error);
  if (status != SCL_STATUS_OK) return status;
  if (!all_finite(k, u.count, v.count))
    return s->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "kernel.%s gives a value that is not finite for a row of the data: standardize it",
        s->self->kernel.plugin->name);
  for (size_t r = 0; i == j && r < u.count; r++)
    for (size_t c = r + 1; c < v.count; c++)
      k[r * TILE + c] = k[c * TILE + r];
  for (size_t r = 0; r < TILE; r++) {
    const size_t from = r < u.count ? v.count : 0;
    memset(k + r * TILE + from, 0, (TILE - from) * sizeof *k);
  }
  return SCL_STATUS_OK;
}

/* The tile with first row i and first column j <= i, in the order of the lower triangle. */
static double *kept_tile(const linear_system *s, size_t i, size_t j) {
  return s->kept + (triangle(i / TILE) + j / TILE) * TILE * TILE;
}

/* *out: the tile, kept or made in memory of this task. */
static scl_status tile_at(const linear_system *s, size_t i, size_t j, const double **out,
                          scl_error *error) {
  if (s->kept != NULL) {
    *out = kept_tile(s, i, j);
    return SCL_STATUS_OK;
  }
  double *room = s->host->scratch(sizeof *room * TILE * TILE);
  if (room == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a tile of kernel values");
  *out = room;
  return make_tile(s, i, j, room, error);
}

/* ------------ filling */

/* Writes one tile to the float32 or the float64 matrix. The float32 matrix was given its diagonal
 * by `begin`; in float64 the diagonal is set after the tile. */
static scl_status fill_tile(const linear_system *s, size_t i, size_t j, scl_error *error) {
  const size_t n = s->m.rows, rows = expansion_least(n - i, TILE),
               cols = expansion_least(n - j, TILE);
  const double *k = NULL;
  const scl_status status = tile_at(s, i, j, &k, error);
  if (status != SCL_STATUS_OK) return status;
  if (s->to == TO_FLOAT32) {
    s->algebra->set(s->narrow, i, rows, j, cols, k, TILE);
    return SCL_STATUS_OK;
  }
  s->host->symmetric->set(s->a, i, rows, j, cols, k, TILE);
  for (size_t r = 0; i == j && r < rows; r++) {
    const double value = k[r * TILE + r] + s->shift[i + r] + s->jitter;
    s->host->symmetric->set(s->a, i + r, 1, i + r, 1, &value, 1);
  }
  return SCL_STATUS_OK;
}

/* A task of the pool: one tile of the current strip. */
static scl_status fill_task(void *context, size_t index, scl_error *error) {
  const linear_system *s = context;
  const size_t i = s->strip, j = index * TILE;
  return s->to == TO_KEPT ? make_tile(s, i, j, kept_tile(s, i, j), error)
                          : fill_tile(s, i, j, error);
}

scl_status linear_system_fill(linear_system *s, destination to, scl_error *error) {
  const size_t n = s->m.rows;
  scl_status status = SCL_STATUS_OK;
  s->to = to;
  for (s->strip = 0; status == SCL_STATUS_OK && s->strip < n; s->strip += TILE) {
    const double done = (double)s->strip / (double)n;
    status = s->problem->progress(s->problem, "the kernel matrix", done * done / 2, NAN, error);
    if (status == SCL_STATUS_OK)
      status = s->host->parallel(s->strip / TILE + 1, fill_task, s, error);
  }
  return status;
}

/* ------------ products */

/* A strip of tiles: those below the diagonal also stand for their mirror images. Each adds to rows
 * of its own. Vectors are k x N here, N rows of whole tiles, 0 past the last row. */
typedef struct strip_product {
  const linear_system *s;
  size_t first, k, padded; /* N */
  const double *x;
  double *mirror; /* sums of the mirror images */
  double *parts;  /* of the strip's rows, by tile: TILE x k each */
} strip_product;

/* out_c += sum_r tile_rc x_r, four rows at a time */
static void add_mirror(const double *tile, const double *restrict x, double *restrict out) {
  for (size_t r = 0; r < TILE; r += 4) {
    const double *restrict t = tile + r * TILE;
    for (size_t c = 0; c < TILE; c++)
      out[c] += (t[c] * x[r] + t[c + TILE] * x[r + 1]) +
                (t[c + 2 * TILE] * x[r + 2] + t[c + 3 * TILE] * x[r + 3]);
  }
}

/* A task of the pool: the product of one tile with its columns of x, into this tile's part, and of
 * its mirror image with the strip's rows of x, into `mirror`. Off the diagonal, tiles of one strip
 * have different columns, so that no two tasks write the same numbers. */
static scl_status strip_tile(void *context, size_t index, scl_error *error) {
  const strip_product *job = context;
  const size_t k = job->k, i = job->first, j = index * TILE;
  const double *tile = NULL;
  double *part = job->parts + index * TILE * k;
  const scl_status status = tile_at(job->s, i, j, &tile, error);
  if (status != SCL_STATUS_OK) return status;
  memset(part, 0, TILE * k * sizeof *part);
  expansion_sum_get()(TILE, k, TILE, tile, TILE, job->x + j, job->padded, part, (ptrdiff_t)k);
  for (size_t q = 0; i != j && q < k; q++)
    add_mirror(tile, job->x + q * job->padded + i, job->mirror + q * job->padded + j);
  return SCL_STATUS_OK;
}

/* out += the product of a strip: the tiles run in parallel, and their parts are added in the
 * order of the tiles. */
static scl_status strip_add(const strip_product *job, double *out, scl_error *error) {
  const linear_system *s = job->s;
  const size_t tiles = job->first / TILE + 1, rows = expansion_least(s->m.rows - job->first, TILE);
  scl_status status = SCL_STATUS_OK;
  if (s->kept == NULL) {
    const double done = (double)job->first / (double)s->m.rows;
    status = s->problem->progress(s->problem, "kernel values", done * done, NAN, error);
  }
  if (status == SCL_STATUS_OK)
    status = s->host->parallel(tiles, strip_tile, (void *)(uintptr_t)job, error);
  for (size_t t = 0; status == SCL_STATUS_OK && t < tiles; t++)
    for (size_t i = 0; i < rows * job->k; i++)
      out[job->first * job->k + i] += job->parts[t * TILE * job->k + i];
  return status;
}

/* x is transposed first, as the inner loops read whole columns. Sums have one order for any number
 * of threads: within a tile, by tile, by strip. */
scl_status linear_system_product(const linear_system *s, const double *x, size_t k, double *out,
                                 scl_error *error) {
  const size_t n = s->m.rows, padded = tiles_of(n) * TILE;
  double *room = s->host->allocate(3 * padded * k * sizeof *room), *turned = room;
  if (room == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a product of %zu rows",
                         n);
  strip_product job = {s, 0, k, padded, turned, room + padded * k, room + 2 * padded * k};
  scl_status status = SCL_STATUS_OK;
  memset(room, 0, 2 * padded * k * sizeof *room);
  memset(out, 0, n * k * sizeof *out);
  for (size_t i = 0; i < n; i++)
    for (size_t q = 0; q < k; q++)
      turned[q * padded + i] = x[i * k + q];
  for (; status == SCL_STATUS_OK && job.first < n; job.first += TILE)
    status = strip_add(&job, out, error);
  for (size_t i = 0; i < n; i++) {
    const double shift = s->shift[i] + (s->jittered ? s->jitter : 0);
    for (size_t q = 0; q < k; q++)
      out[i * k + q] += job.mirror[q * padded + i] + shift * x[i * k + q];
  }
  s->host->release(room);
  return status;
}

/* Kept tiles save their kernel values in every product but take 4 n^2 bytes. */
scl_status linear_system_keep(linear_system *s, double taken, scl_error *error) {
  const double kept = (double)triangle(tiles_of(s->m.rows)) * sizeof(double) * TILE * TILE;
  if (taken + kept <= (double)s->problem->allowance) s->kept = s->host->allocate((size_t)kept);
  return s->kept != NULL ? linear_system_fill(s, TO_KEPT, error) : SCL_STATUS_OK;
}
