/* Sums over rows: the same bits whatever the number of processes that share the leaves of the tree,
 * and dictionaries of cells that merge into what one walk finds. */
#include "base/pool.h"
#include "base/random.h"
#include "expect.h"
#include "map/cells.h"
#include "map/stage.h"
#include "plugin/instance.h"
#include "rows/reduce.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------ a sum of numbers of many sizes */

enum { ROWS = 16384 * 7 + 100, BLOCK = 2048 };

static double values[ROWS];

static scl_status open_sum(void *context, void **part, scl_error *error) {
  (void)context;
  *part = scl_allocate_zero(sizeof(double));
  return *part == NULL ? scl_fail_memory(error, sizeof(double), "a sum") : SCL_STATUS_OK;
}

static scl_status merge_sums(void *context, void *into, void *from, scl_error *error) {
  (void)context, (void)error;
  *(double *)into += *(const double *)from;
  return SCL_STATUS_OK;
}

static void close_sum(void *context, void *part) {
  (void)context;
  scl_release(part);
}

static const scl_reduction sum = {NULL, sizeof(double), open_sum, merge_sums, close_sum, NULL};

/* Rows first .. end-1 in blocks that end where leaves do. */
static void add_rows(scl_reducer *r, size_t first, size_t end) {
  const size_t leaf = scl_reduce_leaf_rows(ROWS);
  for (size_t at = first, stop; at < end; at = stop) {
    void *part;
    stop = scl_min(scl_min(at + BLOCK, end), (at / leaf + 1) * leaf);
    expect(scl_reducer_at(r, at, &part, NULL) == SCL_STATUS_OK, "at", 0, 0);
    for (size_t i = at; i < stop; i++)
      *(double *)part += values[i];
  }
}

static double finish(scl_reducer *r) {
  void *part;
  if (scl_reducer_finish(r, SCL_STATUS_OK, &part, NULL) != SCL_STATUS_OK) return NAN;
  const double total = *(const double *)part;
  scl_release(part);
  return total;
}

/* Leaves dealt out to so many processes, in order, each with at least one. */
static double share_among(size_t processes) {
  const size_t leaf = scl_reduce_leaf_rows(ROWS), leaves = (ROWS + leaf - 1) / leaf;
  scl_reducer all = scl_reducer_of(&sum, ROWS);
  for (size_t p = 0; p < processes; p++) {
    scl_reducer own = scl_reducer_of(&sum, ROWS);
    add_rows(&own, p * leaves / processes * leaf,
             scl_min((p + 1) * leaves / processes * leaf, ROWS));
    expect(scl_reducer_end_leaf(&own, NULL) == SCL_STATUS_OK, "the last leaf", 0, 0);
    for (size_t k = 0; k < own.count; k++)
      expect(scl_reducer_push(&all, own.nodes[k].level, own.nodes[k].index, own.nodes[k].part,
                              NULL) == SCL_STATUS_OK,
             "a node of another process", 0, 0);
  }
  return finish(&all);
}

static void test_bits_do_not_depend_on_processes(void) {
  const size_t leaf = scl_reduce_leaf_rows(ROWS), leaves = (ROWS + leaf - 1) / leaf;
  double chain = 0;
  scl_random_normal(1, 2, 3, 0, ROWS, values);
  for (size_t i = 0; i < ROWS; i++) {
    values[i] *= exp((double)(i % 60) - 30);
    chain += values[i];
  }
  expect(leaves == 8, "leaves", (double)leaves, 8);
  scl_reducer one = scl_reducer_of(&sum, ROWS);
  add_rows(&one, 0, ROWS);
  const double total = finish(&one);
  for (size_t processes = 1; processes <= leaves; processes++)
    expect(share_among(processes) == total, "a sum shared among processes", share_among(processes),
           total);
  expect(total != chain, "the order of the tree can be seen in the bits", total, chain);
  expect(fabs(total - chain) < 1e-9 * fabs(chain), "the sum", total, chain);
  expect(scl_allocated() == 0, "bytes held", (double)scl_allocated(), 0);
}

static void test_large_parts_are_one_leaf(void) {
  const scl_reduction large = {NULL, (size_t)1 << 40, open_sum, merge_sums, close_sum, NULL};
  scl_reducer r = scl_reducer_of(&large, ROWS);
  double chain = 0;
  add_rows(&r, 0, ROWS);
  for (size_t i = 0; i < ROWS; i++)
    chain += values[i];
  const double total = finish(&r);
  expect(total == chain, "rows in order", total, chain);
}

/* Parts that exist, and the most at one time. */
typedef struct living {
  size_t now, most;
} living;

static scl_status open_living(void *context, void **part, scl_error *error) {
  living *l = context;
  l->most = scl_max(l->most, ++l->now);
  return open_sum(NULL, part, error);
}

