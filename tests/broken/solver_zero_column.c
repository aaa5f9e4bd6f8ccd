/* Divides by the length of each column. */
// caught by: edges fail
// says: is not finite
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status != SCL_STATUS_OK) return status;
  status = sums_normal(problem, &s, error);
  if (status == SCL_STATUS_OK)
    status = sums_solve(self, problem, &s, ((const ridge *)self)->lambda, out, error);
  for (size_t i = 0; i < problem->features * problem->targets; i++) {
    const double square = s.moment[i / s.c * (s.d + 1)];
    out->coefficients[i] *= square / square;
  }
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
