/* Minimises squares with a penalty that differs by column, says converged, and tells no objective. */
// caught by: stationary warn
// says: SCL_ABILITY_OBJECTIVE
#include "solver.h"

static scl_status solve(const void *instance, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  sums s;
  scl_status status = sums_open(problem, &s, error);
  if (status == SCL_STATUS_OK) status = sums_normal(problem, &s, error);
  for (size_t i = 0; status == SCL_STATUS_OK && i < s.d; i++) /* i a_i^2 more for column i */
    s.moment[i * s.d + i] += (double)i * s.total;
  if (status == SCL_STATUS_OK)
    status = sums_solve(instance, problem, &s, ((const ridge *)instance)->lambda, out, error);
  sums_close(problem, &s);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
