/* Sums of float features: the same numbers for any number of threads and for parts that are cut at
 * blocks, in any order; near sums in 113 bits; refused where they do not fit. */
#include "algebra/symmetric.h"
#include "base/pool.h"
#include "expect.h"
#include "rows/block_sums.h"
#include "rows/reduce.h"
#include "rows/ways.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __float128 wide;

static void need(scl_status status, const scl_error *error) {
  expect(status == SCL_STATUS_OK, status == SCL_STATUS_OK ? "" : error->message, status, 0);
}

/* ------------ rows */

static uint64_t state = 1;

/* Uniform in -1 .. 1. */
static double draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-52 - 1;
}

typedef struct data {
  size_t n, d, c;
  scl_matrix x, y;
  scl_source *source;
  double *weights;
  int32_t *group;
} data;

static data make_data(size_t n, size_t d) {
  enum { TARGETS = 2 };
  data a = {.n = n, .d = d, .c = TARGETS};
  scl_error error = {0};
  need(scl_matrix_create(n, d, SCL_DTYPE_FLOAT64, &a.x, &error), &error);
  need(scl_matrix_create(n, TARGETS, SCL_DTYPE_FLOAT64, &a.y, &error), &error);
  a.weights = scl_allocate_array(n, sizeof *a.weights);
  a.group = scl_allocate_array(n, sizeof *a.group);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < d; j++)
      scl_matrix_set(&a.x, i, j, draw() + (j % 3 == 0 ? 0.5 : 0));
    for (size_t j = 0; j < a.c; j++)
      scl_matrix_set(&a.y, i, j, 3 * draw() + 1);
    a.weights[i] = i % 7 == 0 ? 0 : 1e-5 * (1.5 + draw());
    a.group[i] = (int32_t)(i * 7919 % 3);
  }
  need(scl_source_matrix(&a.x, &a.y, &a.source, &error), &error);
  return a;
}

static void release_data(data *a) {
  scl_source_destroy(a->source);
  scl_matrix_release(&a->x);
  scl_matrix_release(&a->y);
  SCL_RELEASE(a->weights, a->group);
}

/* ------------ sums */

static scl_flow flow_of(const data *a, scl_dtype dtype, bool weighted, bool grouped) {
  return (scl_flow){.source = a->source,
                    .dtype = dtype,
                    .groups = grouped ? 3 : 1,
                    .group = grouped ? a->group : NULL,
                    .weights = weighted ? a->weights : NULL};
}

static scl_sums *sum(const scl_flow *flow) {
  scl_sums *sums = NULL;
  scl_error error = {0};
  need(scl_sums_accumulate(&scl_way_dense, flow, &sums, &error), &error);
  return sums;
}

static bool same_exact(scl_exact *a, scl_exact *b) {
  bool equal = false;
  return scl_exact_equal(a, b, &equal, NULL) == SCL_STATUS_OK && equal;
}

static void expect_equal(const scl_sums *a, const scl_sums *b, const char *what) {
  for (size_t g = 0; g < a->groups; g++) {
    expect(scl_whole_totals_equal(&a->whole->moment[g], &b->whole->moment[g]), what, 0, 1);
    expect(same_exact(a->whole->right[g], b->whole->right[g]), what, 1, 0);
    expect(same_exact(a->whole->own[g], b->whole->own[g]), what, 2, 0);
  }
}

/* The parts of the flow's rows that are cut before these blocks, joined in that order. */
static scl_sums *sum_parts(const scl_flow *flow, const size_t *cuts, const size_t *order,
                           size_t parts) {
  const size_t rows = scl_flow_block_rows(flow);
  scl_sums *joined = NULL;
  for (size_t k = 0; k < parts; k++) {
    scl_flow part = *flow;
    scl_error error = {0};
    part.begin = cuts[order[k]] * rows;
    part.end = scl_min(cuts[order[k] + 1] * rows, flow->source->rows);
    scl_sums *sums = sum(&part);
    if (joined == NULL) {
      joined = sums;
      continue;
    }
    need(scl_whole_sums_merge(joined->whole, sums->whole, false, &error), &error);
    scl_sums_destroy(sums);
  }
  return joined;
}

