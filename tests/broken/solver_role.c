/* Its regularisation is 1 over the option that has the role. */
// caught by: simpler fail
// says: the simpler model has the larger penalty
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_for(self, problem, 0.01 / ((const ridge *)self)->lambda, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
