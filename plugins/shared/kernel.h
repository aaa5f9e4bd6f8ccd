/* What the kernels are made of. A kernel here is a function of one number of the pair (u_i, v_j),
 *   <u, v>,   ||u - v||^2   or   ||u - v||_1,
 * taken over all columns (dense), or over the support where the two have the same (sparse;
 * thresholds, whose support is their column) and with K = 0 where they have not. A kernel's
 * instance begins with a `kernel` that names the number and the function; kernel_gram and
 * kernel_diagonal are then its slots. */
#ifndef SCULLERY_SHARED_KERNEL_H
#define SCULLERY_SHARED_KERNEL_H

#include "shared/isa.h"
#include <math.h>
#include <scullery/plugin.h>
#include <string.h>

typedef enum kernel_number {
  KERNEL_DOT,      /* scale^2 <u, v> */
  KERNEL_SQUARE,   /* scale^2 ||u - v||^2 */
  KERNEL_ABSOLUTE, /* scale ||u - v||_1 */
  KERNEL_NONE      /* 0 for every pair of the same support */
} kernel_number;

typedef struct kernel {
  const scl_host *host;
  const scl_vector_math *math;
  const scl_dense_algebra *algebra;
  kernel_number number;
  double scale;
  /* From the numbers of `count` pairs to K, in place; `dim` is that of the parameters. */
  void (*finish)(const void *self, size_t dim, size_t count, double *numbers);
  /* Dense rows only, or NULL: what the coordinates go through before they meet. */
  void (*move)(const void *self, size_t count, double *coordinates);
} kernel;

#define KERNEL_EVERYWHERE                                                                          \
  (SCL_BIT(SCL_SPACE_DENSE) | SCL_BIT(SCL_SPACE_SPARSE) | SCL_BIT(SCL_SPACE_THRESHOLD))

/* ---------------------------------------------------------------- instances */

