/* Does not centre, and leaves the constant to the host, which takes centred features. */
// caught by: intercept fail
// says: with a constant
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, sums_visit, out, error);
}

static const scl_option options[] = {
    RIDGE_OPTIONS,
    SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT)};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
