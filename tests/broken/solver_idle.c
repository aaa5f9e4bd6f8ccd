/* Says that it converged, and did nothing. */
// caught by: learns fail
// says: says converged
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  (void)self;
  out->outcome = SCL_OUTCOME_CONVERGED;
  return problem->progress(problem, "solving", 1, NAN, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
