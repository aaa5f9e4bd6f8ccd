/* Whole-number features: their rounding, exact sums of products, and products with float64 numbers,
 * against plain loops. All instruction sets of the machine, and SCULLERY_ISA's in the public
 * functions. */
#include "algebra/symmetric_internal.h"
#include "algebra/whole_internal.h"
#include "algebra/whole_totals.h"
#include "base/pool.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 huge;
__extension__ typedef unsigned __int128 huge_bits;

static void *room(size_t count, size_t size) {
  void *out = calloc(count + 1, size);
  if (out == NULL) abort();
  return out;
}

static int32_t number(scl_whole type, const void *v, ptrdiff_t at) {
  return type == SCL_WHOLE_INT8 ? ((const int8_t *)v)[at] : ((const int16_t *)v)[at];
}

/* What the numbers are: any; the largest, of either sign; the largest; minus the largest. */
typedef enum filling { ANY, EXTREME, HIGHEST, LOWEST } filling;

/* rows x stride numbers; those behind the first n of a row are 99, which no sum may contain. */
static void *some_numbers(scl_whole type, size_t rows, size_t n, size_t stride, filling content) {
  const int32_t most = scl_whole_most(type);
  void *v = room(rows * stride, scl_whole_size(type));
  for (size_t i = 0; i < rows * stride; i++) {
    const uint64_t draw = chance() >> 20;
    int32_t value = content == ANY ? (int32_t)(draw % (uint64_t)(2 * most + 1)) - most
                    : content == HIGHEST || (content == EXTREME && draw % 2) ? most
                                                                             : -most;
    if (i % stride >= n) value = 99;
    if (type == SCL_WHOLE_INT8)
      ((int8_t *)v)[i] = (int8_t)value;
    else
      ((int16_t *)v)[i] = (int16_t)value;
  }
  return v;
}

/* ------------ sums of products */

typedef struct sums_case {
  scl_whole type;
  size_t n, rows, stride;
  unsigned shift;
  filling content;
  int wide; /* totals of 128 bits */
} sums_case;

static scl_whole_totals some_totals(const sums_case *c) {
  scl_whole_totals totals = {.low = NULL};
  scl_error error = {0};
  must(scl_symmetric_create(c->n, &totals.low, &error), &error);
  if (c->wide) must(scl_symmetric_create(c->n, &totals.high, &error), &error);
  return totals;
}

static void release(const scl_whole_totals *totals) {
  scl_symmetric_destroy(totals->low);
  scl_symmetric_destroy(totals->high);
}

static int64_t word(const scl_symmetric *a, size_t i, size_t j) {
  int64_t bits;
  memcpy(&bits, scl_tile_at(a, i / a->tile, j / a->tile) + i % a->tile * a->tile + j % a->tile,
         sizeof bits);
  return bits;
}

static huge entry(const scl_whole_totals *totals, size_t i, size_t j) {
  const int64_t low = word(totals->low, i, j);
  if (totals->high == NULL) return low;
  return (huge)((huge_bits)(huge)word(totals->high, i, j) << 64 | (uint64_t)low);
}

/* Some entries of each row of the lower triangle against a plain loop, multiplied by `factor`. */
static void check_totals(const sums_case *c, const void *v, const scl_whole_totals *totals,
                         huge factor, const char *what) {
  const size_t apart = c->n > 80 ? 1 + c->n / 29 : 1;
  for (size_t i = 0; i < c->n; i++)
    for (size_t j = i; j < c->n; j -= apart) {
      huge wanted = 0;
      for (size_t r = 0; r < c->rows; r++) {
        const ptrdiff_t row = (ptrdiff_t)(r * c->stride);
        wanted +=
            (huge)number(c->type, v, row + (ptrdiff_t)i) * number(c->type, v, row + (ptrdiff_t)j);
      }
      wanted *= factor;
      const huge got = entry(totals, i, j);
      expect(got == wanted, what, (double)got, (double)wanted);
      if (got != wanted || j < apart) break;
    }
}

