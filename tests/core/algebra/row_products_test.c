/* Products and solves of rows: to the bit the sums that they promise, and so the same for a row
 * alone. Run under each instruction set. */
#include "algebra/row_products.h"
#include "base/loops.h"
#include "base/pool.h"
#include "base/random.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what, double got, double wanted) {
  if (holds) return;
  failures++;
  if (failures < 20)
    (void)fprintf(stderr, "row_products_test: %s: got %.17g, wanted %.17g\n", what, got, wanted);
}

enum { ROWS = 71, TERMS = 300, COLUMNS = 101, LEFT = ROWS * TERMS, RIGHT = TERMS * COLUMNS };

static double a[LEFT], b[RIGHT];
static float narrow_a[LEFT], narrow_b[RIGHT];

static void fill(void) {
  scl_random_normal(1, 0, 0, 0, LEFT, a);
  scl_random_normal(2, 0, 0, 0, RIGHT, b);
  for (size_t i = 0; i < LEFT; i++)
    narrow_a[i] = (float)a[i];
  for (size_t i = 0; i < RIGHT; i++)
    narrow_b[i] = (float)b[i];
}

enum { CHUNK = SCL_ROW_CHUNK / sizeof(double), NARROW_CHUNK = SCL_ROW_CHUNK / sizeof(float) };

/* Entry (i, j) of A B, B terms x COLUMNS, by the order of core/base/isa/rows.c. */
static double promised(bool fused, size_t terms, size_t i, size_t j, double before) {
  double all = before;
  for (size_t k = 0; k < terms; k += CHUNK) {
    double sum = 0;
    for (size_t q = k; q < terms && q < k + CHUNK; q++) {
      const double x = a[i * TERMS + q], y = b[q * COLUMNS + j];
      const volatile double product = x * y;
      sum = fused ? fma(x, y, sum) : sum + product;
    }
    all += sum;
  }
  return all;
}

static float promised_narrow(bool fused, size_t terms, size_t i, size_t j, float before) {
  float all = before;
  for (size_t k = 0; k < terms; k += NARROW_CHUNK) {
    float sum = 0;
    for (size_t q = k; q < terms && q < k + NARROW_CHUNK; q++) {
      const float x = narrow_a[i * TERMS + q], y = narrow_b[q * COLUMNS + j];
      const volatile float product = x * y;
      sum = fused ? fmaf(x, y, sum) : sum + product;
    }
    all += sum;
  }
  return all;
}

/* Whether the loops of a set fuse. */
static bool fuses(const scl_loops *l) {
#ifdef __FP_FAST_FMA
  return l != NULL;
#else
  return strcmp(l->name, "plain") != 0;
#endif
}

/* B packed in strips of `width` columns. */
static void pack(size_t width, size_t terms, double *wide, float *narrow) {
  for (size_t k = 0; k < terms; k++)
    for (size_t j = 0; j < COLUMNS; j++) {
      const size_t at = j / width * width * terms + k * width + j % width;
      if (wide != NULL)
        wide[at] = b[k * COLUMNS + j];
      else
        narrow[at] = narrow_b[k * COLUMNS + j];
    }
}

/* Columns first .. first+cols-1 of the product of every table, beside numbers that stay. */
static void check_loops(const scl_loops *l, size_t terms, size_t rows, size_t first, size_t cols,
                        bool add) {
  enum { ROOM = TERMS * (COLUMNS + 48), BESIDE = 3 };
  static double packed[ROOM], out[ROWS * COLUMNS];
  static float narrow_packed[ROOM], narrow_out[ROWS * COLUMNS];
  const float before = add ? (float)BESIDE : 0;
  pack(l->strip_bytes / sizeof(double), terms, packed, NULL);
  pack(l->strip_bytes / sizeof(float), terms, NULL, narrow_packed);
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
    narrow_out[i] = (float)(out[i] = BESIDE);
  l->row_product_f64(terms, rows, first, cols, a, TERMS, packed, add, out, COLUMNS);
  l->row_product_f32(terms, rows, first, cols, narrow_a, TERMS, narrow_packed, add, narrow_out,
                     COLUMNS);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) {
      const bool inside = i < rows && j < cols;
      const double wanted =
          inside ? promised(fuses(l), terms, i, first + j, (double)before) : BESIDE;
      const float narrow =
          inside ? promised_narrow(fuses(l), terms, i, first + j, before) : (float)BESIDE;
      expect(out[i * COLUMNS + j] == wanted, l->name, out[i * COLUMNS + j], wanted);
      expect(narrow_out[i * COLUMNS + j] == narrow, l->name, (double)narrow_out[i * COLUMNS + j],
             (double)narrow);
    }
}

