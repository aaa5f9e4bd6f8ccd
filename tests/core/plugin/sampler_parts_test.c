/* Samplers through the plugin interface: parts of a batch, of every one; of those that draw in
 * blocks whole products against their rows, on every instruction set. */
#include "expect.h"
#include "plugin/registry.h"
#include "plugin/sampler.h"
#include "sampler/hadamard/walsh.c"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory(size_t bytes) {
  void *made = calloc(bytes + 1, 1);
  if (made == NULL) abort();
  return made;
}

/* A sampler as typed: "hadamard{form = \"sorf\"}". */
static scl_instance *make(const char *text) {
  scl_instance *instance = NULL;
  scl_error error = {0};
  if (scl_instance_from_text("sampler", text, &instance, &error) == SCL_STATUS_OK) return instance;
  (void)fprintf(stderr, "structured_test: %s: %s\n", text, error.message);
  exit(1);
}

static scl_draw draw_of(size_t dim, size_t total) {
  return (scl_draw){.head = SCL_HEAD(scl_draw),
                    .address = {.seed = 7, .stream = 2},
                    .dim = dim,
                    .total = total,
                    .planes = 1};
}

/* For `count` parameters; 0: as many as the sampler says, or any number. */
static scl_layout layout_of(const scl_instance *sampler, size_t dim, size_t count) {
  scl_layout layout;
  scl_error error = {0};
  expect(scl_sampler_layout(sampler, dim, count, &layout, &error) == SCL_STATUS_OK, error.message,
         0, 0);
  return layout;
}

static scl_parameters reserve(const scl_layout *layout, size_t dim, size_t first, size_t count) {
  return (scl_parameters){.head = SCL_HEAD(scl_parameters),
                          .space = layout->space,
                          .first = first,
                          .count = count,
                          .dim = dim,
                          .reals = layout->reals,
                          .integers = layout->integers,
                          .weights = memory(count * layout->reals * sizeof(double)),
                          .stride = (ptrdiff_t)layout->reals,
                          .support = memory(count * layout->integers * sizeof(int32_t)),
                          .support_stride = (ptrdiff_t)layout->integers,
                          .bias = layout->has_bias ? memory(count * sizeof(double)) : NULL};
}

static void release(scl_parameters *parameters) {
  free(parameters->weights);
  free(parameters->support);
  free(parameters->bias);
}

/* Parameters first .. first+count-1 of a draw of `total`. */
static scl_parameters drawn(const scl_instance *sampler, size_t dim, size_t total, size_t first,
                            size_t count) {
  const scl_layout layout = layout_of(sampler, dim, total);
  const scl_draw draw = draw_of(dim, total);
  scl_error error = {0};
  const scl_parameters out = reserve(&layout, dim, first, count);
  expect(scl_sampler_draw(sampler, &draw, &out, &error) == SCL_STATUS_OK, error.message, 0, 0);
  return out;
}

/* A block of one plane over `data`. */
static scl_block block_of(void *data, scl_dtype dtype, size_t rows, size_t cols, size_t stride) {
  return (scl_block){.data = data,
                     .dtype = dtype,
                     .rows = rows,
                     .cols = cols,
                     .planes = 1,
                     .row_stride = (ptrdiff_t)stride};
}
static scl_const_block const_block_of(const void *data, scl_dtype dtype, size_t rows, size_t cols,
                                      size_t stride) {
  return (scl_const_block){.data = data,
                           .dtype = dtype,
                           .rows = rows,
                           .cols = cols,
                           .planes = 1,
                           .row_stride = (ptrdiff_t)stride};
}