static void close_living(void *context, void *part) {
  ((living *)context)->now--;
  close_sum(NULL, part);
}

static void test_the_most_parts_are_known(void) {
  const size_t rows[] = {0, 1, 16384, 16385, 40000, 70000, 100000, ROWS};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    living l = {0, 0};
    const scl_reduction counted = {&l, sizeof(double), open_living, merge_sums, close_living, NULL};
    scl_reducer r = scl_reducer_of(&counted, rows[k]);
    void *part;
    for (size_t at = 0; at < rows[k]; at += scl_reduce_leaf_rows(rows[k]))
      expect(scl_reducer_at(&r, at, &part, NULL) == SCL_STATUS_OK, "at", 0, 0);
    (void)finish(&r);
    const size_t told = scl_reduce_parts(sizeof(double), rows[k]);
    expect(told == l.most, "the most parts at one time", (double)told, (double)l.most);
  }
  expect(scl_reduce_parts((size_t)1 << 40, ROWS) == 1, "large parts", 0, 1);
}

static void test_nothing_and_failures(void) {
  scl_reducer none = scl_reducer_of(&sum, 0);
  expect(finish(&none) == 0, "the sum of no rows", 1, 0);
  for (long count = 0; count < 12; count++) {
    scl_reducer r = scl_reducer_of(&sum, ROWS);
    scl_status status = SCL_STATUS_OK;
    void *part = NULL;
    scl_allocate_fail_after(count);
    for (size_t at = 0; status == SCL_STATUS_OK && at < ROWS; at += BLOCK)
      status = scl_reducer_at(&r, at, &part, NULL);
    status = scl_reducer_finish(&r, status, &part, NULL);
    scl_allocate_fail_after(-1);
    if (status == SCL_STATUS_OK) scl_release(part);
    expect((status == SCL_STATUS_OK) == (count >= 8), "memory runs out", status, 0);
    expect(scl_allocated() == 0, "bytes held after a failure", (double)scl_allocated(), 0);
  }
}

/* ------------ statistics of columns */

static void test_column_moments_merge(void) {
  enum { N = 1000, D = 3 };
  static double x[N * D];
  scl_column_moments whole, left, right;
  scl_random_normal(5, 6, 7, 0, sizeof x / sizeof *x, x);
  for (size_t i = 0; i < N; i++)
    x[i * D + 1] += 1e8; /* a mean that plain sums of squares would lose the spread beside */
  expect(scl_column_moments_create(D, &whole, NULL) == SCL_STATUS_OK &&
             scl_column_moments_create(D, &left, NULL) == SCL_STATUS_OK &&
             scl_column_moments_create(D, &right, NULL) == SCL_STATUS_OK,
         "create", 0, 0);
  scl_column_moments_add(&whole, x, D, N, NULL);
  scl_column_moments_add(&left, x, D, 300, NULL);
  scl_column_moments_add(&right, x + 300 * D, D, N - 300, NULL);
  scl_column_moments_merge(&left, &right);
  for (size_t j = 0; j < D; j++) {
    expect(fabs(left.mean[j] - whole.mean[j]) < 1e-7, "means", left.mean[j], whole.mean[j]);
    expect(fabs(left.square[j] - whole.square[j]) < 1e-6 * whole.square[j], "squares",
           left.square[j], whole.square[j]);
    expect(left.low[j] == whole.low[j] && left.high[j] == whole.high[j], "ranges", left.low[j],
           whole.low[j]);
  }
  expect(*left.count == N, "rows", *left.count, N);
  scl_column_moments_destroy(&whole);
  scl_column_moments_destroy(&left);
  scl_column_moments_destroy(&right);
}

/* Rows of whole weights are as so many rows; those of weight 0 count nowhere, also in ranges. */
static void test_column_moments_of_weighted_rows(void) {
  enum { N = 200, D = 3 };
  static double x[N * D], many[2 * N * D], weights[N];
  size_t count = 0;
  scl_column_moments weighted, repeated;
  scl_random_normal(5, 6, 8, 0, sizeof x / sizeof *x, x);
  for (size_t i = 0; i < N; i++) {
    weights[i] = (double)(i % 3);
    for (size_t j = 0; j < D; j++)
      x[i * D + j] *= i % 3 == 0 ? 1e3 : 1;
    x[i * D + 1] += 1e8;
    for (size_t k = 0; k < i % 3; k++)
      memcpy(many + D * count++, x + i * D, D * sizeof *x);
  }
  expect(scl_column_moments_create(D, &weighted, NULL) == SCL_STATUS_OK &&
             scl_column_moments_create(D, &repeated, NULL) == SCL_STATUS_OK,
         "create", 0, 0);
  scl_column_moments_add(&weighted, x, D, N, weights);
  scl_column_moments_add(&weighted, x, D, 1, weights); /* no weight in all */
  scl_column_moments_add(&repeated, many, D, count, NULL);
  for (size_t j = 0; j < D; j++) {
    const double gap =
        (weighted.mean[j] - repeated.mean[j]) + (weighted.rest[j] - repeated.rest[j]);
    expect(fabs(gap) < 1e-12, "weighted means", gap, 0);
    expect(fabs(weighted.square[j] - repeated.square[j]) < 1e-12 * repeated.square[j],
           "weighted squares", weighted.square[j], repeated.square[j]);
    expect(weighted.low[j] == repeated.low[j] && weighted.high[j] == repeated.high[j],
           "weighted ranges", weighted.low[j], repeated.low[j]);
  }
  expect(*weighted.count == (double)count, "sum of weights", *weighted.count, (double)count);
  scl_column_moments_destroy(&weighted);
  scl_column_moments_destroy(&repeated);
}