/* The same sums by every kernel of every instruction set, in two calls of unequal sizes. */
static void test_sums(const sums_case *c) {
  void *v = some_numbers(c->type, c->rows, c->n, c->stride, c->content);
  const size_t first = c->rows / 3;
  const char *rest = (const char *)v + first * c->stride * scl_whole_size(c->type);
  for (const scl_loops *const *set = scl_loops_all(); *set != NULL; set++) {
    const scl_whole_loops *loops = (*set)->whole;
    const scl_whole_kernel *const *kernel = c->type == SCL_WHOLE_INT8 ? loops->int8 : loops->int16;
    for (; *kernel != NULL; kernel++) {
      if (!scl_whole_kernel_runs(*kernel)) continue;
      const scl_whole_totals totals = some_totals(c);
      scl_error error = {0};
      must(scl_whole_accumulate_by(loops, *kernel, &totals, c->type, v, (ptrdiff_t)c->stride, first,
                                   c->shift, &error),
           &error);
      must(scl_whole_accumulate_by(loops, *kernel, &totals, c->type, rest, (ptrdiff_t)c->stride,
                                   c->rows - first, c->shift, &error),
           &error);
      char what[160];
      (void)snprintf(what, sizeof what, "%s%s %s n=%zu rows=%zu shift=%u", (*set)->name,
                     (*kernel)->vnni ? " vnni" : "", scl_whole_name(c->type), c->n, c->rows,
                     c->shift);
      check_totals(c, v, &totals, (huge)1 << c->shift, what);
      release(&totals);
    }
  }
  free(v);
}

/* Orders at and around the sizes of strips, tiles and bands; rows around those of steps, passes and
 * batches. */
static void test_sizes(scl_whole type) {
  static const size_t orders[] = {1, 2, 3, 5, 8, 9, 16, 17, 47, 48, 49, 63, 64, 65, 130, 300},
                      rows[] = {0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 257, 511, 512, 513, 1023, 1025};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
      if (orders[i] > 65 && rows[r] > 5 && rows[r] % 64 != 1) continue;
      const filling content = (i + r) % 3 == 0 ? EXTREME : ANY;
      test_sums(&(sums_case){type, orders[i], rows[r], orders[i] + r % 3, 0, content, 0});
    }
  test_sums(&(sums_case){type, 700, 70, 701, 0, ANY, 0});
  for (filling content = EXTREME; content <= LOWEST; content++)
    test_sums(&(sums_case){type, 50, 3000, 50, 0, content, 0});
}

static void test_shifts(scl_whole type) {
  static const unsigned shifts[] = {1, 2, 7, 26, 31, 32, 33, 62, 63};
  for (size_t s = 0; s < sizeof shifts / sizeof *shifts; s++)
    test_sums(&(sums_case){type, 70, 700, 71, shifts[s], (s % 2) ? LOWEST : ANY, 1});
  test_sums(&(sums_case){type, 70, 700, 71, 0, EXTREME, 1});
  for (unsigned shift = 1; shift < 30; shift += 7)
    test_sums(&(sums_case){type, 33, 300, 33, shift, EXTREME, 0});
}

/* Carries in both directions: 2^63 is passed many times, and comes back. */
static void test_carries(void) {
  const sums_case c = {SCL_WHOLE_INT16, 20, 512, 20, 60, EXTREME, 1};
  void *v = some_numbers(c.type, c.rows, c.n, c.stride, c.content);
  const scl_whole_totals totals = some_totals(&c);
  scl_error error = {0};
  for (int times = 0; times < 9; times++)
    must(scl_whole_accumulate(&totals, c.type, v, (ptrdiff_t)c.stride, c.rows, c.shift, &error),
         &error);
  check_totals(&c, v, &totals, (huge)9 << 60, "carries");
  release(&totals);
  free(v);
}

/* The same bits on any number of threads, and in one call or several. */
static void test_threads(scl_whole type) {
  const sums_case c = {type, 700, 2100, 700, 3, ANY, 0};
  void *v = some_numbers(type, c.rows, c.n, c.stride, c.content);
  const size_t before = scl_pool_threads();
  const scl_whole_totals wanted = some_totals(&c);
  scl_error error = {0};
  scl_pool_set_threads(1);
  must(scl_whole_accumulate(&wanted, type, v, 700, c.rows, c.shift, &error), &error);
  for (size_t threads = 2; threads <= 7; threads++) {
    const scl_whole_totals got = some_totals(&c);
    scl_pool_set_threads(threads);
    for (size_t r = 0, some; r < c.rows; r += some) {
      some = scl_min(c.rows - r, 1 + chance() % (threads == 2 ? c.rows : 900));
      must(scl_whole_accumulate(&got, type, (const char *)v + r * 700 * scl_whole_size(type), 700,
                                some, c.shift, &error),
           &error);
    }
    size_t unlike = 0;
    for (size_t i = 0; i < c.n; i++)
      for (size_t j = 0; j <= i; j++)
        unlike += entry(&got, i, j) != entry(&wanted, i, j);
    expect(unlike == 0, "entries that depend on the threads", (double)unlike, 0);
    release(&got);
  }
  scl_pool_set_threads(before);
  release(&wanted);
  free(v);
}

