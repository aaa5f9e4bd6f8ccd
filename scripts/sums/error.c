/* The error of sums Phi'Phi of float64 features beside sums in 113 bits (__float128), as rows are
 * added: blocks' products added one after the other in float64, in a binary tree in float64, and as
 * whole numbers (core/algebra/block_totals.h), which are the same in any order. error.lua runs it. */
#include "algebra/block_totals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  FEATURES = 8,
  COLUMNS = 4,
  BLOCK = 2048,
  ENTRIES = FEATURES * (FEATURES + 1) / 2,
  LEVELS = 40
};
__extension__ typedef __float128 wide;
typedef double sums[ENTRIES]; /* the lower triangle, row by row */

static uint64_t state;

/* Uniform in 0 .. 1 (xorshift, Marsaglia 2003). */
static double draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53;
}

typedef struct map {
  double w[FEATURES][COLUMNS], b[FEATURES];
} map;

/* Cosines of random projections of uniform rows: Fourier features. */
static void make_block(const map *m, double (*phi)[FEATURES]) {
  for (size_t i = 0; i < BLOCK; i++) {
    double x[COLUMNS];
    for (size_t j = 0; j < COLUMNS; j++)
      x[j] = 2 * draw() - 1;
    for (size_t t = 0; t < FEATURES; t++) {
      double z = m->b[t];
      for (size_t j = 0; j < COLUMNS; j++)
        z += m->w[t][j] * x[j];
      phi[i][t] = sqrt(2.0 / FEATURES) * cos(z);
    }
  }
}

/* The product of a block in float64, and `exact` += the same in 113 bits. */
static void multiply(double (*phi)[FEATURES], double *product, wide *exact) {
  memset(product, 0, sizeof(sums));
  for (size_t i = 0; i < BLOCK; i++)
    for (size_t j = 0, e = 0; j < FEATURES; j++)
      for (size_t k = 0; k <= j; k++, e++) {
        product[e] += phi[i][j] * phi[i][k];
        exact[e] += (wide)phi[i][j] * (wide)phi[i][k];
      }
}

/* Add the product of block number `at` to a tree ((p0 + p1) + (p2 + p3)) + ...: node[l] is a sum of
 * 2^l blocks that waits for the next one where bit l of the number of blocks is 1. */
static void add_to_tree(sums *node, size_t at, const double *product) {
  sums now;
  size_t level = 0;
  memcpy(now, product, sizeof now);
  for (; at >> level & 1; level++)
    for (size_t e = 0; e < ENTRIES; e++)
      now[e] = node[level][e] + now[e];
  memcpy(node[level], now, sizeof now);
}

/* The root mean square of (got - exact)_jk / sqrt(exact_jj exact_kk). */
static double error_of(const double *got, const wide *exact) {
  double sum = 0;
  for (size_t j = 0, e = 0; j < FEATURES; j++)
    for (size_t k = 0; k <= j; k++, e++) {
      const double size = sqrt((double)exact[j * (j + 3) / 2] * (double)exact[k * (k + 3) / 2]),
                   gap = (double)((wide)got[e] - exact[e]) / size;
      sum += gap * gap;
    }
  return sqrt(sum / ENTRIES);
}

static int run(size_t most, scl_error *error) {
  static double phi[BLOCK][FEATURES];
  static sums product, running, node[LEVELS], whole;
  static wide exact[ENTRIES];
  const double unit = 0.5; /* of about the size of the features */
  double inverse[FEATURES], bound = 0;
  int64_t low[ENTRIES], high[ENTRIES];
  scl_whole_totals totals;
  map m;
  for (size_t t = 0; t < FEATURES; t++) {
    for (size_t j = 0; j < COLUMNS; j++)
      m.w[t][j] = sqrt(-2 * log(draw() + 1e-300)) * cos(2 * 3.141592653589793 * draw());
    m.b[t] = 2 * 3.141592653589793 * draw();
    inverse[t] = ldexp(1 / unit, SCL_BLOCK_SHIFT / 2);
  }
  if (scl_whole_totals_create(FEATURES, false, &totals, error) != SCL_STATUS_OK) return 1;
  const scl_block_totals to = {&totals, &bound, inverse};
  for (size_t k = 0, level = 0; k < most; k++) {
    make_block(&m, phi);
    multiply(phi, product, exact);
    for (size_t e = 0; e < ENTRIES; e++)
      running[e] += product[e];
    add_to_tree(node, k, product);
    if (scl_block_totals_add(&to, SCL_DTYPE_FLOAT64, phi, FEATURES, BLOCK, error) != SCL_STATUS_OK)
      return 1;
    if (k + 1 != (size_t)1 << level) continue;
    const bool two_halves = totals.high != NULL; /* of 128 bits */
    scl_whole_totals_export(&totals, low, two_halves ? high : NULL);
    for (size_t e = 0; e < ENTRIES; e++)
      whole[e] =
          (double)(two_halves ? (wide)high[e] * 0x1p64 + (wide)(uint64_t)low[e] : (wide)low[e]) *
          ldexp(unit * unit, -SCL_BLOCK_SHIFT);
    printf("%zu %.17g %.17g %.17g\n", (k + 1) * BLOCK, error_of(running, exact),
           error_of(node[level], exact), error_of(whole, exact));
    level++;
  }
  scl_whole_totals_destroy(&totals);
  return 0;
}

int main(int argc, char **argv) {
  scl_error error = {0};
  const size_t levels = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  state = 0x9e3779b97f4a7c15u * (1 + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0));
  const int failed = levels < 1 || levels > LEVELS || run((size_t)1 << (levels - 1), &error);
  if (failed) (void)fprintf(stderr, "error: %s\n", error.message);
  return failed;
}
