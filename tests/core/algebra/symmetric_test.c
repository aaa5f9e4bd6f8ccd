/* Symmetric matrices in packed form, against plain computations: factors, combinations, products,
 * float32 rows; threads; failing allocations. */
#include "algebra/matrix.h"
#include "algebra/symmetric.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/random.h"
#include "expect.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST = 300 };
static double phi[2 * LARGEST * LARGEST], dense[LARGEST * LARGEST], fast[LARGEST * LARGEST],
    right[LARGEST * 3], out[LARGEST * 3];

static void fill(size_t rows, size_t n) {
  for (size_t i = 0; i < rows; i++)
    scl_random_normal(3, 9, i, 0, n, phi + i * n);
  memset(dense, 0, sizeof dense);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t r = 0; r < rows; r++)
        dense[i * n + j] += phi[r * n + i] * phi[r * n + j];
}

/* L x = b and L' x = b: the residual |L x - b| is below a few roundings of sum_j |L_ij| |x_j|, as
 * substitution is backward stable. One after the other they are `solve`. */
static void check_triangular(const scl_symmetric *factor, size_t n) {
  enum { COLUMNS = 3 };
  const scl_symmetric_algebra *algebra = &scl_service_symmetric;
  static double both[LARGEST * COLUMNS];
  scl_error error;
  algebra->dense(factor, fast, (ptrdiff_t)n);
  for (int transpose = 0; transpose <= 1; transpose++) {
    memcpy(out, right, COLUMNS * n * sizeof *out);
    expect(algebra->triangular(factor, transpose, out, COLUMNS, &error) == SCL_STATUS_OK,
           "triangular", 0, 1);
    for (size_t i = 0; i < n; i++)
      for (size_t c = 0; c < COLUMNS; c++) {
        double sum = 0, size = fabs(right[i * COLUMNS + c]);
        for (size_t j = transpose ? i : 0; j < (transpose ? n : i + 1); j++) {
          const double l = transpose ? fast[j * n + i] : fast[i * n + j];
          sum += l * out[j * COLUMNS + c];
          size += fabs(l * out[j * COLUMNS + c]);
        }
        expect(fabs(sum - right[i * COLUMNS + c]) <= 4 * (double)(n + 1) * DBL_EPSILON * size,
               transpose ? "L' x = b" : "L x = b", sum, right[i * COLUMNS + c]);
      }
  }
  memcpy(out, right, COLUMNS * n * sizeof *out);
  memcpy(both, right, COLUMNS * n * sizeof *both);
  expect(algebra->solve(factor, out, COLUMNS, &error) == SCL_STATUS_OK, "solve", 0, 1);
  expect(algebra->triangular(factor, 0, both, COLUMNS, &error) == SCL_STATUS_OK &&
             algebra->triangular(factor, 1, both, COLUMNS, &error) == SCL_STATUS_OK,
         "triangular", 0, 1);
  for (size_t i = 0; i < COLUMNS * n; i++)
    expect(fabs(both[i] - out[i]) <= 1e-9 * (1 + fabs(out[i])), "L and then L' solve L L' x = b",
           both[i], out[i]);
}

/* parts[0] + parts[1] + factor v v', by every function that reads, against the same sum written
 * out. */