/* An instance of `size` bytes that begins with `form`, the rest zero. */
static inline scl_status kernel_create(const scl_host *host, size_t size, kernel form,
                                       void **instance, scl_error *error) {
  form.host = host;
  form.math = host->service(SCL_SERVICE_VECTOR_MATH);
  form.algebra = host->service(SCL_SERVICE_DENSE_ALGEBRA);
  if (form.math == NULL || form.algebra == NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED,
                      "this host has no vector functions or no dense algebra");
  void *self = host->allocate(size);
  if (self == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel");
  memset(self, 0, size);
  memcpy(self, &form, sizeof form);
  *instance = self;
  return SCL_STATUS_OK;
}

static inline void kernel_destroy(void *instance) {
  const kernel *self = instance;
  const scl_host *host = self->host;
  host->release(instance);
}

static inline const void *kernel_no_ability(const void *instance, const char *id) {
  (void)instance, (void)id;
  return NULL;
}

/* ---------------------------------------------------------------- parameters */

static inline const double *kernel_row(const scl_parameters *p, size_t i) {
  return p->weights + (ptrdiff_t)i * p->stride;
}

/* How many numbers meet in parameter i: d, or its in-degree. The slots of sparse rows are as many
 * as both strides allow. */
static inline size_t kernel_degree(const scl_parameters *p, size_t i) {
  if (p->space == SCL_SPACE_DENSE) return p->dim;
  if (p->space == SCL_SPACE_THRESHOLD) return 1;
  const int32_t *support = p->support + (ptrdiff_t)i * p->support_stride;
  const size_t slots = (size_t)(p->stride < p->support_stride ? p->stride : p->support_stride);
  size_t degree = 0;
  while (degree < slots && support[degree] >= 0)
    degree++;
  return degree;
}

/* Whether v_j has the support of a parameter with these columns. */
static inline int kernel_same_support(const int32_t *columns, size_t degree,
                                      const scl_parameters *v, size_t j) {
  const int32_t *support = v->support + (ptrdiff_t)j * v->support_stride;
  for (size_t k = 0; k < degree; k++)
    if (support[k] != columns[k]) return 0;
  return v->space == SCL_SPACE_THRESHOLD || (ptrdiff_t)degree == v->support_stride ||
         (ptrdiff_t)degree == v->stride || support[degree] < 0;
}

/* ---------------------------------------------------------------- the number of one pair, term by
 * term */

/* Where a product overflows on the way, the rows are first made of the order of 1. */
static inline double kernel_scaled_dot(size_t count, const double *u, const double *v,
                                       double scale) {
  double high_u = 0, high_v = 0, sum = 0;
  for (size_t k = 0; k < count; k++) {
    high_u = fmax(high_u, fabs(u[k]));
    high_v = fmax(high_v, fabs(v[k]));
  }
  if (high_u == 0 || high_v == 0) return 0;
  for (size_t k = 0; k < count; k++)
    sum += (u[k] / high_u) * (v[k] / high_v);
  return (high_u * scale) * sum * (high_v * scale);
}

static inline double kernel_pair(const kernel *self, size_t count, const double *u,
                                 const double *v) {
  double sum = 0;
  for (size_t k = 0; k < count; k++) {
    const double gap = (u[k] - v[k]) * self->scale;
    sum += self->number == KERNEL_DOT      ? (u[k] * self->scale) * (v[k] * self->scale)
           : self->number == KERNEL_SQUARE ? gap * gap
                                           : fabs(gap);
  }
  return self->number == KERNEL_DOT && !isfinite(sum) ? kernel_scaled_dot(count, u, v, self->scale)
                                                      : sum;
}

/* ---------------------------------------------------------------- sparse rows and thresholds */

static inline void kernel_gram_supports(const void *instance, const scl_parameters *u,
                                        const scl_parameters *v, double *out, ptrdiff_t stride) {
  enum { CHUNK = 256 };
  const kernel *self = instance;
  unsigned char same[CHUNK];
  for (size_t i = 0; i < u->count; i++) {
    const int32_t *columns = u->support + (ptrdiff_t)i * u->support_stride;
    const size_t degree = kernel_degree(u, i);
    for (size_t first = 0; first < v->count; first += CHUNK) {
      const size_t count = v->count - first < CHUNK ? v->count - first : CHUNK;
      double *row = out + (ptrdiff_t)i * stride + (ptrdiff_t)first;
      for (size_t j = 0; j < count; j++) {
        same[j] = (unsigned char)kernel_same_support(columns, degree, v, first + j);
        row[j] = same[j] && self->number != KERNEL_NONE
                     ? kernel_pair(self, degree, kernel_row(u, i), kernel_row(v, first + j))
                     : 0;
      }
      self->finish(instance, u->dim, count, row);
      for (size_t j = 0; j < count; j++)
        if (!same[j]) row[j] = 0;
    }
  }
}

/* ---------------------------------------------------------------- dense rows */

/* The rows as they meet: copies where the kernel moves them, or where its scale is so far from 1
 * that the product of two of them must not be formed without it; else the parameters' own, and
 * products are to be scaled. */
typedef struct kernel_rows {
  const double *data;
  ptrdiff_t stride;
  double *memory;
} kernel_rows;

static inline int kernel_copies(const kernel *self) {
  return self->move != NULL || self->scale < 1e-50 || self->scale > 1e50;
}

static inline scl_status kernel_rows_make(const void *instance, const scl_parameters *p,
                                          kernel_rows *out, scl_error *error) {
  const kernel *self = instance;
  *out = (kernel_rows){p->weights, p->stride, NULL};
  if (!kernel_copies(self)) return SCL_STATUS_OK;
  double *copy = self->host->allocate((p->count * p->dim + 1) * sizeof *copy);
  if (copy == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a copy of %zu rows",
                            p->count);
  for (size_t i = 0; i < p->count; i++)
    for (size_t k = 0; k < p->dim; k++)
      copy[i * p->dim + k] = kernel_row(p, i)[k] * self->scale;
  if (self->move != NULL) self->move(instance, p->count * p->dim, copy);
  *out = (kernel_rows){copy, (ptrdiff_t)p->dim, copy};
  return SCL_STATUS_OK;
}

/* out_ij = ||u_i - v_j||_1: 32 rows of v at a time, turned so that neighbours in memory are
 * neighbours in j, their sums in registers. Terms are added in the order of the columns whatever
 * the instruction set and the batch. */
enum { KERNEL_PANEL = 32 };
ISA_INLINE void kernel_absolute_panel(size_t rows, size_t dim, const double *u, ptrdiff_t u_stride,
                                      const double *restrict panel, size_t count,
                                      double *restrict out, ptrdiff_t stride) {
  for (size_t i = 0; i < rows; i++) {
    const double *x = u + (ptrdiff_t)i * u_stride;
    double sums[KERNEL_PANEL] = {0};
    for (size_t k = 0; k < dim; k++)
      for (size_t j = 0; j < KERNEL_PANEL; j++)
        sums[j] += fabs(x[k] - panel[k * KERNEL_PANEL + j]);
    memcpy(out + (ptrdiff_t)i * stride, sums, count * sizeof *sums);
  }
}

typedef void (*kernel_panel_function)(size_t rows, size_t dim, const double *u, ptrdiff_t u_stride,
                                      const double *panel, size_t count, double *out,
                                      ptrdiff_t stride);
#define KERNEL_PANEL_FOR(target, isa)                                                              \
  target static inline void kernel_absolute_panel_##isa(                                           \
      size_t rows, size_t dim, const double *u, ptrdiff_t u_stride, const double *panel,           \
      size_t count, double *out, ptrdiff_t stride) {                                               \
    kernel_absolute_panel(rows, dim, u, u_stride, panel, count, out, stride);                      \
  }
