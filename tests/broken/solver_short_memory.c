/* Does not look whether it got the memory that it asked for. */
// caught by: short-memory crash
// says: slot solve
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  double *room = problem->host->allocate(sizeof *room);
  *room = 1;
  const scl_status status = ridge_solve(self, problem, out, error);
  problem->host->release(room);
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