static void check_combination(size_t n) {
  const scl_symmetric_algebra *algebra = &scl_service_symmetric;
  static double vector[LARGEST], sum[LARGEST * LARGEST], column[LARGEST], twice[LARGEST * LARGEST];
  const double factor = -0.75;
  scl_symmetric *parts[2] = {NULL, NULL}, *a = NULL, *copy = NULL;
  scl_error error;
  fill(2 * n, n);
  scl_random_normal(5, 9, n, 0, n, vector);
  scl_random_normal(4, 9, n, 0, 3 * n, right);
  for (int k = 0; k < 2; k++)
    expect(algebra->create(n, &parts[k], &error) == SCL_STATUS_OK &&
               algebra->rank(parts[k], 1, phi + (size_t)k * n * n, n, (ptrdiff_t)n, &error) ==
                   SCL_STATUS_OK,
           "the parts of a combination", 0, 1);
  expect(scl_symmetric_combine(n, (const scl_symmetric *const *)parts, 2, factor, vector, &a,
                               &error) == SCL_STATUS_OK &&
             algebra->create(n, &copy, &error) == SCL_STATUS_OK,
         "combine", 0, 1);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      sum[i * n + j] = dense[i * n + j] + factor * vector[i] * vector[j];
  const double allowed = 1e-11 * (double)n;
  expect(algebra->order(a) == n, "the order of a combination", (double)algebra->order(a),
         (double)n);
  algebra->dense(a, fast, (ptrdiff_t)n);
  algebra->copy(a, copy);
  algebra->add(1, a, copy);
  algebra->dense(copy, twice, (ptrdiff_t)n);
  for (size_t i = 0; i < n * n; i++) {
    expect(fabs(fast[i] - sum[i]) < allowed, "a combination, dense", fast[i], sum[i]);
    expect(fabs(twice[i] - 2 * sum[i]) < 2 * allowed, "a combination, copied and added", twice[i],
           2 * sum[i]);
    expect(fabs(scl_symmetric_get(a, i / n, i % n) - sum[i]) < allowed, "an entry of a combination",
           scl_symmetric_get(a, i / n, i % n), sum[i]);
  }
  algebra->diagonal(a, column);
  for (size_t i = 0; i < n; i++)
    expect(fabs(column[i] - sum[i * n + i]) < allowed, "the diagonal of a combination", column[i],
           sum[i * n + i]);
  for (size_t j = 0; j < n; j += 1 + n / 3) {
    algebra->column(a, j, column);
    for (size_t i = 0; i < n; i++)
      expect(fabs(column[i] - sum[i * n + j]) < allowed, "a column of a combination", column[i],
             sum[i * n + j]);
  }
  expect(algebra->multiply(a, right, 3, out, &error) == SCL_STATUS_OK, "multiply", 0, 1);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < 3; c++) {
      double wanted = 0;
      for (size_t j = 0; j < n; j++)
        wanted += sum[i * n + j] * right[j * 3 + c];
      expect(fabs(out[i * 3 + c] - wanted) < 1e-9 * (double)n, "A x of a combination",
             out[i * 3 + c], wanted);
    }
  for (int k = 0; k < 2; k++)
    algebra->destroy(parts[k]);
  algebra->destroy(a);
  algebra->destroy(copy);
}

static void check_symmetric(size_t n) {
  const scl_symmetric_algebra *algebra = &scl_service_symmetric;
  scl_symmetric *a = NULL, *copy = NULL;
  scl_error error;
  const size_t rows = 2 * n;
  fill(rows, n);
  expect(algebra->create(n, &a, &error) == SCL_STATUS_OK &&
             algebra->create(n, &copy, &error) == SCL_STATUS_OK,
         "create", 0, 1);
  /* in three uneven blocks */
  const size_t cut[4] = {0, rows / 3, rows / 3 + 1, rows};
  for (int k = 0; k < 3; k++)
    expect(scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT64, phi + cut[k] * n, (ptrdiff_t)n,
                                    cut[k + 1] - cut[k], &error) == SCL_STATUS_OK,
           "accumulate", 0, 1);
  algebra->dense(a, fast, (ptrdiff_t)n);
  for (size_t i = 0; i < n * n; i++)
    expect(fabs(fast[i] - dense[i]) < 1e-11 * (double)rows, "Phi'Phi by blocks", fast[i], dense[i]);
  scl_random_normal(4, 9, n, 0, 3 * n, right);
  algebra->copy(a, copy);
  algebra->shift(1, copy);
  algebra->add(0.5, a, copy); /* 1.5 A + I */
  expect(algebra->multiply(copy, right, 3, out, &error) == SCL_STATUS_OK, "multiply", 0, 1);
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < 3; c++) {
      double wanted = right[i * 3 + c];
      for (size_t j = 0; j < n; j++)
        wanted += 1.5 * dense[i * n + j] * right[j * 3 + c];
      expect(fabs(out[i * 3 + c] - wanted) < 1e-9 * (double)rows, "A x", out[i * 3 + c], wanted);
    }
  size_t pivot;
  expect(algebra->factor(copy, &pivot, &error) == SCL_STATUS_OK,
         "factor a positive definite matrix", 0, 1);
  expect(algebra->solve(copy, out, 3, &error) == SCL_STATUS_OK, "solve", 0, 1);
  for (size_t i = 0; i < 3 * n; i++)
    expect(fabs(out[i] - right[i]) < 1e-8, "A^-1 A x = x", out[i], right[i]);
  check_triangular(copy, n);
  algebra->copy(a, copy);
  algebra->shift(-1e6, copy);
  expect(algebra->factor(copy, &pivot, &error) == SCL_STATUS_NUMERIC && pivot == 0,
         "factor what is not positive definite", (double)pivot, 0);
  algebra->destroy(a);
  algebra->destroy(copy);
}

