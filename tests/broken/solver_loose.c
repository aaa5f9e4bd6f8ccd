/* Stops at a hundred times the tolerance that it was given, and says that it converged. */
// caught by: tolerance fail
// says: says converged with tolerance
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  ridge loose = *(const ridge *)self;
  loose.tolerance = self == NULL ? 0 : fmin(0.5, 5000 * loose.tolerance);
  const scl_status status = ridge_solve(&loose, problem, out, error);
  out->residual = out->tolerance = NAN;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
