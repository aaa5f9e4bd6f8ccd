/* Never ends. */
// caught by: solves timeout
// says: slot solve
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  volatile int one = 1;
  while (one)
    one = 1;
  return ridge_solve(self, problem, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
