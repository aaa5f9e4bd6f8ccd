/* The engine's ground, against plain computations: random numbers, vector functions, symmetric
 * matrices; failing allocations; threads. */
#include "algebra/dense.h"
#include "algebra/matrix.h"
#include "algebra/symmetric.h"
#include "algebra/thin.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/random.h"
#include "map/smoothing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(bool holds, const char *what, double got, double wanted) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "engine_test: %s: got %.17g, wanted %.17g\n", what, got, wanted);
}

/* Written down once: the same on every machine, instruction set, batch. */
static void test_random_is_the_same_everywhere(void) {
  static const double wanted[3] = {-0.095237762633960832, 0.8131270211802899, -1.5882591295008546};
  double x[64], one;
  scl_random_normal(1, 2, 3, 1, 3, x);
  for (int i = 0; i < 3; i++)
    expect(x[i] == wanted[i], "the normal at a known address", x[i], wanted[i]);
  scl_random_normal(7, 0, 5, 0, 64, x);
  for (size_t i = 0; i < 64; i++) {
    scl_random_normal(7, 0, 5, i, 1, &one);
    expect(one == x[i], "a normal asked for alone", one, x[i]);
  }
  scl_random_normal(8, 0, 5, 0, 1, &one);
  expect(one != x[0], "another seed gives another number", one, x[0]);
}

