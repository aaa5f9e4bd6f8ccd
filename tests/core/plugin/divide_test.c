/* scl_host.divide_rows: parts of dense, one-hot and sparse rows have the rows that they should,
 * states begin with zeros and are merged in the order of the rows, and the result has the same bits
 * for any number of threads. The first part that fails says why. */
#include "base/pool.h"
#include "expect.h"
#include "plugin/host.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLS = 5, ENTRIES = 2, STRIDE = 7 };

/* The block: dense numbers, one-hot columns and sparse rows of the same places. */
static double dense[ROWS * STRIDE], targets[ROWS], weights[ROWS], values[ROWS * ENTRIES];
static float single[ROWS * STRIDE];
static int32_t columns[ROWS * ENTRIES];
static int64_t starts[ROWS + 1];
static size_t places[ROWS];

static void fill(void) {
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < STRIDE; j++) {
      dense[i * STRIDE + j] = sin((double)(i * STRIDE + j));
      single[i * STRIDE + j] = (float)dense[i * STRIDE + j];
    }
    for (size_t e = 0; e < ENTRIES; e++) {
      columns[i * ENTRIES + e] = (int32_t)((i + e) % COLS);
      values[i * ENTRIES + e] = cos((double)(i + e));
    }
    targets[i] = (double)i;
    weights[i] = 1 + (double)(i % 3);
    places[i] = i * i;
    starts[i + 1] = starts[i] + ENTRIES;
  }
}

typedef struct sums {
  double sum;
  size_t rows, parts;
  double order; /* a number that depends on the order of merging */
} sums;

typedef struct job {
  sums all;
  size_t fails; /* the row whose part fails; ROWS: none does */
} job;

/* The number of a row in whatever form it comes. */
static double number_of(const scl_rows *rows, size_t i) {
  double sum = 0;
  if (rows->csr != NULL)
    for (int64_t k = rows->csr->starts[i]; k < rows->csr->starts[i + 1]; k++)
      sum += scl_csr_number(rows->csr, k) * (1 + rows->csr->columns[k]);
  else if (rows->entries > 0)
    for (size_t e = 0; e < rows->entries; e++)
      sum += rows->value * rows->columns[i * rows->entries + e];
  else
    for (size_t j = 0; j < rows->features.cols; j++) {
      const ptrdiff_t at = (ptrdiff_t)i * rows->features.row_stride + (ptrdiff_t)j;
      sum += rows->features.dtype == SCL_DTYPE_FLOAT32
                 ? (double)((const float *)rows->features.data)[at]
                 : ((const double *)rows->features.data)[at];
    }
  return sum;
}

static scl_status part(void *context, const scl_rows *rows, void *state, scl_error *error) {
  const job *j = context;
  sums *own = state;
  if (j->fails >= rows->first && j->fails < rows->first + rows->count)
    return scl_host_get()->fail(error, SCL_STATUS_NUMERIC, "row %zu", rows->first);
  if (own->rows != 0 || own->sum != 0 || (uintptr_t)state % 64 != 0)
    return scl_host_get()->fail(error, SCL_STATUS_INTERNAL, "the state is not zeros");
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->targets[i] != (double)(rows->first + i) ||
        rows->index[i] != (rows->first + i) * (rows->first + i))
      return scl_host_get()->fail(error, SCL_STATUS_INTERNAL, "targets or places of other rows");
    own->sum += rows->weights[i] * number_of(rows, i);
    own->rows++;
  }
  own->order = (double)rows->first;
  return SCL_STATUS_OK;
}

static scl_status merge(void *context, const void *state, scl_error *error) {
  job *j = context;
  const sums *from = state;
  (void)error;
  j->all.sum += from->sum;
  j->all.rows += from->rows;
  j->all.parts++;
  j->all.order = j->all.order * 0.5 + from->order;
  return SCL_STATUS_OK;
}

