/* Says that it converged when it is out of iterations. */
// caught by: limit fail
// says: max_iterations = 1: says converged
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = ridge_solve(self, problem, out, error);
  out->outcome = SCL_OUTCOME_CONVERGED;
  out->residual = out->tolerance = NAN;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
