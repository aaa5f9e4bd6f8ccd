/* Takes a walk that failed for one that ended. */
// caught by: failures fail
// says: SCL_STATUS_OK
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  (void)problem->walk(problem, sums_visit, &s, error);
  s.total += 1e-300; /* no rows, no division by 0 */
  status = sums_solve(self, problem, &s, ((const ridge *)self)->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
