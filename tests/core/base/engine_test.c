/* The engine's ground, against plain computations: random numbers, vector functions, thin products;
 * the pool of threads. */
#include "algebra/dense.h"
#include "algebra/symmetric.h"
#include "algebra/thin.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/random.h"
#include "expect.h"
#include "map/smoothing.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

__extension__ typedef __int128 wide_whole;

/* Carries and borrows between the halves of 128 bits: none in the first 70 numbers, some behind. */
static void check_wide_add(const scl_loops *l) {
  enum { COUNT = 150, FREE = 70 };
  int64_t x[COUNT], low[COUNT], high[COUNT];
  wide_whole wanted[COUNT];
  for (int64_t i = 0; i < COUNT; i++) {
    x[i] = i < FREE ? 1 : i % 3 - 1;
    low[i] = i < FREE ? i : -(i % 2);
    high[i] = i - 5;
    wanted[i] = (wide_whole)high[i] * ((wide_whole)1 << 64) + (uint64_t)low[i] + x[i];
  }
  l->add_wide_i64(COUNT, x, low, high);
  for (int64_t i = 0; i < COUNT; i++)
    expect(low[i] == (int64_t)(uint64_t)wanted[i] && high[i] == (int64_t)(wanted[i] >> 64), l->name,
           (double)high[i], (double)i);
}

/* x - shift times factor, and whether all are finite. */
static void check_affine(const scl_loops *l) {
  enum { COUNT = 29 };
  double x[COUNT], shift[COUNT];
  for (int i = 0; i < COUNT; i++)
    shift[i] = (x[i] = i) / 2;
  expect(l->affine_f64(COUNT, x, shift, shift, x) && x[4] == 4, l->name, x[4], 4);
  for (int i = 1; i < COUNT; i += 13) {
    x[i] = 0x1.8p1023;
    shift[i] = 3;
    expect(!l->affine_f64(COUNT, x, shift, shift, x), l->name, x[i], INFINITY);
    x[i] = 0;
  }
}

/* Eight results at a time: the bits of plain sums in order, in every table. */
static void check_eight_loops(const scl_loops *l) {
  enum { ROWS = 5, COLS = 11, STRIDE = 13 };
  const uint32_t place[4] = {3, 0, 10, 3};
  double phi[ROWS * STRIDE], a[COLS * 8], out[ROWS * 8], sum[8] = {0};
  scl_random_normal(1, 0, 0, 0, ROWS * STRIDE, phi);
  scl_random_normal(2, 0, 0, 0, COLS * 8, a);
  l->eight_product_f64(ROWS, COLS, phi, STRIDE, a, out);
  l->eight_look_up_f64(4, place, a, 8, sum);
  for (size_t q = 0; q < 8; q++) {
    expect(sum[q] == a[24 + q] + a[q] + a[80 + q] + a[24 + q], l->name, sum[q], a[q]);
    for (size_t i = 0; i < ROWS; i++) {
      double wanted = 0;
      for (size_t k = 0; k < COLS; k++)
        wanted += phi[i * STRIDE + k] * a[k * 8 + q];
      expect(out[i * 8 + q] == wanted, l->name, out[i * 8 + q], wanted);
    }
  }
}

static void test_thin_loops(void) {
  static const size_t shapes[][3] = {{1, 1, 1},    {4, 64, 1},    {3, 17, 2},
                                     {21, 45, 3},  {5, 128, 4},   {16, 512, 5},
                                     {77, 531, 7}, {66, 133, 10}, {7, 90, 32}};
  for (const scl_loops *const *table = scl_loops_all(); *table != NULL; table++) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      check_thin_loops(*table, shapes[i][0], shapes[i][1], shapes[i][2]);
    check_eight_loops(*table);
    check_wide_add(*table);
    check_affine(*table);
  }
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

int main(void) {
  test_random_is_the_same_everywhere();
  test_moments_of_normals();
  test_inverse_normal();
  test_vector_functions();
  test_thin_products();
  test_host_products();
  test_thin_loops();
  test_gauss_legendre();
  test_each_task_runs_once();
  scl_pool_stop();
  (void)printf("engine_test: %d failures\n", failures);
  return failures != 0;
}
