/* Goes on when problem.progress says that the user cancelled. */
// caught by: cancelled fail
// says: failed with status "cancelled"
// says: SCL_STATUS_OK
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  (void)problem->progress(problem, "solving", 0, NAN, NULL);
  return ridge_walk(self, problem, sums_visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