static const size_t THREE_CUTS[] = {0, 1, 3, 1000}, ORDERS[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};

/* Threads, and parts in each order, of one flow. */
static void compare_parts(const scl_flow *flow, const char *what) {
  scl_pool_set_threads(1);
  scl_sums *want = sum(flow);
  for (size_t k = 0; k < 3; k++) {
    scl_pool_set_threads(k + 1);
    scl_sums *whole = sum(flow), *parts = sum_parts(flow, THREE_CUTS, ORDERS[k], 3);
    expect_equal(whole, want, what);
    expect_equal(parts, want, what);
    scl_sums_destroy(whole);
    scl_sums_destroy(parts);
  }
  scl_sums_destroy(want);
}

/* Under a sanitizer some kinds, with each type, weights and groups among them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { NEXT_KIND = 3 };
#else
enum { NEXT_KIND = 1 };
#endif

static void test_parts(void) {
  data a = make_data(4 * 8192 + 77, 70), few = make_data(4 * 8192 + 3, 9);
  for (int kind = 0; kind < 8; kind += NEXT_KIND) {
    const scl_dtype dtype = kind & 1 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
    const scl_flow flow = flow_of(&a, dtype, kind & 2, kind & 4),
                   other = flow_of(&few, dtype, kind & 2, kind & 4);
    compare_parts(&flow, "parts of packed products");
    compare_parts(&other, "parts of products by OpenBLAS");
  }
  release_data(&a);
  release_data(&few);
}

/* ------------ against 113 bits */

/* Phi'W Phi, centred where asked (then *right too is). */
static wide *reference(const data *a, bool weighted, bool centred) {
  wide *s = scl_allocate_zero((a->d * a->d + a->d + 1) * sizeof *s), *mean = s + a->d * a->d,
       total = 0;
  for (size_t i = 0; i < a->n; i++) {
    const double *x = scl_matrix_row(&a->x, i);
    const wide w = (wide)(weighted ? a->weights[i] : 1);
    total += w;
    for (size_t j = 0; j < a->d; j++) {
      mean[j] += w * (wide)x[j];
      for (size_t k = 0; k <= j; k++)
        s[j * a->d + k] += w * (wide)x[j] * (wide)x[k];
    }
  }
  for (size_t j = 0; centred && j < a->d; j++)
    for (size_t k = 0; k <= j; k++)
      s[j * a->d + k] -= mean[j] * mean[k] / total;
  return s;
}

typedef double (*entry)(const void *from, size_t i, size_t j);
static double of_matrix(const void *from, size_t i, size_t j) {
  return scl_symmetric_get(from, i, j);
}

/* The root mean square of (got - want) / sqrt(want_jj want_kk). */
static double error_of(const data *a, const wide *want, entry get, const void *from) {
  double sum = 0;
  for (size_t j = 0; j < a->d; j++)
    for (size_t k = 0; k <= j; k++) {
      const double size = sqrt((double)want[j * a->d + j] * (double)want[k * a->d + k]),
                   gap = (double)((wide)get(from, j, k) - want[j * a->d + k]) / size;
      sum += gap * gap;
    }
  return sqrt(2 * sum / (double)(a->d * (a->d + 1)));
}

/* The sums of the rows as float64 numbers, block after block. */
static double error_of_float64(const data *a, const wide *want) {
  enum { BLOCK = 2048 };
  scl_symmetric *sums = NULL, *leaf = NULL;
  const size_t rows = scl_reduce_leaf_rows(a->n);
  scl_error error = {0};
  need(scl_symmetric_create(a->d, &sums, &error), &error);
  for (size_t at = 0; at < a->n; at += rows) {
    need(scl_symmetric_create(a->d, &leaf, &error), &error);
    for (size_t i = at; i < scl_min(at + rows, a->n); i += BLOCK)
      need(scl_symmetric_accumulate(leaf, SCL_DTYPE_FLOAT64, scl_matrix_row(&a->x, i),
                                    a->x.row_stride, scl_min(BLOCK, a->n - i), &error),
           &error);
    scl_service_symmetric.add(1, leaf, sums);
    scl_symmetric_destroy(leaf);
  }
  const double gap = error_of(a, want, of_matrix, sums);
  scl_symmetric_destroy(sums);
  return gap;
}

