/* Rates of this machine beside those of gemm and syrk: Cholesky factorisation by OpenBLAS, reading
 * memory, and counting the bits that two columns share. Each thread does the same work on its own
 * memory. */
#include "algebra/bits_count.h"
#include "algebra/ceiling.h"
#include "algebra/dense.h"
#include "base/interrupt.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/progress.h"
#include <math.h>

/* 64 MB of numbers for each thread exceed every cache; 2 x 8 columns of 128 words, or of as many
 * words as one call counts, fit into the first-level cache. */
enum { RUNS = 3, NUMBERS = 1 << 23, WORDS = 128, ROUNDS = 50000, EIGHT = 8 };

typedef struct rating {
  size_t n;
  double *numbers;  /* for each thread n x n */
  double *ones;     /* NUMBERS for each thread */
  uint64_t *words;  /* for each thread 2 x EIGHT x count x widened */
  uint32_t *counts; /* for each thread EIGHT x EIGHT */
  double *sums;
  size_t count, widened; /* words of a column; what each becomes before it is counted */
} rating;

static void factorise(void *context, size_t index) {
  const rating *r = context;
  (void)scl_potrf(r->n, r->numbers + index * r->n * r->n, (ptrdiff_t)r->n);
}

static void read_memory(void *context, size_t index) {
  const rating *r = context;
  const double *x = r->ones + index * NUMBERS;
  r->sums[index] = scl_loops_get()->square_f64(NUMBERS / 2, x, x + NUMBERS / 2);
}

/* A task for each thread: ROUNDS times the counts of two groups of eight rows of bits, which stay
 * in the cache. */
static void count_bits(void *context, size_t index) {
  const rating *r = context;
  const scl_bits_counter *counter = scl_bits_counter_get();
  const size_t half = EIGHT * r->count * r->widened;
  const uint64_t *left = r->words + index * 2 * half, *right = left + half;
  for (size_t round = 0; round < ROUNDS && !scl_interrupted(); round++)
    counter->count(r->count, left, right, r->counts + index * EIGHT * EIGHT, EIGHT);
}

/* The shortest time of RUNS runs of a task on all threads, each after `prepare` (or NULL). */
static double best_seconds(void (*task)(void *, size_t), rating *r, void (*prepare)(rating *)) {
  double best = INFINITY;
  for (int run = 0; run < RUNS && !scl_interrupted(); run++) {
    if (prepare != NULL) prepare(r);
    const double began = scl_progress_clock();
    scl_pool_run(scl_pool_threads(), task, r);
    best = fmin(best, scl_progress_clock() - began);
  }
  return best;
}

/* 1 + n on the diagonal, 1 elsewhere. */
static void fill_positive(rating *r) {
  const size_t size = r->n * r->n;
  for (size_t i = 0; i < scl_pool_threads() * size; i++)
    r->numbers[i] = i % size % (r->n + 1) == 0 ? 1 + (double)r->n : 1;
}

/* Allocate and fill the data of all tasks. The caller releases it, also after a failure. The words
 * of bits are any that are not all equal. */
static scl_status ceiling_rates_make(rating *r, scl_error *error) {
  const size_t threads = scl_pool_threads(), words = threads * 2 * EIGHT * r->count * r->widened;
  r->numbers = scl_allocate_array(threads * r->n * r->n, sizeof *r->numbers);
  r->ones = scl_allocate_array(threads * NUMBERS, sizeof *r->ones);
  r->words = scl_allocate_array(words, sizeof *r->words);
  r->counts = scl_allocate_zero(threads * EIGHT * EIGHT * sizeof *r->counts);
  r->sums = scl_allocate_array(threads, sizeof *r->sums);
  if (!(r->numbers && r->ones && r->words && r->counts && r->sums))
    return scl_fail_memory(error, threads * (r->n * r->n + NUMBERS) * sizeof(double), "rates");
  for (size_t i = 0; i < threads * NUMBERS; i++)
    r->ones[i] = 1;
  for (size_t i = 0; i < words; i++)
    r->words[i] = 0x9e3779b97f4a7c15u * (i + 1);
  return SCL_STATUS_OK;
}

scl_status scl_ceiling_rates(size_t n, scl_rates *out, scl_error *error) {
  const scl_bits_counter *counter = scl_bits_counter_get();
  rating r = {.n = n,
              .count = counter->most == 0 ? WORDS : scl_min(counter->most, WORDS),
              .widened = scl_max(counter->widened, 1)};
  scl_status status = ceiling_rates_make(&r, error);
  if (status == SCL_STATUS_OK) {
    const double threads = (double)scl_pool_threads(), order = (double)n,
                 products = (double)(ROUNDS * r.count) * 64 * EIGHT * EIGHT;
    *out = (scl_rates){
        .potrf = threads * order * order * order / 3 / best_seconds(factorise, &r, fill_positive),
        .memory = threads * NUMBERS * sizeof(double) / best_seconds(read_memory, &r, NULL),
        .counts = threads * products / best_seconds(count_bits, &r, NULL)};
    status = scl_interrupt_check(error);
  }
  SCL_RELEASE(r.numbers, r.ones, r.words, r.counts, r.sums);
  return status;
}
