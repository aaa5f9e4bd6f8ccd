/* Its path gives the solutions in ascending order of the values. */
// caught by: path fail
// says: alone and on the path
#include "solver.h"

static scl_status path(const void *self, const scl_problem *problem, const double *values,
                       size_t count, scl_solution *const *out, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  for (size_t k = 0; status == SCL_STATUS_OK && k < count; k++) {
    size_t place = 0;
    for (size_t i = 0; i < count; i++)
      place += values[i] < values[k] || (values[i] == values[k] && i < k);
    status = ridge_for(self, problem, values[k], out[place], error);
  }
  return status;
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options,
              SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_PATH, scl_ability_path, .option = "lambda",
                                      .solve = path)),
              .solve = ridge_solve);
