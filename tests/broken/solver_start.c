/* Adds what it finds to the point that it starts from. */
// caught by: start fail
// says: from a random point
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const size_t count = problem->features * problem->targets;
  double *start = problem->host->allocate((count + 1) * sizeof *start);
  if (start == NULL)
    return problem->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the start");
  memcpy(start, out->coefficients, count * sizeof *start);
  const scl_status status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; i < count; i++)
    out->coefficients[i] += start[i];
  problem->host->release(start);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
