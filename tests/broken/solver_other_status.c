/* Returns a status of its own where a verb failed. */
// caught by: failures fail
// says: returned
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = ridge_solve(self, problem, out, error);
  if (status == SCL_STATUS_OK) return status;
  return problem->host->fail(error, SCL_STATUS_NUMERIC, "it did not work out");
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
