/* Looks at no row weights. */
// caught by: weights fail
// says: rows with weights
#include "solver.h"

static scl_status visit(void *context, const scl_rows *rows, scl_error *error) {
  scl_rows even = *rows;
  even.weights = NULL;
  for (size_t i = 0; i < rows->count; i++) /* but leaves rows of weight 0 out */
    if (weight_of(rows, i) > 0) {
      even.count = 1;
      even.features.data = row_of(rows, i);
      even.targets = rows->targets + i * ((const sums *)context)->c;
      (void)sums_visit(context, &even, error);
    }
  return SCL_STATUS_OK;
}

static scl_status solve(const void *self, const scl_problem *problem, scl_solution *out,
                        scl_error *error) {
  return ridge_walk(self, problem, visit, out, error);
}

static const scl_option options[] = {RIDGE_OPTIONS};

BROKEN_SOLVER(options, NO_ABILITIES, .solve = solve);
