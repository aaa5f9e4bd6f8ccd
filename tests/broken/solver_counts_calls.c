/* Its result depends on how often it was called. */
// caught by: same-bits fail
// says: once more
#include "solver.h"

static size_t calls;

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  const scl_status status = ridge_solve(self, problem, out, error);
  for (size_t i = 0; i < problem->features * problem->targets; i++)
    out->coefficients[i] *= 1 + 1e-12 * (double)calls;
  calls++;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