static void test_symmetric_matrices(void) {
  static const size_t orders[] = {1, 2, 7, 64, 129, 256, 257, 300};
  for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
    check_symmetric(orders[k]);
    check_combination(orders[k]);
  }
}

/* Packed products of every table against plain sums, around the edges of tiles and strips. */
static void check_packed(const scl_loops *l, size_t terms, size_t rows, size_t cols, bool below) {
  enum { MOST = 64 * 300, SIDE = 160, BESIDE = 3 };
  static double a[2][MOST], from[2][2 * MOST], sums[SIDE * SIDE];
  static float narrow[2][2 * MOST], narrow_sums[SIDE * SIDE];
  scl_random_normal(1, 0, 0, 0, MOST, a[0]);
  scl_random_normal(2, 0, 0, 0, MOST, a[1]);
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < terms; i++)
      for (size_t j = 0; j < (side ? cols : rows); j++) {
        const size_t w64 = l->packed_bytes / sizeof(double), w32 = l->packed_bytes / sizeof(float);
        const double v = a[side][i * SIDE + j] = (double)(float)a[side][i * SIDE + j];
        from[side][j / w64 * w64 * terms + i * w64 + j % w64] = v;
        narrow[side][j / w32 * w32 * terms + i * w32 + j % w32] = (float)v;
      }
  for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
    narrow_sums[i] = (float)(sums[i] = BESIDE);
  l->packed_product_f64(terms, rows, cols, from[0], from[1], below, sums, SIDE);
  l->packed_product_f32(terms, rows, cols, narrow[0], narrow[1], below, narrow_sums, SIDE);
  for (size_t i = 0; i < SIDE; i++)
    for (size_t j = 0; j < SIDE; j++) {
      const bool inside = i < rows && j < cols;
      double wanted = BESIDE, size = BESIDE;
      for (size_t k = 0; inside && k < terms; k++) {
        wanted += a[0][k * SIDE + i] * a[1][k * SIDE + j];
        size += fabs(a[0][k * SIDE + i] * a[1][k * SIDE + j]);
      }
      if (inside && below && j > i) continue;
      const double rounding = inside ? size * (double)terms : 0;
      expect(fabs(sums[i * SIDE + j] - wanted) <= rounding * DBL_EPSILON, l->name,
             sums[i * SIDE + j], wanted);
      expect(fabs((double)narrow_sums[i * SIDE + j] - wanted) <= rounding * (double)FLT_EPSILON,
             l->name, (double)narrow_sums[i * SIDE + j], wanted);
    }
}

static void test_packed_products(void) {
  static const size_t sides[] = {1, 4, 11, 12, 24, 47, 48, 50, 101, 150}, terms[] = {1, 7, 100};
  for (const scl_loops *const *l = scl_loops_all(); *l != NULL; l++)
    for (size_t i = 0; (*l)->packed_bytes > 0 && i < 10; i++)
      for (size_t j = 0; j < 10; j++)
        for (size_t k = 0; k < 3; k++) {
          check_packed(*l, terms[k], sides[i], sides[j], false);
          if (i == j) check_packed(*l, terms[k], sides[i], sides[j], true);
        }
}

/* float32 blocks are summed in float32, and added in float64. */
static void test_float32_blocks(void) {
  enum { N = 700, ROWS_ = 90, STRIDE_ = 703 };
  static float block[ROWS_ * STRIDE_];
  static double numbers[ROWS_ * STRIDE_];
  scl_symmetric *a = NULL;
  scl_error error;
  scl_random_normal(3, 0, 0, 0, ROWS_ * STRIDE_, numbers);
  for (size_t i = 0; i < (size_t)ROWS_ * STRIDE_; i++)
    block[i] = (float)numbers[i];
  expect(scl_symmetric_create(N, &a, &error) == SCL_STATUS_OK, "create", 0, 1);
  for (int k = 0; k < 2; k++)
    expect(scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT32, block, STRIDE_, ROWS_, &error) ==
               SCL_STATUS_OK,
           "accumulate", 0, 1);
  for (size_t i = 0; i < N; i += 3)
    for (size_t j = 0; j <= i; j += 7) {
      double wanted = 0;
      for (size_t k = 0; k < ROWS_; k++)
        wanted += 2.0 * (double)block[k * STRIDE_ + i] * (double)block[k * STRIDE_ + j];
      expect(fabs(scl_symmetric_get(a, i, j) - wanted) < 1e-3, "Phi'Phi of float32 rows",
             scl_symmetric_get(a, i, j), wanted);
    }
  scl_symmetric_destroy(a);
}