static void test_moments_of_normals(void) {
  enum { N = 200000 };
  double sum = 0, square = 0, fourth = 0, x;
  for (uint64_t i = 0; i < N; i++) {
    scl_random_normal(11, 0, i, 0, 1, &x);
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  const double n = N;
  expect(fabs(sum / n) < 5 / sqrt(n), "mean of normals within 5 standard errors", sum / n, 0);
  expect(fabs(square / n - 1) < 5 * sqrt(2 / n), "variance of normals within 5 standard errors",
         square / n, 1);
  expect(fabs(fourth / n - 3) < 5 * sqrt(96 / n),
         "fourth moment of normals within 5 standard errors", fourth / n, 3);
}

/* F(F^-1(p)) = p, F by the C library's erfc. */
static void test_inverse_normal(void) {
  for (int k = -300; k < 0; k++) {
    const double p = pow(10, k) * 0.7, x = scl_inverse_normal(p), back = 0.5 * erfc(-x / sqrt(2));
    /* one rounding of x moves F by f(x) |x| eps */
    expect(fabs(back - p) <= p * (8 * DBL_EPSILON * (1 + x * x)),
           "the normal distribution at its quantile", back, p);
    if (p > 1e-10)
      expect(fabs(scl_inverse_normal(1 - p) + x) < 1e-5 * fabs(x), "symmetry of quantiles",
             scl_inverse_normal(1 - p), -x);
  }
}

typedef double (*plain_f64)(double);
static void compare_f64(const char *name, scl_vector_f64 fast, plain_f64 plain, double low,
                        double high) {
  enum { N = 1001 };
  double x[N], out[N];
  for (int i = 0; i < N; i++)
    x[i] = low + (high - low) * i / (N - 1);
  fast(N, x, out);
  for (int i = 0; i < N; i++) {
    const double wanted = plain(x[i]), unit = fmax(fabs(wanted), DBL_MIN) * DBL_EPSILON;
    expect(fabs(out[i] - wanted) <= 5 * unit, name, out[i], wanted);
    double one;
    fast(1, &x[i], &one);
    expect(one == out[i], "a vector function's value does not depend on its place", one, out[i]);
  }
}

static double wide_sinf(double x) { return sin((double)(float)x); }
static double wide_cosf(double x) { return cos((double)(float)x); }
static double wide_expf(double x) { return exp((double)(float)x); }
static double wide_erff(double x) { return erf((double)(float)x); }
static double wide_tanhf(double x) { return tanh((double)(float)x); }
static double wide_logf(double x) { return log((double)(float)x); }

static void compare_f32(const char *name, scl_vector_f32 fast, plain_f64 plain, double low,
                        double high) {
  enum { N = 1001 };
  float x[N], out[N];
  for (int i = 0; i < N; i++)
    x[i] = (float)(low + (high - low) * i / (N - 1));
  fast(N, x, out);
  for (int i = 0; i < N; i++) {
    const double wanted = plain((double)x[i]);
    expect(fabs((double)out[i] - wanted) <=
               5 * fmax(fabs(wanted), (double)FLT_MIN) * (double)FLT_EPSILON,
           name, (double)out[i], wanted);
  }
}

static void test_vector_functions(void) {
  for (const scl_loops *const *table = scl_loops_all(); *table != NULL; table++) {
    const scl_vector_math *m = &(*table)->math;
    compare_f64("sin", m->sin, sin, -50, 50);
    compare_f64("cos", m->cos, cos, -1e4, 1e4);
    compare_f64("exp", m->exp, exp, -700, 700);
    compare_f64("erf", m->erf, erf, -7, 7);
    compare_f64("tanh", m->tanh, tanh, -30, 30);
    compare_f64("log", m->log, log, 1e-3, 1e3);
    compare_f32("sinf", m->sinf, wide_sinf, -50, 50);
    compare_f32("cosf", m->cosf, wide_cosf, -500, 500);
    compare_f32("expf", m->expf, wide_expf, -80, 80);
    compare_f32("erff", m->erff, wide_erff, -4, 4);
    compare_f32("tanhf", m->tanhf, wide_tanhf, -10, 10);
    compare_f32("logf", m->logf, wide_logf, 1e-3, 1e3);
  }
}

/* Thin products on every instruction set and through the parallel call, against plain sums: odd
 * sizes, strides, many columns. */
static void test_thin_products(void) {
  enum { ROWS = 77, COLS = 531, STRIDE = 540, MOST = 40 };
  static double phi[ROWS * STRIDE], a[COLS * MOST], r[ROWS * MOST], out[COLS * MOST];
  static float narrow[ROWS * STRIDE];
  scl_error error;
  scl_random_normal(1, 0, 0, 0, ROWS * STRIDE, phi);
  scl_random_normal(2, 0, 0, 0, COLS * MOST, a);
  scl_random_normal(3, 0, 0, 0, ROWS * MOST, r);
  for (size_t i = 0; i < ROWS * STRIDE; i++)
    narrow[i] = (float)phi[i];
  for (size_t k = 1; k <= MOST; k += 13)
    for (int dtype = SCL_DTYPE_FLOAT64; dtype <= SCL_DTYPE_FLOAT32; dtype++) {
      const void *from = dtype == SCL_DTYPE_FLOAT64 ? (const void *)phi : (const void *)narrow;
      const double tolerance = dtype == SCL_DTYPE_FLOAT64 ? 1e-12 : 2e-4;
      scl_thin thin;
      expect(scl_thin_open((scl_dtype)dtype, COLS, a, k, &thin, &error) == SCL_STATUS_OK,
             "a thin product", 0, 0);
      expect(scl_thin_product(&thin, ROWS, from, STRIDE, out, &error) == SCL_STATUS_OK,
             "a thin product", 0, 0);
      for (size_t i = 0; i < ROWS * k; i += 7) {
        double wanted = 0;
        for (size_t j = 0; j < COLS; j++)
          wanted += phi[i / k * STRIDE + j] * a[j * k + i % k];
        expect(fabs(out[i] - wanted) < tolerance * (1 + fabs(wanted)), "a thin product", out[i],
               wanted);
      }
      for (size_t i = 0; i < COLS * k; i++)
        out[i] = 1;
      const size_t size = scl_dtype_size((scl_dtype)dtype), half = 40; /* in two pieces */
      expect(scl_thin_adjoint(&thin, half, from, STRIDE, r, &error) == SCL_STATUS_OK,
             "a thin adjoint", 0, 0);
      expect(scl_thin_adjoint(&thin, ROWS - half, (const char *)from + half * STRIDE * size, STRIDE,
                              r + half * k, &error) == SCL_STATUS_OK,
             "a thin adjoint", 0, 0);
      scl_thin_collect(&thin, out);
      scl_thin_close(&thin);
      for (size_t j = 0; j < COLS * k; j += 7) {
        double wanted = 1;
        for (size_t i = 0; i < ROWS; i++)
          wanted += phi[i * STRIDE + j / k] * r[i * k + j % k];
        expect(fabs(out[j] - wanted) < tolerance * (1 + fabs(wanted)),
               "a thin adjoint, added to what was there", out[j], wanted);
      }
    }
}

/* The host's products of either dtype, X a, X'r and X'X, against plain sums. */
static void check_host_products(scl_dtype dtype, const void *x, const double *phi) {
  enum { ROWS = 70, COLS = 90, STRIDE = 95, K = 3 };
  static double dense[COLS * COLS], a[COLS * K], out[COLS * K];
  const scl_dense_algebra *algebra = &scl_service_dense;
  const double tolerance = dtype == SCL_DTYPE_FLOAT64 ? 1e-12 : 1e-4;
  scl_symmetric *square = NULL;
  scl_error error;
  scl_random_normal(2, 0, 0, 0, COLS * K, a);
  expect(algebra->thin_product(dtype, ROWS, COLS, x, STRIDE, a, K, out, &error) == SCL_STATUS_OK,
         "X a", 0, 1);
  for (size_t i = 0; i < ROWS * K; i++) {
    double sum = 0;
    for (size_t j = 0; j < COLS; j++)
      sum += phi[i / K * STRIDE + j] * a[j * K + i % K];
    expect(fabs(out[i] - sum) < tolerance * (1 + fabs(sum)), "X a", out[i], sum);
  }
  expect(algebra->thin_adjoint(dtype, ROWS, COLS, x, STRIDE, a, K, out, &error) == SCL_STATUS_OK,
         "X'r", 0, 1);
  for (size_t j = 0; j < COLS * K; j++) {
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++)
      sum += phi[i * STRIDE + j / K] * a[i * K + j % K];
    expect(fabs(out[j] - sum) < tolerance * (1 + fabs(sum)), "X'r", out[j], sum);
  }
  expect(scl_symmetric_create(COLS, &square, &error) == SCL_STATUS_OK &&
             scl_service_symmetric.accumulate(square, dtype, x, STRIDE, ROWS, &error) ==
                 SCL_STATUS_OK,
         "X'X", 0, 1);
  scl_service_symmetric.dense(square, dense, COLS);
  scl_symmetric_destroy(square);
  for (size_t j = 0; j < COLS * COLS; j++) {
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++)
      sum += phi[i * STRIDE + j / COLS] * phi[i * STRIDE + j % COLS];
    expect(fabs(dense[j] - sum) < tolerance * (1 + fabs(sum)), "X'X", dense[j], sum);
  }
}

