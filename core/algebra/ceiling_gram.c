/* Phi'Phi of features that take two values, as float32 numbers and from bits, and of whole
 * numbers. */
#include "algebra/bits.h"
#include "algebra/ceiling.h"
#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/progress.h"
#include <math.h>

/* Rows of a block; runs, of which none begins after SECONDS. */
enum { BLOCK_ROWS = 2048, RUNS = 3, SECONDS = 5 };

typedef struct gram {
  size_t rows, features;
  float *phi;      /* BLOCK_ROWS x features, every block the same */
  float *products; /* features x features for each thread */
  scl_symmetric *a;
  scl_bits bits;
  scl_whole type;
  void *v; /* BLOCK_ROWS x features of the type */
} gram;

/* The blocks of one thread, each added to its own sum. */
static void add_blocks(void *context, size_t thread) {
  const gram *g = context;
  const ptrdiff_t D = (ptrdiff_t)g->features;
  const size_t apart = scl_pool_threads() * BLOCK_ROWS;
  float *out = g->products + thread * g->features * g->features;
  for (size_t at = thread * BLOCK_ROWS; at < g->rows && !scl_interrupted(); at += apart)
    scl_syrk(SCL_DTYPE_FLOAT32, g->features, scl_min(BLOCK_ROWS, g->rows - at), 1, g->phi, D,
             at >= apart, out, D);
}

/* Times the three ways in up to RUNS runs; *best receives the shortest times. */
static scl_status ceiling_gram_measure(gram *g, scl_gram_seconds *best, scl_error *error) {
  const double start = scl_progress_clock();
  double began = start;
  *best = (scl_gram_seconds){INFINITY, INFINITY, INFINITY};
  for (int run = 0; run < RUNS && began - start < SECONDS; run++, began = scl_progress_clock()) {
    for (size_t at = 0; at < g->rows; at += BLOCK_ROWS)
      SCL_TRY(scl_symmetric_accumulate(g->a, SCL_DTYPE_FLOAT32, g->phi, (ptrdiff_t)g->features,
                                       scl_min(BLOCK_ROWS, g->rows - at), error));
    const double first = scl_progress_clock();
    scl_pool_run(scl_pool_threads(), add_blocks, g);
    SCL_TRY(scl_interrupt_check(error));
    const double second = scl_progress_clock();
    SCL_TRY(
        scl_bits_gram(&(scl_bits_part){&g->bits, 0, scl_bits_words(g->rows), 1}, 1, g->a, error));
    best->numbers = fmin(best->numbers, first - began);
    best->openblas = fmin(best->openblas, second - first);
    best->bits = fmin(best->bits, scl_progress_clock() - second);
  }
  return SCL_STATUS_OK;
}

/* Features of -1 and 1. */
static scl_status ceiling_numbers_make(gram *g, scl_error *error) {
  const size_t sums = scl_pool_threads() * g->features * g->features;
  g->phi = scl_allocate_array(BLOCK_ROWS * g->features + 1, sizeof *g->phi);
  g->products = scl_allocate_zero((sums + 1) * sizeof *g->products);
  if (g->phi == NULL || g->products == NULL)
    return scl_fail_memory(error, (BLOCK_ROWS * g->features + sums) * sizeof *g->phi, "features");
  for (size_t i = 0; i < BLOCK_ROWS * g->features; i++)
    g->phi[i] = i % 7 < 3 ? -1 : 1;
  return scl_symmetric_create(g->features, &g->a, error);
}

/* The same, and a matrix of bits with pseudo-random words. */
static scl_status ceiling_gram_make(gram *g, scl_error *error) {
  SCL_TRY(ceiling_numbers_make(g, error));
  SCL_TRY(scl_bits_create(g->features, g->rows, &g->bits, error));
  for (size_t j = 0; j < g->features; j++)
    for (size_t w = 0; w < g->bits.apart; w++)
      *scl_bits_at(&g->bits, j, w) = 0x9e3779b97f4a7c15u * (j * g->bits.apart + w + 1);
  return SCL_STATUS_OK;
}

static void ceiling_gram_release(gram *g) {
  scl_symmetric_destroy(g->a);
  scl_bits_release(&g->bits);
  SCL_RELEASE(g->phi, g->products, g->v);
}

scl_status scl_ceiling_gram(size_t rows, size_t features, scl_gram_seconds *out, scl_error *error) {
  gram g = {.rows = rows, .features = features};
  scl_status status = ceiling_gram_make(&g, error);
  if (status == SCL_STATUS_OK) status = ceiling_gram_measure(&g, out, error);
  ceiling_gram_release(&g);
  return status;
}

/* ------------ whole numbers */

/* The shortest time of several runs of the whole-number loops and of OpenBLAS, in turn, so that
 * both meet the same state of the machine. */
static scl_status ceiling_whole_measure(gram *g, scl_whole_seconds *best, scl_error *error) {
  const double start = scl_progress_clock();
  double began = start;
  *best = (scl_whole_seconds){INFINITY, INFINITY};
  for (int run = 0; run < RUNS && began - start < SECONDS; run++, began = scl_progress_clock()) {
    const scl_whole_totals totals = {.low = g->a};
    for (size_t at = 0; at < g->rows; at += BLOCK_ROWS)
      SCL_TRY(scl_whole_accumulate(&totals, g->type, g->v, (ptrdiff_t)g->features,
                                   scl_min(BLOCK_ROWS, g->rows - at), 0, error));
    const double end = scl_progress_clock();
    scl_pool_run(scl_pool_threads(), add_blocks, g);
    SCL_TRY(scl_interrupt_check(error));
    best->whole = fmin(best->whole, end - began);
    best->openblas = fmin(best->openblas, scl_progress_clock() - end);
  }
  return SCL_STATUS_OK;
}

/* Whole numbers of every size and sign. */
static scl_status ceiling_whole_make(gram *g, scl_error *error) {
  const size_t count = BLOCK_ROWS * g->features;
  const int32_t most = scl_whole_most(g->type);
  SCL_TRY(ceiling_numbers_make(g, error));
  g->v = scl_allocate_array(count + 1, scl_whole_size(g->type));
  if (g->v == NULL) return scl_fail_memory(error, count * scl_whole_size(g->type), "features");
  for (size_t i = 0; i < count; i++) {
    const int32_t value =
        (int32_t)((0x9e3779b97f4a7c15u * (i + 1) >> 40) % (uint64_t)(2 * most + 1)) - most;
    if (g->type == SCL_WHOLE_INT8)
      ((int8_t *)g->v)[i] = (int8_t)value;
    else
      ((int16_t *)g->v)[i] = (int16_t)value;
  }
  return SCL_STATUS_OK;
}

scl_status scl_ceiling_whole(scl_whole type, size_t rows, size_t features, scl_whole_seconds *out,
                             scl_error *error) {
  gram g = {.rows = rows, .features = features, .type = type};
  scl_status status = ceiling_whole_make(&g, error);
  if (status == SCL_STATUS_OK) status = ceiling_whole_measure(&g, out, error);
  ceiling_gram_release(&g);
  return status;
}