/* Parameter t is the same whatever the batch that it is asked for in, also inside a block. */
static void check_batches(const char *text, const scl_instance *sampler) {
  enum { COUNT = 200, DIM = 9 };
  const size_t fixed = layout_of(sampler, DIM, 0).count, count = fixed > 0 ? fixed : COUNT;
  scl_parameters all = drawn(sampler, DIM, count, 0, count);
  static const size_t cuts[][2] = {{0, 1}, {3, 5}, {8, 2}, {60, 70}, {131, 69}, {199, 1}};
  for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
    const size_t first = cuts[c][0], some = cuts[c][1];
    if (first + some > count) continue;
    scl_parameters part = drawn(sampler, DIM, count, first, some);
    expect(memcmp(part.weights, all.weights + first * all.reals,
                  some * all.reals * sizeof(double)) == 0,
           text, (double)first, 0);
    expect(memcmp(part.support, all.support + first * all.integers,
                  some * all.integers * sizeof(int32_t)) == 0,
           text, (double)first, 0);
    expect(all.bias == NULL || memcmp(part.bias, all.bias + first, some * sizeof(double)) == 0,
           text, (double)first, 0);
    release(&part);
  }
  release(&all);
}

static void test_batches(const char *text) {
  scl_instance *sampler = make(text);
  check_batches(text, sampler);
  scl_instance_release(sampler);
}

/* Every registered sampler with its defaults; those that learn have nothing to draw before. */
static void test_batches_of(void *context, scl_kind kind, const char *name, const char *path,
                            scl_plugin_origin origin) {
  (void)origin;
  size_t *count = context;
  (void)path;
  if (kind != SCL_KIND_SAMPLER) return;
  scl_instance *sampler = make(name);
  if (!scl_instance_has(sampler, SCL_ABILITY_LEARN)) check_batches(name, sampler);
  scl_instance_release(sampler);
  ++*count;
}

/* z = X W' to a few roundings of sums of P numbers (|x| |w| eps sqrt(P)), for every row and
 * column. */
static void compare_product(const scl_parameters *p, const double *w, const scl_const_block *x,
                            const scl_block *z) {
  const double eps = x->dtype == SCL_DTYPE_FLOAT32 ? (double)FLT_EPSILON : DBL_EPSILON;
  double worst = 0;
  for (size_t i = 0; i < x->rows; i++)
    for (size_t t = 0; t < p->count; t++) {
      double sum = 0, square_x = 0, square_w = 0;
      for (size_t j = 0; j < p->dim; j++) {
        const size_t at = i * (size_t)x->row_stride + j;
        const double value = x->dtype == SCL_DTYPE_FLOAT32 ? (double)((const float *)x->data)[at]
                                                           : ((const double *)x->data)[at];
        sum += value * w[t * p->dim + j];
        square_x += value * value;
        square_w += w[t * p->dim + j] * w[t * p->dim + j];
      }
      const size_t at = i * (size_t)z->row_stride + t;
      const double got = z->dtype == SCL_DTYPE_FLOAT32 ? (double)((const float *)z->data)[at]
                                                       : ((const double *)z->data)[at];
      worst = fmax(worst, fabs(got - sum) /
                              (eps * sqrt(square_x * fmax(square_w, (double)p->dim)) + DBL_MIN));
    }
  expect(worst < 40, "X W' by transforms against the rows themselves, in roundings", worst, 0);
}

