/* Tells another objective than the one that it minimises. */
// caught by: optimal fail
// says: gives
#include "solver.h"

static scl_status objective(const void *self, const scl_problem *problem, const double *a,
                            const double *b, double *value, scl_error *error) {
  return objective_for(problem, ((const ridge *)self)->lambda / 2, a, b, value, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective,
                                      .objective = objective)),
              .solve = ridge_solve);
