/* Features that take two values, as bits: which bits (those of the features as numbers), and the
 * sums over them, against sums one by one. Run under each instruction set. */
#include "algebra/bits.h"
#include "base/pool.h"
#include "expect.h"
#include "map/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static scl_bits some_bits(size_t columns, size_t rows) {
  scl_bits bits;
  scl_error error = {0};
  must(scl_bits_create(columns, rows, &bits, &error), &error);
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++)
      *scl_bits_at(&bits, j, i / 64) |= (uint64_t)(chance() >> 40 & 1) << i % 64;
  return bits;
}

/* ------------ sums */

static void test_gram(size_t columns, size_t rows) {
  scl_bits bits = some_bits(columns, rows);
  scl_symmetric *a = NULL;
  scl_error error = {0};
  must(scl_symmetric_create(columns, &a, &error), &error);
  const size_t half = bits.apart / 2;
  const scl_bits_part parts[] = {{&bits, 0, half, 3}, {&bits, half, bits.apart - half, 0.5}};
  must(scl_bits_gram(parts, 1, a, &error), &error);
  must(scl_bits_gram(parts, 2, a, &error), &error);
  for (size_t i = 0; i < columns; i += 1 + i / 40)
    for (size_t j = 0; j <= i; j++) {
      double common = 0;
      for (size_t r = 0; r < rows; r++)
        common += (scl_bits_get(&bits, r, i) & scl_bits_get(&bits, r, j)) == 0 ? 0
                  : r < half * 64                                              ? 6
                                                                               : 0.5;
      expect(scl_symmetric_get(a, i, j) == common, "common bits", scl_symmetric_get(a, i, j),
             common);
    }
  scl_symmetric_destroy(a);
  scl_bits_release(&bits);
}

/* All bits set: the sums that fill a byte most. */
static void test_full_columns(void) {
  enum { COLUMNS = 9, WORDS = 100 };
  scl_bits bits = some_bits(COLUMNS, (size_t)WORDS * 64);
  scl_symmetric *a = NULL;
  scl_error error = {0};
  for (size_t j = 0; j < COLUMNS; j++)
    for (size_t w = 0; w < WORDS; w++)
      *scl_bits_at(&bits, j, w) = UINT64_MAX;
  must(scl_symmetric_create(COLUMNS, &a, &error), &error);
  must(scl_bits_gram(&(scl_bits_part){&bits, 0, WORDS, 1}, 1, a, &error), &error);
  expect(scl_symmetric_get(a, 8, 3) == WORDS * 64, "full columns", scl_symmetric_get(a, 8, 3),
         WORDS * 64);
  scl_symmetric_destroy(a);
  scl_bits_release(&bits);
}

/* Rows before keep what they are; those behind are 0 to the end of their word. */
static void test_copy(size_t start, size_t count, size_t at) {
  enum { COLUMNS = 11, ROWS = 300 };
  scl_bits from = some_bits(COLUMNS, ROWS), to = some_bits(COLUMNS, 2 * ROWS),
           before = some_bits(COLUMNS, 2 * ROWS);
  memcpy(before.words, to.words, 2 * to.apart * 8 * sizeof *to.words);
  scl_bits_copy(&from, start, count, &to, at);
  for (size_t j = 0; j < COLUMNS; j++)
    for (size_t i = 0; i < scl_bits_words(at + count) * 64; i++) {
      const int wanted = i < at           ? scl_bits_get(&before, i, j)
                         : i < at + count ? scl_bits_get(&from, start + i - at, j)
                                          : 0,
                got = scl_bits_get(&to, i, j);
      expect(got == wanted, "a copied bit", got, wanted);
    }
  scl_bits_release(&from);
  scl_bits_release(&to);
  scl_bits_release(&before);
}