/* ------------ rounding */

/* The same by libm, in the arithmetic of the type. */
static int32_t rounded(scl_dtype dtype, int32_t most, double y, double offset, double inverse,
                       size_t *clipped) {
  double z = (y - offset) * inverse;
  if (dtype == SCL_DTYPE_FLOAT32) {
    const volatile float difference = (float)y - (float)offset;
    const volatile float product = difference * (float)inverse;
    z = (double)product;
  }
  *clipped += fabs(z) > most + 0.5;
  return (int32_t)fmin(fmax(nearbyint(z), -most), most);
}

/* By the table of one instruction set; NULL: by the public function. */
static int round_by(const scl_whole_loops *loops, scl_whole type, scl_dtype dtype, size_t count,
                    const void *y, const void *offset, const void *inverse, void *v,
                    size_t *clipped) {
  if (loops == NULL) return scl_whole_round(type, dtype, count, y, offset, inverse, v, clipped);
  const int narrow = dtype == SCL_DTYPE_FLOAT32, byte = type == SCL_WHOLE_INT8;
  return (narrow ? (byte ? loops->round_f32_i8 : loops->round_f32_i16)
                 : (byte ? loops->round_f64_i8 : loops->round_f64_i16))(count, y, offset, inverse,
                                                                        v, clipped);
}

static void check_rounding(const scl_whole_loops *loops, scl_whole type, scl_dtype dtype,
                           size_t count, const double *y, const double *offset,
                           const double *inverse) {
  void *y_in = scl_convert(y, count, dtype), *inverse_in = scl_convert(inverse, count, dtype),
       *offset_in = offset == NULL ? NULL : scl_convert(offset, count, dtype),
       *v = room(count, scl_whole_size(type));
  if (y_in == NULL || inverse_in == NULL || (offset != NULL && offset_in == NULL)) abort();
  size_t got = 5, wanted = 5, unlike = 0;
  const int finite = round_by(loops, type, dtype, count, y_in, offset_in, inverse_in, v, &got);
  expect(finite, "finite numbers", finite, 1);
  for (size_t i = 0; i < count; i++)
    unlike += number(type, v, (ptrdiff_t)i) !=
              rounded(dtype, scl_whole_most(type), scl_number(y_in, dtype, i),
                      offset == NULL ? 0 : scl_number(offset_in, dtype, i),
                      scl_number(inverse_in, dtype, i), &wanted);
  expect(unlike == 0, "numbers that are rounded otherwise", (double)unlike, 0);
  expect(got == wanted, "clipped numbers", (double)got, (double)wanted);
  SCL_RELEASE(y_in, inverse_in, offset_in);
  free(v);
}

/* Halves, ends, zeros of both signs, numbers far beyond the ends; then any numbers, of which one in
 * ten is beyond. */
static void test_rounding(const scl_whole_loops *loops, scl_whole type, scl_dtype dtype) {
  enum { COUNT = 1200 };
  double y[COUNT], offset[COUNT], inverse[COUNT];
  const double most = scl_whole_most(type),
               ends[] = {0,           -0.0,         most,         -most,       most + 0.5,
                         -most - 0.5, most + 0.75,  -most - 0.75, most + 1,    1e30,
                         -1e30,       most - 0.5,   0.5 - most,   0x1p-130,    3.4e38,
                         -3.4e38,     most + 0.499, 0.49999997,   -0.49999997, most - 0.50001};
  for (size_t i = 0; i < COUNT; i++) {
    y[i] = i < 20 ? ends[i] : (double)i - 600 + 0.5;
    inverse[i] = 1;
  }
  for (size_t count = 1; count <= COUNT; count += count < 140 ? 1 : 53)
    check_rounding(loops, type, dtype, count, y, NULL, inverse);
  for (size_t i = 0; i < COUNT; i++) {
    offset[i] = (double)(chance() >> 40) * 0x1p-24;
    inverse[i] = 1 + 30 * (double)(chance() >> 40) * 0x1p-24;
    y[i] = ((double)(chance() >> 40) * 0x1p-23 - 1) * 1.1 * most / inverse[i] + offset[i];
  }
  check_rounding(loops, type, dtype, COUNT, y, offset, inverse);
  check_rounding(loops, type, dtype, 511, y + 1, offset + 1, inverse + 1);
}