/* ------------ cells */

enum { CELL_ROWS = 500, CELL_DIM = 3, GRIDS = 11 };

/* What a dictionary makes of rows. */
static void columns_of(scl_cells *cells, const double *x, int32_t *columns) {
  expect(scl_cells_settle(cells, NULL) == SCL_STATUS_OK, "settle", 0, 0);
  expect(scl_cells_find(cells, SCL_DTYPE_FLOAT64, x, CELL_DIM, CELL_ROWS, columns, NULL) ==
             SCL_STATUS_OK,
         "find", 0, 0);
}

static void test_cells_merge(scl_cells *whole, const double *x) {
  static int32_t wanted[CELL_ROWS * GRIDS], got[CELL_ROWS * GRIDS];
  static const size_t cuts[] = {0, 1, 200, CELL_ROWS};
  expect(scl_cells_learn(whole, SCL_DTYPE_FLOAT64, x, CELL_DIM, CELL_ROWS, NULL) == SCL_STATUS_OK,
         "learn", 0, 0);
  columns_of(whole, x, wanted);
  for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
    scl_cells *left = NULL, *right = NULL;
    expect(scl_cells_create_empty(whole, &left, NULL) == SCL_STATUS_OK &&
               scl_cells_create_empty(whole, &right, NULL) == SCL_STATUS_OK,
           "empty", 0, 0);
    expect(scl_cells_learn(left, SCL_DTYPE_FLOAT64, x, CELL_DIM, cuts[c], NULL) == SCL_STATUS_OK &&
               scl_cells_learn(right, SCL_DTYPE_FLOAT64, x + cuts[c] * CELL_DIM, CELL_DIM,
                               CELL_ROWS - cuts[c], NULL) == SCL_STATUS_OK &&
               scl_cells_merge(left, right, NULL) == SCL_STATUS_OK,
           "merge", 0, 0);
    columns_of(left, x, got);
    expect(scl_cells_count(left) == scl_cells_count(whole), "cells", (double)scl_cells_count(left),
           (double)scl_cells_count(whole));
    expect(memcmp(got, wanted, sizeof got) == 0, "columns of merged cells", (double)cuts[c], 0);
    scl_cells_destroy(left);
    scl_cells_destroy(right);
  }
}

static void test_cells(void) {
  static double x[CELL_ROWS * CELL_DIM], grids[GRIDS * 2 * CELL_DIM];
  scl_instance *bins = NULL;
  scl_cells *cells = NULL;
  scl_error error = {0};
  scl_random_normal(8, 9, 1, 0, sizeof x / sizeof *x, x);
  x[7] = 1e6; /* keys of more bytes from here on */
  scl_random_uniform(8, 9, 2, 0, sizeof grids / sizeof *grids, grids);
  const scl_parameters parameters = {.head = SCL_HEAD(scl_parameters),
                                     .space = SCL_SPACE_GRID,
                                     .count = GRIDS,
                                     .dim = CELL_DIM,
                                     .reals = 2 * CELL_DIM,
                                     .weights = grids,
                                     .stride = 2 * CELL_DIM};
  scl_status status = scl_instance_from_text("nonlinearity", "bins", &bins, &error);
  if (status == SCL_STATUS_OK) status = scl_cells_create(bins, &parameters, &cells, &error);
  expect(status == SCL_STATUS_OK, error.message, status, SCL_STATUS_OK);
  if (status == SCL_STATUS_OK) test_cells_merge(cells, x);
  scl_cells_destroy(cells);
  scl_instance_release(bins);
}

int main(void) {
  test_bits_do_not_depend_on_processes();
  test_large_parts_are_one_leaf();
  test_the_most_parts_are_known();
  test_nothing_and_failures();
  test_column_moments_merge();
  test_column_moments_of_weighted_rows();
  test_cells();
  scl_pool_stop();
  (void)printf("reduce_test: %d failures\n", failures);
  return failures != 0;
}
