/* Ridge regression from the host's sums, with all that goes with it: right. */
#include "solver.h"

static scl_penalty penalty(const void *self) {
  (void)self;
  return SCL_PENALTY_L2;
}

static const scl_option options[] = {
    RIDGE_OPTIONS,
    SCL_BOOLEAN(ridge, intercept, "false", "fit a constant", .role = SCL_ROLE_INTERCEPT)};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_OBJECTIVE, scl_ability_objective,
                                      .objective = ridge_objective),
                            SCL_OFFER(SCL_ABILITY_PENALTY, scl_ability_penalty, .penalty = penalty),
                            SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda",
                                      .solve = ridge_path)),
              .solve = ridge_solve);