/* The error of the sums of the flow. */
static double error_of_blocks(const data *a, const scl_flow *flow, bool centred, const wide *want) {
  scl_sums *sums = sum(flow);
  const size_t d = a->d, c = a->c;
  double *memory = scl_allocate_zero((d * c + d + 2 * c) * sizeof *memory);
  scl_totals totals = {memory, memory + d * c, memory + d * c + c, memory + d * c + c + d, 0};
  scl_symmetric *moment = NULL;
  scl_error error = {0};
  need(scl_whole_sums_total(sums->whole, NULL, -1, centred, false, &totals, &moment, &error),
       &error);
  const double gap = error_of(a, want, of_matrix, moment);
  scl_symmetric_destroy(moment);
  scl_sums_destroy(sums);
  scl_release(memory);
  return gap;
}

static void test_rounding(void) {
  data a = make_data(120000, 10), few = make_data(500, 10);
  for (int kind = 0; kind < 4; kind++) {
    const bool weighted = kind & 1, centred = kind & 2;
    const data *const of[] = {&few, &a};
    for (int k = 0; k < (kind % 3 == 0 ? 2 : 1); k++) {
      const scl_flow flow = flow_of(of[k], SCL_DTYPE_FLOAT64, weighted, false);
      wide *want = reference(of[k], weighted, centred);
      const double got = error_of_blocks(of[k], &flow, centred, want);
      expect(got < 2e-15, "rounding", got, 2e-15);
      if (kind == 0) {
        const double plain = error_of_float64(of[k], want);
        expect(got <= 1.05 * plain, "rounding beside float64", got, plain);
      }
      scl_release(want);
    }
  }
  release_data(&a);
  release_data(&few);
}

/* Columns of sizes 1e-9 to 1e9. */
static void test_scales(void) {
  data a = make_data(20000, 19);
  for (size_t i = 0; i < a.n; i++)
    for (size_t j = 0; j < a.d; j++)
      scl_matrix_set(&a.x, i, j, scl_matrix_get(&a.x, i, j) * pow(10, (double)j - 9));
  const scl_flow flow = flow_of(&a, SCL_DTYPE_FLOAT64, false, false);
  wide *want = reference(&a, false, false);
  const double got = error_of_blocks(&a, &flow, false, want);
  expect(got < 2e-15, "columns of many sizes", got, 2e-15);
  compare_parts(&flow, "parts of columns of many sizes");
  scl_release(want);
  release_data(&a);
}

/* ------------ ranges */

static void multiply_rows(data *a, size_t first, double factor) {
  for (size_t i = first; i < a->n; i++)
    for (size_t j = 0; j < a->d; j++)
      scl_matrix_set(&a->x, i, j, factor * scl_matrix_get(&a->x, i, j));
}

/* Later rows are larger, so that 64 bits do not hold the sums. */
static void test_wide(void) {
  const double factors[] = {1000, 1e7};
  for (int k = 0; k < 2; k++) {
    data a = make_data(5 * 2048 + 100, 70);
    multiply_rows(&a, 2 * 2048 + 17, factors[k]);
    const scl_flow flow = flow_of(&a, SCL_DTYPE_FLOAT64, false, false);
    wide *want = reference(&a, false, true);
    const double got = error_of_blocks(&a, &flow, true, want);
    expect(got < 2e-15, "sums in 128 bits", got, 2e-15);
    compare_parts(&flow, "parts in 128 bits");
    scl_sums *sums = sum(&flow);
    expect(sums->whole->moment[0].high != NULL, "128 bits", 0, 1);
    scl_sums_destroy(sums);
    scl_release(want);
    release_data(&a);
  }
}

