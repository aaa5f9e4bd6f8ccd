/* Sources of sparse rows: in memory and in blocks of a file, their rows are those of the matrix. */
#include "expect.h"
#include "rows/source.h"

#include "base/random.h"
#include <stdio.h>
#include <string.h>

enum { ROWS = 103, COLS = 17, BLOCK = 10 };

/* Uniform numbers, of which about four in five are 0; row 5 is empty. */
static scl_matrix random_rows(scl_dtype dtype) {
  scl_matrix x;
  scl_error error = {0};
  expect_true(scl_matrix_create(ROWS, COLS, dtype, &x, &error) == SCL_STATUS_OK, "a matrix");
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < COLS; j++) {
      double u[2];
      scl_random_uniform(7, 0, i, j * 2, 2, u);
      if (u[0] < 0.2 && i != 5) scl_matrix_set(&x, i, j, u[1] - 0.5);
    }
  return x;
}

/* ------------ a file of blocks */

typedef struct block_source {
  scl_source base;
  scl_csr all;
  size_t at;
} block_source;

static scl_status next_block(scl_source *source, scl_csr *x, scl_matrix *y, scl_error *error) {
  block_source *self = (block_source *)source;
  const size_t some = scl_min(BLOCK, ROWS - self->at);
  if (some == 0) return SCL_STATUS_OK;
  SCL_TRY(scl_matrix_create(some, 1, SCL_DTYPE_FLOAT64, y, error));
  for (size_t i = 0; i < some; i++)
    scl_matrix_set(y, i, 0, (double)(self->at + i));
  *x = scl_csr_slice(&self->all, self->at, some);
  self->at += some;
  return SCL_STATUS_OK;
}

static void first_block(scl_source *source) { ((block_source *)source)->at = 0; }

static void keep_block(scl_source *source) { (void)source; }

/* ------------ comparing */

/* Rows first .. first+count-1 of a source, sparse and dense, are those of x, and their targets are
 * the row numbers. */
static void compare(scl_source *source, const scl_matrix *x, size_t first, size_t count,
                    bool dense) {
  scl_error error = {0};
  scl_csr rows = {0};
  scl_matrix y, out;
  expect_true(scl_matrix_create(count, 1, SCL_DTYPE_FLOAT64, &y, &error) == SCL_STATUS_OK,
              "targets");
  expect_true(scl_matrix_create(count, COLS, SCL_DTYPE_FLOAT64, &out, &error) == SCL_STATUS_OK,
              "rows");
  const scl_status status = dense ? scl_source_read(source, first, count, &out, &y, &error)
                                  : scl_source_sparse(source, first, count, &rows, &y, &error);
  expect_true(status == SCL_STATUS_OK, error.message);
  expect_true(dense || (rows.rows == count && rows.cols == COLS), "the size of sparse rows");
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++) {
    expect_true(scl_matrix_get(&y, i, 0) == (double)(first + i), "a target");
    for (size_t j = 0; j < COLS; j++)
      expect_true((dense ? scl_matrix_get(&out, i, j) : scl_csr_get(&rows, i, j)) ==
                      scl_matrix_get(x, first + i, j),
                  "a number");
  }
  scl_csr_release(&rows);
  scl_matrix_release(&y);
  scl_matrix_release(&out);
}

/* Reads of 1 to 40 rows, in order, from the first row to the last. */
static void compare_in_order(scl_source *source, const scl_matrix *x, bool dense) {
  size_t first = 0;
  for (size_t count = 1; first + count <= ROWS; first += count, count = count * 3 % 41)
    compare(source, x, first, count, dense);
  compare(source, x, first, ROWS - first, dense);
}

static void test_memory(scl_dtype dtype) {
  static const size_t places[] = {16, 0, 3, 3};
  scl_error error = {0};
  scl_matrix x = random_rows(dtype), y, some;
  scl_csr rows;
  scl_source *source = NULL, *columns = NULL;
  (void)scl_matrix_create(ROWS, 1, SCL_DTYPE_FLOAT64, &y, &error);
  for (size_t i = 0; i < ROWS; i++)
    scl_matrix_set(&y, i, 0, (double)i);
  expect_true(scl_csr_of_matrix(&x, &rows, &error) == SCL_STATUS_OK, "sparse rows");
  expect_true(scl_source_csr(&rows, &y, &source, &error) == SCL_STATUS_OK && source->sparse,
              "a source");
  compare_in_order(source, &x, false);
  compare_in_order(source, &x, true);
  compare(source, &x, 90, 13, false);
  compare(source, &x, 4, 3, true);
  expect_true(scl_source_columns(source, places, 4, &columns, &error) == SCL_STATUS_OK, "columns");
  (void)scl_matrix_create(ROWS, 4, SCL_DTYPE_FLOAT64, &some, &error);
  expect_true(scl_source_read(columns, 0, ROWS, &some, &y, &error) == SCL_STATUS_OK, "its rows");
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < 4; j++)
      expect_true(scl_matrix_get(&some, i, j) == scl_matrix_get(&x, i, places[j]),
                  "a chosen column");
  scl_source_destroy(columns);
  scl_source_destroy(source);
  scl_matrix two = y;
  two.rows = 2;
  expect_true(scl_source_csr(&rows, &two, &source, &error) == SCL_STATUS_BAD_SHAPE, "unlike rows");
  scl_csr_release(&rows);
  scl_matrix_release(&some);
  scl_matrix_release(&x);
  scl_matrix_release(&y);
}

static void test_blocks(void) {
  static const scl_source_class class = {
      .next_sparse = next_block, .rewind = first_block, .destroy = keep_block};
  scl_error error = {0};
  scl_matrix x = random_rows(SCL_DTYPE_FLOAT64);
  block_source source = {.base = {.class = &class,
                                  .rows = ROWS,
                                  .cols = COLS,
                                  .targets = 1,
                                  .sparse = true,
                                  .name = "blocks"}};
  expect_true(scl_csr_of_matrix(&x, &source.all, &error) == SCL_STATUS_OK, "sparse rows");
  compare_in_order(&source.base, &x, false);
  compare_in_order(&source.base, &x, true);
  source.base.rows = ROWS + 1;
  scl_csr rows;
  scl_matrix y;
  (void)scl_matrix_create(ROWS + 1, 1, SCL_DTYPE_FLOAT64, &y, &error);
  expect_true(scl_source_sparse(&source.base, 0, ROWS + 1, &rows, &y, &error) == SCL_STATUS_IO &&
                  strstr(error.message, "fewer rows") != NULL,
              "a file that is too short");
  expect_true(scl_source_sparse(&source.base, 7, 2, &rows, &y, &error) == SCL_STATUS_OK &&
                  rows.rows == 2 && scl_csr_get(&rows, 1, 3) == scl_matrix_get(&x, 8, 3) &&
                  source.base.done == 9,
              "rows out of order");
  scl_csr_release(&rows);
  scl_source_destroy(&source.base);
  scl_csr_release(&source.all);
  scl_matrix_release(&x);
  scl_matrix_release(&y);
}

int main(void) {
  test_memory(SCL_DTYPE_FLOAT64);
  test_memory(SCL_DTYPE_FLOAT32);
  test_blocks();
  return failures == 0 ? 0 : 1;
}
