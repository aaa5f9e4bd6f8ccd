/* Features of sparse rows against those of the same rows dense: for every sampler with every
 * nonlinearity and kernel, in both number types, as whole numbers, bits and codes. */
#include "base/pool.h"
#include "base/random.h"
#include "map/drawn_columns.h"
#include "map/map.h"
#include "plugin/registry.h"
#include "plugin/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static size_t compared;

static void expect(bool holds, const char *what, size_t i, double got, double wanted) {
  if (holds) return;
  if (++failures < 30)
    (void)fprintf(stderr, "map_csr_test: %s: entry %zu is %.17g, wanted %.17g\n", what, i, got,
                  wanted);
}

static void require(scl_status status, const char *what, const scl_error *error) {
  if (status == SCL_STATUS_OK) return;
  (void)fprintf(stderr, "map_csr_test: %s: %s\n", what, error->message);
  exit(1);
}

/* ------------ rows */

enum { ROWS = 150, COUNT = 70 };

typedef struct rows {
  scl_matrix x;
  scl_csr csr;
} rows;

/* Counts and fractions of about the scale 1, a number in five; rows 3 and 149 are empty, row 5 is
 * full. */
static rows make_rows(size_t dim, scl_dtype dtype) {
  rows out;
  scl_error error = {0};
  require(scl_matrix_create(ROWS, dim, dtype, &out.x, &error), "rows", &error);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < dim; j++) {
      double u[2];
      scl_random_uniform(5, 0, i, 2 * j, 2, u);
      const bool stays = i != 3 && i != 149 && (i == 5 || u[0] < 0.2);
      scl_matrix_set(&out.x, i, j, stays ? (i % 2 == 0 ? 1 : 2 * u[1] - 1) : 0);
    }
  require(scl_csr_of_matrix(&out.x, &out.csr, &error), "sparse rows", &error);
  return out;
}

static void release_rows(rows *r) {
  scl_matrix_release(&r->x);
  scl_csr_release(&r->csr);
}

/* The rows of each number of columns and type, made once. 784 run the code that 300 run, and take
 * most of the time: the address sanitizer does without. */
#ifdef __SANITIZE_ADDRESS__
static const size_t dims[] = {1, 8, 300};
#else
static const size_t dims[] = {1, 8, 300, 784};
#endif
enum { DIMS = sizeof dims / sizeof *dims };
static rows made[DIMS][2];

/* ------------ comparing */

/* A relative difference that a sum of squares in another order makes; 0: all bits. */
static double tolerance_of(const scl_map *map, bool with_kernel) {
  if (!with_kernel) return 0;
  return scl_map_dtype(map) == SCL_DTYPE_FLOAT64 ? 1e-12 : 1e-5;
}

static void compare_numbers(const scl_map *map, const rows *r, double tolerance, const char *what) {
  const size_t width = scl_map_features(map), count = ROWS * width;
  const scl_dtype dtype = scl_map_dtype(map);
  scl_error error = {0};
  void *dense = calloc(count + 1, 8), *sparse = calloc(count + 1, 8);
  const scl_status status =
      scl_map_apply(map, r->x.data, r->x.row_stride, ROWS, dense, (ptrdiff_t)width, &error);
  if (status == SCL_STATUS_OK) {
    require(scl_map_apply_csr(map, &r->csr, sparse, (ptrdiff_t)width, &error), what, &error);
    compared++;
  } /* some pairs cannot have such rows: then the sparse ones fail too */
  else
    expect(scl_map_apply_csr(map, &r->csr, sparse, (ptrdiff_t)width, &error) == status, what, 0, 0,
           0);
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    const double got = scl_number(sparse, dtype, i), wanted = scl_number(dense, dtype, i);
    expect(got == wanted || fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted)), what, i, got,
           wanted);
  }
  /* Some of the rows, and some of the parameters. */
  const size_t block = scl_map_block(map);
  if (status == SCL_STATUS_OK && scl_map_count(map) > block && width == scl_map_count(map)) {
    const scl_csr some = {r->csr.storage, r->csr.starts + 40, r->csr.columns, r->csr.values, 77,
                          r->csr.cols,    r->csr.dtype};
    const size_t parameters = width - block;
    memset(dense, 0, count * 8);
    require(scl_map_apply_csr_part(map, block, parameters, &some, dense, (ptrdiff_t)width, &error),
            what, &error);
    for (size_t i = 0; i < 77; i++)
      for (size_t j = 0; j < parameters; j++) {
        const double got = scl_number(dense, dtype, i * width + j),
                     wanted = scl_number(sparse, dtype, (i + 40) * width + j + block);
        expect(got == wanted, "a slice", i, got, wanted);
      }
  }
  free(dense);
  free(sparse);
}

