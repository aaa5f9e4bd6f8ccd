/* Solves the first of several targets alone. */
// caught by: targets fail
// says: in another order
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  scl_status status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < problem->features * problem->targets; i++)
    if (i % problem->targets > 0) out->coefficients[i] = 0;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
