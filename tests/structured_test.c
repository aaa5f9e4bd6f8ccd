/* Samplers that draw in blocks, through the plugin interface: parts of a batch, whole products
 * against their rows, every instruction set. */
#include "../plugins/shared/walsh.h"
#include "plugin/host.h"
#include "plugin/instance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what, double got, double wanted) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "structured_test: %s: got %.17g, wanted %.17g\n", what, got, wanted);
}

static void *memory(size_t bytes) {
  void *made = calloc(bytes + 1, 1);
  if (made == NULL) abort();
  return made;
}

/* An instance of sampler.NAME with one option given as a word (or none). */
static scl_instance *make(const char *name, const char *option, const char *word) {
  const scl_component *component = NULL;
  scl_settings settings;
  scl_instance *instance = NULL;
  scl_error error = {0};
  const scl_given given = {.name = option, .value = {.form = SCL_FORM_WORD, .word = word}};
  scl_status status = scl_registry_find(SCL_KIND_SAMPLER, name, &component, &error);
  if (status == SCL_STATUS_OK)
    status = scl_settings_create(name, component->plugin->options, component->plugin->n_options,
                                 &given, option != NULL, &settings, &error);
  if (status == SCL_STATUS_OK)
    status = scl_instance_create(component, &settings, &instance, &error);
  if (status == SCL_STATUS_OK) return instance;
  (void)fprintf(stderr, "structured_test: sampler.%s: %s\n", name, error.message);
  exit(1);
}

static scl_parameters reserve(const scl_layout *layout, size_t dim, size_t first, size_t count) {
  return (scl_parameters){.head = SCL_HEAD(scl_parameters),
                          .space = layout->space,
                          .first = first,
                          .count = count,
                          .dim = dim,
                          .weights = memory(count * layout->width * sizeof(double)),
                          .stride = (ptrdiff_t)layout->width,
                          .support = memory(count * layout->support * sizeof(int32_t)),
                          .support_stride = (ptrdiff_t)layout->support};
}

static void release(scl_parameters *parameters) {
  free(parameters->weights);
  free(parameters->support);
}