static scl_rows block(void) {
  return (scl_rows){.head = SCL_HEAD(scl_rows),
                    .count = ROWS,
                    .targets = targets,
                    .weights = weights,
                    .index = places,
                    .features = {.rows = ROWS, .cols = COLS, .planes = 1, .row_stride = STRIDE}};
}

/* One form: the sum over parts is that of parts one after another, on any number of threads. */
static void test_form(const scl_rows *rows, size_t height, const char *what) {
  const size_t each = height == 0 ? 256 : height;
  double wanted = 0, order = 0;
  size_t parts = 0;
  for (size_t at = 0; at < ROWS; at += each, parts++) {
    double sum = 0;
    for (size_t i = at; i < at + each && i < ROWS; i++)
      sum += weights[i] * number_of(rows, i);
    wanted += sum;
    order = order * 0.5 + (double)at;
  }
  for (size_t threads = 1; threads <= 4; threads++) {
    scl_division division = {SCL_HEAD(scl_division), height, 1, sizeof(sums), part, merge};
    job j = {.fails = ROWS};
    scl_error error = {0};
    scl_pool_set_threads(threads);
    expect_true(scl_host_get()->divide_rows(rows, &division, &j, &error) == SCL_STATUS_OK, what);
    expect_true(error.message[0] == 0, error.message);
    expect_true(j.all.sum == wanted && j.all.order == order, what);
    expect_true(j.all.rows == ROWS && j.all.parts == parts, "all rows once");
    division.merge = NULL;
    expect_true(scl_host_get()->divide_rows(rows, &division, &j, &error) == SCL_STATUS_OK,
                "without merge");
  }
}

static void test_failures(void) {
  const scl_rows rows = block();
  scl_division division = {SCL_HEAD(scl_division), 10, 1, sizeof(sums), part, merge};
  scl_rows of_data = rows;
  job j = {.fails = 505};
  scl_error error = {0};
  of_data.features.data = dense;
  expect_true(scl_host_get()->divide_rows(&of_data, &division, &j, &error) == SCL_STATUS_NUMERIC &&
                  strcmp(error.message, "row 500") == 0,
              "the part that fails says why");
  division.part = NULL;
  expect_true(scl_host_get()->divide_rows(&of_data, &division, &j, &error) == SCL_STATUS_INTERNAL,
              "no function");
  division.part = part;
  division.head.size = 8;
  expect_true(scl_host_get()->divide_rows(&of_data, &division, &j, &error) == SCL_STATUS_INTERNAL,
              "a table that is cut off");
  division.head.size = sizeof division;
  division.bytes = SIZE_MAX - 3;
  expect_true(scl_host_get()->divide_rows(&of_data, &division, &j, &error) == SCL_STATUS_NO_MEMORY,
              "states that no machine can hold");
  of_data.count = 0;
  division.bytes = sizeof(sums);
  expect_true(scl_host_get()->divide_rows(&of_data, &division, &j, &error) == SCL_STATUS_OK,
              "no rows");
}

int main(void) {
  scl_rows rows = block();
  const scl_const_csr sparse = {starts, columns, values, SCL_DTYPE_FLOAT64, 0, ROWS, COLS};
  fill();
  rows.features.data = dense;
  test_form(&rows, 0, "dense rows, parts of the host's size");
  test_form(&rows, 1, "dense rows, each a part");
  test_form(&rows, 77, "dense rows, parts of 77");
  test_form(&rows, ROWS + 1, "dense rows, one part");
  rows.features.data = single;
  rows.features.dtype = SCL_DTYPE_FLOAT32;
  test_form(&rows, 77, "dense rows in float32");
  rows.features.data = NULL;
  rows.entries = ENTRIES;
  rows.columns = columns;
  rows.value = 0.5;
  test_form(&rows, 77, "one-hot rows");
  rows.entries = 0;
  rows.columns = NULL;
  rows.csr = &sparse;
  test_form(&rows, 77, "sparse rows");
  test_failures();
  scl_pool_stop();
  (void)printf("divide_test: %d failures\n", failures);
  return failures != 0;
}
