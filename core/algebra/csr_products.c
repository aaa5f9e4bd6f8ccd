/* Products with compressed sparse rows. Each number of a result is one sum in a fixed order, of
 * columns or of rows, so that it does not depend on the number of threads. */
#include "algebra/csr.h"
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

/* Rows of a task; the numbers of the columns from which tasks of an adjoint are cut; products that
 * are worth a task of their own. */
enum { TASK_ROWS = 256, SAMPLE = 4096, TASK_PRODUCTS = 1 << 15 };

/* product_SUFFIX: out (rows x k) = A b; adjoint_SUFFIX: out (cols x k) += A'r, of the columns from
 * first to end-1. */
#define PRODUCTS(suffix, type) \
  static void product_##suffix(const scl_csr *a, const double *b, size_t k, double *out) { \
    const type *values = a->values; \
    for (size_t i = 0; i < a->rows; i++) { \
      double *to = out + i * k; \
      if (k == 1) { \
        double sum = 0; \
        for (int64_t e = a->starts[i]; e < a->starts[i + 1]; e++) \
          sum += (double)values[e] * b[a->columns[e]]; \
        *to = sum; \
        continue; \
      } \
      memset(to, 0, k * sizeof *to); \
      for (int64_t e = a->starts[i]; e < a->starts[i + 1]; e++) { \
        const double value = (double)values[e]; \
        const double *row = b + (size_t)a->columns[e] * k; \
        for (size_t c = 0; c < k; c++) \
          to[c] += value * row[c]; \
      } \
    } \
  } \
  static void adjoint_##suffix(const scl_csr *a, int64_t first, int64_t end, const double *r, \
                               size_t k, double *out) { \
    const type *values = a->values; \
    for (size_t i = 0; i < a->rows; i++) { \
      const double *from = r + i * k; \
      const int64_t stop = a->starts[i + 1]; \
      int64_t e = first == 0 ? a->starts[i] : from_column(a, i, first); \
      if (k == 1) \
        for (; e < stop && a->columns[e] < end; e++) \
          out[a->columns[e]] += (double)values[e] * *from; \
      for (; e < stop && a->columns[e] < end; e++) { \
        const double value = (double)values[e]; \
        double *to = out + (size_t)a->columns[e] * k; \
        for (size_t c = 0; c < k; c++) \
          to[c] += value * from[c]; \
      } \
    } \
  }

/* The first number of row i whose column is at least `column`. */
static int64_t from_column(const scl_csr *a, size_t i, int64_t column) {
  int64_t low = a->starts[i], high = a->starts[i + 1];
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (a->columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

PRODUCTS(f64, double)
PRODUCTS(f32, float)

static void multiply_rows(const scl_csr *a, const double *b, size_t k, double *out) {
  (a->dtype == SCL_DTYPE_FLOAT64 ? product_f64 : product_f32)(a, b, k, out);
}

/* ------------ on the pool's threads */

typedef struct multiplying {
  const scl_csr *a;
  const double *in;
  size_t k;
  double *out;
  int64_t *cuts; /* of an adjoint: columns between tasks */
} multiplying;

static void product_task(void *context, size_t index) {
  const multiplying *m = context;
  const size_t first = index * TASK_ROWS;
  scl_csr rows = *m->a; /* a view without a reference */
  rows.starts += first;
  rows.rows = scl_min(TASK_ROWS, m->a->rows - first);
  multiply_rows(&rows, m->in, m->k, m->out + first * m->k);
}

/* run: scl_pool_run, or the one that ends early after Ctrl-C. */
static void product_by(void (*run)(size_t, void (*)(void *, size_t), void *), const scl_csr *a,
                       const double *b, size_t k, double *out) {
  multiplying m = {.a = a, .in = b, .k = k, .out = out};
  if (scl_csr_entries(a) * k < TASK_PRODUCTS)
    multiply_rows(a, b, k, out);
  else
    run((a->rows + TASK_ROWS - 1) / TASK_ROWS, product_task, &m);
}

void scl_csr_product_parallel(const scl_csr *a, const double *b, size_t k, double *out) {
  product_by(scl_pool_run, a, b, k, out);
}

void scl_csr_product_interruptible(const scl_csr *a, const double *b, size_t k, double *out) {
  product_by(scl_pool_run_interruptible, a, b, k, out);
}

static int ascending(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Columns that divide the numbers of the rows into `tasks` parts of about one size, estimated from a
 * sample of them: cuts[0 .. tasks]. */
static void cut_columns(const scl_csr *a, size_t tasks, int64_t *cuts) {
  int32_t sample[SAMPLE];
  const size_t entries = scl_csr_entries(a), count = scl_min(entries, SAMPLE);
  for (size_t i = 0; i < count; i++)
    sample[i] = a->columns[(size_t)a->starts[0] + i * entries / count];
  qsort(sample, count, sizeof *sample, ascending);
  cuts[0] = 0;
  for (size_t t = 1; t < tasks; t++)
    cuts[t] = sample[t * count / tasks];
  cuts[tasks] = (int64_t)a->cols;
}

static void adjoint_task(void *context, size_t index) {
  const multiplying *m = context;
  const int64_t first = m->cuts[index], end = m->cuts[index + 1];
  if (first < end)
    (m->a->dtype == SCL_DTYPE_FLOAT64 ? adjoint_f64 : adjoint_f32)(m->a, first, end, m->in, m->k,
                                                                   m->out);
}

void scl_csr_adjoint_parallel(const scl_csr *a, const double *r, size_t k, double *out) {
  enum { MOST_TASKS = 256 };
  int64_t cuts[MOST_TASKS + 1];
  const size_t products = scl_csr_entries(a) * k, threads = scl_pool_threads(),
               tasks = scl_min(scl_min(2 * threads, products / TASK_PRODUCTS), MOST_TASKS);
  multiplying m = {a, r, k, out, cuts};
  if (threads == 1 || tasks < 2) {
    (a->dtype == SCL_DTYPE_FLOAT64 ? adjoint_f64 : adjoint_f32)(a, 0, (int64_t)a->cols, r, k, out);
    return;
  }
  cut_columns(a, tasks, cuts);
  scl_pool_run(tasks, adjoint_task, &m);
}
