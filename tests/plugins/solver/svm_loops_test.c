/* The search for a partner in steps of sequential minimal optimisation: each instruction set finds
 * the same, and what division finds. */
#define _POSIX_C_SOURCE 200809L
#include "solver/svm/loops.c"

#include <math.h>
#include <stdio.h>

enum { MOST = 512 };

static int failures;
static unsigned state = 1;

static double chance(void) {
  state = state * 1664525u + 1013904223u;
  return (double)(state >> 8) / 16777216.0;
}

typedef struct rows {
  size_t count;
  float k[MOST];
  double diagonal[MOST], low[MOST], f[MOST];
} rows;

/* Rows that can shrink and rows that cannot, rows of the same numbers, rows of no curvature. */
static void fill(rows *r, size_t count) {
  r->count = count;
  for (size_t i = 0; i < count; i++) {
    const size_t same = i > 0 && chance() < 0.2 ? (size_t)(chance() * (double)i) : i;
    r->k[i] = same < i ? r->k[same] : chance() < 0.1 ? 1 : (float)chance();
    r->diagonal[i] = 1;
    r->low[i] = same < i ? r->low[same] : chance() < 0.3 ? INFINITY : chance() < 0.5 ? 1 : -1;
    r->f[i] = same < i ? r->f[same] : 4 * chance() - 2;
  }
}

static double decrease(const rows *r, size_t j, double most, double least) {
  const double gap = most - (r->low[j] - r->f[j]), bent = 1 + r->diagonal[j] - 2 * (double)r->k[j];
  return gap > 0 ? gap * gap / (bent > least ? bent : least) : 0;
}

static size_t found(const char *set, const rows *r, double most, double least) {
  (void)setenv("SCULLERY_ISA", set, 1);
  return svm_loops_get().partner(r->count, most, least, 1, r->k, r->diagonal, r->low, r->f);
}

static void test_rows(const rows *r, double most, double least) {
  const size_t plain = found("plain", r, most, least);
  double best = 0;
  for (size_t j = 0; j < r->count; j++)
    best = fmax(best, decrease(r, j, most, least));
  if (best == 0 ? plain != r->count
                : plain >= r->count || decrease(r, plain, most, least) < best * (1 - 1e-12)) {
    failures++;
    (void)fprintf(stderr, "svm_loops_test: row %zu of %zu is not the best\n", plain, r->count);
  }
  for (size_t j = 0; j < plain && plain < r->count; j++)
    if (r->k[j] == r->k[plain] && r->low[j] == r->low[plain] && r->f[j] == r->f[plain]) {
      failures++;
      (void)fprintf(stderr, "svm_loops_test: row %zu is like %zu, and comes before\n", j, plain);
    }
  static const char *const sets[] = {"avx2", "avx512"};
  for (size_t s = 0; s < 2; s++)
    if (found(sets[s], r, most, least) != plain) {
      failures++;
      (void)fprintf(stderr, "svm_loops_test: %s finds row %zu, plain C row %zu\n", sets[s],
                    found(sets[s], r, most, least), plain);
    }
}

int main(void) {
  static rows r;
  for (size_t count = SVM_LANES; count <= MOST; count += SVM_LANES)
    for (int run = 0; run < 50; run++) {
      fill(&r, count);
      test_rows(&r, 4 * chance() - 1, run % 2 == 0 ? 1e-12 : 0.5);
      test_rows(&r, -5, 1e-12); /* no gap */
    }
  return failures == 0 ? 0 : 1;
}