static void test_host_products(void) {
  enum { SIZE = 70 * 95 };
  static double phi[SIZE];
  static float narrow[SIZE];
  scl_random_normal(1, 0, 0, 0, SIZE, phi);
  for (size_t i = 0; i < SIZE; i++)
    phi[i] = (double)(narrow[i] = (float)phi[i]);
  check_host_products(SCL_DTYPE_FLOAT64, phi, phi);
  check_host_products(SCL_DTYPE_FLOAT32, narrow, phi);
}

/* Every table against plain sums: shapes around the tiles' edges. Fused or not, and in whatever
 * order, a sum is right within its terms' roundings; what lies beside the result stays. */
static void check_thin_loops(const scl_loops *l, size_t rows, size_t cols, size_t k) {
  enum { STRIDE = 541, MOST_ROWS = 77, SIZE = MOST_ROWS * STRIDE, BESIDE = 3 };
  static double phi[SIZE], a[SIZE], out[2][SIZE];
  static float narrow_phi[SIZE], narrow_a[SIZE];
  scl_random_normal(1, 0, 0, 0, SIZE, phi);
  scl_random_normal(2, 0, 0, 0, SIZE, a);
  for (size_t i = 0; i < SIZE; i++) {
    phi[i] = (double)(narrow_phi[i] = (float)phi[i]);
    a[i] = (double)(narrow_a[i] = (float)a[i]);
  }
  for (int adjoint = 0; adjoint <= 1; adjoint++) {
    const size_t outer = adjoint ? cols : rows, inner = adjoint ? rows : cols, apart = cols + 5;
    for (size_t i = 0; i < SIZE; i++)
      out[0][i] = out[1][i] = BESIDE;
    if (adjoint) {
      l->thin_adjoint_f64(rows, cols, k, phi, STRIDE, a, out[0], (ptrdiff_t)apart);
      l->thin_adjoint_f32(rows, cols, k, narrow_phi, STRIDE, narrow_a, out[1], (ptrdiff_t)apart);
    } else {
      l->thin_product_f64(rows, cols, k, phi, STRIDE, a, (ptrdiff_t)apart, out[0]);
      l->thin_product_f32(rows, cols, k, narrow_phi, STRIDE, narrow_a, (ptrdiff_t)apart, out[1]);
    }
    for (size_t o = 0; o < outer; o++)
      for (size_t q = 0; q < k; q++) {
        double wanted = BESIDE, size = BESIDE;
        for (size_t i = 0; i < inner; i++) {
          const double term =
              adjoint ? phi[i * STRIDE + o] * a[i * k + q] : phi[o * STRIDE + i] * a[q * apart + i];
          wanted += term;
          size += fabs(term);
        }
        const size_t at = adjoint ? q * apart + o : o * k + q;
        expect(fabs(out[0][at] - wanted) <= size * (double)inner * DBL_EPSILON, l->name, out[0][at],
               wanted);
        expect(fabs(out[1][at] - wanted) <= size * (double)inner * (double)FLT_EPSILON, l->name,
               out[1][at], wanted);
        out[0][at] = out[1][at] = BESIDE;
      }
    for (size_t i = 0; i < SIZE; i++)
      expect(out[0][i] == BESIDE && out[1][i] == BESIDE, "beside a thin product", out[0][i],
             BESIDE);
  }
}