/* B'r of rows from `start` on. */
/* Some rows, all or none of a word; what was in the result is overwritten. */
static void test_select(size_t rows, unsigned share) {
  enum { COLUMNS = 11, WORDS = 4 };
  scl_bits from = some_bits(COLUMNS, rows), to = some_bits(COLUMNS, (size_t)WORDS * 64);
  uint64_t mask[WORDS] = {0};
  size_t count, at = 0;
  scl_error error = {0};
  for (size_t i = 0; i < rows; i++)
    mask[i / 64] |= (uint64_t)(i / 64 == 1 || chance() >> 40 & share) << i % 64;
  must(scl_bits_select(&from, mask, from.apart, &to, &count, &error), &error);
  for (size_t i = 0; i < rows; i++) {
    if (!(mask[i / 64] >> i % 64 & 1)) continue;
    for (size_t j = 0; j < COLUMNS; j++)
      expect(scl_bits_get(&to, at, j) == scl_bits_get(&from, i, j), "selected row", (double)at,
             (double)i);
    at++;
  }
  expect(count == at, "selected rows", (double)count, (double)at);
  for (; at % 64 != 0; at++)
    expect(scl_bits_get(&to, at, 3) == 0, "rest of a word", (double)at, 0);
  scl_bits_release(&from);
  scl_bits_release(&to);
}

/* Columns of r one after the other. */
static void test_adjoint_whole(size_t columns, size_t start, size_t rows, size_t k) {
  scl_bits bits = some_bits(columns, start + rows + 30);
  scl_error error = {0};
  double *r = calloc(rows * k, sizeof *r), *out = calloc(columns * k + 1, sizeof *out);
  if (r == NULL || out == NULL) abort();
  for (size_t i = 0; i < rows * k; i++)
    r[i] = (double)(chance() >> 44) - 512 * 1024;
  must(scl_bits_adjoint_whole(&bits, start, rows, r, k, out, &error), &error);
  for (size_t j = 0; j < columns; j++)
    for (size_t q = 0; q < k; q++) {
      double sum = 0;
      for (size_t i = 0; i < rows; i++)
        sum += scl_bits_get(&bits, start + i, j) ? r[q * rows + i] : 0;
      expect(out[q * columns + j] == sum, "B'r by planes", out[q * columns + j], sum);
    }
  expect(out[columns * k] == 0, "the number behind", out[columns * k], 0);
  free(r);
  free(out);
  scl_bits_release(&bits);
}

/* The same where columns of r take one or two values, and where the last takes three. */
static void test_classes(size_t columns, size_t start, size_t rows, size_t k) {
  const size_t stride = k + 1;
  scl_bits bits = some_bits(columns, start + rows + 30);
  scl_error error = {0};
  double *r = calloc(rows * k, sizeof *r), *out = calloc(columns * stride, sizeof *out);
  bool taken;
  if (r == NULL || out == NULL) abort();
  for (size_t i = 0; i < rows * k; i++)
    r[i] = i % k == 1 ? 7 : (double)(i % k) - (chance() >> 40 & 1 ? 0.25 : 3);
  must(scl_bits_adjoint_of_two(&bits, start, rows, r, k, 1.5, out, stride, &taken, &error), &error);
  expect(taken, "columns of two values", 0, 1);
  for (size_t j = 0; j < columns; j++)
    for (size_t q = 0; q < k; q++) {
      double sum = 0;
      for (size_t i = 0; i < rows; i++)
        sum += scl_bits_get(&bits, start + i, j) ? 1.5 * r[i * k + q] : 0;
      expect(out[j * stride + q] == sum, "B'r of classes", out[j * stride + q], sum);
    }
  expect(out[k] == 0, "the number between", out[k], 0);
  memset(out, 0, columns * stride * sizeof *out);
  r[rows * k - 1] = 100;
  r[k - 1] = 101;
  if (rows > 20) {
    must(scl_bits_adjoint_of_two(&bits, start, rows, r, k, 1, out, stride, &taken, &error), &error);
    expect(!taken && out[0] == 0, "columns of several values", out[0], 0);
  }
  free(r);
  free(out);
  scl_bits_release(&bits);
}

/* 1 base' + B a of rows from `start` on. */
static void test_product(size_t columns, size_t start, size_t rows, size_t k) {
  scl_bits bits = some_bits(columns, start + rows + 30);
  scl_bits_product p;
  scl_error error = {0};
  double *a = calloc((columns + 1) * k, sizeof *a), *out = calloc(rows * k, sizeof *out);
  if (a == NULL || out == NULL) abort();
  for (size_t i = 0; i < (columns + 1) * k; i++)
    a[i] = (double)(chance() >> 44) / 1024 - 512;
  must(scl_bits_product_open(columns, a, a + columns * k, k, &p, &error), &error);
  must(scl_bits_multiply(&p, &bits, start, rows, out, &error), &error);
  for (size_t i = 0; i < rows; i++)
    for (size_t q = 0; q < k; q++) {
      double sum = a[columns * k + q];
      for (size_t j = 0; j < columns; j++)
        sum += scl_bits_get(&bits, start + i, j) ? a[j * k + q] : 0;
      expect(out[i * k + q] == sum, "B a", out[i * k + q], sum);
    }
  scl_bits_product_close(&p);
  free(a);
  free(out);
  scl_bits_release(&bits);
}