/* Later rows are larger in a few columns: of several bands the first does not fit into 64 bits, and
 * those that are left then are added as well. */
static void test_wide_band(void) {
  data a = make_data(2048 + 200, 150);
  for (size_t i = 2048; i < a.n; i++)
    for (size_t j = 0; j < 10; j++)
      scl_matrix_set(&a.x, i, j, 1e4 * scl_matrix_get(&a.x, i, j));
  const scl_flow flow = flow_of(&a, SCL_DTYPE_FLOAT64, false, false);
  wide *want = reference(&a, false, false);
  const double got = error_of_blocks(&a, &flow, false, want);
  expect(got < 2e-15, "a band in 128 bits", got, 2e-15);
  scl_sums *sums = sum(&flow);
  expect(sums->whole->moment[0].high != NULL, "128 bits of a band", 0, 1);
  scl_sums_destroy(sums);
  scl_release(want);
  release_data(&a);
}

static void expect_refused(const data *a, scl_dtype dtype, const char *sentence) {
  const scl_flow flow = flow_of(a, dtype, false, false);
  scl_sums *sums = NULL;
  scl_error error = {0};
  const scl_status status = scl_sums_accumulate(&scl_way_dense, &flow, &sums, &error);
  expect(status == SCL_STATUS_NUMERIC, "too large", status, SCL_STATUS_NUMERIC);
  expect(strstr(error.message, sentence) != NULL, error.message, 0, 0);
}

static void test_too_large(void) {
  data a = make_data(5000, 70);
  multiply_rows(&a, 3000, 1e14);
  expect_refused(&a, SCL_DTYPE_FLOAT64,
                 "the sum of squares of feature 1 is too large for float64: scale the data");
  release_data(&a);
  a = make_data(300, 70);
  for (size_t i = 0; i < a.n; i++)
    scl_matrix_set(&a.x, i, 4, 1e30);
  expect_refused(&a, SCL_DTYPE_FLOAT32, "of feature 5 is too large for float32: scale the data");
  release_data(&a);
}

/* Sums of other first rows have other units. */
static void test_unlike(void) {
  data a = make_data(3000, 5), b = make_data(3000, 5);
  multiply_rows(&b, 0, 100);
  const scl_flow one = flow_of(&a, SCL_DTYPE_FLOAT64, false, false),
                 two = flow_of(&b, SCL_DTYPE_FLOAT64, false, false);
  scl_sums *first = sum(&one), *second = sum(&two);
  scl_error error = {0};
  const scl_status status = scl_whole_sums_merge(first->whole, second->whole, false, &error);
  expect(status == SCL_STATUS_BAD_DATA, "unlike units", status, SCL_STATUS_BAD_DATA);
  scl_sums_destroy(first);
  scl_sums_destroy(second);
  release_data(&a);
  release_data(&b);
}

/* Rows that are summed in the units of other sums join them, whatever their weights. */
static void test_given_units(void) {
  data a = make_data(3000, 5), b = make_data(3000, 5);
  multiply_rows(&b, 0, 100);
  for (size_t i = 0; i < b.n; i++)
    b.weights[i] *= 1e4;
  scl_flow one = flow_of(&a, SCL_DTYPE_FLOAT64, true, false),
           two = flow_of(&b, SCL_DTYPE_FLOAT64, true, false);
  scl_sums *first = sum(&one);
  two.unit = first->whole->unit;
  two.fixed_unit = true;
  scl_sums *second = sum(&two);
  scl_error error = {0};
  need(scl_whole_sums_merge(first->whole, second->whole, false, &error), &error);
  scl_sums_destroy(first);
  scl_sums_destroy(second);
  release_data(&a);
  release_data(&b);
}

int main(void) {
  test_parts();
  test_rounding();
  test_scales();
  test_wide();
  test_wide_band();
  test_too_large();
  test_unlike();
  test_given_units();
  (void)fprintf(stderr, "block_sums_test: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
