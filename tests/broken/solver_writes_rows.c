/* Centres the rows that it is shown in place. */
// caught by: rows crash
// says: slot solve
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  double *x = (double *)(uintptr_t)rows->features.data;
  for (size_t i = 0; i < rows->count; i++)
    x[(ptrdiff_t)i * rows->features.row_stride] -= 1;
  return sums_visit(context, rows, error);
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
