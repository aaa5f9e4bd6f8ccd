/* Tells its progress in percent. */
// caught by: solves fail
// says: takes a share in [0, 1]
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = problem->progress(problem, "solving", 50, NAN, error);
  return status == SCL_STATUS_OK ? ridge_solve(self, problem, out, error) : status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