static void test_loops(void) {
  static const size_t terms[] = {0, 1, 127, 129, 257, 300}, rows[] = {1, 2, 3, 4, 7, 8, 15, 71},
                      firsts[] = {0, 5, 12, 24, 50}, cols[] = {1, 4, 12, 24, 47, 51};
  for (const scl_loops *const *l = scl_loops_all(); *l != NULL; l++)
    for (size_t t = 0; t < 6; t++)
      for (size_t r = 0; r < 8; r++)
        for (size_t c = 0; c < 6; c++)
          check_loops(*l, terms[t], rows[r], firsts[(t + r + c) % 5], cols[c], (t + c) % 2 == 1);
}

/* ------------ sparse rows */

/* Sparse rows of a: about one number in five, none in every seventh row. The numbers of B in the row
 * of each term, in whole strips. */
typedef struct sparse_rows {
  int64_t begin[ROWS], end[ROWS];
  int32_t columns[LEFT];
  double values[LEFT], dense[LEFT];
  float narrow[LEFT], narrow_dense[LEFT];
  const void *partners[LEFT], *narrow_partners[LEFT];
} sparse_rows;

enum { BESIDE_EACH_OTHER = COLUMNS + 48 };
static double long_b[TERMS * BESIDE_EACH_OTHER];
static float narrow_long_b[TERMS * BESIDE_EACH_OTHER];

/* Columns from .. TERMS-1 alone; the numbers of the others are 0 in the dense rows. */
static void thin_out(size_t from, sparse_rows *out) {
  size_t at = 0;
  for (size_t i = 0; i < ROWS; i++) {
    out->begin[i] = (int64_t)at;
    for (size_t j = 0; j < TERMS; j++) {
      const bool stays = i % 7 != 3 && (i * 31 + j * 17) % 5 == 1 && j >= from;
      out->dense[i * TERMS + j] = stays ? a[i * TERMS + j] : 0;
      out->narrow_dense[i * TERMS + j] = stays ? narrow_a[i * TERMS + j] : 0;
      if (!stays) continue;
      out->columns[at] = (int32_t)j;
      out->partners[at] = long_b + j * BESIDE_EACH_OTHER;
      out->narrow_partners[at] = narrow_long_b + j * BESIDE_EACH_OTHER;
      out->values[at] = a[i * TERMS + j];
      out->narrow[at++] = narrow_a[i * TERMS + j];
    }
    out->end[i] = (int64_t)at;
  }
  for (size_t i = 0; i < RIGHT; i++) {
    long_b[i / COLUMNS * BESIDE_EACH_OTHER + i % COLUMNS] = b[i];
    narrow_long_b[i / COLUMNS * BESIDE_EACH_OTHER + i % COLUMNS] = narrow_b[i];
  }
}

/* csr_product of all columns, or of the columns from SCL_ROW_TERMS on after those before, has the
 * bits of row_product, with a packed matrix and with partners. */
static void check_sparse(const scl_loops *l, size_t from, size_t first, size_t cols, bool apart) {
  enum { ROOM = TERMS * (COLUMNS + 48) };
  static double packed[ROOM], out[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
  static float narrow_packed[ROOM], narrow_out[ROWS * COLUMNS], narrow_wanted[ROWS * COLUMNS];
  static sparse_rows rows;
  const bool add = from > 0;
  pack(l->strip_bytes / sizeof(double), TERMS, packed, NULL);
  pack(l->strip_bytes / sizeof(float), TERMS, NULL, narrow_packed);
  thin_out(from, &rows);
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
    narrow_out[i] = narrow_wanted[i] = (float)i / 3;
    out[i] = wanted[i] = (double)i / 3;
  }
  l->row_product_f64(TERMS, ROWS, first, cols, rows.dense, TERMS, packed, add, wanted, COLUMNS);
  l->row_product_f32(TERMS, ROWS, first, cols, rows.narrow_dense, TERMS, narrow_packed, add,
                     narrow_wanted, COLUMNS);
  scl_csr_terms terms = {.begin = rows.begin,
                         .end = rows.end,
                         .columns = rows.columns,
                         .partners = apart ? rows.partners : NULL,
                         .values = rows.values,
                         .rows = ROWS};
  l->csr_product_f64(&terms, TERMS, first, cols, apart ? NULL : packed, add, out, COLUMNS);
  terms.values = rows.narrow;
  if (apart) terms.partners = rows.narrow_partners;
  l->csr_product_f32(&terms, TERMS, first, cols, apart ? NULL : narrow_packed, add, narrow_out,
                     COLUMNS);
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) {
    expect(out[i] == wanted[i], "sparse rows", out[i], wanted[i]);
    expect(narrow_out[i] == narrow_wanted[i], "sparse rows", (double)narrow_out[i],
           (double)narrow_wanted[i]);
  }
}

