/* Reads one number past the last row of a block. */
// caught by: rows crash
// says: slot solve
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  const volatile double *last = row_of(rows, rows->count - 1);
  (void)last[rows->features.cols];
  return sums_visit(context, rows, error);
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