static void test_spread(size_t count, size_t start, size_t rows) {
  scl_bits bits = some_bits(count, start + rows);
  const size_t stride = count + 3;
  double *low = calloc(2 * count, sizeof *low), *out = calloc(rows * stride, sizeof *out);
  float *narrow = calloc(rows * stride, sizeof *narrow);
  if (low == NULL || out == NULL || narrow == NULL) abort();
  for (size_t j = 0; j < 2 * count; j++)
    low[j] = (double)j + 1;
  scl_bits_spread(&bits, start, rows, low, low + count, SCL_DTYPE_FLOAT64, out, (ptrdiff_t)stride);
  scl_bits_spread(&bits, start, rows, low, low + count, SCL_DTYPE_FLOAT32, narrow,
                  (ptrdiff_t)stride);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < count; j++) {
      const double want = low[scl_bits_get(&bits, start + i, j) ? count + j : j];
      expect(out[i * stride + j] == want, "a number of a bit", out[i * stride + j], want);
      expect((double)narrow[i * stride + j] == want, "a float of a bit", 0, want);
    }
  for (size_t first = 0; first < count; first += 1 + first / 2) {
    scl_bits_spread_row(&bits, start, first, count - first, low, low + count, SCL_DTYPE_FLOAT64,
                        out);
    scl_bits_spread_row(&bits, start, first, count - first, low, low + count, SCL_DTYPE_FLOAT32,
                        narrow);
    for (size_t j = first; j < count; j++) {
      const double want = low[scl_bits_get(&bits, start, j) ? count + j : j];
      expect(out[j - first] == want, "a number of a row", out[j - first], want);
      expect((double)narrow[j - first] == want, "a float of a row", 0, want);
    }
  }
  free(low);
  free(out);
  free(narrow);
  scl_bits_release(&bits);
}

/* ------------ maps */

static scl_instance *make(const char *kind, const char *text) {
  scl_instance *instance = NULL;
  scl_error error = {0};
  must(scl_instance_from_text(kind, text, &instance, &error), &error);
  return instance;
}

/* Numbers with ties, zeros of both signs, and values on thresholds. */
static double some_number(void) {
  static const double often[] = {0, -0.0, 1, -1, 0.5, 2, 5e-324, -5e-324};
  const uint64_t c = chance() >> 32;
  return c % 3 == 0 ? often[c / 3 % 8] : (double)(int64_t)(c % 4096) / 512 - 4;
}

/* Each bit says whether the feature is the higher value. */
static void compare(const scl_map *map, const char *what, const void *x, size_t rows) {
  const size_t features = scl_map_features(map), cols = scl_map_dim(map);
  const scl_dtype dtype = scl_map_dtype(map);
  scl_two_values values;
  scl_bits bits;
  scl_error error = {0};
  double *phi = calloc(rows * features + 1, sizeof *phi);
  if (phi == NULL) abort();
  expect(scl_map_two_values(map, &values), what, 0, 1);
  must(scl_bits_create(features, rows, &bits, &error), &error);
  must(scl_map_apply(map, x, (ptrdiff_t)cols, rows, phi, (ptrdiff_t)features, &error), &error);
  must(scl_map_apply_bits(map, x, (ptrdiff_t)cols, rows, &bits, &error), &error);
  for (size_t i = 0; i < rows; i++)
    for (size_t t = 0; t < features; t++) {
      const double got = scl_number(phi, dtype, i * features + t),
                   high = scl_map_feature_scale(map, t) * values.high,
                   low = scl_map_feature_scale(map, t) * values.low;
      const int high_as_number = fabs(got - high) < fabs(got - low);
      expect(scl_bits_get(&bits, i, t) == high_as_number, what, (double)t, got);
    }
  for (size_t t = 0; t < features && rows % 64 != 0; t++)
    expect(*scl_bits_at(&bits, t, rows / 64) >> rows % 64 == 0, "rows behind the last", 1, 0);
  scl_bits_release(&bits);
  free(phi);
}