static void test_thin_loops(void) {
  static const size_t shapes[][3] = {{1, 1, 1},    {4, 64, 1},    {3, 17, 2},
                                     {21, 45, 3},  {5, 128, 4},   {16, 512, 5},
                                     {77, 531, 7}, {66, 133, 10}, {7, 90, 32}};
  for (const scl_loops *const *table = scl_loops_all(); *table != NULL; table++)
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      check_thin_loops(*table, shapes[i][0], shapes[i][1], shapes[i][2]);
}

static void test_gauss_legendre(void) {
  double x[20], w[20];
  scl_gauss_legendre(20, x, w);
  for (int power = 0; power < 39; power++) { /* exact to degree 2 n - 1 */
    double sum = 0;
    const double wanted = power % 2 == 0 ? 2.0 / (power + 1) : 0;
    for (int k = 0; k < 20; k++)
      sum += w[k] * pow(x[k], power);
    expect(fabs(sum - wanted) < 1e-13, "Gauss-Legendre integrates powers", sum, wanted);
  }
}

/* ---------------------------------------------------------------- symmetric matrices */

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

static void count_task(void *context, size_t index) { ((unsigned char *)context)[index]++; }
static void nested_task(void *context, size_t index) {
  unsigned char *counts = context;
  scl_pool_run(100, count_task, counts + 100 * index);
}

static void test_each_task_runs_once(void) {
  static unsigned char counts[10000];
  scl_pool_run(100, nested_task, counts);
  for (size_t i = 0; i < sizeof counts; i++)
    expect(counts[i] == 1, "a task runs once, nested too", counts[i], 1);
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
  test_random_is_the_same_everywhere();
  test_moments_of_normals();
  test_inverse_normal();
  test_vector_functions();
  test_thin_products();
  test_host_products();
  test_thin_loops();
  test_gauss_legendre();
  test_symmetric_matrices();
  test_packed_products();
  test_float32_blocks();
  test_threads_change_nothing();
  test_each_task_runs_once();
  test_failing_allocations();
  scl_pool_stop();
  (void)printf("engine_test: %d failures\n", failures);
  return failures != 0;
}
