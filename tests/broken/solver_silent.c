/* Says nothing of its outcome. */
// caught by: solves fail
// says: left the outcome of its solution unsaid
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = ridge_solve(self, problem, out, error);
  out->outcome = SCL_OUTCOME_NONE;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