static scl_parameters drawn(const scl_instance *sampler, size_t dim, size_t first, size_t count) {
  const scl_sampler *table = scl_instance_vtable(sampler);
  scl_layout layout;
  scl_error error = {0};
  expect(table->layout(sampler->self, dim, &layout, &error) == SCL_STATUS_OK, error.message, 0, 0);
  scl_parameters out = reserve(&layout, dim, first, count);
  expect(table->draw(sampler->self, (scl_address){7, 2}, &out, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  return out;
}

/* Parameter t is the same whatever the batch that it is asked for in, also inside a block. */
static void test_batches(const char *name, const char *option, const char *word) {
  enum { COUNT = 200, DIM = 9 };
  scl_instance *sampler = make(name, option, word);
  scl_parameters all = drawn(sampler, DIM, 0, COUNT);
  static const size_t cuts[][2] = {{0, 1}, {3, 5}, {8, 2}, {60, 70}, {131, 69}};
  for (size_t c = 0; c < sizeof cuts / sizeof cuts[0]; c++) {
    scl_parameters part = drawn(sampler, DIM, cuts[c][0], cuts[c][1]);
    const size_t width = (size_t)all.stride, support = (size_t)all.support_stride;
    expect(memcmp(part.weights, all.weights + cuts[c][0] * width,
                  cuts[c][1] * width * sizeof(double)) == 0,
           name, (double)cuts[c][0], 0);
    expect(memcmp(part.support, all.support + cuts[c][0] * support,
                  cuts[c][1] * support * sizeof(int32_t)) == 0,
           name, (double)cuts[c][0], 0);
    release(&part);
  }
  release(&all);
  scl_instance_release(sampler);
}

/* z = X W' to a few roundings of sums of P numbers (|x| |w| eps sqrt(P)), for every row and
 * column. */
static void compare_product(const scl_parameters *p, const double *w, const scl_block *x,
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

static void test_product(const char *form, size_t dim, scl_dtype dtype) {
  enum { ROWS = 5 };
  scl_instance *sampler = make("hadamard", "form", form);
  const scl_sampler *table = scl_instance_vtable(sampler);
  const scl_ability_structured *structured = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  scl_layout layout;
  scl_error error = {0};
  expect(table->layout(sampler->self, dim, &layout, &error) == SCL_STATUS_OK, error.message, 0, 0);
  scl_parameters p = drawn(sampler, dim, 2 * layout.block, 3 * layout.block);
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
  const scl_block in = {x, dtype, ROWS, dim, 1, (ptrdiff_t)x_stride, 0};
  scl_block out = {z, dtype, ROWS, p.count, 1, (ptrdiff_t)z_stride, 0};
  expect(structured->rows(sampler->self, &p, w, (ptrdiff_t)dim, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  expect(structured->apply(sampler->self, &p, &in, &out, &error) == SCL_STATUS_OK, error.message, 0,
         0);
  compare_product(&p, w, &in, &out);
  p.count -= 1;
  expect(structured->apply(sampler->self, &p, &in, &out, &error) == SCL_STATUS_BAD_SHAPE &&
             strstr(error.message, "whole blocks") != NULL,
         "a part of a block is refused", 0, 0);
  free(w), free(x), free(z);
  release(&p);
  scl_instance_release(sampler);
}

/* In float64 rows of 1e300 and 1e-300 come through as powers of two times those of 1. */
static void test_range(const char *form) {
  enum { DIM = 100 };
  static const double sizes[] = {0x1p990, 0x1p-990};
  scl_instance *sampler = make("hadamard", "form", form);
  const scl_ability_structured *structured = scl_instance_ability(sampler, SCL_ABILITY_STRUCTURED);
  scl_parameters p = drawn(sampler, DIM, 0, 128);
  double x[DIM], plain[128], scaled[128];
  for (int k = 0; k < 2; k++) {
    scl_block in = {x, SCL_DTYPE_FLOAT64, 1, DIM, 1, DIM, 0},
              out = {plain, SCL_DTYPE_FLOAT64, 1, 128, 1, 128, 0};
    for (int j = 0; j < DIM; j++)
      x[j] = cos(j);
    expect(structured->apply(sampler->self, &p, &in, &out, NULL) == SCL_STATUS_OK, "apply", 0, 0);
    for (int j = 0; j < DIM; j++)
      x[j] *= sizes[k];
    out.data = scaled;
    expect(structured->apply(sampler->self, &p, &in, &out, NULL) == SCL_STATUS_OK, "apply", 0, 0);
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
  const scl_block in = {x, SCL_DTYPE_FLOAT64, 1, size, 1, (ptrdiff_t)size, 0},
                  out = {z, SCL_DTYPE_FLOAT64, 1, size, 1, (ptrdiff_t)size, 0};
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
  enum { COUNT = 20000, ROWS = 12, FAN_IN = 4 };
  const scl_component *component = NULL;
  scl_error error = {0};
  expect(scl_registry_find(SCL_KIND_SAMPLER, "pooled", &component, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  scl_instance *base = make("gaussian", NULL, NULL);
  const scl_part part = {base->component->plugin, base->self};
  const scl_value values[2] = {{.form = SCL_FORM_PARTS, .parts = &part, .length = 1},
                               {.form = SCL_FORM_INTEGER, .number = ROWS}};
  void *self = NULL;
  expect(component->plugin->create(&scl_host_table, values, &self, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  const scl_ability_pool *pool = component->plugin->ability(self, SCL_ABILITY_POOL);
  int32_t *all = memory(COUNT * FAN_IN * sizeof *all), some[FAN_IN * 3];
  double seen[ROWS] = {0}, statistic = 0;
  expect(pool->rows(self, COUNT, FAN_IN) == ROWS, "shared rows", 0, ROWS);
  expect(pool->pool(self, (scl_address){7, 2}, 0, COUNT, FAN_IN, all, &error) == SCL_STATUS_OK,
         error.message, 0, 0);
  expect(pool->pool(self, (scl_address){7, 2}, 5, 3, FAN_IN, some, &error) == SCL_STATUS_OK,
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
  expect(pool->pool(self, (scl_address){7, 2}, 0, 1, ROWS + 1, all, &error) ==
                 SCL_STATUS_BAD_OPTION &&
             strstr(error.message, "projections") != NULL,
         "more rows than there are", 0, 0);
  free(all);
  component->plugin->destroy(self);
  scl_instance_release(base);
}

int main(void) {
  static const size_t dims[] = {1, 5, 64, 65, 100, 1024};
  test_batches("sparse", NULL, NULL);
  test_batches("orthogonal", NULL, NULL);
  test_batches("hadamard", "form", "sorf");
  test_batches("hadamard", "form", "fastfood");
  test_batches("qmc", "sequence", "sobol");
  test_batches("qmc", "sequence", "halton");
  for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
    test_product("sorf", dims[i], SCL_DTYPE_FLOAT64);
    test_product("sorf", dims[i], SCL_DTYPE_FLOAT32);
    test_product("fastfood", dims[i], SCL_DTYPE_FLOAT64);
    test_product("fastfood", dims[i], SCL_DTYPE_FLOAT32);
  }
  test_range("sorf");
  test_range("fastfood");
  for (size_t size = 8; size <= 4096; size *= 2)
    test_instruction_sets(size);
  test_pools();
  (void)printf("structured_test: %d failures\n", failures);
  return failures != 0;
}