static void test_product(const char *text, size_t dim, scl_dtype dtype) {
  enum { ROWS = 5 };
  scl_instance *sampler = make(text);
  scl_error error = {0};
  const scl_layout layout = layout_of(sampler, dim, 0);
  const scl_draw draw = draw_of(dim, 5 * layout.block);
  scl_parameters p = drawn(sampler, dim, draw.total, 2 * layout.block, 3 * layout.block);
  scl_const_parameters some = scl_parameters_view(&p);
  double *w = memory(p.count * dim * sizeof *w);
  /* rows further apart than they are long */
  const size_t x_stride = dim + 3, z_stride = p.count + 5,
               size = dtype == SCL_DTYPE_FLOAT32 ? sizeof(float) : sizeof(double);
  void *x = memory(ROWS * x_stride * size), *z = memory(ROWS * z_stride * size);
  for (size_t i = 0; i < ROWS * x_stride; i++) {
    const double value = i / x_stride == 1 ? 0 : cos((double)(i * i)); /* row 1 is all zeros */
    if (dtype == SCL_DTYPE_FLOAT32)
      ((float *)x)[i] = (float)value;
    else
      ((double *)x)[i] = value;
  }
  const scl_const_block in = const_block_of(x, dtype, ROWS, dim, x_stride);
  const scl_block out = block_of(z, dtype, ROWS, p.count, z_stride);
  expect(scl_sampler_rows(sampler, &draw, &some, w, (ptrdiff_t)dim, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  expect(scl_sampler_apply(sampler, &draw, &some, &in, &out, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  compare_product(&p, w, &in, &out);
  some.count -= 1;
  expect(scl_sampler_apply(sampler, &draw, &some, &in, &out, &error) == SCL_STATUS_BAD_SHAPE &&
             strstr(error.message, "whole blocks") != NULL,
         "a part of a block is refused", 0, 0);
  free(w), free(x), free(z);
  release(&p);
  scl_instance_release(sampler);
}

/* In float64 rows of 1e300 and 1e-300 come through as powers of two times those of 1. */
static void test_range(const char *text) {
  enum { DIM = 100 };
  static const double sizes[] = {0x1p990, 0x1p-990};
  scl_instance *sampler = make(text);
  const scl_draw draw = draw_of(DIM, 128);
  scl_parameters p = drawn(sampler, DIM, 128, 0, 128);
  const scl_const_parameters whole = scl_parameters_view(&p);
  double x[DIM], plain[128], scaled[128];
  for (int k = 0; k < 2; k++) {
    const scl_const_block in = const_block_of(x, SCL_DTYPE_FLOAT64, 1, DIM, DIM);
    scl_block out = block_of(plain, SCL_DTYPE_FLOAT64, 1, 128, 128);
    for (int j = 0; j < DIM; j++)
      x[j] = cos(j);
    expect(scl_sampler_apply(sampler, &draw, &whole, &in, &out, NULL) == SCL_STATUS_OK, "apply", 0,
           0);
    for (int j = 0; j < DIM; j++)
      x[j] *= sizes[k];
    out.data = scaled;
    expect(scl_sampler_apply(sampler, &draw, &whole, &in, &out, NULL) == SCL_STATUS_OK, "apply", 0,
           0);
    for (int t = 0; t < 128; t++)
      expect(scaled[t] == plain[t] * sizes[k], "huge and tiny rows", scaled[t],
             plain[t] * sizes[k]);
  }
  release(&p);
  scl_instance_release(sampler);
}

/* The fast transforms are the plain one, to the bit on numbers whose sums are exact, and with each
 * other on any. */
static void test_instruction_sets(size_t size) {
  static const walsh_rows f64[] = {
    walsh_rows_f64_plain,
#if defined(WALSH_X86_64)
    walsh_rows_f64_avx2,
    walsh_rows_f64_avx512
#endif
  };
  int usable = 1;
#if defined(WALSH_X86_64)
  __builtin_cpu_init();
  usable += __builtin_cpu_supports("avx2") != 0;
  usable += usable == 2 && __builtin_cpu_supports("avx512f") != 0;
#endif
  double *x = memory(size * 8), *one = memory(size * 8), *z = memory(size * 8),
         *first = memory(size * 8), *scratch = memory(size * 16);
  for (size_t i = 0; i < size; i++) {
    x[i] = (double)(i * i % 17) - 8;
    one[i] = 1;
  }
  const walsh_chain chain = {.size = size, .transforms = 1, .factors = {one}};
  const scl_const_block in = const_block_of(x, SCL_DTYPE_FLOAT64, 1, size, size);
  const scl_block out = block_of(z, SCL_DTYPE_FLOAT64, 1, size, size);
  memcpy(first, x, size * sizeof *x);
  walsh_plain(size, first);
  for (int k = 0; k < usable; k++) {
    f64[k](&chain, &in, &out, 0, scratch);
    for (size_t i = 0; i < size; i++)
      expect(z[i] == first[i], "a fast transform of whole numbers", z[i], first[i]);
  }
  for (size_t i = 0; i < size; i++)
    x[i] = cos((double)i);
  for (int k = 0; k < usable; k++) {
    f64[k](&chain, &in, &out, 0, scratch);
    if (k == 0) memcpy(first, z, size * sizeof *z);
    expect(memcmp(first, z, size * sizeof *z) == 0, "the same bits on every instruction set", k, 0);
  }
  free(x), free(one), free(z), free(first), free(scratch);
}

/* Pools read different rows, each as often as any other, and refuse to read more than there are. */
static void test_pools(void) {
  enum { COUNT = 20000, ROWS = 12, FAN_IN = 4, DIM = 3 };
  scl_error error = {0};
  scl_instance *sampler = make("pooled{projections = 12}");
  const scl_draw draw = draw_of(DIM, ROWS);
  int32_t *all = memory(COUNT * FAN_IN * sizeof *all), some[FAN_IN * 3];
  double seen[ROWS] = {0}, statistic = 0;
  size_t shared = 0;
  expect(scl_sampler_pool_rows(sampler, COUNT, FAN_IN, &shared, &error) == SCL_STATUS_OK &&
             shared == ROWS,
         "shared rows", (double)shared, ROWS);
  expect(scl_sampler_pool(sampler, &draw, 0, COUNT, FAN_IN, all, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  expect(scl_sampler_pool(sampler, &draw, 5, 3, FAN_IN, some, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  expect(memcmp(some, all + 5 * FAN_IN, sizeof some) == 0, "a pool does not depend on the batch", 0,
         0);
  for (size_t i = 0; i < COUNT * FAN_IN; i++) {
    expect(all[i] >= 0 && all[i] < ROWS && (i % FAN_IN == 0 || all[i] > all[i - 1]),
           "a pool's rows differ", all[i], 0);
    seen[all[i]]++;
  }
  /* Counts of draws without replacement: variance N q/R (1 - q/R) each, in all that over R/(R - 1)
   * of a chi-square with R - 1. */
  const double mean = (double)COUNT * FAN_IN / ROWS, variance = mean * (1 - (double)FAN_IN / ROWS);
  for (int r = 0; r < ROWS; r++)
    statistic += (seen[r] - mean) * (seen[r] - mean) / variance * (ROWS - 1) / ROWS;
  expect(fabs(statistic - (ROWS - 1)) < 5 * sqrt(2.0 * (ROWS - 1)),
         "how often each row is read, chi-square", statistic, ROWS - 1);
  expect(scl_sampler_pool(sampler, &draw, 0, 1, ROWS + 1, all, &error) == SCL_STATUS_BAD_OPTION &&
             strstr(error.message, "projections") != NULL,
         "more rows than there are", 0, 0);
  free(all);
  scl_instance_release(sampler);
}

int main(void) {
  static const size_t dims[] = {1, 5, 64, 65, 100, 1024};
  static const char *const forms[] = {"hadamard{form = \"sorf\"}", "hadamard{form = \"fastfood\"}"};
  size_t samplers = 0;
  scl_error error = {0};
  expect(scl_registry_each(test_batches_of, &samplers, &error) == SCL_STATUS_OK && samplers > 0,
         "samplers on the search path", (double)samplers, 0);
  test_batches("gaussian{bias = \"uniform\"}");
  test_batches("sparse{degree = 3, bias = \"gaussian\"}");
  test_batches("qmc{sequence = \"halton\"}");
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    test_batches(forms[f]);
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
      test_product(forms[f], dims[i], SCL_DTYPE_FLOAT64);
      test_product(forms[f], dims[i], SCL_DTYPE_FLOAT32);
    }
    test_range(forms[f]);
  }
  for (size_t size = 8; size <= 4096; size *= 2)
    test_instruction_sets(size);
  test_pools();
  (void)printf("structured_test: %d failures\n", failures);
  return failures != 0;
}