static void compare_bits(const scl_map *map, const rows *r, const char *what) {
  scl_two_values values;
  scl_bits dense, sparse;
  scl_error error = {0};
  const size_t width = scl_map_features(map);
  if (!scl_map_two_values(map, &values)) return;
  require(scl_bits_create(width, ROWS, &dense, &error), what, &error);
  require(scl_bits_create(width, ROWS, &sparse, &error), what, &error);
  require(scl_map_apply_bits(map, r->x.data, r->x.row_stride, ROWS, &dense, &error), what, &error);
  require(scl_map_apply_csr_bits(map, &r->csr, &sparse, &error), what, &error);
  for (size_t j = 0; j < width; j++)
    for (size_t w = 0; w < scl_bits_words(ROWS); w++)
      expect(*scl_bits_at(&dense, j, w) == *scl_bits_at(&sparse, j, w), what, j, 0, 0);
  scl_bits_release(&dense);
  scl_bits_release(&sparse);
}

static void compare_codes(const scl_map *map, const rows *r, const char *what) {
  size_t levels;
  scl_error error = {0};
  if (scl_map_levels(map, &levels, NULL) != SCL_STATUS_OK) return;
  const size_t count = ROWS * scl_map_count(map);
  int32_t *dense = calloc(count + 1, 4), *sparse = calloc(count + 1, 4);
  require(scl_map_codes(map, r->x.data, r->x.row_stride, ROWS, dense, &error), what, &error);
  require(scl_map_codes_csr(map, &r->csr, sparse, &error), what, &error);
  for (size_t i = 0; i < count; i++)
    expect(dense[i] == sparse[i], what, i, sparse[i], dense[i]);
  free(dense);
  free(sparse);
}

static void compare_whole(const scl_map *map, const rows *r, const char *what) {
  scl_error error = {0};
  const size_t width = scl_map_features(map), bytes = ROWS * width * scl_whole_size(SCL_WHOLE_INT8);
  if (scl_map_whole(map) == SCL_WHOLE_NONE) return;
  int8_t *dense = calloc(bytes + 1, 1), *sparse = calloc(bytes + 1, 1);
  if (scl_map_apply_whole(map, r->x.data, r->x.row_stride, ROWS, dense, (ptrdiff_t)width, &error) ==
      SCL_STATUS_OK)
    require(scl_map_apply_csr_whole(map, &r->csr, sparse, (ptrdiff_t)width, &error), what, &error);
  for (size_t i = 0; i < bytes; i++)
    expect(dense[i] == sparse[i], what, i, sparse[i], dense[i]);
  free(dense);
  free(sparse);
}

static void compare_cells(scl_map *map, const rows *r, const char *what) {
  scl_cells *cells;
  scl_error error = {0};
  const size_t count = ROWS * scl_map_entries(map);
  if (count == 0) return;
  require(scl_map_open_cells(map, &cells, &error), what, &error);
  require(scl_cells_learn(cells, scl_map_dtype(map), r->x.data, r->x.row_stride, ROWS / 2, &error),
          what, &error);
  require(scl_map_settle(map, cells, &error), what, &error);
  int32_t *dense = calloc(count + 1, 4), *sparse = calloc(count + 1, 4);
  require(scl_map_apply_cells(map, r->x.data, r->x.row_stride, ROWS, dense, &error), what, &error);
  require(scl_map_apply_csr_cells(map, &r->csr, sparse, &error), what, &error);
  for (size_t i = 0; i < count; i++)
    expect(dense[i] == sparse[i], what, i, sparse[i], dense[i]);
  free(dense);
  free(sparse);
}

