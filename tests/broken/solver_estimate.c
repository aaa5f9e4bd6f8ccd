/* Its leave-one-out error leaves no row out. */
// caught by: estimate fail
// says: fits without a row each
#include "solver.h"

typedef struct guessing {
  ridge shared;
  int32_t estimate;
} guessing;

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  double value = 0;
  scl_status status = ridge_solve(self, problem, out, error);
  if (status != SCL_STATUS_OK || ((const guessing *)self)->estimate == 0) return status;
  status = objective_for(problem, 0, out->coefficients, NULL, &value, error);
  out->score = value;
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS, SCL_WORD(guessing, estimate, "none|loo", "none",
                                                             "its own estimate of the risk",
                                                             .role = SCL_ROLE_ESTIMATE)};

#define ridge guessing
BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