static void test_not_finite(const scl_whole_loops *loops, scl_whole type, scl_dtype dtype) {
  enum { COUNT = 150 };
  const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
  double ones[COUNT], zeros[COUNT] = {0};
  int16_t v[COUNT];
  for (size_t i = 0; i < COUNT; i++)
    ones[i] = 1;
  void *inverse = scl_convert(ones, COUNT, dtype), *y = scl_convert(zeros, COUNT, dtype);
  if (inverse == NULL || y == NULL) abort();
  for (size_t k = 0; k < 4; k++)
    for (size_t i = 0; i < COUNT; i++) {
      size_t clipped = 0;
      scl_set_number(y, dtype, i, bad[k]);
      const int finite = round_by(loops, type, dtype, COUNT, y, NULL, inverse, v, &clipped),
                before = round_by(loops, type, dtype, i, y, NULL, inverse, v, &clipped);
      expect(!finite, "a number that is not finite", finite, 0);
      expect(before, "the numbers before it", before, 1);
      scl_set_number(y, dtype, i, 0);
    }
  SCL_RELEASE(inverse, y);
}

static void test_roundings(scl_whole type, scl_dtype dtype) {
  for (const scl_loops *const *set = scl_loops_all(); *set != NULL; set++) {
    test_rounding((*set)->whole, type, dtype);
    test_not_finite((*set)->whole, type, dtype);
  }
  test_rounding(NULL, type, dtype);
}

/* ------------ products with float64 numbers */

/* V a within rounding of a plain loop, and with the same bits for every row alone and every column
 * of a alone. */
static void test_product(scl_whole type, size_t rows, size_t cols, size_t k) {
  const size_t stride = cols + 3;
  void *v = some_numbers(type, rows, cols, stride, ANY);
  double *a = room(cols * k, sizeof *a), *out = room(rows * k, sizeof *out),
         *alone = room(k, sizeof *alone), one;
  for (size_t i = 0; i < cols * k; i++)
    a[i] = (double)(chance() >> 11) * 0x1p-52 - 1;
  scl_whole_product(type, rows, cols, v, (ptrdiff_t)stride, a, k, out);
  for (size_t i = 0; i < rows; i++) {
    const char *row = (const char *)v + i * stride * scl_whole_size(type);
    scl_whole_product(type, 1, cols, row, (ptrdiff_t)stride, a, k, alone);
    for (size_t q = 0; q < k; q++) {
      double sum = 0, size = 0;
      for (size_t j = 0; j < cols; j++) {
        const double term = number(type, row, (ptrdiff_t)j) * a[q * cols + j];
        sum += term;
        size += fabs(term);
      }
      expect(fabs(out[i * k + q] - sum) <= 1e-16 * (double)(cols + 4) * size, "V a", out[i * k + q],
             sum);
      expect(out[i * k + q] == alone[q], "V a of a row alone", alone[q], out[i * k + q]);
    }
  }
  scl_whole_product(type, 1, cols, v, (ptrdiff_t)stride, a + (k - 1) * cols, 1, &one);
  expect(one == out[k - 1], "V a of a column alone", one, out[k - 1]);
  free(v);
  free(a);
  free(out);
  free(alone);
}