/* ------------ maps */

typedef struct pairing {
  scl_instance *sampler, *phi, *kernel;
  const char *what;
  bool monte_carlo, quadrature;
} pairing;

static void compare_map(const pairing *p, size_t place, scl_dtype dtype, scl_whole whole) {
  const size_t dim = dims[place];
  const rows *r = &made[place][dtype == SCL_DTYPE_FLOAT32];
  scl_error error = {0};
  scl_layout layout;
  scl_map *map;
  if (scl_parameters_layout(p->sampler, dim, 0, &layout, NULL) != SCL_STATUS_OK) return;
  const scl_map_spec spec = {.sampler = p->sampler,
                             .phi = p->phi,
                             .kernel = p->kernel,
                             .dim = dim,
                             .count = layout.count == 0 ? COUNT : 0,
                             .seed = 3,
                             .dtype = dtype,
                             .whole = whole,
                             .samples = p->monte_carlo ? 40 : 0,
                             .monte_carlo = p->monte_carlo,
                             .quadrature = p->quadrature};
  if (scl_map_create(&spec, &map, &error) != SCL_STATUS_OK) return; /* they do not go together */
  char what[200];
  (void)snprintf(what, sizeof what, "%s, %zu columns, %s%s", p->what, dim, scl_dtype_name(dtype),
                 whole == SCL_WHOLE_NONE ? "" : ", int8");
  if (scl_map_entries(map) > 0)
    compare_cells(map, r, what);
  else
    compare_numbers(map, r, tolerance_of(map, p->kernel != NULL), what);
  compare_bits(map, r, what);
  if (p->kernel == NULL) {
    compare_codes(map, r, what);
    compare_whole(map, r, what);
  }
  scl_map_destroy(map);
}

static void compare_dims(const pairing *p) {
  const bool section = scl_instance_kind(p->phi) == SCL_KIND_KERNEL;
  for (size_t i = 0; i < DIMS; i++) {
    if (p->quadrature && dims[i] != 8) continue; /* it takes long */
    const bool wide = dims[i] > 300;             /* the same code, for longer: one type */
    if (section || !wide) compare_map(p, i, SCL_DTYPE_FLOAT64, SCL_WHOLE_NONE);
    if (section) continue;
    compare_map(p, i, SCL_DTYPE_FLOAT32, SCL_WHOLE_NONE);
    if (!wide) compare_map(p, i, SCL_DTYPE_FLOAT32, SCL_WHOLE_INT8);
  }
}

static scl_instance *make(const char *kind, const char *text) {
  scl_instance *instance = NULL;
  scl_error error = {0};
  require(scl_instance_from_text(kind, text, &instance, &error), text, &error);
  return instance;
}

/* ------------ the registry */

typedef struct names {
  scl_kind kind;
  size_t count;
  char name[100][40];
} names;

static void collect(void *context, scl_kind kind, const char *name, const char *path,
                    scl_plugin_origin origin) {
  names *list = context;
  (void)path, (void)origin;
  if (kind == list->kind && list->count < 100)
    (void)snprintf(list->name[list->count++], sizeof list->name[0], "%s", name);
}

static names names_of(scl_kind kind) {
  scl_error error = {0};
  names list = {.kind = kind};
  require(scl_registry_each(collect, &list, &error), "the registry", &error);
  return list;
}

/* Under the address sanitizer, every nonlinearity with some samplers. */
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 3 };
#else
enum { STRIDE = 1 };
#endif