KERNEL_PANEL_FOR(, plain)
KERNEL_PANEL_FOR(ISA_AVX2, avx2)
KERNEL_PANEL_FOR(ISA_AVX512, avx512)

static inline scl_status kernel_absolute(const kernel *self, size_t rows, size_t cols, size_t dim,
                                         const kernel_rows *u, const kernel_rows *v, double *out,
                                         ptrdiff_t stride, scl_error *error) {
  const kernel_panel_function run = ISA_CHOOSE(
      kernel_absolute_panel_plain, kernel_absolute_panel_avx2, kernel_absolute_panel_avx512);
  double *panel = self->host->allocate((dim + 1) * KERNEL_PANEL * sizeof *panel);
  if (panel == NULL)
    return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                            "not enough memory for distances over %zu columns", dim);
  for (size_t first = 0; first < cols; first += KERNEL_PANEL) {
    const size_t count = cols - first < KERNEL_PANEL ? cols - first : KERNEL_PANEL;
    for (size_t k = 0; k < dim; k++)
      for (size_t j = 0; j < KERNEL_PANEL; j++)
        panel[k * KERNEL_PANEL + j] =
            j < count ? v->data[(ptrdiff_t)(first + j) * v->stride + (ptrdiff_t)k] : 0;
    run(rows, dim, u->data, u->stride, panel, count, out + first, stride);
  }
  self->host->release(panel);
  return SCL_STATUS_OK;
}

static inline double kernel_square_of(size_t dim, const double *x) {
  double sum = 0;
  for (size_t k = 0; k < dim; k++)
    sum += x[k] * x[k];
  return sum;
}

/* Row i of dots to squared distances, ||u||^2 + ||v||^2 - 2 <u, v>; term by term where that cancels
 * (rows that are nearly the same) or leaves the range of a double. */
static inline void kernel_squares_from_dots(const kernel *self, const scl_parameters *u,
                                            const scl_parameters *v, size_t i, double square_u,
                                            const double *squares_v, double *row) {
  const double cancelled = 1e-6, tiny = 1e-280;
  size_t doubtful = 0;
  for (size_t j = 0; j < v->count; j++) {
    const double both = square_u + squares_v[j], distance = both - 2 * row[j];
    row[j] = distance > cancelled * both && both > tiny ? distance : -1;
    doubtful += row[j] < 0;
  }
  for (size_t j = 0; doubtful > 0 && j < v->count; j++)
    if (row[j] < 0) row[j] = kernel_pair(self, u->dim, kernel_row(u, i), kernel_row(v, j));
}

