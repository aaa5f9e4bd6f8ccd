/* Its objective is a sum of absolute errors, and the loss that it tells is that of squares. */
// caught by: objective fail
// says: no combination
#include "solver.h"

static scl_status objective(const void *self, const scl_problem *problem, const double *a,
                            const double *b, double *value, scl_error *error) {
  const scl_status status = ridge_objective(self, problem, a, b, value, error);
  *value = sqrt(*value);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective,
                                      .objective = objective)),
              .solve = ridge_solve);
