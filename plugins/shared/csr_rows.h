/* The rows of a problem as compressed sparse rows (scl_problem.sparse_rows), for solvers that read
 * them themselves: products with single rows, and with all of them on the host's threads. Sums have
 * one order, whatever the number of threads. */
#ifndef SCULLERY_SHARED_CSR_ROWS_H
#define SCULLERY_SHARED_CSR_ROWS_H

#include <scullery/plugin.h>
#include <stdbool.h>

/* Whether the problem has such rows; *out = all of them. */
static inline bool csr_is(const scl_problem *problem) {
  return SCL_HAS(problem, csr) && problem->csr != 0;
}
scl_status csr_read(const scl_problem *problem, scl_const_csr *out, scl_error *error);

/* The tolerance of a path of `count` values. On such rows a hundred times as much is enough where
 * the values are only compared by the rows left out, up to 1e-3: the scores of these rows then move
 * by a part of their standard error. */
static inline double csr_path_tolerance(const scl_problem *problem, double tolerance,
                                        size_t count) {
  const double most = 1e-3, loose = 100 * tolerance < most ? 100 * tolerance : most;
  const bool scored = csr_is(problem) && SCL_HAS(problem, scored) && problem->scored;
  return scored && count > 1 && loose > tolerance ? loose : tolerance;
}

#if defined(__GNUC__)
#define CSR_PREFETCH(address) __builtin_prefetch(address)
#else
#define CSR_PREFETCH(address) (void)(address)
#endif

/* Ask for row i early: its entries lie in a few lines of memory, of which the hardware finds the
 * later ones. */
static inline void csr_prefetch(const scl_const_csr *x, size_t i) {
  const size_t size = x->dtype == SCL_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double);
  const char *columns = (const char *)(x->columns + x->starts[i]),
             *values = (const char *)x->values + (size_t)x->starts[i] * size;
  for (int line = 0; line < 2; line++) {
    CSR_PREFETCH(columns + (ptrdiff_t)line * 64);
    CSR_PREFETCH(values + (ptrdiff_t)line * 64);
  }
}

/* sum_j x_j a_j of `count` entries, in four sums that do not wait for each other */
#define CSR_DOT(name, real) \
  static inline double name(size_t count, const int32_t *columns, const real *values, \
                            const double *a) { \
    double sum[4] = {0}; \
    size_t k = 0; \
    for (; k + 4 <= count; k += 4) \
      for (size_t l = 0; l < 4; l++) \
        sum[l] += (double)values[k + l] * a[columns[k + l]]; \
    for (; k < count; k++) \
      sum[0] += (double)values[k] * a[columns[k]]; \
    return (sum[0] + sum[1]) + (sum[2] + sum[3]); \
  }
CSR_DOT(csr_dot_f64, double)
CSR_DOT(csr_dot_f32, float)
#undef CSR_DOT

/* x_i'a of row i */
static inline double csr_dot(const scl_const_csr *x, size_t i, const double *a) {
  const int64_t first = x->starts[i];
  const size_t count = (size_t)(x->starts[i + 1] - first);
  return x->dtype == SCL_DTYPE_FLOAT32
             ? csr_dot_f32(count, x->columns + first, (const float *)x->values + first, a)
             : csr_dot_f64(count, x->columns + first, (const double *)x->values + first, a);
}

/* a += factor x_i of row i */
static inline void csr_add(const scl_const_csr *x, size_t i, double factor, double *a) {
  const int64_t first = x->starts[i], end = x->starts[i + 1];
  if (x->dtype == SCL_DTYPE_FLOAT32)
    for (int64_t k = first; k < end; k++)
      a[x->columns[k]] += factor * (double)((const float *)x->values)[k];
  else
    for (int64_t k = first; k < end; k++)
      a[x->columns[k]] += factor * ((const double *)x->values)[k];
}

/* The sparse rows of a block; NULL: it has another form. */
static inline const scl_const_csr *csr_of_rows(const scl_rows *rows) {
  return SCL_HAS(rows, csr) ? rows->csr : NULL;
}

/* a (d) += factor x_i of row i of a block of float64 numbers, dense or sparse; to (d) = x_i. */
static inline void csr_add_row(const scl_rows *rows, size_t i, size_t d, double factor, double *a) {
  const scl_const_csr *csr = csr_of_rows(rows);
  const double *from = rows->features.data;
  if (csr != NULL)
    csr_add(csr, i, factor, a);
  else
    for (size_t j = 0; j < d; j++)
      a[j] += factor * from[(ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j];
}
static inline void csr_copy_row(const scl_rows *rows, size_t i, size_t d, double *to) {
  const double *from = rows->features.data;
  if (csr_of_rows(rows) == NULL) {
    memcpy(to, from + (ptrdiff_t)i * rows->features.row_stride, d * sizeof *to);
    return;
  }
  memset(to, 0, d * sizeof *to);
  csr_add(csr_of_rows(rows), i, 1, to);
}

/* out (k) = x_i'a, a D x k */
static inline void csr_scores(const scl_const_csr *x, size_t i, const double *a, size_t k,
                              double *out) {
  if (k == 1) {
    out[0] = csr_dot(x, i, a);
    return;
  }
  memset(out, 0, k * sizeof *out);
  for (int64_t at = x->starts[i]; at < x->starts[i + 1]; at++) {
    const double value = scl_csr_number(x, at), *from = a + (size_t)x->columns[at] * k;
    for (size_t j = 0; j < k; j++)
      out[j] += value * from[j];
  }
}

/* a (D x k) += x_i r, r k numbers */
static inline void csr_add_outer(const scl_const_csr *x, size_t i, const double *r, size_t k,
                                 double *a) {
  if (k == 1) {
    csr_add(x, i, r[0], a);
    return;
  }
  for (int64_t at = x->starts[i]; at < x->starts[i + 1]; at++) {
    const double value = scl_csr_number(x, at);
    double *to = a + (size_t)x->columns[at] * k;
    for (size_t j = 0; j < k; j++)
      to[j] += value * r[j];
  }
}

/* squares (n): ||x_i||^2 of each row */
void csr_squares(const scl_const_csr *x, double *squares);

/* out (n x k) = X a, a D x k; on the host's threads. */
scl_status csr_product(const scl_host *host, const scl_const_csr *x, const double *a, size_t k,
                       double *out, scl_error *error);

/* scores (n x c) = those of a solution, with its intercept */
scl_status csr_scores_of(const scl_problem *problem, const scl_solution *solution, double *scores,
                         scl_error *error);

/* Sums over all rows on the host's threads: rows are cut into parts, each with its own sums, which
 * are added in order. */
typedef struct csr_sums {
  const scl_host *host;
  const scl_const_csr *x;
  size_t parts, size;
  double *room; /* parts x size */
} csr_sums;

/* Takes scratch memory for sums of `size` numbers each. */
scl_status csr_sums_open(csr_sums *s, const scl_host *host, const scl_const_csr *x, size_t size,
                         scl_error *error);

/* Adds what rows first .. end-1 give to sums. */
typedef void (*csr_sum)(const void *context, const scl_const_csr *x, size_t first, size_t end,
                        double *sums);

/* out (size) = the sums over all rows */
scl_status csr_sums_make(const csr_sums *s, csr_sum sum, const void *context, double *out,
                         scl_error *error);

#endif