/* V'd of digits, exactly, added to what is there. */
static void test_adjoint(scl_whole type, size_t rows, size_t cols, size_t k, filling content) {
  const size_t stride = cols + 1;
  void *v = some_numbers(type, rows, cols, stride, content);
  double *d = room(rows * k, sizeof *d), *sums = room(k * cols, sizeof *sums);
  for (size_t i = 0; i < rows * k; i++)
    d[i] = content == ANY ? (double)(chance() >> 37) - 0x1p26 + 1 : 0x1p26 - 1;
  for (size_t i = 0; i < k * cols; i++)
    sums[i] = content == ANY ? (double)i : 0;
  scl_whole_adjoint(type, rows, cols, v, (ptrdiff_t)stride, d, k, sums);
  for (size_t q = 0; q < k; q++)
    for (size_t j = 0; j < cols; j++) {
      int64_t wanted = content == ANY ? (int64_t)(q * cols + j) : 0;
      for (size_t i = 0; i < rows; i++)
        wanted += number(type, v, (ptrdiff_t)(i * stride + j)) * (int64_t)d[i * k + q];
      expect(sums[q * cols + j] == (double)wanted, "V'd", sums[q * cols + j], (double)wanted);
    }
  free(v);
  free(d);
  free(sums);
}

static void test_products(scl_whole type) {
  static const size_t columns[] = {1, 3, 64, 255, 256, 257, 700}, ks[] = {1, 2, 5, 8, 9, 32, 40};
  for (size_t i = 0; i < 7; i++) {
    test_product(type, 1 + i * 9, columns[i], ks[6 - i]);
    test_product(type, 17, columns[i], ks[i]);
    test_adjoint(type, 1 + i * 33, columns[i], ks[6 - i], ANY);
    test_adjoint(type, 64, columns[i], ks[i], ANY);
  }
  test_adjoint(type, (size_t)1 << 15, 3, 2, HIGHEST);
  test_adjoint(type, (size_t)1 << 15, 3, 1, LOWEST);
}

#ifdef __SANITIZE_THREAD__
enum { RACES = 1 };
#else
enum { RACES = 0 };
#endif

/* Copies of the packed columns, one for each of a few threads: they are in the plan, and without
 * memory for them there is one. Any allocation may be the one that fails. */
static void test_little_memory(scl_whole type) {
  enum { ROWS = 300, N = 900, THREADS = 3 };
  void *v = some_numbers(type, ROWS, N, N, ANY);
  const size_t before = scl_pool_threads();
  scl_whole_totals want, got;
  scl_error error = {0};
  scl_pool_set_threads(1);
  const double one = scl_whole_packed_bytes(type, N, ROWS);
  must(scl_whole_totals_create(N, false, &want, &error), &error);
  must(scl_whole_accumulate(&want, type, v, N, ROWS, 0, &error), &error);
  scl_pool_set_threads(THREADS);
  const double all = scl_whole_packed_bytes(type, N, ROWS);
  expect(all == THREADS * one, "bytes of copies", all, THREADS * one);
  for (long after = 0; after < 2; after++) { /* the columns, and which of them are packed */
    must(scl_whole_totals_create(N, false, &got, &error), &error);
    scl_allocate_fail_after(after);
    must(scl_whole_accumulate(&got, type, v, N, ROWS, 0, &error), &error);
    scl_allocate_fail_after(-1);
    expect(scl_whole_totals_equal(&want, &got), "sums with little memory", (double)after, 0);
    scl_whole_totals_destroy(&got);
  }
  scl_whole_totals_destroy(&want);
  scl_pool_set_threads(before);
  free(v);
}

int main(void) {
  expect(strcmp(scl_whole_name(SCL_WHOLE_INT8), "int8") == 0, "the name of int8", 0, 0);
  expect(strcmp(scl_whole_name(SCL_WHOLE_INT16), "int16") == 0, "the name of int16", 0, 0);
  expect(scl_whole_name(SCL_WHOLE_NONE) == NULL, "no name", 0, 0);
  for (scl_whole type = SCL_WHOLE_INT8; type <= SCL_WHOLE_INT16; type++) {
    test_threads(type);
    test_little_memory(type);
    if (RACES) continue; /* the rest is the work of one thread */
    test_sizes(type);
    test_shifts(type);
    test_roundings(type, SCL_DTYPE_FLOAT32);
    test_roundings(type, SCL_DTYPE_FLOAT64);
    test_products(type);
  }
  test_carries();
  scl_pool_stop();
  if (failures > 0) (void)fprintf(stderr, "whole_test: %d failures\n", failures);
  return failures > 0;
}
