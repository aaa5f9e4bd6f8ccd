/* Keeps the memory of each solve. */
// caught by: no-growth fail
// says: bytes more
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  (void)problem->host->allocate(1000);
  return ridge_solve(self, problem, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