static inline scl_status kernel_products(const kernel *self, const scl_parameters *u,
                                         const scl_parameters *v, const kernel_rows *left,
                                         const kernel_rows *right, double *out, ptrdiff_t stride,
                                         scl_error *error) {
  const double alpha = kernel_copies(self) ? 1 : self->scale * self->scale;
  double *squares = NULL;
  if (self->number == KERNEL_SQUARE) {
    squares = self->host->allocate((v->count + 1) * sizeof *squares);
    if (squares == NULL)
      return self->host->fail(error, SCL_STATUS_NO_MEMORY,
                              "not enough memory for %zu squared lengths", v->count);
    for (size_t j = 0; j < v->count; j++)
      squares[j] = alpha * kernel_square_of(u->dim, right->data + (ptrdiff_t)j * right->stride);
  }
  self->algebra->gemm(0, 1, u->count, v->count, u->dim, alpha, left->data, left->stride,
                      right->data, right->stride, 0, out, stride);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    if (self->number == KERNEL_SQUARE)
      kernel_squares_from_dots(
          self, u, v, i, alpha * kernel_square_of(u->dim, left->data + (ptrdiff_t)i * left->stride),
          squares, row);
    else
      for (size_t j = 0; j < v->count; j++)
        if (!isfinite(row[j]))
          row[j] = kernel_pair(self, u->dim, kernel_row(u, i), kernel_row(v, j));
  }
  self->host->release(squares);
  return SCL_STATUS_OK;
}

static inline void kernel_zero(size_t rows, size_t cols, double *out, ptrdiff_t stride) {
  for (size_t i = 0; i < rows; i++)
    memset(out + (ptrdiff_t)i * stride, 0, cols * sizeof *out);
}

static inline scl_status kernel_numbers_dense(const void *instance, const scl_parameters *u,
                                              const scl_parameters *v, double *out,
                                              ptrdiff_t stride, scl_error *error) {
  const kernel *self = instance;
  kernel_rows left, right;
  if (self->number == KERNEL_NONE || u->dim == 0) {
    kernel_zero(u->count, v->count, out, stride);
    return SCL_STATUS_OK;
  }
  scl_status status = kernel_rows_make(instance, u, &left, error);
  if (status != SCL_STATUS_OK) return status;
  status = kernel_rows_make(instance, v, &right, error);
  if (status == SCL_STATUS_OK && self->number == KERNEL_ABSOLUTE)
    status = kernel_absolute(self, u->count, v->count, u->dim, &left, &right, out, stride, error);
  else if (status == SCL_STATUS_OK)
    status = kernel_products(self, u, v, &left, &right, out, stride, error);
  self->host->release(left.memory);
  if (right.memory != NULL && right.memory != left.memory) self->host->release(right.memory);
  return status;
}

/* ---------------------------------------------------------------- the slots */

static inline scl_status kernel_gram(const void *instance, const scl_parameters *u,
                                     const scl_parameters *v, double *out, ptrdiff_t stride,
                                     scl_error *error) {
  const kernel *self = instance;
  if (u->space != SCL_SPACE_DENSE) {
    kernel_gram_supports(instance, u, v, out, stride);
    return SCL_STATUS_OK;
  }
  const scl_status status = kernel_numbers_dense(instance, u, v, out, stride, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < u->count; i++)
    self->finish(instance, u->dim, v->count, out + (ptrdiff_t)i * stride);
  return status;
}

static inline scl_status kernel_diagonal(const void *instance, const scl_parameters *u, double *out,
                                         scl_error *error) {
  const kernel *self = instance;
  (void)error;
  for (size_t i = 0; i < u->count; i++)
    out[i] = self->number == KERNEL_DOT
                 ? kernel_pair(self, kernel_degree(u, i), kernel_row(u, i), kernel_row(u, i))
                 : 0;
  self->finish(instance, u->dim, u->count, out);
  return SCL_STATUS_OK;
}

#endif
