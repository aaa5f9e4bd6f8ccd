/* Says that it takes float32, and reads all rows as float64. */
// caught by: float32 crash
// says: slot solve
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, sums_visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .dtypes = SCL_DTYPES_FLOAT, .solve = solve);
