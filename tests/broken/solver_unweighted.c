/* Divides weighted sums by the number of rows, not by their weight. */
// caught by: weights fail
// says: rows with weights
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = problem->walk(problem, sums_visit, &s, error);
  s.total = (double)problem->rows;
  if (status == SCL_STATUS_OK)
    status = sums_solve(self, problem, &s, ((const ridge *)self)->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
