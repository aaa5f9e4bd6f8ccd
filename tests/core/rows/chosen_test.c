/* Rows that are made as they are read: a sample of them does not hold the others in memory, and a
 * cache of them counts them. */
#include "expect.h"
#include "rows/chosen.h"
#include "rows/keep.h"

#include <stdio.h>

enum { ROWS = 40000, COLS = 50, ENTRIES = 10, PICKED = 25 };

static double number_at(size_t i, size_t k) { return (double)(i % 1000) + (double)k / 16; }

/* Row i has its numbers in columns 5k + i mod 5. */
static scl_status make_rows(size_t first, size_t count, scl_dtype dtype, scl_csr *x,
                            scl_error *error) {
  SCL_TRY(scl_csr_create(count, COLS, count * ENTRIES, dtype, x, error));
  for (size_t i = 0; i < count; i++) {
    x->starts[i + 1] = (int64_t)((i + 1) * ENTRIES);
    for (size_t k = 0; k < ENTRIES; k++) {
      x->columns[i * ENTRIES + k] = (int32_t)(5 * k + (first + i) % 5);
      scl_set_number(x->values, dtype, i * ENTRIES + k, number_at(first + i, k));
    }
  }
  return SCL_STATUS_OK;
}

static scl_status read_new(scl_source *source, size_t first, size_t count, scl_csr *x,
                           scl_matrix *y, scl_error *error) {
  (void)source, (void)y;
  return make_rows(first, count, SCL_DTYPE_FLOAT64, x, error);
}

static scl_source made_rows(void) {
  static const scl_source_class class = {.read_sparse = read_new};
  return (scl_source){.class = &class,
                      .rows = ROWS,
                      .cols = COLS,
                      .random_access = true,
                      .parallel = true,
                      .sparse = true};
}

static void test_sample(void) {
  scl_source source = made_rows();
  const scl_flow flow = {.source = &source, .dtype = SCL_DTYPE_FLOAT64};
  const size_t all = (size_t)ROWS * ENTRIES * (sizeof(double) + sizeof(int32_t)),
               before = scl_allocated();
  size_t places[PICKED];
  scl_csr x;
  scl_error error = {0};
  for (size_t k = 0; k < PICKED; k++)
    places[k] = k * (ROWS / PICKED) + k % 3;
  scl_allocated_peak_reset();
  expect_true(scl_flow_pick_csr(&flow, places, PICKED, &x, NULL, &error) == SCL_STATUS_OK,
              error.message);
  expect_true(scl_allocated_peak() - before < all / 3,
              "a sample holds the rows that are not in it");
  expect_true(x.rows == PICKED && x.cols == COLS, "the size of a sample");
  for (size_t k = 0; k < PICKED && x.rows == PICKED; k++)
    for (size_t j = 0; j < COLS; j++)
      expect_true(scl_csr_get(&x, k, j) ==
                      (j % 5 == places[k] % 5 ? number_at(places[k], j / 5) : 0),
                  "a number of a sample");
  scl_csr_release(&x);
  expect_true(scl_flow_pick_csr(&flow, places, 0, &x, NULL, &error) == SCL_STATUS_OK &&
                  x.rows == 0 && x.cols == COLS,
              "a sample of no rows");
  scl_csr_release(&x);
  for (long k = 0; k < 60; k++) { /* what fails leaves nothing allocated */
    scl_allocate_fail_after(k);
    if (scl_flow_pick_csr(&flow, places, PICKED, &x, NULL, &error) == SCL_STATUS_OK)
      scl_csr_release(&x);
    scl_allocate_fail_after(-1);
  }
  expect_true(scl_allocated() == before, "memory after a sample");
}

/* The bytes of a row in a cache of the source's rows in `dtype`. */
static double kept_bytes(scl_source *source, scl_dtype dtype) {
  const scl_flow flow = {.source = source, .dtype = dtype};
  return scl_keep_bytes(&flow) / ROWS;
}

static void test_bytes(void) {
  const double numbers = ENTRIES * (sizeof(double) + sizeof(int32_t));
  scl_source made = made_rows(), *memory = NULL;
  scl_csr x;
  scl_error error = {0};
  expect_true(kept_bytes(&made, SCL_DTYPE_FLOAT64) >= numbers,
              "rows that are made are kept for free");
  expect_true(make_rows(0, ROWS, SCL_DTYPE_FLOAT32, &x, &error) == SCL_STATUS_OK, error.message);
  expect_true(scl_source_csr(&x, NULL, &memory, &error) == SCL_STATUS_OK, error.message);
  scl_csr_release(&x);
  expect_true(kept_bytes(memory, SCL_DTYPE_FLOAT64) >= numbers, "converted rows are kept for free");
  expect_true(kept_bytes(memory, SCL_DTYPE_FLOAT32) < numbers / 2,
              "views of rows are not kept for free");
  scl_source_destroy(memory);
}

int main(void) {
  test_sample();
  test_bytes();
  return failures == 0 ? 0 : 1;
}