static void test_pairs(const char *kind, scl_kind of, bool learn) {
  names samplers = names_of(SCL_KIND_SAMPLER), others = names_of(of);
  for (size_t s = 0; s < samplers.count; s++) {
    scl_instance *sampler = make("sampler", samplers.name[s]);
    for (size_t o = s % STRIDE;
         o < others.count && scl_instance_has(sampler, SCL_ABILITY_LEARN) == learn; o += STRIDE) {
      scl_instance *phi = NULL;
      scl_error error = {0};
      char what[100];
      (void)snprintf(what, sizeof what, "%s with %s.%s", samplers.name[s], kind, others.name[o]);
      if (scl_instance_from_text(kind, others.name[o], &phi, &error) != SCL_STATUS_OK)
        continue; /* kernels that need parts */
      const pairing p = {.sampler = sampler, .phi = phi, .what = what};
      compare_dims(&p);
      scl_instance_release(phi);
    }
    scl_instance_release(sampler);
  }
}

/* Maps with a K, of each method. */
static void test_kernels(void) {
  static const char *const samplers[] = {
      "gaussian",  "sparse{degree = 3}",        "sparse{degree = 1}",
      "threshold", "hadamard{form = \"sorf\"}", "pooled"};
  static const char *const phis[] = {"fourier", "relu", "step", "maxout"};
  for (size_t s = 0; s < 6; s++)
    for (size_t f = 0; f < 4; f++)
      for (int method = 0; method < 3; method++) {
        char what[100];
        (void)snprintf(what, sizeof what, "%s with %s and K, method %d", samplers[s], phis[f],
                       method);
        scl_instance *sampler = make("sampler", samplers[s]), *phi = make("nonlinearity", phis[f]),
                     *kernel = make("kernel", "gaussian");
        const pairing p = {sampler, phi, kernel, what, method == 1, method == 2};
        compare_dims(&p);
        scl_instance_release(sampler);
        scl_instance_release(phi);
        scl_instance_release(kernel);
      }
}

/* Sparse parameters that are stored in each of the three ways. */
static void test_degrees(void) {
  static const char *const samplers[] = {"sparse{degree = 1}", "sparse{degree = 40}",
                                         "sparse{degree = 200}", "sparse{degree = 7}"};
  for (size_t s = 0; s < 4; s++) {
    scl_instance *sampler = make("sampler", samplers[s]), *phi = make("nonlinearity", "relu");
    const pairing p = {.sampler = sampler, .phi = phi, .what = samplers[s]};
    compare_dims(&p);
    scl_instance_release(sampler);
    scl_instance_release(phi);
  }
}

/* ------------ sparse landmarks */

/* Every third column of the rows: about one number in 15. far: but column 2 is near 100 in all
 * rows. */
static rows thinned_rows(const rows *from, bool far) {
  scl_error error = {0};
  rows out;
  require(scl_matrix_copy(&from->x, SCL_DTYPE_FLOAT64, &out.x, &error), "rows", &error);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < out.x.cols; j++)
      if (j % 3 != 0) scl_matrix_set(&out.x, i, j, far && j == 2 ? 100 + 0.01 * (double)i : 0);
  require(scl_csr_of_matrix(&out.x, &out.csr, &error), "sparse rows", &error);
  return out;
}

/* Sections whose parameters are 40 of the rows themselves. */
static void compare_sections(const char *kernel, const rows *r, bool must_take) {
  scl_instance *sampler = make("sampler", "gaussian"), *phi = NULL;
  scl_matrix landmarks = r->x;
  landmarks.data = (double *)landmarks.data + 6 * landmarks.row_stride;
  landmarks.rows = 40;
  for (int whiten = 0; whiten < 2; whiten++) {
    scl_map *map;
    char what[200];
    scl_error error = {0};
    const scl_status status = scl_instance_from_text("kernel", kernel, &phi, &error);
    if (must_take) require(status, kernel, &error);
    if (status != SCL_STATUS_OK) break; /* it needs parts */
    const scl_map_spec spec = {.sampler = sampler,
                               .phi = phi,
                               .dim = r->x.cols,
                               .parameters = &landmarks,
                               .whiten = whiten};
    (void)snprintf(what, sizeof what, "sections of %s, %zu columns%s", kernel, r->x.cols,
                   whiten ? ", whitened" : "");
    if (scl_map_create(&spec, &map, NULL) == SCL_STATUS_OK) {
      expect(!must_take || scl_map_takes_csr(map), what, 0, 0, 1);
      compare_numbers(map, r, whiten ? 1e-6 : 1e-11, what); /* whitening magnifies rounding */
      scl_map_destroy(map);
    }
    scl_instance_release(phi);
  }
  scl_instance_release(sampler);
}

