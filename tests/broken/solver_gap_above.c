/* Says that it converged, with a gap above its tolerance. */
// caught by: solves fail
// says: with a gap of 0.5
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = ridge_solve(self, problem, out, error);
  out->gap = 0.5;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
