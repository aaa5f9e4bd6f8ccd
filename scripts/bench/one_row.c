/* One row a call through scullery.h, beside the least that a row costs: one gemv of W, the cosines,
 * and the product with the coefficients, by OpenBLAS and the compiler's vectors.
 *
 *   scullery scripts/bench/one_row.lua    makes the models, compiles this file, and runs it
 *
 * The best of 30 turns of 50 calls each, both in turn, in the processor's time of this thread. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <math.h>
#include <scullery/scullery.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 30, CALLS = 50 };
static volatile double sink;

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define LEAST(suffix, type, gemv, cosine) \
  static void least_##suffix(int d, int t, const type *w, const type *x, const type *b, \
                             const type *a, type *restrict z) { \
    type sum = 0; \
    gemv(CblasRowMajor, CblasNoTrans, t, d, 1, w, d, x, 1, 0, z, 1); \
    for (int i = 0; i < t; i++) \
      z[i] = cosine(z[i] + b[i]); \
    for (int i = 0; i < t; i++) \
      sum += a[i] * z[i]; \
    sink = (double)sum; \
  }
LEAST(f64, double, cblas_dgemv, cos)
LEAST(f32, float, cblas_sgemv, cosf)

static void *numbers(size_t count, int narrow) {
  double *wide = calloc(count, sizeof *wide);
  if (wide == NULL) exit(EXIT_FAILURE);
  for (size_t i = 0; i < count; i++) {
    const double number = (double)(i * 7919 % 1000) / 1000 - 0.5;
    if (narrow)
      ((float *)(void *)wide)[i] = (float)number;
    else
      wide[i] = number;
  }
  return wide;
}

/* one_row T float64|float32 MODEL: a model of T features of one function and one output */
int main(int argc, char **argv) {
  scl_predictor *model;
  scl_error error;
  if (argc != 4) return EXIT_FAILURE;
  if (scl_predictor_load(argv[3], &model, &error) != SCL_STATUS_OK) {
    (void)fprintf(stderr, "%s\n", error.message);
    return EXIT_FAILURE;
  }
  const int t = atoi(argv[1]), d = (int)scl_predictor_columns(model), narrow = argv[2][5] == '3';
  void *w = numbers((size_t)t * (size_t)d, narrow), *x = numbers((size_t)d, narrow),
       *b = numbers((size_t)t, narrow), *z = numbers((size_t)t, narrow);
  double out[1], least = INFINITY, ours = INFINITY;
  for (int turn = 0; turn < TURNS; turn++) {
    double from = now();
    for (int i = 0; i < CALLS; i++)
      if (narrow)
        least_f32(d, t, w, x, b, b, z);
      else
        least_f64(d, t, w, x, b, b, z);
    least = fmin(least, (now() - from) / CALLS);
    from = now();
    for (int i = 0; i < CALLS; i++)
      if (scl_predictor_scores(model, narrow ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64, x, 1, 0, out,
                               0, &error) != SCL_STATUS_OK)
        return EXIT_FAILURE;
    ours = fmin(ours, (now() - from) / CALLS);
  }
  (void)printf("d %4d  T %5d  %s  least %8.2f us  a call %8.2f us  %.2f\n", d, t, argv[2],
               1e6 * least, 1e6 * ours, least / ours);
  scl_predictor_close(model);
  free(w);
  free(x);
  free(b);
  free(z);
  return EXIT_SUCCESS;
}