static void test_map(const char *sampler, const char *phi, scl_dtype dtype, size_t dim,
                     size_t count, size_t rows, const scl_matrix *parameters) {
  scl_map_spec spec = {.sampler = make("sampler", sampler),
                       .phi = make("nonlinearity", phi),
                       .dim = dim,
                       .count = count,
                       .seed = 5,
                       .dtype = dtype,
                       .parameters = parameters};
  scl_map *map = NULL;
  scl_error error = {0};
  double *x = calloc(rows * dim + 1, sizeof *x);
  if (x == NULL) abort();
  for (size_t i = 0; i < rows * dim; i++)
    scl_set_number(x, dtype, i, some_number());
  must(scl_map_create(&spec, &map, &error), &error);
  compare(map, sampler, x, rows);
  scl_map_destroy(map);
  scl_instance_release(spec.sampler);
  scl_instance_release(spec.phi);
  free(x);
}

static void test_maps(const char *phi, scl_dtype dtype) {
  test_map("threshold{sigma = 1}", phi, dtype, 5, 77, 131, NULL);
  test_map("gaussian{sigma = 1, bias = \"uniform\"}", phi, dtype, 7, 50, 300, NULL);
  test_map("gaussian{sigma = 1}", phi, dtype, 3, 600, 65, NULL);
  test_map("rademacher", phi, dtype, 4, 30, 64, NULL); /* many projections are 0 */
  test_map("hadamard{sigma = 1}", phi, dtype, 10, 40, 70, NULL);
  test_map("sparse{degree = 2}", phi, dtype, 30, 41, 100, NULL);
  test_map("threshold{sigma = 1}", phi, dtype, 5, 1, 1, NULL);
}

/* Thresholds that rows meet exactly, of both zeros. */
static void test_ties(const char *phi, scl_dtype dtype) {
  enum { COUNT = 40, DIM = 3 };
  double rows[COUNT][2];
  for (size_t t = 0; t < COUNT; t++) {
    rows[t][0] = (double)(t % DIM + 1);
    rows[t][1] = some_number();
  }
  const scl_matrix parameters = {NULL, rows, COUNT, 2, 2, 1, SCL_DTYPE_FLOAT64};
  test_map("threshold{sigma = 1}", phi, dtype, DIM, COUNT, 400, &parameters);
}

int main(void) {
  for (size_t threads = 1; threads <= 3; threads += 2) {
    scl_pool_set_threads(threads);
    test_gram(1, 1);
    test_gram(13, 64);
    test_gram(150, 5000);
    test_gram(700, 130);
    test_full_columns();
    for (size_t start = 0; start < 130; start += 13)
      test_copy(start, 170 - start, 2 * start % 192);
    test_copy(64, 128, 128);
    for (size_t rows = 1; rows <= 256; rows += 51)
      for (unsigned share = 0; share < 8; share++)
        test_select(rows, share);
    test_copy(3, 1, 0);
    test_copy(3, 1, 63);
    test_copy(130, 170, 66);
    test_classes(20, 0, 2500, 1);
    test_classes(300, 7, 70, 3);
    test_classes(301, 130, 2200, 23);
    test_classes(1, 63, 1, 1);
    test_adjoint_whole(20, 0, 2500, 1);
    test_adjoint_whole(300, 7, 70, 2);
    test_adjoint_whole(301, 130, 2200, 3);
    test_adjoint_whole(5, 64, 64, 4);
    test_product(20, 0, 1500, 1);
    test_product(300, 7, 70, 1);
    test_product(301, 130, 700, 3);
    test_product(5, 64, 64, 10);
    test_product(1, 63, 1, 1);
    test_spread(21, 3, 150);
    test_spread(8, 64, 64);
    for (int dtype = 0; dtype < 2; dtype++) {
      test_maps("sign", dtype == 0 ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32);
      test_maps("step", dtype == 0 ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32);
      test_ties("sign", dtype == 0 ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32);
      test_ties("step", dtype == 0 ? SCL_DTYPE_FLOAT64 : SCL_DTYPE_FLOAT32);
    }
  }
  scl_pool_stop();
  return failures == 0 ? 0 : 1;
}
