/* Kernel expansions: models f(x) = f0 + sum_i b_i K(x_i, x) over kept rows x_i, c functions at
 * once. */
#ifndef SCULLERY_SHARED_EXPANSION_H
#define SCULLERY_SHARED_EXPANSION_H

#include "shared/bytes.h"
#include "shared/rows.h"

/* A model begins with this. */
typedef struct expansion {
  size_t rows, cols, functions;
  double *x;  /* rows x cols */
  double *b;  /* rows x functions */
  double *f0; /* functions */
} expansion;

/* A kernel on rows of data. */
typedef struct row_kernel {
  const scl_host *host;
  const scl_dense_algebra *algebra;
  const void *self;
  scl_status (*gram)(const void *self, const scl_parameters *u, const scl_parameters *v,
                     double *out, ptrdiff_t stride, scl_error *error);
} row_kernel;

enum { EXPANSION_TILE = 512 }; /* kept rows whose kernel values are made at once */

/* ---------------------------------------------------------------- making and ending */

/* A model of `bytes` bytes, zero. */
static inline void *expansion_new(const scl_host *host, size_t bytes, scl_error *error) {
  void *model = host->allocate(bytes);
  if (model != NULL)
    memset(model, 0, bytes);
  else
    (void)host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a model");
  return model;
}

static inline void expansion_release(const scl_host *host, expansion *e) {
  host->release(e->x);
  host->release(e->b);
  host->release(e->f0);
}

/* Room for b and f0, zeros. */
static inline scl_status expansion_reserve(const scl_host *host, expansion *e, scl_error *error) {
  const size_t numbers = (e->rows + 1) * e->functions;
  e->b = numbers / e->functions == e->rows + 1 ? host->allocate(numbers * sizeof *e->b) : NULL;
  e->f0 = host->allocate(e->functions * sizeof *e->f0);
  if (e->b == NULL || e->f0 == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu x %zu coefficients",
                      e->rows, e->functions);
  memset(e->b, 0, numbers * sizeof *e->b);
  memset(e->f0, 0, e->functions * sizeof *e->f0);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- values */

/* Rows as a kernel takes them; it only reads. */
static inline scl_parameters expansion_batch(const double *x, ptrdiff_t stride, size_t count,
                                             size_t dim) {
  return (scl_parameters){.head = SCL_HEAD(scl_parameters),
                          .space = SCL_SPACE_DENSE,
                          .count = count,
                          .dim = dim,
                          .weights = (double *)(uintptr_t)x,
                          .stride = stride};
}

/* out (count x functions at `stride`) = f0 + sum_i b_i K(x_i, x), the kept rows a tile at a
 * time. */
static inline scl_status expansion_values(const row_kernel *kernel, const expansion *e,
                                          const double *x, ptrdiff_t x_stride, size_t count,
                                          double *out, ptrdiff_t stride, scl_error *error) {
  const size_t d = e->cols, c = e->functions;
  const scl_parameters u = expansion_batch(x, x_stride, count, d);
  double *k = kernel->host->allocate((count + 1) * EXPANSION_TILE * sizeof *k);
  if (k == NULL)
    return kernel->host->fail(error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for %zu kernel values", count * EXPANSION_TILE);
  for (size_t i = 0; i < count; i++)
    memcpy(out + (ptrdiff_t)i * stride, e->f0, c * sizeof *out);
  scl_status status = SCL_STATUS_OK;
  for (size_t first = 0; status == SCL_STATUS_OK && first < e->rows; first += EXPANSION_TILE) {
    const size_t kept = e->rows - first < EXPANSION_TILE ? e->rows - first : EXPANSION_TILE;
    const scl_parameters v = expansion_batch(e->x + first * d, (ptrdiff_t)d, kept, d);
    status = kernel->gram(kernel->self, &u, &v, k, EXPANSION_TILE, error);
    if (status == SCL_STATUS_OK)
      kernel->algebra->gemm(0, 0, count, c, kept, 1, k, EXPANSION_TILE, e->b + first * c,
                            (ptrdiff_t)c, 1, out, stride);
  }
  kernel->host->release(k);
  return status;
}

/* The same for rows in either dtype, as `decide` gets them. */
static inline scl_status expansion_decide(const row_kernel *kernel, const expansion *e,
                                          const scl_block *rows, double *out, ptrdiff_t stride,
                                          scl_error *error) {
  const scl_host *host = kernel->host;
  double *copy;
  ptrdiff_t x_stride;
  if (rows->cols != e->cols)
    return host->fail(error, SCL_STATUS_BAD_SHAPE, "rows of %zu columns where the model takes %zu",
                      rows->cols, e->cols);
  const double *x = rows_wide(host, rows, &copy, &x_stride);
  if (x == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a copy of %zu rows",
                      rows->rows);
  const scl_status status =
      expansion_values(kernel, e, x, x_stride, rows->rows, out, stride, error);
  host->release(copy);
  return status;
}

/* ---------------------------------------------------------------- bytes */

static inline void expansion_put(byte_writer *w, const expansion *e) {
  bytes_put_size(w, e->rows);
  bytes_put_size(w, e->cols);
  bytes_put_size(w, e->functions);
  bytes_put_numbers(w, e->x, e->rows * e->cols);
  bytes_put_numbers(w, e->b, e->rows * e->functions);
  bytes_put_numbers(w, e->f0, e->functions);
}

static inline void expansion_get(byte_reader *r, expansion *e) {
  e->rows = bytes_get_size(r, 1, INT32_MAX, "the number of rows");
  e->cols = bytes_get_size(r, 1, INT32_MAX, "the number of columns");
  e->functions = bytes_get_size(r, 1, INT32_MAX, "the number of functions");
  e->x = bytes_get_array(r, e->rows, e->cols);
  e->b = bytes_get_array(r, e->rows, e->functions);
  e->f0 = bytes_get_array(r, 1, e->functions);
}

#endif