static void test_sparse(void) {
  static const size_t firsts[] = {0, 48, 5, 100}, cols[] = {COLUMNS, 48, 13, 1};
  for (const scl_loops *const *l = scl_loops_all(); *l != NULL; l++)
    for (size_t from = 0; from <= SCL_ROW_TERMS; from += SCL_ROW_TERMS)
      for (size_t k = 0; k < 4; k++) {
        check_sparse(*l, from, firsts[k], cols[k], false);
        check_sparse(*l, from, firsts[k], cols[k], true);
      }
}

/* alpha A op(B) + beta C of all rows, of each row alone, and on the pool. */
static void check_gemm(bool transpose, double alpha, double beta) {
  static double turned[RIGHT], out[ROWS * COLUMNS], alone[COLUMNS];
  for (size_t k = 0; k < TERMS; k++)
    for (size_t j = 0; j < COLUMNS; j++)
      turned[j * TERMS + k] = b[k * COLUMNS + j];
  const double *right = transpose ? turned : b;
  const ptrdiff_t ldb = transpose ? TERMS : COLUMNS;
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
    out[i] = (double)(i % COLUMNS);
  scl_row_gemm(SCL_DTYPE_FLOAT64, transpose, ROWS, COLUMNS, TERMS, alpha, a, TERMS, right, ldb,
               beta, out, COLUMNS);
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLUMNS; j++)
      alone[j] = (double)j;
    scl_row_gemm(SCL_DTYPE_FLOAT64, transpose, 1, COLUMNS, TERMS, alpha, a + i * TERMS, TERMS,
                 right, ldb, beta, alone, COLUMNS);
    for (size_t j = 0; j < COLUMNS; j++) {
      const double sum = promised(fuses(scl_loops_get()), TERMS, i, j, 0),
                   wanted = alpha * sum + beta * (double)j;
      expect(out[i * COLUMNS + j] == alone[j], "a row alone", alone[j], out[i * COLUMNS + j]);
      expect(fabs(alone[j] - wanted) <= 4 * DBL_EPSILON * (fabs(alpha * sum) + fabs(beta) * 100),
             "alpha A B + beta C", alone[j], wanted);
    }
  }
}

static void test_gemm(void) {
  static const double alphas[] = {1, -2}, betas[] = {0, 1, 0.5};
  static float out[ROWS * COLUMNS];
  for (size_t i = 0; i < 2; i++)
    for (size_t j = 0; j < 3; j++) {
      check_gemm(false, alphas[i], betas[j]);
      check_gemm(true, alphas[i], betas[j]);
    }
  scl_row_gemm_parallel(SCL_DTYPE_FLOAT32, false, ROWS, COLUMNS, TERMS, narrow_a, TERMS, narrow_b,
                        COLUMNS, out, COLUMNS);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLUMNS; j++) {
      const float wanted = promised_narrow(fuses(scl_loops_get()), TERMS, i, j, 0);
      expect(out[i * COLUMNS + j] == wanted, "on the pool", (double)out[i * COLUMNS + j],
             (double)wanted);
    }
}

/* X L' = B, and each row of X to the bit from its row of B alone. */
static void check_trsm(size_t n) {
  enum { ORDER = 100 };
  static double l[ORDER * ORDER], x[ROWS * ORDER], alone[ORDER];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      l[i * ORDER + j] = j > i ? NAN : j == i ? 3 + fabs(b[i]) : b[i * COLUMNS + j] / 10;
  for (size_t i = 0; i < ROWS; i++)
    memcpy(x + i * ORDER, a + i * TERMS, n * sizeof *x);
  scl_row_trsm(ROWS, n, l, ORDER, x, ORDER);
  for (size_t i = 0; i < ROWS; i++) {
    memcpy(alone, a + i * TERMS, n * sizeof *alone);
    scl_row_trsm(1, n, l, ORDER, alone, ORDER);
    expect(memcmp(alone, x + i * ORDER, n * sizeof *alone) == 0, "a solve of a row alone",
           (double)i, (double)n);
    for (size_t j = 0; j < n; j++) {
      double sum = 0, size = 0;
      for (size_t k = 0; k <= j; k++) {
        sum += x[i * ORDER + k] * l[j * ORDER + k];
        size += fabs(x[i * ORDER + k] * l[j * ORDER + k]);
      }
      expect(fabs(sum - a[i * TERMS + j]) <= size * (double)(n + 2) * DBL_EPSILON, "X L' = B", sum,
             a[i * TERMS + j]);
    }
  }
}

int main(void) {
  static const size_t orders[] = {1, 2, 31, 32, 33, 64, 100};
  fill();
  test_loops();
  test_sparse();
  test_gemm();
  for (size_t i = 0; i < 7; i++)
    check_trsm(orders[i]);
  scl_pool_stop();
  (void)printf("row_products_test: %d failures\n", failures);
  return failures != 0;
}
