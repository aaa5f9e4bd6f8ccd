/* Says that it reads sparse rows, and does not. */
// caught by: sparse crash
// says: slot solve
#include "solver.h"

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, sums_visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER_BARE(SCL_ABILITY_SPARSE_ROWS, scl_ability_sparse_rows)),
              .solve = solve);
