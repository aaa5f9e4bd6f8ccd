/* Penalises its first coefficient ten times as much, and says that it penalises ||a||^2. */
// caught by: penalty fail
// says: orthogonal
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const double lambda = ((const ridge *)self)->lambda;
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = sums_normal(problem, &s, error);
  s.moment[0] += 9 * lambda * s.total;
  if (status == SCL_STATUS_OK) status = sums_solve(self, problem, &s, lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