/* More rows than the products make at once, all the same row. */
static void test_rows_in_parts(void) {
  enum { N = 72 };
  double row[N];
  scl_error error;
  scl_symmetric *a = NULL;
  for (size_t j = 0; j < N; j++)
    row[j] = (double)(j + 1);
  expect(scl_symmetric_create(N, &a, &error) == SCL_STATUS_OK, "create", 0, 1);
  const size_t most = scl_symmetric_part_rows(a, SCL_DTYPE_FLOAT64), rows = 2 * most + 7;
  double *many = scl_allocate_array(rows, sizeof row);
  expect(many != NULL, "memory", 0, 1);
  for (size_t k = 0; k < rows; k++)
    memcpy(many + k * N, row, sizeof row);
  expect(scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT64, many, N, rows, &error) == SCL_STATUS_OK,
         "accumulate", 0, 1);
  scl_release(many);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j <= i; j++)
      expect(scl_symmetric_get(a, i, j) == (double)rows * row[i] * row[j], "Phi'Phi in parts",
             scl_symmetric_get(a, i, j), (double)rows * row[i] * row[j]);
  scl_symmetric_destroy(a);
}

/* The same bits on one thread and on four. */
static void test_threads_change_nothing(void) {
  static double first[LARGEST * LARGEST];
  scl_error error;
  const size_t n = LARGEST, threads = scl_pool_threads();
  fill(2 * n, n);
  for (size_t run = 0; run < 2; run++) {
    scl_symmetric *a = NULL;
    scl_pool_set_threads(run == 0 ? 1 : 4);
    expect(scl_symmetric_create(n, &a, &error) == SCL_STATUS_OK, "create", 0, 1);
    expect(scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT64, phi, (ptrdiff_t)n, 2 * n, &error) ==
               SCL_STATUS_OK,
           "accumulate", 0, 1);
    expect(scl_service_symmetric.factor(a, NULL, &error) == SCL_STATUS_OK, "factor", 0, 1);
    scl_service_symmetric.dense(a, run == 0 ? first : fast, (ptrdiff_t)n);
    scl_symmetric_destroy(a);
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++)
      expect(first[i * n + j] == fast[i * n + j], "one thread and four", fast[i * n + j],
             first[i * n + j]);
  scl_pool_set_threads(threads);
}

/* Every allocation in turn fails once: a sentence, nothing lost. */
static void test_failing_allocations(void) {
  const size_t before = scl_allocated();
  scl_status status = SCL_STATUS_NO_MEMORY;
  for (long n = 0; status != SCL_STATUS_OK && n < 100; n++) {
    scl_symmetric *a = NULL;
    scl_matrix m = {0};
    scl_error error = {0};
    scl_allocate_fail_after(n);
    status = scl_matrix_create(10, 10, SCL_DTYPE_FLOAT32, &m, &error);
    if (status == SCL_STATUS_OK) status = scl_symmetric_create(10, &a, &error);
    if (status == SCL_STATUS_OK)
      status = scl_symmetric_accumulate(a, SCL_DTYPE_FLOAT32, m.data, 10, 10, &error);
    scl_allocate_fail_after(-1);
    expect(status == SCL_STATUS_OK ||
               (status == SCL_STATUS_NO_MEMORY && strstr(error.message, "memory") != NULL),
           "a failed allocation has a sentence", status, 0);
    scl_matrix_release(&m);
    scl_symmetric_destroy(a);
    expect(scl_allocated() == before, "bytes held after a failure", (double)scl_allocated(),
           (double)before);
  }
  expect(status == SCL_STATUS_OK, "it works once no allocation fails", status, 0);
}

int main(void) {
  test_symmetric_matrices();
  test_packed_products();
  test_float32_blocks();
  test_rows_in_parts();
  test_threads_change_nothing();
  test_failing_allocations();
  scl_pool_stop();
  (void)printf("symmetric_test: %d failures\n", failures);
  return failures != 0;
}