static void test_landmarks(void) {
  static const char *const simple[] = {
      "gaussian", "gaussian{width = 3}",    "laplacian", "laplacian{gamma = 0.01}",
      "linear",   "polynomial{degree = 3}", "angular",   "arccos{order = 1}",
      "hat"};
  names kernels = names_of(SCL_KIND_KERNEL);
  for (size_t i = 2; i < DIMS; i++) {
    for (int far = 0; far < 2; far++) {
      rows r = thinned_rows(&made[i][0], far);
      for (size_t k = 0; k < sizeof simple / sizeof *simple; k++)
        compare_sections(simple[k], &r, true);
      for (size_t k = 0; k < kernels.count; k++)
        compare_sections(kernels.name[k], &r, false);
      release_rows(&r);
    }
  }
}

/* ------------ weights drawn by columns */

/* The features of some maps with stored weights, against those with weights drawn by columns, of
 * sparse and dense rows, with a cache for no column, for some and for all. */
static void compare_drawn(const char *sampler_text, const char *phi_text, const rows *r,
                          scl_dtype dtype) {
  static const size_t caches[] = {1, 100000, 1 << 30};
  scl_error error = {0};
  scl_map *stored, *drawn;
  scl_instance *sampler = make("sampler", sampler_text), *phi = make("nonlinearity", phi_text);
  const scl_map_spec spec = {.sampler = sampler,
                             .phi = phi,
                             .dim = r->csr.cols,
                             .count = COUNT,
                             .seed = 3,
                             .dtype = dtype};
  char what[200];
  require(scl_map_create(&spec, &stored, &error), sampler_text, &error);
  const size_t width = scl_map_features(stored), count = ROWS * width;
  void *wanted = calloc(count + 1, 8), *got = calloc(count + 1, 8);
  require(scl_map_apply(stored, r->x.data, r->x.row_stride, ROWS, wanted, (ptrdiff_t)width, &error),
          sampler_text, &error);
  for (size_t c = 0; c < 3; c++) {
    (void)snprintf(what, sizeof what, "%s with %s by columns, %zu columns, cache %zu", sampler_text,
                   phi_text, r->csr.cols, caches[c]);
    scl_drawn_columns_set(1, caches[c]);
    require(scl_map_create(&spec, &drawn, &error), what, &error);
    scl_drawn_columns_set(0, 0);
    for (int pass = 0; pass < 3; pass++) { /* the second finds a full cache */
      if (pass < 2)
        require(scl_map_apply_csr(drawn, &r->csr, got, (ptrdiff_t)width, &error), what, &error);
      else
        require(
            scl_map_apply(drawn, r->x.data, r->x.row_stride, ROWS, got, (ptrdiff_t)width, &error),
            what, &error);
      for (size_t i = 0; i < count; i++)
        expect(scl_number(got, dtype, i) == scl_number(wanted, dtype, i), what, i,
               scl_number(got, dtype, i), scl_number(wanted, dtype, i));
    }
    require(scl_map_apply_csr_part(drawn, 50, 20, &r->csr, got, 20, &error), what, &error);
    for (size_t i = 0; i < ROWS && width == COUNT; i++)
      for (size_t j = 0; j < 20; j++)
        expect(scl_number(got, dtype, i * 20 + j) == scl_number(wanted, dtype, i * width + 50 + j),
               "some parameters", i, scl_number(got, dtype, i * 20 + j),
               scl_number(wanted, dtype, i * width + 50 + j));
    scl_map_destroy(drawn);
  }
  free(wanted);
  free(got);
  scl_map_destroy(stored);
  scl_instance_release(sampler);
  scl_instance_release(phi);
}

