/* The rows of a problem as one float64 matrix, for solvers that keep them: in the order of the data
 * whatever the blocks, without those of weight 0. */
#ifndef SCULLERY_SHARED_ROWS_H
#define SCULLERY_SHARED_ROWS_H

#include <scullery/plugin.h>

typedef struct row_set {
  size_t rows, cols, targets;
  double *x, *y, *weights; /* rows x cols, rows x targets, rows */
  double *pilot;           /* cols: the point subtracted from the rows of x; NULL: 0 */
} row_set;

void rows_release(const scl_host *host, const row_set *set);

/* Collects the rows in *out, which must be released even after a failure. */
scl_status rows_collect(const scl_problem *problem, row_set *out, scl_error *error);

/* Whether f(x) = sum_i b_i K(x_i, x) + f0 may be learnt from x_i - p and x - p for any row p:
 * `constant` says that f0 is free and the b_i sum to 0. */
bool rows_may_move(const scl_host *host, const scl_part *kernel, bool constant);

/* Where columns are far from 0, subtracts a point near the rows (the pilot), as differences of
 * large numbers lose digits. */
scl_status rows_centre(const scl_host *host, row_set *set, scl_error *error);

/* to (count x cols) = rows - pilot, of rows at `stride`. */
void rows_subtract(const double *x, ptrdiff_t stride, size_t count, size_t cols,
                   const double *pilot, double *to);

size_t rows_classes(const row_set *set);

/* The class of a row whose targets are coded +-1: one column for two classes, else one a class. */
size_t rows_class(const row_set *set, size_t row);

/* Refuses rows that are all of one class, as a fold may leave. */
scl_status rows_need_two_classes(const scl_host *host, const row_set *set, scl_error *error);

#endif
