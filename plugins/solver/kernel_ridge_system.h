/* The linear system of kernel ridge, (K + diag(shift)) b = y - f0: its matrix, filled by tiles, and
 * products with it. K is kept where it fits, and made again for each product where it does not. */
#ifndef SCULLERY_KERNEL_RIDGE_SYSTEM_H
#define SCULLERY_KERNEL_RIDGE_SYSTEM_H

#include "shared/expansion.h"
#include "shared/rows.h"

enum { TILE = 512 };

typedef struct kernel_ridge {
  scl_base base;
  scl_part kernel;
  double lambda;
  int32_t precision;
  bool intercept;
} kernel_ridge;

/* What a tile of kernel values goes to. */
typedef enum destination {
  TO_SYSTEM, /* a = K + diag(shift) */
  TO_KEPT,   /* a = K */
  TO_FLOAT32 /* narrow = K + diag(shift) */
} destination;

typedef struct linear_system {
  const kernel_ridge *self;
  const scl_host *host;
  const scl_problem *problem;
  row_set set; /* its x moves to m */
  expansion m; /* the rows, and the solution */
  double lambda;
  scl_symmetric *a;
  bool kept; /* a holds K */
  const scl_symmetric_float32_algebra *algebra;
  scl_symmetric_float32 *narrow; /* NULL: the system is solved in float64 */
  double *shift;                 /* rows: n lambda / w_i + jitter */
  double *diagonal;              /* rows: K(x_i, x_i) */
  double *ones;                  /* rows: A^-1 1, for the intercept */
  double *residual;              /* rows x targets: y - f0 - A b */
  double *right;                 /* 2 x targets */
  size_t iterations, most;       /* of conjugate gradients, and where they end */
  destination to;                /* of the tiles that are being filled */
  size_t strip;                  /* first row of the tiles in turn */
} linear_system;

static inline scl_status gram(const void *instance, const scl_const_parameters *u,
                              const scl_const_parameters *v, double *out, ptrdiff_t stride,
                              scl_error *error) {
  const kernel_ridge *self = instance;
  return self->base.host->parts->gram(&self->kernel, u, v, out, stride, error);
}

static inline scl_const_parameters rows_at(const linear_system *s, size_t first, size_t most) {
  const size_t left = s->m.rows - first, d = s->m.cols;
  return scl_dense_rows(s->m.x + first * d, (ptrdiff_t)d, left < most ? left : most, d);
}

/* ------------------------------------------------------------ filling */

static inline bool all_finite(const double *values, size_t rows, size_t cols) {
  double sum = 0;
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++)
      sum += 0 * values[i * TILE + j];
  return sum == 0;
}

static inline scl_status fill_tile(const linear_system *s, size_t i, size_t j, double *k,
                                   scl_error *error) {
  const scl_const_parameters u = rows_at(s, i, TILE), v = rows_at(s, j, TILE);
  const scl_status status = gram(s->self, &u, &v, k, TILE, error);
  if (status != SCL_STATUS_OK) return status;
  if (!all_finite(k, u.count, v.count))
    return s->host->fail(
        error, SCL_STATUS_BAD_DATA,
        "kernel.%s gives a value that is not finite for a row of the data: standardize it",
        s->self->kernel.plugin->name);
  for (size_t r = 0; s->to == TO_SYSTEM && i == j && r < u.count; r++)
    k[r * TILE + r] += s->shift[i + r];
  if (s->to == TO_FLOAT32)
    s->algebra->set(s->narrow, i, u.count, j, v.count, k, TILE);
  else
    s->host->symmetric->set(s->a, i, u.count, j, v.count, k, TILE);
  return SCL_STATUS_OK;
}

static inline double *tile_of_values(const linear_system *s, scl_error *error) {
  double *k = s->host->allocate(sizeof *k * TILE * TILE);
  if (k == NULL)
    (void)s->host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for a tile of kernel values");
  return k;
}

static inline scl_status fill_task(void *context, size_t index, scl_error *error) {
  const linear_system *s = context;
  double *k = tile_of_values(s, error);
  if (k == NULL) return SCL_STATUS_NO_MEMORY;
  const scl_status status = fill_tile(s, s->strip, index * TILE, k, error);
  s->host->release(k);
  return status;
}

static inline scl_status fill(linear_system *s, destination to, scl_error *error) {
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

/* ------------------------------------------------------------ products */

/* A strip of tiles: those below the diagonal also stand for their mirror images. Each adds to rows
 * of its own. */
typedef struct strip_product {
  const linear_system *s;
  size_t first, k;
  const double *x; /* n x k */
  double *out;     /* n x k */
  double *parts;   /* of the strip's rows, by tile: TILE x k each */
} strip_product;

static inline scl_status strip_tile(void *context, size_t index, scl_error *error) {
  const strip_product *job = context;
  const linear_system *s = job->s;
  const size_t k = job->k, i = job->first, j = index * TILE;
  const ptrdiff_t step = (ptrdiff_t)k;
  const scl_const_parameters u = rows_at(s, i, TILE), v = rows_at(s, j, TILE);
  double *values = tile_of_values(s, error);
  if (values == NULL) return SCL_STATUS_NO_MEMORY;
  const scl_status status = gram(s->self, &u, &v, values, TILE, error);
  if (status == SCL_STATUS_OK) {
    s->host->dense->gemm(0, 0, u.count, k, v.count, 1, values, TILE, job->x + j * k, step, 0,
                         job->parts + index * TILE * k, step);
    if (i != j)
      s->host->dense->gemm(1, 0, v.count, k, u.count, 1, values, TILE, job->x + i * k, step, 1,
                           job->out + j * k, step);
  }
  s->host->release(values);
  return status;
}

/* out (n x k) = K x, K made again. */
static inline scl_status product_anew(const linear_system *s, const double *x, size_t k,
                                      double *out, scl_error *error) {
  const size_t n = s->m.rows, tiles = (n + TILE - 1) / TILE;
  strip_product job = {.s = s, .k = k, .x = x, .out = out};
  job.parts = s->host->allocate(tiles * TILE * k * sizeof(double));
  if (job.parts == NULL)
    return s->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a product of %zu rows",
                         n);
  scl_status status = SCL_STATUS_OK;
  memset(out, 0, n * k * sizeof *out);
  for (size_t t = 0; status == SCL_STATUS_OK && t < tiles; t++) {
    job.first = t * TILE;
    const size_t rows = n - job.first < TILE ? n - job.first : TILE;
    const double done = (double)job.first / (double)n;
    status = s->problem->progress(s->problem, "kernel values", done * done, NAN, error);
    if (status == SCL_STATUS_OK) status = s->host->parallel(t + 1, strip_tile, &job, error);
    for (size_t j = 0; status == SCL_STATUS_OK && j <= t; j++)
      for (size_t i = 0; i < rows * k; i++)
        out[job.first * k + i] += job.parts[j * TILE * k + i];
  }
  s->host->release(job.parts);
  return status;
}

/* out (n x k) = (K + diag(shift)) x */
static inline scl_status product(const linear_system *s, const double *x, size_t k, double *out,
                                 scl_error *error) {
  const scl_status status = s->kept ? s->host->symmetric->multiply(s->a, x, k, out, error)
                                    : product_anew(s, x, k, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < s->m.rows; i++)
    for (size_t q = 0; q < k; q++)
      out[i * k + q] += s->shift[i] * x[i * k + q];
  return status;
}

#endif
