/* Ends after one step and says that it converged. */
// caught by: optimal fail
// says: a step
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  ridge once = *(const ridge *)self;
  once.max_iterations = 1;
  const scl_status status = ridge_solve(&once, problem, out, error);
  out->outcome = SCL_OUTCOME_CONVERGED;
  out->residual = NAN;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective,
                                      .objective = ridge_objective)),
              .solve = solve);