static void test_drawn(void) {
  static const char *const samplers[] = {"gaussian",   "gaussian{sigma = 0.1, bias = \"gaussian\"}",
                                         "rademacher", "laplace",
                                         "cauchy",     "uniform{bias = \"uniform\"}",
                                         "student"};
  static const char *const phis[] = {"fourier", "relu", "maxout"};
  /* Columns are drawn whatever phi is: all of it with the first law, each other with one. */
  for (size_t s = 0; s < sizeof samplers / sizeof *samplers; s++)
    for (size_t f = 0; f < 3; f++)
      for (size_t i = 1; i < DIMS && (s == 0 || s % 3 == f); i++)
        for (int narrow = 0; narrow < 2; narrow++)
          compare_drawn(samplers[s], phis[f], &made[i][narrow],
                        narrow ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64);
}

/* 10^7 columns and T = 2000: features of a few rows, without memory for the weights. A weight at a
 * time, <w_t, e_j> = w_tj has the mean 0 and the variance 1 of the law. */
static void test_many_columns(void) {
  enum { DIM = 10000000, T = 2000, FEW = 20 };
  int64_t starts[FEW + 1];
  int32_t columns[FEW];
  double values[FEW], *out = calloc(FEW * T, sizeof *out), sum = 0, squares = 0;
  scl_error error = {0};
  scl_map *map;
  scl_instance *sampler = make("sampler", "gaussian"), *phi = make("nonlinearity", "identity");
  const scl_map_spec spec = {
      .sampler = sampler, .phi = phi, .dim = DIM, .count = T, .seed = 3, .scale = 1};
  for (int i = 0; i < FEW; i++) {
    starts[i] = i;
    columns[i] = (int32_t)((int64_t)(DIM - 1) * i / (FEW - 1));
    values[i] = 1;
  }
  starts[FEW] = FEW;
  const scl_csr csr = {NULL, starts, columns, values, FEW, DIM, SCL_DTYPE_FLOAT64};
  require(scl_map_create(&spec, &map, &error), "a map of many columns", &error);
  require(scl_map_apply_csr(map, &csr, out, T, &error), "many columns", &error);
  for (size_t i = 0; i < FEW * T; i++) {
    sum += out[i];
    squares += out[i] * out[i];
  }
  const double n = FEW * T;
  expect(fabs(sum / n) < 5 / sqrt(n), "the mean of weights", 0, sum / n, 0);
  expect(fabs(squares / n - 1) < 5 * sqrt(2 / n), "the variance of weights", 0, squares / n, 1);
  scl_map_destroy(map);
  free(out);
  scl_instance_release(sampler);
  scl_instance_release(phi);
}

static void test_shapes(void) {
  scl_error error = {0};
  scl_map *map;
  scl_instance *sampler = make("sampler", "gaussian"), *phi = make("nonlinearity", "relu");
  const scl_map_spec spec = {.sampler = sampler, .phi = phi, .dim = 9, .count = 4, .seed = 3};
  double out[ROWS * 4];
  require(scl_map_create(&spec, &map, &error), "a map", &error);
  expect(scl_map_takes_csr(map), "gaussian rows take sparse rows", 0, 0, 1);
  expect(scl_map_apply_csr(map, &made[1][0].csr, out, 4, &error) == SCL_STATUS_BAD_SHAPE &&
             strstr(error.message, "8 columns where the features take 9") != NULL,
         "another number of columns", 0, 0, 0);
  scl_map_destroy(map);
  scl_instance_release(sampler);
  scl_instance_release(phi);
}

int main(void) {
  for (size_t i = 0; i < DIMS; i++) {
    made[i][0] = make_rows(dims[i], SCL_DTYPE_FLOAT64);
    made[i][1] = make_rows(dims[i], SCL_DTYPE_FLOAT32);
  }
  test_shapes();
  test_landmarks();
  test_drawn();
  test_many_columns();
  test_degrees();
  test_pairs("nonlinearity", SCL_KIND_NONLINEARITY, false);
  test_pairs("kernel", SCL_KIND_KERNEL, false);
  test_kernels();
  for (size_t i = 0; i < DIMS; i++) {
    release_rows(&made[i][0]);
    release_rows(&made[i][1]);
  }
  scl_pool_stop();
  (void)printf("map_csr_test: %zu maps, %d failures\n", compared, failures);
  return failures != 0 || compared < 500;
}
